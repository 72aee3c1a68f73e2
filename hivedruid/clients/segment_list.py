"""The segments of a data source with their states: the coordinator's metadata combined with the broker's timeline."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hivedruid.clients import wire
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.measured import COUNT, measured
from hivedruid.clients.segments import ETERNITY, Segments, candidates_path, interval, segment_of
from hivedruid.clients.side_by_side import SideBySide
from hivedruid.druid.paths import path_of
from hivedruid.engine.segments import Segment, SegmentState

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

METADATA = "/druid/coordinator/v1/metadata/segments?includeOvershadowedStatus"
REQUESTS = {
    f"GET {METADATA}&datasources=SOURCE": "segments in the metadata store, as of the coordinator's last poll",
    f"GET {candidates_path('SOURCE')}": "segments that queries read",
    "POST /druid/v2 segmentMetadata": "their rows",
}
"""The requests of SHOW SEGMENTS, and their purpose. The first and the last are sent once for many data sources."""
LONGEST = 4000
"""The maximum length of the names in one URL, in characters: half of the request line that Druid accepts (8 KiB)."""


def listed(cluster: DruidCluster, data_sources: Sequence[str]) -> tuple[tuple[Segment, ...], ...]:
    """All segments of each data source; see `SegmentLists.listed_segments`."""
    stored: dict[str, list[wire.DataSegment]] = {}
    for path in _paths(data_sources):
        for item in cluster.client.get("coordinator", path, list[wire.DataSegment]):
            stored.setdefault(item.data_source, []).append(item)
    visible = _visible(cluster, data_sources)
    rows = _rows(cluster, visible) if data_sources else {}
    return tuple(combined(name, stored.get(name, ()), visible[name], rows) for name in data_sources)


def _paths(data_sources: Sequence[str]) -> Iterator[str]:
    """The requests to the metadata store."""
    names: list[str] = []
    for name in data_sources:
        names.append(name)
        if len(path := path_of(METADATA, datasources=names)) > LONGEST:
            yield path
            names.clear()
    if names:
        yield path_of(METADATA, datasources=names)


def _visible(cluster: DruidCluster, data_sources: Sequence[str]) -> dict[str, tuple[Segment, ...]]:
    clients = SideBySide(lambda: DruidClient(cluster.address))
    try:
        asked = [partial(_visible_of, name) for name in data_sources]
        return dict(zip(data_sources, clients.each(asked), strict=True))
    finally:
        clients.close()


def _visible_of(data_source: str, client: DruidClient) -> tuple[Segment, ...]:
    return Segments(client, data_source).visible()


def _rows(cluster: DruidCluster, visible: Mapping[str, Sequence[Segment]]) -> dict[str, int]:
    """The number of rows by segment id. Realtime segments whose interval was replaced have another id, and are
    counted."""
    query = {
        "queryType": "segmentMetadata", "dataSource": {"type": "union", "dataSources": [*visible]},
        "intervals": [interval(ETERNITY)], "analysisTypes": [], "toInclude": {"type": "none"},
    }  # fmt: skip
    rows = {item.id: item.num_rows for item in cluster.answer(query, wire.SegmentAnalysis)}
    for data_source, parts in visible.items():
        for part in parts:
            if part.is_growing and part.id not in rows:
                rows[part.id] = measured(cluster, data_source, [part.descriptor], COUNT).rows
    return rows


def combined(
    data_source: str, stored: Iterable[wire.DataSegment], visible: Iterable[Segment], rows: Mapping[str, int]
) -> tuple[Segment, ...]:
    """Each segment once: those of the metadata store, and those that queries read but the store does not have (yet)."""
    parts: dict[tuple[str, int], list[Segment]] = {}
    for part in sorted(visible, key=lambda s: s.start):
        parts.setdefault((part.version, part.number), []).append(part)
    found = []
    of_the_store: set[Segment] = set()
    for item in stored:
        segment = segment_of(data_source, item)
        mine = _within(parts.get((segment.version, segment.number), []), segment)
        of_the_store.update(mine)
        found.append(_with_state(segment, item, mine, rows))
    others = (part for some in parts.values() for part in some if part not in of_the_store)
    found += [replace(part, rows=rows.get(part.id)) for part in others]
    return tuple(sorted(found, key=lambda s: (s.start, s.end, s.version, s.number)))


def _within(parts: Sequence[Segment], segment: Segment) -> list[Segment]:
    """Those of the parts, which are in order of time, that lie within a segment."""
    first = bisect_left(parts, segment.start, key=lambda s: s.start)
    until = bisect_left(parts, segment.end, key=lambda s: s.start)
    return [part for part in parts[first:until] if part.end <= segment.end]


def _with_state(segment: Segment, item: wire.DataSegment, mine: Sequence[Segment], rows: Mapping[str, int]) -> Segment:
    """A segment of the metadata store with its visible parts."""
    replicas = max((part.replicas for part in mine if not part.is_growing), default=0)
    if segment.is_tombstone:
        return replace(segment, rows=0, size=0, replicas=replicas)
    state: SegmentState
    if replicas:
        state = "available"
    elif item.overshadowed:
        state = "overshadowed"
    else:  # the retention rules exclude it, or historicals are loading it
        state = "unavailable" if item.replication_factor == 0 else "loading"
    return replace(segment, rows=rows.get(segment.id), state=state, replicas=replicas)
