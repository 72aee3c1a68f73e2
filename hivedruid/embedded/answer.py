"""Rows of a plan as the JSON that a Druid broker sends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hivedruid.embedded.granularity import Granularity
from hivedruid.embedded.intervals import MIN_INSTANT, format_instant, parse_intervals
from hivedruid.embedded.plan import Plan
from hivedruid.embedded.sql import identifier

Rows = Iterable[tuple[Any, ...]]
Query = Mapping[str, Any]


def item(name: str, type_: str) -> str:
    """A column as a select expression: a FLOAT as the double that its shortest decimal text spells, as in JSON."""
    if type_ == "FLOAT":
        return f"CAST(CAST({identifier(name)} AS VARCHAR) AS DOUBLE) AS {identifier(name)}"
    return identifier(name)


def value(cell: Any, multiple: bool) -> Any:
    """A cell as Druid returns it: a multi-value with one value is that value, an empty one is null."""
    if multiple and cell is not None and len(cell) < 2:
        return cell[0] if cell else None
    return cell


def json_value(cell: Any, multiple: bool = False) -> Any:
    """A cell as Jackson writes it: NaN and infinities are strings."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return "NaN" if math.isnan(cell) else "Infinity" if cell > 0 else "-Infinity"
    if isinstance(cell, list) and not multiple:
        return [json_value(item) for item in cell]
    return value(cell, multiple)


def answer(query: Query, plan: Plan, run: Callable[[str], Rows]) -> list[dict[str, Any]]:
    """The broker's response; `run` executes a SELECT."""
    return _SHAPES[query["queryType"]](query, plan, run)


def _items(plan: Plan) -> list[str]:
    return [item(name, type_) for name, type_ in plan.columns.items()]


def _dicts(plan: Plan, rows: Rows) -> Iterable[dict[str, Any]]:
    names = list(plan.columns)
    for row in rows:
        yield {name: json_value(cell) for name, cell in zip(names, row, strict=False)}


def _scan(query: Query, plan: Plan, run: Callable[[str], Rows]) -> list[dict[str, Any]]:
    if not plan.columns:
        return []
    multiple = [name in plan.multiple for name in plan.columns]
    events: list[Any] = [list(map(json_value, row, multiple)) for row in run(plan.select(_items(plan)))]
    if not events:
        return []
    if query.get("resultFormat", "list") != "compactedList":
        events = [dict(zip(plan.columns, row, strict=True)) for row in events]
    types = {**plan.columns, **dict.fromkeys(plan.multiple, "STRING")}
    signature = [{"name": name, "type": type_} for name, type_ in types.items()]
    return [{"segmentId": None, "columns": list(plan.columns), "events": events, "rowSignature": signature}]


def _timestamp(query: Query) -> str:
    """A select expression for the bucket's time as text, with the offset of the granularity's zone."""
    granularity = Granularity(query.get("granularity", "all"))
    if granularity.is_all:
        return '"timestamp"'
    from hivedruid.embedded import joda

    return joda.format_sql('"timestamp"', None, granularity.zone)


def _shown(stamp: Any) -> str:
    return stamp if isinstance(stamp, str) else format_instant(stamp)


def _timeseries(query: Query, plan: Plan, run: Callable[[str], Rows]) -> list[dict[str, Any]]:
    rows = run(plan.select([_timestamp(query), *_items(plan)]))
    result = []
    for stamp, *row in rows:
        fields = next(iter(_dicts(plan, [tuple(row)])))
        fields.pop("timestamp")
        result.append({"timestamp": _shown(stamp), "result": fields})
    return result


def _top_n(query: Query, plan: Plan, run: Callable[[str], Rows]) -> list[dict[str, Any]]:
    buckets: dict[str, list[dict[str, Any]]] = {}
    for stamp, *row in run(plan.select([_timestamp(query), *_items(plan)])):
        fields = next(iter(_dicts(plan, [tuple(row)])))
        fields.pop("timestamp")
        buckets.setdefault(_shown(stamp), []).append(fields)
    if not buckets and plan.bucket:
        buckets = {_shown(row[0]): [] for row in run(plan.bucket)}
    return [{"timestamp": stamp, "result": fields} for stamp, fields in buckets.items()]


def _group_by(query: Query, plan: Plan, run: Callable[[str], Rows]) -> list[dict[str, Any]]:
    bucketed = not Granularity(query.get("granularity", "all")).is_all
    spans = parse_intervals(query.get("intervals"))
    start = format_instant(spans[0][0] if spans else MIN_INSTANT)
    result = []
    for stamp, *row in run(plan.select([_timestamp(query) if bucketed else "0", *_items(plan)])):
        event = next(iter(_dicts(plan, [tuple(row)])))
        if bucketed:
            event.pop("timestamp")
        result.append({"version": "v1", "timestamp": stamp if bucketed else start, "event": event})
    return result


def _time_boundary(_query: Query, plan: Plan, run: Callable[[str], Rows]) -> list[dict[str, Any]]:
    result = []
    for row in run(plan.select(_items(plan))):
        bounds = {name: format_instant(stamp) for name, stamp in zip(plan.columns, row, strict=True)}
        result.append({"timestamp": next(iter(bounds.values())), "result": bounds})
    return result


_SHAPES: dict[str, Callable[[Query, Plan, Callable[[str], Rows]], list[dict[str, Any]]]] = {
    "scan": _scan,
    "timeseries": _timeseries,
    "topN": _top_n,
    "groupBy": _group_by,
    "timeBoundary": _time_boundary,
}
