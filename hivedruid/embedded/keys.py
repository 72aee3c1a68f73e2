"""What a topN and a groupBy group by: dimension specs, exploded multi-value columns, and orders of dimensions."""

from __future__ import annotations

from typing import Any

from hivedruid.embedded.aggregators import Aggregate
from hivedruid.embedded.relations import Relation, Scope, output_type
from hivedruid.embedded.sql import Sql, as_string, cast, combine, identifier
from hivedruid.errors import DruidError


class Key:
    """A grouping key: output `name`, `value`, and for a multi-value column the SQL of its `array`.

    Such a row counts once for each of its values: `value` then reads the hidden column `exploded`.
    """

    __slots__ = ("array", "name", "type", "value")

    def __init__(self, name: str, value: Sql, array: str | None = None) -> None:
        self.name = name
        self.type = output_type(value)
        self.value = cast(value, self.type)
        self.array = array


def exploded(name: str) -> str:
    return identifier(f"$value {name}")


def dimension(spec: Any, scope: Scope, *, counts_empty: bool = True) -> Key:
    """A dimension spec; its values are STRING unless `outputType` says otherwise.

    `counts_empty`: an empty multi-value counts as null (in a groupBy; a topN skips it).
    """
    if isinstance(spec, str):
        spec = {"dimension": spec}
    if spec.get("type", "default") != "default":
        raise DruidError(f"dimensions of type '{spec.get('type')}' are not supported by the embedded store")
    name = spec.get("outputName") or spec["dimension"]
    type_ = spec.get("outputType") or "STRING"
    value = scope.resolve(spec["dimension"])
    if value.is_array and not type_.startswith("ARRAY"):
        array = cast(value, "ARRAY<STRING>").text
        empty = f"len({array}) = 0" if counts_empty else "FALSE"
        values = f"CASE WHEN {array} IS NULL OR {empty} THEN [NULL] ELSE {array} END"
        return Key(name, _converted(Sql(exploded(name), "STRING"), type_), values)
    return Key(name, _converted(value, type_))


def _converted(value: Sql, type_: str) -> Sql:
    """The value in a dimension's output type; a text is converted to LONG only if it is an integer ('2.5' is null)."""
    if value.type == "STRING" and type_ == "LONG":
        return combine(f"druid_exact_long({value.text})", "LONG", value)
    return cast(value, type_)


def grouped(relation: Relation, filtered: str, keys: list[Key], computed: list[Aggregate]) -> str:
    """The GROUP BY over the relation's rows that the WHERE clause `filtered` keeps."""
    rows = f"({relation.sql}) AS t{filtered}"
    for key in keys:
        if key.array is not None:
            rows = f"(SELECT *, unnest({key.array}) AS {exploded(key.name)} FROM {rows}) AS t"
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
        # Texts that are not numbers sort below all numbers and above null, in text order.
        number = f"druid_comparable_number({value.text})"
        is_number = f"(CASE WHEN {value.text} IS NOT NULL THEN {number} IS NOT NULL END)"
        return [f"{term} {direction}" for term in (is_number, number, value.text)]
    if ordering == "lexicographic" and not value.is_array:
        value = as_string(value)
    return [f"{value.text} {direction}"]
