"""The figures of a plan, for EXPLAIN EXTENDED: rows of tables, estimates of native queries, and resulting decisions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hivedruid.catalog.statistics import ColumnStatistics, TableStatistics
from hivedruid.druid.query import native_query, top_n_values
from hivedruid.plan.ctes import all_nodes
from hivedruid.plan.nodes import DruidJoin, DruidQuery, Node, PlanColumn, TableScan
from hivedruid.plan.ranges import value_range
from hivedruid.plan.show import show
from hivedruid.plan.split import native_queries
from hivedruid.plan.statistics import Estimator

if TYPE_CHECKING:
    from hivedruid.plan.split import QueryPlan

JOIN_ROWS = "hivedruid.join.max.rows"
_EARLIEST, _LATEST = -62_135_596_800_000, 253_402_300_799_999
"""The range of a datetime, in milliseconds."""


def figures(plan: QueryPlan) -> list[str]:
    """The lines; none if no statistics are known."""
    known = plan.context.statistics
    scans = {(s.table.database, s.table.name): s for s in _scans(plan.node)}
    lines = [line for key, scan in scans.items() if key in known for line in _table(scan, known[key])]
    estimator = Estimator(known, plan.zone)
    for query in native_queries(plan.node):
        rows = estimator.rows(query)
        if rows is not None:
            lines.append(f"native query of {_tables(query)}: about {_count(rows, 'row')}")
    decided = [f"  {sentence}" for sentence in (*_joins(plan, estimator), *_top_ns(plan.node))]
    return [
        *(["", "Figures:", *(f"  {line}" for line in lines)] if lines else []),
        *(["", "Decided:", *decided] if decided else []),
    ]


def _joins(plan: QueryPlan, estimator: Estimator) -> Iterator[str]:
    """Why the right side of a join may be inlined into a native query."""
    most = plan.context.most(JOIN_ROWS)
    for join in all_nodes(plan.node, inside=True):
        if not isinstance(join, DruidJoin):
            continue
        tables = ", ".join(dict.fromkeys(scan.table.full_name for scan in _scans(join.right))) or "the query itself"
        rows = estimator.rows(join.right)
        size = "grouped or limited, of unknown size" if rows is None else f"about {_count(rows, 'row')}"
        yield f"join: the side of {tables} is inlined into the native query, {size} (at most {most:,})"


def _top_ns(node: Node) -> Iterator[str]:
    """Why a topN by an aggregate is exact."""
    for query in all_nodes(node, inside=True):
        if not isinstance(query, DruidQuery) or not query.sort or len(query.keys) != 1:
            continue
        values = top_n_values(query)
        if values is not None and native_query(query, "UTC").query["queryType"] == "topN":
            yield f"topN: {show(query.keys[0])} has at most {_count(values, 'value')}"


def _table(scan: TableScan, statistics: TableStatistics) -> Iterator[str]:
    """A line for the table, and one for each source of the values and of the ranges of its columns."""
    analysed = f"analysed {statistics.taken_at}{', changed since' if statistics.is_stale else ''}"
    parts = ["rows unknown" if statistics.rows is None else _count(statistics.rows, "row")]
    if statistics.bytes is not None and statistics.taken_at:
        parts.append(_count(statistics.bytes, "byte"))
    if statistics.start is not None and statistics.end is not None:
        parts.append(f"{_instant(statistics.start)} to {_instant(statistics.end)}")
    source = "" if statistics.rows is None else f" ({statistics.rows_from or analysed})"
    yield f"{scan.table.full_name}: {', '.join(parts)}{source}"
    columns = [
        (column, known)
        for column in scan.columns
        for stored in [scan.table.column(column.name)]
        if (known := statistics.columns.get(stored.field_name if stored else column.name)) is not None
    ]
    values = [
        (f"{c.name} {_count(k.distinct, 'value')}", k.distinct_from) for c, k in columns if k.distinct is not None
    ]
    ranges = [(f"{c.name} {text}", k.range_from) for c, k in columns if (text := _range(c, k))]
    for items in (values, ranges):
        for origin in dict.fromkeys(origin for _, origin in items):
            yield f"  {', '.join(text for text, of in items if of == origin)} ({origin or analysed})"


def _range(column: PlanColumn, known: ColumnStatistics) -> str:
    """The bounds and the nulls of a column; empty if the former are not known and there are none of the latter."""
    parts = [_count(known.nulls, "null")] if known.nulls else []
    found = value_range(known, column.type)
    if found is not None and column.type.is_time:
        start, end = found.millis
        parts.insert(0, f"{_instant(start)} to {_instant(end - 1)}")
    elif found is not None:
        parts.insert(0, f"{known.low} to {known.high}")
    return " and ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _instant(millis: int) -> str:
    moment = datetime.fromtimestamp(min(max(millis, _EARLIEST), _LATEST) / 1000, UTC).replace(tzinfo=None)
    return moment.date().isoformat() if moment.time() == moment.min.time() else moment.isoformat(" ")


def _tables(query: DruidQuery) -> str:
    return ", ".join(dict.fromkeys(scan.table.full_name for scan in _scans(query)))


def _scans(node: Node) -> Iterator[TableScan]:
    return (n for n in all_nodes(node, inside=True) if isinstance(n, TableScan))
