"""The segments of a data source with their states: the coordinator's metadata combined with the broker's timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hivedruid.clients import wire
from hivedruid.clients.measured import COUNT, measured
from hivedruid.clients.segments import ETERNITY, interval
from hivedruid.engine.segments import ListedSegment, SegmentState

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

METADATA = "/druid/coordinator/v1/metadata/segments?includeOvershadowedStatus&datasources="
CANDIDATES = "/druid/v2/datasources/{}/candidates?intervals=" + interval(ETERNITY)
REQUESTS = {
    f"GET {METADATA}SOURCE": "segments in the metadata store, as of the coordinator's last poll",
    f"GET {CANDIDATES.format('SOURCE')}": "segments that queries read",
    "POST /druid/v2 segmentMetadata": "their rows",
}
"""The requests of SHOW SEGMENTS, and their purpose."""


@dataclass(frozen=True)
class Located:
    """A segment that queries read, or its visible part, with the number of historicals and tasks that serve it."""

    source: str
    span: tuple[int, int]
    interval: str
    version: str
    number: int
    size: int
    historicals: int
    tasks: int

    @property
    def descriptor(self) -> dict[str, Any]:
        """The segment as a query over segments names it (SegmentDescriptor)."""
        return {"itvl": self.interval, "ver": self.version, "part": self.number}

    @property
    def id(self) -> str:
        """The SegmentId, if this is a whole segment."""
        number = f"_{self.number}" if self.number else ""
        return f"{self.source}_{self.interval.replace('/', '_')}_{self.version}{number}"


def located(cluster: DruidCluster, data_source: str) -> tuple[Located, ...]:
    """The segments, or parts of them, that queries read now."""
    path = CANDIDATES.format(quote(data_source, safe=""))
    found = cluster.client.get("broker", path, list[wire.Candidate], missing=())
    return tuple(_located(data_source, item) for item in found if item.locations)


def _located(data_source: str, item: wire.Candidate) -> Located:
    historicals = sum(kind in ("historical", "broker") for kind in item.kinds)
    return Located(
        data_source, item.interval.span, item.interval.text, item.version, item.partition_number, item.size or 0,
        historicals, len(item.kinds) - historicals,
    )  # fmt: skip


def listed(cluster: DruidCluster, data_source: str) -> tuple[ListedSegment, ...]:
    """All segments of a data source; see `DruidEngine.listed_segments`."""
    stored = cluster.client.get("coordinator", METADATA + quote(data_source, safe=""), list[wire.StoredSegment])
    seen = located(cluster, data_source)
    return combined(stored, seen, _rows(cluster, data_source, seen))


def _rows(cluster: DruidCluster, data_source: str, seen: Iterable[Located]) -> dict[str, int]:
    """The number of rows by segment id. Realtime segments whose interval was replaced have another id, and are counted."""
    query = {
        "queryType": "segmentMetadata", "dataSource": data_source, "intervals": [interval(ETERNITY)],
        "analysisTypes": [], "toInclude": {"type": "none"},
    }  # fmt: skip
    rows = {item.id: item.num_rows for item in cluster.answer(query, wire.SegmentAnalysis)}
    for part in seen:
        if not part.historicals and part.id not in rows:
            rows[part.id] = measured(cluster, data_source, [part.descriptor], COUNT).rows
    return rows


def combined(
    stored: Iterable[wire.StoredSegment], seen: Iterable[Located], rows: Mapping[str, int]
) -> tuple[ListedSegment, ...]:
    """Each segment once: those of the metadata store, and those that queries read but the store does not have (yet)."""
    by_key: dict[tuple[str, int], list[Located]] = {}
    for part in seen:
        by_key.setdefault((part.version, part.number), []).append(part)
    found = [_stored(item, by_key, rows) for item in stored]
    found += [_seen(part, rows) for parts in by_key.values() for part in parts]
    return tuple(sorted(found, key=lambda s: (s.start, s.end, s.version, s.number)))


def _stored(
    item: wire.StoredSegment, seen: dict[tuple[str, int], list[Located]], rows: Mapping[str, int]
) -> ListedSegment:
    """A segment of the metadata store. Its visible parts are removed from `seen`."""
    start, end = item.interval.span
    key = (item.version, item.number)
    mine = [part for part in seen.get(key, ()) if start <= part.span[0] and part.span[1] <= end]
    seen[key] = [part for part in seen.get(key, ()) if part not in mine]
    replicas = max((part.historicals for part in mine), default=0)
    if item.is_tombstone:
        return ListedSegment(start, end, *key, 0, 0, "tombstone", replicas)
    state: SegmentState
    if replicas:
        state = "available"
    elif item.overshadowed:
        state = "overshadowed"
    else:  # the retention rules exclude it, or historicals are loading it
        state = "unavailable" if item.replication_factor == 0 else "loading"
    return ListedSegment(start, end, *key, rows.get(item.identifier), item.size or 0, state, replicas)


def _seen(part: Located, rows: Mapping[str, int]) -> ListedSegment:
    state: SegmentState = "available" if part.historicals else "realtime"
    replicas = part.historicals or part.tasks
    return ListedSegment(*part.span, part.version, part.number, rows.get(part.id), part.size, state, replicas)
