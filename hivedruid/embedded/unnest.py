"""`unnest` data sources: a row for each element of an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.embedded.filters import filtered
from hivedruid.embedded.relations import Relation, Scope
from hivedruid.embedded.sql import cast, identifier


def unnest(spec: Mapping[str, Any], base: Relation) -> Relation:
    """The rows of `base` with an additional column, which hides one of the same name; rows without elements are
    dropped.

    An empty multi-value column, used by its plain name, yields a row with null: Druid does not treat it as an array.
    """
    virtual = spec["virtualColumn"]
    name = virtual["name"]
    value = Scope(base.columns, [{**virtual, "outputType": None}]).resolve(name)
    if not value.is_array:
        value = cast(value, f"ARRAY<{virtual.get('outputType') or value.type}>")
    elements = value.text
    if virtual["expression"].strip().strip('"') in base.columns:
        elements = f"CASE WHEN {elements} IS NULL OR len({elements}) = 0 THEN [NULL] ELSE {elements} END"
    columns = {**base.columns, name: value.type[len("ARRAY<") : -1]}
    kept = ", ".join(identifier(column) for column in base.columns if column != name)
    sql = f"SELECT {kept}, unnest({elements}) AS {identifier(name)} FROM ({base.sql}) AS b"
    rows = Relation(sql, columns, base.spans, is_in_time=base.is_in_time)
    return filtered(rows, spec["unnestFilter"]) if spec.get("unnestFilter") is not None else rows
