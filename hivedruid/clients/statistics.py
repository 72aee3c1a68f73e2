"""Statistics of a cluster's data sources: from segmentMetadata, and from a scan of all rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.statistics import SEGMENTS, ColumnStatistics, TableStatistics
from hivedruid.catalog.types import BIGINT, DOUBLE
from hivedruid.clients.segments import ETERNITY, Segments, interval
from hivedruid.clients.wire import ColumnAnalysis, SegmentAnalysis
from hivedruid.druid.interval_sets import iso, merged
from hivedruid.errors import DruidError
from hivedruid.plan.physical import DruidRead, Field

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

Json = dict[str, Any]


def of_analyses(found: Iterable[SegmentAnalysis]) -> TableStatistics | None:
    """Combine segmentMetadata analyses, merged or not; None without segments.

    The cardinality is the largest one of a segment, as in a merged analysis: an estimate, not a bound.
    """
    analyses = list(found)
    if not analyses:
        return None
    covered = merged({span.span for analysis in analyses for span in analysis.intervals or ()})  # as in a merged one
    spans = [f"{iso(start)}/{iso(end)}" for start, end in covered]
    edges = [_millis(edge) for span in spans for edge in span.split("/")]
    columns: dict[str, ColumnStatistics] = {}
    for analysis in analyses:
        for name, column in analysis.columns.items():
            columns[name] = _column(column, columns.get(name))
    rows = sum(analysis.num_rows for analysis in analyses)
    return TableStatistics(
        rows,
        None,
        min(edges, default=None),
        max(edges, default=None),
        columns,
        f"{rows} rows of {' '.join(spans)}",
        rows_from=SEGMENTS,
    )


def _column(analysis: ColumnAnalysis, other: ColumnStatistics | None) -> ColumnStatistics:
    is_text = analysis.type == "STRING" and not analysis.error_message
    counts = [c for c in (analysis.cardinality if is_text else None, other and other.distinct) if c]
    return ColumnStatistics(
        max(counts, default=None),
        bool(analysis.has_nulls) or bool(other and other.has_nulls),
        analysis.has_multiple_values or bool(other and other.has_multiple_values),
        distinct_from=SEGMENTS,
    )


def _millis(text: str) -> int:
    """An instant as Druid writes it, clamped to the range of Python's datetime."""
    if not text[:4].isdigit() or text[4:5] != "-":
        return -(1 << 53) if text.startswith("-") else 1 << 53
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def analysed(cluster: DruidCluster, data_source: str, columns: Mapping[str, str]) -> TableStatistics:
    """`statistics`, the bytes in deep storage, and the values of these columns, from one timeseries query over all
    rows."""
    cluster.schema(data_source)
    found = cluster.statistics(data_source)
    if found is None:
        return TableStatistics(0)
    found = replace(found, bytes=_bytes(cluster, data_source))
    if not columns:
        return found
    read = _read(data_source, columns, cluster.countable(data_source))
    row, *_ = [*cluster.rows(read)] or [()]  # read to the end: a response that is not is cancelled in Druid
    values = dict(zip([field.name for field in read.fields], row, strict=False))
    looked_at = {
        name: _counted(found.columns.get(name, ColumnStatistics()), found.rows or 0, position, values)
        for position, name in enumerate(columns)
    }
    return replace(found, columns={**found.columns, **looked_at})


def _bytes(cluster: DruidCluster, data_source: str) -> int:
    """The size of the segments that queries read, without overshadowed ones."""
    return sum(max(0, part.size) for part in Segments(cluster.client, data_source).visible())


_EXTREMES = {"LONG": "long", "DOUBLE": "double", "FLOAT": "float"}
COUNTABLE = frozenset({"STRING", *_EXTREMES})
"""The types whose values a cardinality aggregator counts. It fails on an array, and finds none in other types."""


def _read(data_source: str, columns: Mapping[str, str], countable: frozenset[str]) -> DruidRead:
    """The query for distinct values (HyperLogLog) of the `countable` columns, and non-null values, minimum and maximum
    of each column."""
    aggregations: list[Json] = []
    fields: list[Field] = []
    for position, (name, type_) in enumerate(columns.items()):
        distinct = {"type": "cardinality", "name": f"d{position}", "fields": [name], "byRow": False, "round": True}
        present = {"type": "not", "field": {"type": "null", "column": name}}
        count = {"type": "count", "name": f"n{position}"}
        filled = {"type": "filtered", "name": f"n{position}", "filter": present, "aggregator": count}
        if name in countable:
            aggregations.append(distinct)
            fields.append(Field(f"d{position}", BIGINT))
        aggregations.append(filled)
        fields.append(Field(f"n{position}", BIGINT))
        if type_ in _EXTREMES:
            for end in ("Min", "Max"):
                aggregations.append(
                    {"type": f"{_EXTREMES[type_]}{end}", "name": f"{end.lower()}{position}", "fieldName": name}
                )
                fields.append(Field(f"{end.lower()}{position}", BIGINT if type_ == "LONG" else DOUBLE))
    query = {
        "queryType": "timeseries", "dataSource": data_source, "granularity": "all", "intervals": [interval(ETERNITY)],
        "aggregations": aggregations,
    }  # fmt: skip
    return DruidRead(query, tuple(fields))


def _counted(known: ColumnStatistics, rows: int, position: int, values: Mapping[str, Any]) -> ColumnStatistics:
    nulls = rows - (values.get(f"n{position}") or 0) > 0
    low, high = values.get(f"min{position}"), values.get(f"max{position}")
    estimate = values.get(f"d{position}")
    if estimate is not None and not isfinite(estimate):
        raise DruidError(f"Druid's number of distinct values is not finite: {estimate}")
    distinct = None if estimate is None else round(estimate) + nulls
    return ColumnStatistics(
        distinct, nulls, known.has_multiple_values,
        None if low is None else str(low), None if high is None else str(high),
    )  # fmt: skip
