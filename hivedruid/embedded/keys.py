"""What a topN and a groupBy group by: dimension specs, exploded multi-value columns, and orders of dimensions."""

from __future__ import annotations

from typing import Any

from hivedruid.embedded.aggregators import Aggregate
from hivedruid.embedded.relations import Relation, Scope, output_type
from hivedruid.embedded.sql import Sql, as_double, as_string, cast, identifier
from hivedruid.errors import DruidError


class Key:
    """A grouping key: output `name`, `value`, and for a multi-value column the SQL of its `array`.

    Such a column counts once for each of its values: `value` then reads the hidden column `exploded`.
    """

    __slots__ = ("array", "name", "type", "value")

    def __init__(self, name: str, value: Sql, array: str | None = None) -> None:
        self.name = name
        self.type = output_type(value)
        self.value = cast(value, self.type)
        self.array = array


def exploded(name: str) -> str:
    return identifier(f"$value {name}")


def dimension(spec: Any, scope: Scope) -> Key:
    """A dimension spec; its values are STRING unless `outputType` says otherwise."""
    if isinstance(spec, str):
        spec = {"dimension": spec}
    if spec.get("type", "default") != "default":
        raise DruidError(f"dimensions of type '{spec.get('type')}' are not supported by the embedded store")
    name = spec.get("outputName") or spec["dimension"]
    type_ = spec.get("outputType") or "STRING"
    value = scope.resolve(spec["dimension"])
    if value.is_array and not type_.startswith("ARRAY"):
        return Key(name, cast(Sql(exploded(name), "STRING"), type_), as_strings(value))
    return Key(name, cast(value, type_))


def as_strings(value: Sql) -> str:
    return cast(value, "ARRAY<STRING>").text


def grouped(relation: Relation, filtered: str, keys: list[Key], computed: list[Aggregate]) -> str:
    """The GROUP BY over the relation's rows that the WHERE clause `filtered` keeps."""
    rows = f"({relation.sql}) AS t{filtered}"
    for key in keys:
        if key.array is not None:  # no value at all counts as one null
            values = f"unnest(CASE WHEN len({key.array}) > 0 THEN {key.array} ELSE [NULL] END)"
            rows = f"(SELECT *, {values} AS {exploded(key.name)} FROM {rows}) AS t"
    named = [f"{key.value.text} AS {identifier(key.name)}" for key in keys]
    aggregated = [f"{agg.sql} AS {identifier(agg.name)}" for agg in computed]
    if not keys:
        return f"SELECT {', '.join(aggregated) or 'count(*) AS rows'} FROM {rows}"
    positions = ", ".join(str(place) for place in range(1, len(keys) + 1))
    return f"SELECT {', '.join(named + aggregated)} FROM {rows} GROUP BY {positions}"


def ordered_dimension(name: str, type_: str, ordering: str, direction: str) -> list[str]:
    """ORDER BY terms for a dimension in Druid's `lexicographic` (as text) or `numeric` order."""
    value = Sql(identifier(name), type_)
    if ordering not in ("lexicographic", "numeric"):
        raise DruidError(f"ordering '{ordering}' is not supported by the embedded store")
    if ordering == "numeric" and type_ == "STRING":
        # Texts that are no numbers come below all numbers and above null, in text order.
        number = as_double(value).text
        is_number = f"(CASE WHEN {value.text} IS NOT NULL THEN {number} IS NOT NULL END)"
        return [f"{term} {direction}" for term in (is_number, number, value.text)]
    if ordering == "lexicographic" and not value.is_array:
        value = as_string(value)
    return [f"{value.text} {direction}"]
