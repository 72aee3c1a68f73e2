"""The files of a data source's segments: the broker's timeline, and where deep storage has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.clients import wire
from hivedruid.clients.load_specs import location
from hivedruid.clients.segment_list import METADATA
from hivedruid.clients.segments import Segments, interval
from hivedruid.druid.interval_sets import intersection
from hivedruid.druid.paths import path_of
from hivedruid.engine.segments import Segment, parts_of
from hivedruid.errors import SegmentReadError
from hivedruid.plan.physical import DruidRead
from hivedruid.plan.segment_files import SegmentFile, SegmentFiles, SegmentKey
from hivedruid.results import Row, through

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.clients.native_queries import NativeQueries

LOOKS = 3
"""Attempts to find a segment of the broker's timeline in the metadata store: it may have been replaced in between."""


def segment_files(
    cluster: DruidCluster, data_source: str, known: MutableMapping[str, tuple[str, SegmentFiles]]
) -> SegmentFiles:
    """See `SegmentStorage.segment_files`. `known` are the last timelines with their files, by data source: the files of
    used segments do not change, unlike those that tasks are still writing.

    The timeline comes first: each of its segments that a historical has is in the coordinator's copy of the metadata,
    since the coordinator had it loaded, unless it was replaced in between.
    """
    segments = Segments(cluster.client, data_source)
    for _ in range(LOOKS):
        timeline = segments.timeline()
        if data_source in known and known[data_source][0] == timeline:
            return known[data_source][1]
        found = located(segments.of_timeline(timeline), _stored(cluster, data_source))
        if found is None:
            continue
        if not found.growing:
            known[data_source] = (timeline, found)
        return found
    return SegmentFiles(problem="segments were replaced while they were listed")


def located(visible: Iterable[Segment], stored: Iterable[wire.DataSegment]) -> SegmentFiles | None:
    """The parts of the timeline with the files of `stored`; None if a part that a historical has is not among these.

    Segments of different intervals may have the same version and number.
    """
    by_key: dict[tuple[str, int], list[wire.DataSegment]] = {}
    for each in stored:
        by_key.setdefault((each.version, each.number), []).append(each)
    files: list[SegmentFile] = []
    growing: list[SegmentKey] = []
    for part in visible:
        item = next((i for i in by_key.get((part.version, part.number), ()) if _contains(i, part)), None)
        if item is None and part.is_growing:
            growing.append(SegmentKey(part.start, part.end, part.version, part.number))
            continue
        if item is None:
            return None
        if item.is_tombstone:
            continue
        place = location(item.load_spec or {})
        if place is None:
            kind = (item.load_spec or {}).get("type", "unknown")
            return SegmentFiles(problem=f"deep storage of type {kind} is not supported")
        size = item.size or 0
        files.append(SegmentFile(item.identifier, part.start, part.end, part.version, part.number, place, size))
    return SegmentFiles(tuple(files), tuple(growing))


def write_rows_of(
    cluster: DruidCluster, read: DruidRead, segments: Sequence[SegmentKey], columns: Sequence[str], path: Path
) -> None:
    """See `SegmentStorage.write_rows_of`."""
    from hivedruid.clients.parquet import write

    types = cluster.schema(str(read.query["dataSource"]))
    write(rows_of(cluster, read, segments), read, columns, types, path)


def rows_of(cluster: NativeQueries, read: DruidRead, segments: Sequence[SegmentKey]) -> Iterator[Row]:
    """See `SegmentStorage.rows_of`.

    A query that names segments omits those that it does not find without an error (Druid 33), so the broker must still
    have them afterwards. A segment that a task publishes in the meantime keeps its version and number.
    """
    named = [
        {"itvl": interval(part), "ver": segment.version, "part": segment.number}
        for segment in segments
        for part in intersection(read.spans, ((segment.start, segment.end),))
    ]
    query = {**read.query, "intervals": {"type": "segments", "segments": named}}

    def checked(items: Iterator[Any]) -> Iterator[Any]:
        yield from items
        _check_presence(cluster, str(read.query["dataSource"]), segments)

    return through(cluster.rows(replace(read, query=query)), checked)


def _check_presence(cluster: NativeQueries, data_source: str, segments: Sequence[SegmentKey]) -> None:
    """Raise SegmentReadError if queries no longer read one of the segments."""
    parts = parts_of(Segments(cluster.client, data_source).visible())
    for segment in segments:
        cover = parts.get((segment.version, segment.number))
        if cover is None or not cover.contains(segment.start, segment.end):
            raise SegmentReadError("segments were replaced while their rows were read")


def _stored(cluster: DruidCluster, data_source: str) -> list[wire.DataSegment]:
    """The used segments of the metadata store."""
    return cluster.client.get("coordinator", path_of(METADATA, datasources=data_source), list[wire.DataSegment])


def _contains(item: wire.DataSegment, part: Segment) -> bool:
    start, end = item.interval.span
    return start <= part.start and part.end <= end
