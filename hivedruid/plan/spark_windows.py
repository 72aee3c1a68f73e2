"""Aggregates of distinct values over windows, which Spark does not have: they are computed from the set of the values
in the window."""

from __future__ import annotations

from collections.abc import Callable

from hivedruid.catalog.types import spark_type
from hivedruid.plan.rex import Agg, Rex

_PLAIN = ("min", "max", "collect_set")
"""DISTINCT does not change their results."""


def has_distinct_form(call: Agg) -> bool:
    """Whether the aggregate of distinct values can be computed over a window."""
    if call.op == "avg":
        return call.type.name == "double"
    return call.op in ("count", "sum", *_PLAIN)


def distinct_over(call: Agg, window: str, sql: Callable[[Rex], str]) -> str:
    """The text of an aggregate of distinct values; `window` is its OVER clause, `sql` makes the text of a part."""
    if call.op in _PLAIN:
        condition = f" FILTER (WHERE {sql(call.condition)})" if call.condition else ""
        return f"{call.op}({sql(call.args[0])}){condition} {window}"
    values = f"collect_set({_counted(call, sql)}) {window}"
    if call.op == "count":
        return f"CAST(size({values}) AS BIGINT)"
    of = spark_type(call.type)
    value = f"CAST(_x AS {of})"
    total = f"aggregate(_v, CAST(NULL AS {of}), (_t, _x) -> CAST(coalesce(_t + {value}, {value}) AS {of}))"
    result = total if call.op == "sum" else f"{total} / nullif(size(_v), 0)"
    return f"transform(array({values}), _v -> {result})[0]"


def _counted(call: Agg, sql: Callable[[Rex], str]) -> str:
    """The value of a row; null for one that does not count."""
    values = [_equal(call, arg, sql(arg)) for arg in call.args]
    conditions = [f"{value} IS NOT NULL" for value in values] if len(values) > 1 else []
    if call.condition is not None:
        conditions.append(sql(call.condition))
    value = f"struct({', '.join(values)})" if len(values) > 1 else values[0]
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value} END" if conditions else value


def _equal(call: Agg, arg: Rex, text: str) -> str:
    """In the sets of Spark, -0.0 differs from 0.0, and every NaN from the others. The text of a number is unique."""
    if arg.type.name not in ("float", "double"):
        return text
    number = f"IF({text} = 0, CAST(0 AS {spark_type(arg.type)}), {text})"
    return f"CAST({number} AS STRING)" if call.op == "count" else number
