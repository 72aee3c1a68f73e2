"""Short notation for native Druid JSON in tests of engines."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
ETERNITY = ["-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"]
COUNT: Json = {"type": "count", "name": "c"}


def nested(query: Json) -> Json:
    return {"type": "query", "query": {"intervals": ETERNITY, **query}}


def scan(source: Any, *columns: str, **more: Any) -> Json:
    return {"queryType": "scan", "dataSource": source, "columns": columns, "resultFormat": "compactedList", **more}


def inner_scan(source: Any, types: str, **more: Any) -> Json:
    """A scan as a data source: `s:STRING n:LONG`."""
    columns, kinds = zip(*(item.split(":") for item in types.split()), strict=True)
    return nested(scan(source, *columns, columnTypes=kinds, **more))


def group(source: Any, dimensions: str, *aggregations: Json, **more: Any) -> Json:
    """`s:STRING` is a dimension s, `j0.k:STRING:k` one with the output name k."""
    specs = []
    for item in dimensions.split():
        name, type_, *out = item.split(":")
        specs.append({"type": "default", "dimension": name, "outputName": out[0] if out else name, "outputType": type_})
    return {
        "queryType": "groupBy",
        "dataSource": source,
        "granularity": "all",
        "dimensions": specs,
        "aggregations": aggregations,
        **more,
    }


def total(source: Any, *aggregations: Json, **more: Any) -> Json:
    return {"queryType": "timeseries", "dataSource": source, "granularity": "all", "aggregations": aggregations, **more}


def join(left: Any, right: Json, condition: str, kind: str = "INNER", prefix: str = "j0.", **more: Any) -> Json:
    table = {"type": "table", "name": left} if isinstance(left, str) else left
    return {
        "type": "join",
        "left": table,
        "right": right,
        "rightPrefix": prefix,
        "condition": condition,
        "joinType": kind,
        **more,
    }


def inline(types: str, *rows: list[Any]) -> Json:
    names, kinds = zip(*(item.split(":") for item in types.split()), strict=True)
    return {"type": "inline", "columnNames": names, "columnTypes": kinds, "rows": rows}


def virtual(name: str, expression: str, type_: str) -> Json:
    return {"type": "expression", "name": name, "expression": expression, "outputType": type_}


def equals(column: str, value: Any, type_: str = "STRING") -> Json:
    return {"type": "equals", "column": column, "matchValueType": type_, "matchValue": value}


def at_least(column: str, value: Any, type_: str = "LONG") -> Json:
    return {"type": "range", "column": column, "matchValueType": type_, "lower": value}


def not_null(column: str, aggregator: Json) -> Json:
    present = {"type": "not", "field": {"type": "null", "column": column}}
    return {"type": "filtered", "name": aggregator["name"], "filter": present, "aggregator": aggregator}


def fold(name: str, field: str, start: str, step: str, combine: str, **more: Any) -> Json:
    return {
        "type": "expression",
        "name": name,
        "fields": [field],
        "accumulatorIdentifier": "__acc",
        "initialValue": start,
        "fold": step,
        "combine": combine,
        **more,
    }


def extreme(name: str, field: str, sign: str) -> Json:
    step = "case_searched(isnull({0}), __acc, isnull(__acc) || ({0} " + sign + " __acc), {0}, __acc)"
    return fold(name, field, "CAST(null,'STRING')", step.format(field), step.format(name))


def bits(name: str, field: str, function: str, start: int) -> Json:
    over = f"{function}(__acc, {{}})"
    return not_null(
        field,
        fold(name, field, str(start), over.format(field), over.format(name), isNullUnlessAggregated=False),
    )


def moments(name: str, field: str) -> Json:
    """Welford's count, mean and sum of squared differences, and how those of two segments are combined."""
    n, mean, squares = (f"array_offset(__acc,{place})" for place in range(3))
    off = f"({field} - {mean})"
    step = f"array({n} + 1.0, {mean} + {off} / ({n} + 1.0), {squares} + {off} * ({field} - ({mean} + {off} / ({n} + 1.0))))"
    n2, mean2, squares2 = (f"array_offset({name},{place})" for place in range(3))
    share = f"nvl(safe_divide({n2}, ({n} + {n2})), 0.0)"
    apart = f"({mean2} - {mean})"
    combine = (
        f"array({n} + {n2}, {mean} + {apart} * {share}, {squares} + {squares2} + {apart} * {apart} * {n} * {share})"
    )
    zeros = "ARRAY<DOUBLE>[0.0, 0.0, 0.0]"
    return not_null(field, fold(name, field, zeros, step, combine, isNullUnlessAggregated=False))
