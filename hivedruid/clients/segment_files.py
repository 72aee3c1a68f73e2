"""The files of a data source's segments: the broker's timeline, and where deep storage has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hivedruid.clients import wire
from hivedruid.clients.segment_list import METADATA
from hivedruid.clients.segments import Segments, interval
from hivedruid.druid.interval_sets import from_json, intersection
from hivedruid.engine.segments import Segment
from hivedruid.errors import SegmentReadError
from hivedruid.plan.physical import DruidRead
from hivedruid.plan.segment_files import GrowingSegment, SegmentFile, SegmentFiles

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

LOOKS = 3
"""Attempts to find a segment of the broker's timeline in the metadata store: it may have been replaced in between."""


def segment_files(cluster: DruidCluster, data_source: str) -> SegmentFiles:
    """See `SegmentStorage.segment_files`.

    The timeline comes first: each of its segments that a historical has is in the coordinator's copy of the metadata,
    since the coordinator had it loaded, unless it was replaced in between.
    """
    segments = Segments(cluster.client, data_source)
    for _ in range(LOOKS):
        visible = segments.visible()
        stored = _stored(cluster, data_source)
        growing = [part for part in visible if part.is_growing and _key(part) not in stored]
        parts = [part for part in visible if part not in {*growing}]
        if all(_key(part) in stored for part in parts):
            return _files(parts, growing, stored)
    return SegmentFiles(problem="segments were replaced while they were listed")


def _files(
    parts: Sequence[Segment], growing: Sequence[Segment], stored: Mapping[tuple[str, int], list[wire.DataSegment]]
) -> SegmentFiles:
    files = []
    for part in parts:
        item = next((i for i in stored[_key(part)] if _contains(i, part)), None)
        place = location((item.load_spec if item is not None else None) or {})
        if item is None or place is None:
            kind = (item.load_spec or {}).get("type", "unknown") if item is not None else "unknown"
            return SegmentFiles(problem=f"deep storage of type {kind} is not supported")
        files.append(SegmentFile(item.identifier, part.start, part.end, place, item.size or 0))
    tasks = tuple(GrowingSegment(s.start, s.end, s.version, s.number) for s in growing)
    return SegmentFiles(tuple(files), tasks)


def write_growing(
    cluster: DruidCluster, read: DruidRead, growing: Sequence[GrowingSegment], columns: Sequence[str], path: Path
) -> None:
    """See `SegmentStorage.write_growing`.

    A query that names segments omits those that it does not find without an error (Druid 33), so the broker must have
    them before and after it: a segment that a task publishes in between keeps its version and number.
    """
    from hivedruid.clients.parquet import write

    spans = from_json(read.query["intervals"])
    named = [
        {"itvl": interval(part), "ver": segment.version, "part": segment.number}
        for segment in growing
        for part in intersection(spans, ((segment.start, segment.end),))
    ]
    data_source = str(read.query["dataSource"])
    query = {**read.query, "intervals": {"type": "segments", "segments": named}}
    write(cluster.rows(replace(read, query=query)), read.fields, columns, cluster.schema(data_source), path)
    keys = {(part.version, part.number) for part in Segments(cluster.client, data_source).visible()}
    if any((segment.version, segment.number) not in keys for segment in growing):
        raise SegmentReadError("segments were replaced while their rows were read")


def location(load_spec: Mapping[str, Any]) -> str | None:
    """The path or URI of a segment by its loadSpec; None for a type that is not supported."""
    match load_spec.get("type"):
        case "local":
            return str(load_spec["path"])
        case _:
            return None


def _stored(cluster: DruidCluster, data_source: str) -> dict[tuple[str, int], list[wire.DataSegment]]:
    """The used segments of the metadata store by version and number, which may occur in several intervals."""
    path = f"{METADATA}&datasources={quote(data_source, safe='')}"
    found: dict[tuple[str, int], list[wire.DataSegment]] = {}
    for item in cluster.client.get("coordinator", path, list[wire.DataSegment]):
        found.setdefault((item.version, item.number), []).append(item)
    return found


def _key(segment: Segment) -> tuple[str, int]:
    return segment.version, segment.number


def _contains(item: wire.DataSegment, part: Segment) -> bool:
    start, end = item.interval.span
    return start <= part.start and part.end <= end
