"""The removal of segments whose rows are stored elsewhere: tombstones, published in one transaction under locks.

    free ── a task that only holds locks ──► held ── the transaction ──► removed ── unread, marked unused ──► settled

docs/tiered.md describes the behaviour of Druid that this relies on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from hivedruid.clients import wire
from hivedruid.clients.lock_holder import PRIORITY, LockHolder
from hivedruid.clients.published import Before, Published
from hivedruid.clients.segments import Segments, interval, wait_until
from hivedruid.clients.task_spec import MOST_TOMBSTONES, TOMBSTONE, data_segment, marked
from hivedruid.druid.interval_sets import merged
from hivedruid.engine.archiving import (
    Held,
    HeldInterval,
    Holding,
    LeftOut,
    NotRemovedError,
    Span,
    UnknownRemovalError,
    within,
)
from hivedruid.engine.segments import Segment, hidden, hidden_in_part, parts_of
from hivedruid.errors import ConnectError, DruidError

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.jobs.load import Load

TOO_OLD, NOT_SEEN = "the broker still reads replaced segments", "a segment cannot be queried: no historical has it"
"""Reasons that may change in a moment: the broker has not received the last changes yet."""


@contextmanager
def hold(
    cluster: DruidCluster, data_source: str, spans: Sequence[Span], task_id: str, patience: float, longest: float
) -> Iterator[Held]:
    """See `Archiving.hold`."""
    holder = LockHolder(cluster, task_id, data_source, longest)
    try:
        holder.submit()
        yield _Held(cluster, holder, _Search(cluster, data_source, holder, patience).holding(spans))
    finally:
        cluster.progress("")
        try:
            holder.stop()
        except (DruidError, ConnectError) as error:
            cluster.note(f"task {task_id} may still hold intervals of {data_source}: {error.message}")


class _Held(Held):
    def __init__(self, cluster: DruidCluster, holder: LockHolder, holding: Holding) -> None:
        self._cluster = cluster
        self._holder = holder
        self._holding = holding

    @property
    def holding(self) -> Holding:
        return self._holding

    def remove(self) -> None:
        """See `Held.remove`."""
        holding = self._holding
        if not holding.segments:
            return
        self._check_unchanged()
        self._cluster.progress(f"Druid: {holding.data_source}: removing {len(holding.segments)} segments")
        try:
            self._holder.publish("segmentTransactionalInsert", [*tombstones(holding)])
        except (DruidError, ConnectError) as error:
            if not was_removed(self._cluster, holding):
                raise NotRemovedError(
                    f"the segments of {holding.data_source} were not removed: {error.message}",
                    hint=error.hint or "rerun the statement",
                ) from error
        settle(self._cluster, holding)

    def drop(self) -> None:
        """See `Held.drop`: also hidden segments and tombstones, so that nothing comes back."""
        holding = self._holding
        if not holding.segments:
            return
        self._check_unchanged()
        segments = Segments(self._cluster.client, holding.data_source)
        segments.mark_unused(segments.used(holding.spans))
        _wait_until_unread(self._cluster, holding)

    def _check_unchanged(self) -> None:
        holding = self._holding
        segments = Segments(self._cluster.client, holding.data_source)
        if _places(readable(_placed(segments, holding.spans))) != _places(holding.segments):
            raise NotRemovedError(
                f"the segments of {holding.data_source} were not removed: others have changed them",
                hint="rerun the statement",
            )


# --- afterwards, in any process ----------------------------------------------------------------------------------


def was_removed(cluster: DruidCluster, holding: Holding) -> bool:
    """See `Archiving.was_removed`."""
    LockHolder(cluster, holding.task, holding.data_source, 0).stop()
    if not holding.segments:
        return False
    known = _known(cluster, holding)
    if any(segment.task == holding.task for segment in known):
        return True
    if {*holding.segments} <= {*known}:
        return False
    raise UnknownRemovalError(
        f"it is unknown whether task {holding.task} has removed segments of {holding.data_source}: Druid has deleted"
        " the records of unused segments",
        hint=f"count the rows of {holding.data_source} in {', '.join(map(interval, holding.spans))}",
    )


def is_removed(cluster: DruidCluster, holding: Holding) -> bool:
    """See `Archiving.is_removed`."""
    return bool(holding.segments) and any(segment.task == holding.task for segment in _known(cluster, holding))


def _known(cluster: DruidCluster, holding: Holding) -> list[Segment]:
    """All segments in the intervals of which there are records; used ones first, since they become unused."""
    segments = Segments(cluster.client, holding.data_source)
    used = segments.used(holding.spans)
    return [*used, *segments.unused((holding.spans[0][0], holding.spans[-1][1]))]


def loaded(cluster: DruidCluster, load: Load) -> Literal["none", "some", "all"]:
    """See `Archiving.loaded`."""
    return Published(cluster, load, Before.of_notes(load.data_source, load.notes)).visible()


def settle(cluster: DruidCluster, holding: Holding) -> None:
    """See `Archiving.settle`.

    Unused segments cannot return if the retention rules or a user drop the tombstones.
    """
    if not holding.segments:
        return
    _wait_until_unread(cluster, holding)
    segments = Segments(cluster.client, holding.data_source)
    above = [Segment(holding.data_source, *span, holding.version_of(span), 0) for span in holding.buckets]
    below = hidden(segments.used(holding.spans), above)
    segments.mark_unused([segment for segment in below if not segment.is_tombstone])


def _wait_until_unread(cluster: DruidCluster, holding: Holding) -> None:
    segments = Segments(cluster.client, holding.data_source)

    def is_unread() -> bool:
        parts = parts_of(segments.seen(holding.segments))
        return not any(segment.has_part_in(parts) for segment in holding.segments)

    cluster.progress(f"Druid: waiting until the removed segments of {holding.data_source} are unloaded")
    try:
        if not wait_until(is_unread, cluster.patience):
            raise DruidError(
                f"the segments of {holding.data_source} are removed, but timed out after {cluster.patience:g} s waiting"
                " for the broker to unload them",
                hint="check the logs of Druid's coordinator and historicals",
            )
    finally:
        cluster.progress("")


def tombstones(holding: Holding) -> Iterator[dict[str, Any]]:
    """A DataSegment for each interval of segments: so later rows are stored in the same intervals as before."""
    state = marked(holding.task, {}, {})
    for span in holding.buckets:
        version = holding.version_of(span)
        segment = Segment(holding.data_source, *span, version, 0)
        yield data_segment(segment, TOMBSTONE, {"type": "tombstone"}, state)


# --- which segments ----------------------------------------------------------------------------------------------


class _Search:
    """The intervals that can be held, and their segments."""

    def __init__(self, cluster: DruidCluster, data_source: str, holder: LockHolder, patience: float) -> None:
        self._cluster = cluster
        self._data_source = data_source
        self._holder = holder
        self._patience = patience
        self._segments = Segments(cluster.client, data_source)

    def holding(self, spans: Sequence[Span]) -> Holding:
        inside, left_out = within(_placed(self._segments, spans), spans)
        left_out += [LeftOut(*span, f"more than {MOST_TOMBSTONES} intervals") for span in inside[MOST_TOMBSTONES:]]
        tried = inside[:MOST_TOMBSTONES]
        versions = self._locked(tried)
        left_out += [LeftOut(*span, self._holders(span)) for span in tried if span not in versions]
        found, reasons = self._checked(versions)
        left_out += [LeftOut(*span, reason) for span, reason in reasons.items()]
        self._holder.release(span for span in versions if span not in found)
        rows = self._rows(found)
        segments = (replace(segment, rows=rows.get(segment.id)) for some in found.values() for segment in some)
        intervals = tuple(HeldInterval(*span, versions[span]) for span in found)
        left_out.sort(key=lambda left: left.start)
        return Holding(self._data_source, self._holder.task.id, intervals, tuple(segments), tuple(left_out))

    def _locked(self, spans: Sequence[Span]) -> dict[Span, str]:
        """The versions of the locks that are granted, by interval. Only locks of batch tasks are waited for."""
        versions: dict[Span, str] = {}

        def is_decided() -> bool:
            waits = False
            for span in spans:
                if span not in versions:
                    version = self._holder.lock(span)
                    if version is not None:
                        versions[span] = version
                    elif all(lock.priority <= PRIORITY for lock in self._holder.others(span)):
                        waits = True
            return not waits

        self._cluster.progress(f"Druid: {self._data_source}: waiting for the locks of {len(spans)} intervals")
        wait_until(is_decided, self._patience)
        return {span: versions[span] for span in spans if span in versions}

    def _holders(self, span: Span) -> str:
        names = ", ".join(sorted({lock.group_id for lock in self._holder.others(span)}))
        return f"tasks write there{names and f': {names}'}"

    def _checked(self, versions: Mapping[Span, str]) -> Sorted:
        """The locked intervals that can be held; waits for the broker."""
        found: Sorted = {}, {}

        def is_complete() -> bool:
            nonlocal found
            used = _placed(self._segments, [*versions])
            found = sorted_out(versions, used, self._segments.visible([*versions]))
            return not {TOO_OLD, NOT_SEEN} & {*found[1].values()}

        wait_until(is_complete, self._patience)
        return found

    def _rows(self, held: Iterable[Span]) -> dict[str, int]:
        """The number of rows by segment id, as far as the broker answers."""
        spans = [*map(interval, merged(held))]
        if not spans:
            return {}
        query = {
            "queryType": "segmentMetadata", "dataSource": self._data_source, "intervals": spans,
            "analysisTypes": [], "toInclude": {"type": "none"},
        }  # fmt: skip
        return {item.id: item.num_rows for item in self._cluster.answer(query, wire.SegmentAnalysis)}


Sorted = tuple[dict[Span, list[Segment]], dict[Span, str]]
"""The segments with rows by interval, and the reasons why others are left out."""


def sorted_out(versions: Mapping[Span, str], used: Sequence[Segment], seen: Sequence[Segment]) -> Sorted:
    """The locked intervals in which queries see exactly the used segments with rows. Those without rows are neither
    held nor left out."""
    found: dict[Span, list[Segment]] = {}
    reasons: dict[Span, str] = {}
    for span, version in versions.items():
        inside = _overlapping(used, span)
        rows = readable(inside)
        if rows:
            reason = _problem(span, version, inside, rows, _overlapping(seen, span))
            if reason:
                reasons[span] = reason
            else:
                found[span] = sorted(rows, key=lambda s: (s.start, s.number))
    return found, reasons


def _overlapping(segments: Iterable[Segment], span: Span) -> list[Segment]:
    return [segment for segment in segments if segment.start < span[1] and span[0] < segment.end]


def _problem(
    span: Span, version: str, used: Sequence[Segment], rows: Sequence[Segment], seen: Sequence[Segment]
) -> str:
    """Why a locked interval cannot be held; "" if it can."""
    if any(segment.start < span[0] or span[1] < segment.end for segment in used):
        return "a segment reaches beyond the interval"
    if any(segment.version >= version for segment in used):
        return "a segment is newer than the lock"
    if hidden_in_part(rows, used):
        return "a segment is hidden in part by a newer one: compact the table"
    stored = {segment for segment in used if segment.is_tombstone}
    parts = {part for part in seen if part not in stored}
    if any(part.is_growing for part in parts):
        return "a task still serves rows"
    if not parts <= {*rows}:
        return TOO_OLD
    return "" if parts == {*rows} else NOT_SEEN


def readable(used: Sequence[Segment]) -> list[Segment]:
    """The used segments with rows that newer ones do not hide."""
    under = hidden(used, used)
    return [segment for segment in used if not segment.is_tombstone and segment not in under]


def _placed(segments: Segments, spans: Sequence[Span]) -> list[Segment]:
    """The used segments that overlap these intervals, each with its place."""
    return segments.placed(merged(spans))


def _places(segments: Iterable[Segment]) -> set[tuple[str, str]]:
    return {(segment.id, segment.path) for segment in segments}
