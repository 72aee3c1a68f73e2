"""The aggregators of Druid's sketches, computed exactly.

An HLL or theta sketch is the number of distinct values, a quantiles sketch the sorted list of all values, which the
sketches estimate. Sketches of distinct values ignore `''`, and all sketches ignore null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hivedruid.embedded.relations import Scope
from hivedruid.embedded.sql import Sql, as_double, as_string, identifier
from hivedruid.errors import DruidError

Spec = Mapping[str, Any]
QUANTILES = "COMPLEX<quantilesDoublesSketch>"
"""The type of a column that holds a sorted list of doubles until `finalized`."""


def sketch(spec: Spec, scope: Scope, where: str) -> Sql:
    """The SQL of a sketch aggregator over the rows that `where`, a FILTER clause, keeps."""
    return SKETCHES[spec["type"]](spec, scope, where)


def _distinct(spec: Spec, scope: Scope, where: str) -> Sql:
    is_long = spec["type"] != "thetaSketch" and spec.get("round", False)
    text = f"count(DISTINCT {_counted(scope.resolve(spec['fieldName']))}){where}"
    return Sql(text, "LONG") if is_long else Sql(f"CAST({text} AS DOUBLE)", "DOUBLE")


def _counted(value: Sql) -> str:
    if value.is_array:
        raise DruidError("sketches of multi-value columns are not supported by the embedded store")
    return f"nullif({as_string(value).text}, '')" if value.type in ("STRING", "NULL") else value.text


def _cardinality(spec: Spec, scope: Scope, where: str) -> Sql:
    if spec.get("byRow") or len(spec["fields"]) != 1:
        raise DruidError("cardinality over several fields is not supported by the embedded store")
    field = spec["fields"][0]
    name = field if isinstance(field, str) else field["dimension"]
    return _distinct({**spec, "fieldName": name}, scope, where)


def _quantiles(spec: Spec, scope: Scope, where: str) -> Sql:
    value = as_double(scope.resolve(spec["fieldName"])).text
    return Sql(f"coalesce(list_sort(list({value}){where}), CAST([] AS DOUBLE[]))", QUANTILES)


def finalized_value(value: Sql) -> Sql:
    """The value of a sketch in expressions and results: for a quantiles sketch, the number of its values."""
    return Sql(f"CAST(list_count({value.text}) AS BIGINT)", "LONG") if value.type == QUANTILES else value


def finalized(sql: str, columns: dict[str, str], *hidden: str) -> str:
    """A SELECT around `sql` that replaces each quantiles sketch by the number of its values; `columns` is
    changed, too."""
    if QUANTILES not in columns.values():
        return sql
    items = []
    for name, type_ in columns.items():
        value = finalized_value(Sql(identifier(name), type_))
        items.append(f"{value.text} AS {identifier(name)}")
        columns[name] = value.type
    return f"SELECT {', '.join([*items, *map(identifier, hidden)])} FROM ({sql}) AS q"


def estimate(spec: Spec, field: Sql) -> Sql:
    """A post-aggregator over a sketch. A quantile is the value at that fraction of the sorted values, NaN without
    values."""
    match spec["type"]:
        case "HLLSketchEstimate" | "thetaSketchEstimate":
            return as_double(field)
        case "quantilesDoublesSketchToQuantile":
            return Sql(_quantile(field, spec["fraction"]), "DOUBLE")
        case "quantilesDoublesSketchToQuantiles":
            return Sql("[" + ", ".join(_quantile(field, f) for f in spec["fractions"]) + "]", "ARRAY<DOUBLE>")
    raise DruidError(f"post-aggregators of type '{spec['type']}' are not supported by the embedded store")


def _quantile(field: Sql, fraction: float) -> str:
    if field.type != QUANTILES:
        raise DruidError("a quantile requires a quantiles sketch")
    values = f"list_filter({field.text}, lambda v: v IS NOT NULL)"
    place = f"greatest(CAST(ceil(len({values}) * {fraction!r}) AS BIGINT), 1)"
    return f"coalesce(list_extract({values}, {place}), CAST('NaN' AS DOUBLE))"


SKETCHES: dict[str, Callable[[Spec, Scope, str], Sql]] = {
    **dict.fromkeys(("HLLSketchBuild", "HLLSketchMerge", "thetaSketch"), _distinct),
    "cardinality": _cardinality,
    "quantilesDoublesSketch": _quantiles,
}
ESTIMATES = (
    "HLLSketchEstimate",
    "thetaSketchEstimate",
    "quantilesDoublesSketchToQuantile",
    "quantilesDoublesSketchToQuantiles",
)
