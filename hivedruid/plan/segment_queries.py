"""Scans as queries of single segments, which Spark's executors send in parallel. Pure values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import pairwise
from math import inf

from hivedruid.catalog.statistics import TableStatistics
from hivedruid.druid.interval_sets import IntervalSet, intersection, iso
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.segment_files import READ, WORTH

THRESHOLD = "hive.druid.select.threshold"
"""Setting: the rows of a partition; a scan of fewer rows remains one query."""
SLICE = 250_000
"""The least rows of a part of a segment; a segment of more rows is divided by time."""


@dataclass(frozen=True)
class ServedSegment:
    """A segment, and the time in which queries read it, in milliseconds, half open.

    `rows` is an estimate, None if it is unknown; `servers` are the URLs of the data servers that have the segment.
    """

    id: str
    start: int
    end: int
    version: str
    number: int
    rows: int | None
    size: int
    servers: tuple[str, ...]


@dataclass(frozen=True)
class ServedSegments:
    """What queries read of a data source when a statement begins, the Druid types of its columns, and its statistics.

    `broker` is the URL for segments that no data server returns, `timeout` that of a query in seconds, 0 for none.
    `problem` says why Spark cannot send queries.
    """

    segments: tuple[ServedSegment, ...] = ()
    broker: str = ""
    timeout: float = 0
    types: Mapping[str, str] = field(default_factory=dict)
    statistics: TableStatistics | None = None
    problem: str = ""


@dataclass(frozen=True)
class SegmentQuery:
    """The rows of a segment within an interval, in Druid's format; `servers` are tried in order, before the broker."""

    id: str
    interval: str
    version: str
    number: int
    servers: tuple[str, ...]


@dataclass(frozen=True)
class QueryScan:
    """The queries that Spark sends in place of one: `pieces` has those of each partition.

    `types` are the Druid types of the query's fields, in order. `rows` and `bytes` are those of the segments.
    """

    pieces: tuple[tuple[SegmentQuery, ...], ...]
    types: tuple[str, ...]
    broker: str
    timeout: float
    segments: int
    rows: int
    bytes: int

    @property
    def servers(self) -> set[str]:
        return {server for piece in self.pieces for query in piece for server in query.servers[:1] or (self.broker,)}


def least_rows(settings: Mapping[str, str]) -> float:
    """The estimated rows from which a scan is divided."""
    threshold = int(settings.get(THRESHOLD, "0"))
    if threshold <= 0:
        return inf
    return threshold if settings.get(READ) == "query" else max(threshold, WORTH)


def divided(spans: IntervalSet, types: tuple[str, ...], known: ServedSegments, threshold: int) -> QueryScan:
    """The queries for these times: each of one segment, or of a part of a large one. A partition has those of
    consecutive segments with at least `threshold` rows together."""
    pieces: list[tuple[SegmentQuery, ...]] = []
    piece: list[SegmentQuery] = []
    gathered = 0
    needed = [s for s in known.segments if intersection(spans, ((s.start, s.end),))]
    for segment in needed:
        of = 1 if segment.rows is None else max(1, segment.rows // max(SLICE, threshold))
        for queries in _slices(segment, spans, of):
            piece += queries
            gathered += threshold if segment.rows is None else segment.rows // of
            if gathered >= threshold:
                pieces.append(tuple(piece))
                piece, gathered = [], 0
    if piece:
        pieces.append(tuple(piece))
    rows, size = sum(s.rows or 0 for s in needed), sum(s.size for s in needed)
    return QueryScan(tuple(pieces), types, known.broker, known.timeout, len(needed), rows, size)


def _slices(segment: ServedSegment, spans: IntervalSet, of: int) -> Iterator[list[SegmentQuery]]:
    """The queries of each of `of` slices of a segment by time: each of one interval, since a data server reports before
    the first row whether it has the segment."""
    length = segment.end - segment.start
    edges = [segment.start + length * n // of for n in range(of + 1)]
    for slice_ in pairwise(edges):
        found = [
            SegmentQuery(segment.id, f"{iso(start)}/{iso(end)}", segment.version, segment.number, segment.servers)
            for start, end in intersection(spans, (slice_,))
        ]
        if found:
            yield found
