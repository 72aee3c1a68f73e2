"""The segments of one data source: used ones in the metadata store, and visible ones in the broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from hivedruid.clients import wire
from hivedruid.clients.failures import PathError
from hivedruid.clients.task_spec import task_of
from hivedruid.druid.intervals import iso
from hivedruid.druid.paths import CANDIDATES, is_ambiguous, mark_unused_path, mark_used_path, path_of
from hivedruid.engine.segments import Segment, SegmentState, hidden_in_part, parts_of
from hivedruid.errors import ConnectError, DruidError

if TYPE_CHECKING:
    from hivedruid.clients.druid import DruidClient

ETERNITY = (-(1 << 62), (1 << 62) - 1)
MOST_SPANS = 100
"""The maximum number of intervals per request to the metadata store (SqlSegmentsMetadataQuery)."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
REPLACED = 5.0
"""Seconds before checking whether invisible segments have already been replaced."""
LOST_HISTORICAL = 20.0
"""Seconds to wait if there is no historical."""
RESTORED = 120.0
"""Seconds to wait until rolled back segments are unloaded, and the restored ones are visible.

The coordinator may take a minute to notice (`druid.manager.segments.pollDuration` is PT1M unless configured).
"""
ANNOUNCED = 0.5
"""Seconds until the broker has received the loads and drops that the coordinator has noticed."""


def interval(span: tuple[int, int]) -> str:
    return f"{iso(span[0])}/{iso(span[1])}"


STORED = "/druid/coordinator/v1/metadata/datasources/{}/segments?full"
"""The used segments of a data source in the metadata store, of the intervals that are posted."""
UNUSED = "/druid/coordinator/v1/metadata/datasources/{}/unusedSegments"
POLLED = "/druid/coordinator/v1/metadata/datasources/{}/segments"
"""The ids of the used segments as of the coordinator's last poll."""
SERVED = "/druid/coordinator/v1/datasources/{}/intervals/{}"


def candidates_path(data_source: str, span: tuple[int, int] = ETERNITY) -> str:
    """The broker's timeline of a data source in a span of time."""
    return path_of(CANDIDATES, data_source, intervals=interval(span))


def refusal_of_name(client: DruidClient, data_source: str) -> str:
    """Why the coordinator refuses paths with the name of a data source; "" if it does not, or if that is not known.

    Only Druid 35 and later are requested, and only about names that they may refuse.
    """
    if not is_ambiguous(data_source) or not client.version.has("paths"):
        return ""
    try:
        client.get("coordinator", path_of(POLLED, data_source), list[str], missing=[])
    except PathError as error:
        return error.message
    except (DruidError, ConnectError):
        pass
    return ""


def segment_of(data_source: str, item: wire.DataSegment, mark: Literal["used", "unused"] = "used") -> Segment:
    """A segment of the metadata store, which marks it as used or unused."""
    state: SegmentState = "tombstone" if item.is_tombstone else mark
    return Segment(
        data_source,
        *item.interval.span,
        item.version,
        item.number,
        size=item.size or 0,
        state=state,
        task=task_of(item),
    )


def _visible(data_source: str, item: wire.Candidate, scheme: str) -> Segment:
    """A segment as the broker reads it, or its visible part; one that only tasks serve is still growing. `scheme` is
    that of the URLs of its servers."""
    historicals = sum(kind in ("historical", "broker") for kind in item.kinds)
    return Segment(
        data_source, *item.interval.span, item.version, item.partition_number, size=item.size or 0,
        state="available" if historicals else "realtime", replicas=historicals or len(item.kinds),
        servers=item.servers(scheme),
    )  # fmt: skip


class Segments:
    """All methods raise DruidError or ConnectError."""

    def __init__(self, client: DruidClient, data_source: str) -> None:
        self._client = client
        self._data_source = data_source
        self._scheme = urlsplit(client.address.broker).scheme

    def used(self, spans: Sequence[tuple[int, int]] = (ETERNITY,)) -> list[Segment]:
        """All used segments in spans of time, including hidden ones, from the metadata store."""
        return [segment_of(self._data_source, item) for item in self._used(spans)]

    def placed(self, spans: Sequence[tuple[int, int]]) -> list[Segment]:
        """The same, each with its place in deep storage, which tells a segment from an earlier one with the same id."""
        return [
            replace(segment_of(self._data_source, item), path=json.dumps(item.load_spec, sort_keys=True))
            for item in self._used(spans)
        ]

    def _used(self, spans: Sequence[tuple[int, int]]) -> list[wire.DataSegment]:
        path = path_of(STORED, self._data_source)
        found: dict[str, wire.DataSegment] = {}
        for first in range(0, len(spans), MOST_SPANS):
            some = [*map(interval, spans[first : first + MOST_SPANS])]
            items = self._client.post("coordinator", path, list[wire.DataSegment], some)
            found.update((item.identifier, item) for item in items)
        return [*found.values()]

    def unused(self, span: tuple[int, int]) -> list[Segment]:
        """The unused segments that are still known."""
        path = path_of(UNUSED, self._data_source, interval=interval(span))
        found = self._client.get("coordinator", path, list[wire.UnusedSegment], missing=())
        return [
            replace(
                segment_of(self._data_source, item.data_segment, "unused"),
                marked=item.used_status_last_updated_date or "",
            )
            for item in found
        ]

    def seen(self, around: Sequence[Segment]) -> list[Segment]:
        """The segments that queries read between the first and the last of these segments, without tombstones."""
        if not around:
            return []
        path = candidates_path(self._data_source, _hull(around))
        found = self._client.get("broker", path, list[wire.Candidate])
        return [_visible(self._data_source, item, self._scheme) for item in found if item.locations]

    def served(self, around: Sequence[Segment]) -> set[str]:
        """The ids of the segments that servers have in the time of these segments, including hidden ones."""
        span = interval(_hull(around)).replace("/", "_")
        path = path_of(SERVED, self._data_source, span)
        return set(self._client.get("coordinator", path, list[str], missing=(), no_content=True))

    def visible(self, spans: Sequence[tuple[int, int]] = (ETERNITY,)) -> tuple[Segment, ...]:
        """The segments that queries read from the first to the last of these spans, or parts of them; ordered by time.

        A tombstone is among them only beside segments with rows.
        """
        if not spans:
            return ()
        span = min(start for start, _ in spans), max(end for _, end in spans)
        path = candidates_path(self._data_source, span)
        return self._located(self._client.get("broker", path, list[wire.Candidate], missing=()))

    def timeline(self) -> str:
        """The broker's timeline as it is sent; "" without segments."""
        return self._client.text("broker", candidates_path(self._data_source))

    def of_timeline(self, text: str) -> tuple[Segment, ...]:
        """The segments of a timeline; see `visible`."""
        path = candidates_path(self._data_source)
        return self._located(self._client.value("GET", "broker", path, text, list[wire.Candidate])) if text else ()

    def _located(self, found: Iterable[wire.Candidate]) -> tuple[Segment, ...]:
        visible = (_visible(self._data_source, item, self._scheme) for item in found if item.locations)
        return tuple(sorted(visible, key=lambda s: (s.start, s.end, s.token)))

    def wait_for(
        self,
        rows: Sequence[Segment],
        patience: float,
        are_replaced: Callable[[Sequence[Segment]], bool] | None = None,
        on_missing: Callable[[int], object] = lambda _: None,
    ) -> bool:
        """Wait until the broker sees each of these segments, or its replacement by a later write.

        Missing segments are replaced if `are_replaced` returns true, by default if none of them is used any more;
        `on_missing` is called with the number of missing ones. Raises DruidError if there is no historical.
        """
        replaced, lost = Patience(REPLACED), Patience(LOST_HISTORICAL)

        def is_visible() -> bool:
            parts = parts_of(self.seen(rows))
            missing = [s for s in rows if not s.has_part_in(parts)]
            on_missing(len(missing))
            if missing and lost.is_over(not self.has_historical()):
                raise DruidError("the rows are stored, but Druid has no historical to load them")
            return not missing or (replaced.is_over(True) and (are_replaced or self._are_gone)(missing))

        return wait_until(is_visible, patience)

    def _are_gone(self, some: Sequence[Segment]) -> bool:
        return not {segment.id for segment in some} & {segment.id for segment in self.used()}

    def has_historical(self) -> bool:
        """Whether there is a historical."""
        path = "/druid/coordinator/v1/servers?simple"
        servers = self._client.get("coordinator", path, list[wire.Server], missing=None)
        return servers is None or any(server.type == "historical" for server in servers)

    def restore(self, before: Sequence[Segment], seen: Sequence[Segment], new: Sequence[Segment]) -> bool:
        """Mark the new segments as unused and restore those that they replaced, until the broker sees the earlier
        state.

        It does not wait for segments that are hidden by newer segments of others.
        """
        self.mark_unused(new)
        settled = Patience(ANNOUNCED)

        def is_as_before() -> bool:
            # the coordinator may still mark replaced segments as unused, by its previous poll
            used = self.used()
            known = set(used)
            self.mark_used([segment for segment in before if segment not in known])
            others = written_by_others(used, before, new)
            if not settled.is_over(not self._is_changing(not_hidden(before, others), new)):
                return False
            current = self.seen([*before, *new])
            parts = parts_of(current)
            return set(not_hidden(seen, others)) <= set(current) and not any(s.has_part_in(parts) for s in new)

        return wait_until(is_as_before, RESTORED)

    def _is_changing(self, used: Sequence[Segment], unused: Sequence[Segment]) -> bool:
        """Whether the coordinator may still have segments dropped that are used, or loaded that are unused.

        It works from a copy of the metadata (`druid.manager.segments.pollDuration`), and a historical completes each
        load and drop that it was asked for.
        """
        path = path_of(POLLED, self._data_source)
        polled = {*self._client.get("coordinator", path, list[str], missing=())}
        to_load, to_drop = {s.id for s in unused}, {s.id for s in used}
        if to_load & polled or not to_drop <= polled:
            return True
        queues = self._client.get("coordinator", "/druid/coordinator/v1/loadqueue", dict[str, wire.LoadQueue])
        return any(to_load & {*q.segments_to_load} or to_drop & {*q.segments_to_drop} for q in queues.values())

    def mark_unused(self, segments: Sequence[Segment]) -> None:
        if segments:
            path = mark_unused_path(self._data_source)
            self._client.post("coordinator", path, wire.Acknowledgement, _ids(segments))

    def mark_used(self, segments: Sequence[Segment]) -> None:
        """The overlord of Druid 33 does it, but responds with 500 because it cannot serialize its response; in Druid 32
        the coordinator does it."""
        if not segments:
            return
        with suppress(DruidError):
            path = mark_used_path(self._data_source)
            self._client.post("overlord", path, wire.Acknowledgement, _ids(segments))
            return
        with suppress(DruidError):
            if not set(segments) <= set(self.used()):
                path = path_of(f"{COORDINATOR}/{{}}/markUsed", self._data_source)
                self._client.post("coordinator", path, wire.Acknowledgement, _ids(segments))


COORDINATOR = "/druid/coordinator/v1/datasources"


class Patience:
    """A timeout for a condition that holds without interruption."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: float | None = None

    def is_over(self, is_so: bool) -> bool:
        if not is_so:
            self._since = None
            return False
        self._since = self._since or monotonic()
        return monotonic() - self._since > self._seconds


def wait_until(check: Callable[[], bool], patience: float) -> bool:
    """Poll until `check` is true, for at most `patience` seconds; returns whether it is."""
    end = monotonic() + patience
    pause = FIRST_PAUSE
    while not check():
        if monotonic() >= end:
            return False
        sleep(pause)
        pause = min(pause * 1.2, LONGEST_PAUSE)
    return True


def _ids(segments: Sequence[Segment]) -> dict[str, list[str]]:
    return {"segmentIds": [segment.id for segment in segments]}


def _hull(segments: Sequence[Segment]) -> tuple[int, int]:
    """From the first to the last of these segments."""
    return min(s.start for s in segments), max(s.end for s in segments)


def written_by_others(used: Iterable[Segment], before: Iterable[Segment], new: Iterable[Segment]) -> list[Segment]:
    """The segments of others with their own versions: segments appended to new ones disappear with these."""
    known, versions = {*before, *new}, {segment.version for segment in new}
    return [s for s in used if s not in known and s.version not in versions]


def not_hidden(segments: Sequence[Segment], others: Sequence[Segment]) -> list[Segment]:
    under = hidden_in_part(segments, others)
    return [segment for segment in segments if segment not in under]
