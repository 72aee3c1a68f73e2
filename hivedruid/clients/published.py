"""What one ingestion task has published: found again by its mark, waited for, held against what was staged, taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hivedruid.clients.measured import Measured, Measures, measured
from hivedruid.clients.segments import ETERNITY, Segment, Segments, interval, parts_of, wait_until
from hivedruid.clients.task_spec import without
from hivedruid.druid.interval_sets import merged
from hivedruid.errors import DruidError
from hivedruid.jobs.staged import Interval, StagedRows, summed_fields

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.clients.tasks import TaskReport
    from hivedruid.jobs.load import Load

MOST_SPANS = 100
"""Intervals that the metadata store is asked for in one query (SqlSegmentsMetadataQuery)."""
LOOKS = 3
"""How often rows are measured again while others change what is visible of them."""


class TakenAwayError(DruidError):
    """Somebody has marked segments of the task as unused, and nothing is in their place."""


class MismatchError(DruidError):
    """Druid has other rows than were staged."""


class OverwrittenError(DruidError):
    """Others have written over rows of the task, which may live on there."""


@dataclass(frozen=True)
class Before:
    """What there was when the task was submitted: segments with rows, and what of them queries saw."""

    used: tuple[Segment, ...] = ()
    seen: tuple[Segment, ...] = ()

    def notes(self) -> dict[str, Any]:
        """As JSON; of a segment only what finds it again."""
        return {"used": [_row(s) for s in self.used], "seen": [_row(s) for s in self.seen]}

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any]) -> Before:
        used, seen = (tuple(Segment(*row) for row in notes.get(key) or ()) for key in ("used", "seen"))
        return cls(used, seen)


def _row(segment: Segment) -> list[Any]:
    return [segment.id, segment.start, segment.end, segment.version, segment.number]


class Published:
    """All methods raise DruidError or ConnectError."""

    def __init__(self, cluster: DruidCluster, load: Load, before: Before) -> None:
        self._cluster = cluster
        self._load = load
        self._before = before
        self._segments = Segments(cluster.client, load.data_source)
        spans = merged([*load.staged.intervals, *((s.start, s.end) for s in before.used)]) or (ETERNITY,)
        self._hull = (spans[0][0], spans[-1][1])
        self._spans = _few(spans)

    def used(self) -> list[Segment]:
        """The segments of the task that count."""
        return [s for s in self._segments.used(self._spans) if s.task == self._load.task]

    def ever(self, expected: int | None) -> list[Segment]:
        """The segments of the task, those among them that count no more, too. `expected`: how many it says there are."""
        found = self.used()
        if expected is None or len(found) < expected:
            # Druid tells of those that lie within a span, and rows may have joined segments that are wider than any
            span = ETERNITY if self._load.replaces == "nothing" else self._hull
            found += [s for s in self._segments.unused(span) if s.task == self._load.task]
        return found

    def check_not_overwritten(self) -> None:
        """Raises OverwrittenError where others have written over rows of the task: without these, it cannot be taken back."""
        ours = self.ever(None)
        others = [s for s in self._around(ours) if s.task != self._load.task]
        if overwritten(ours, others):
            raise OverwrittenError(
                f"cannot roll back task {self._load.task}: its segments were replaced by a later write",
                hint="complete the job with RESUME JOB",
            )

    def _around(self, segments: Sequence[Segment]) -> list[Segment]:
        """What counts where these are, or have been."""
        spans = merged((s.start, s.end) for s in segments)
        return self._segments.used(_few(spans)) if spans else []

    # --- until they can be queried -----------------------------------------------------------------------------

    def wait(self, segments: Sequence[Segment]) -> None:
        """Until queries see each segment that has rows, or what others have put in its place meanwhile.

        Raises TakenAwayError where somebody has dropped one, and DruidError where it takes too long.
        """
        rows = [segment for segment in segments if not segment.is_tombstone]

        def tell(missing: int) -> None:
            self._tell(f"{len(rows) - missing} of {len(rows)} segments of {self._load.data_source} are loaded")

        if not self._segments.wait_for(rows, self._cluster.patience, self._are_replaced, tell):
            raise DruidError(
                f"the rows are stored, but timed out after {self._cluster.patience:g} s waiting for their segments to be loaded",
                hint="check that the historical is running and has free space: hivedruid doctor",
            )

    def _are_replaced(self, missing: Sequence[Segment]) -> bool:
        """Whether newer segments hide all of these. Raises TakenAwayError where there are none, and they count no more."""
        used = self._around(missing)
        ids = {segment.id for segment in used}
        is_hidden = {s.id: _is_hidden(s, used) for s in missing}
        gone = [s for s in missing if s.id not in ids and not is_hidden[s.id]]
        if gone:
            raise TakenAwayError(
                f"{len(gone)} segments of the ingestion task {self._load.task} were dropped before they could be queried"
            )
        return all(is_hidden.values())

    # --- against what was staged -------------------------------------------------------------------------------

    def check(self, segments: Sequence[Segment], report: TaskReport) -> None:
        """Hold the rows of these segments, and no others, against those that were staged.

        Raises MismatchError, with what differs, and TakenAwayError where somebody has dropped segments. Where others have
        written over some already, that cannot be seen any more, and is noted.
        """
        staged = self._load.staged
        _check_counts(report, staged.rows, self._load.task)
        measures, expected = _expected(staged, self._load.spec["spec"]["dataSchema"])
        rows = [segment for segment in segments if not segment.is_tombstone]
        if measures.merges and not measures.fields:
            return
        self._tell(f"verifying the rows of {len(rows)} segments of {self._load.data_source}")
        for _ in range(LOOKS):
            seen = self._visible(rows)
            found = measured(self._cluster, self._load.data_source, [_descriptor(s) for s in seen], measures)
            differences = list(measures.differences(expected, found))
            if not differences:
                return
            hidden = [s for s in rows if not _is_whole(s, seen)]
            if not hidden and set(self._visible(rows)) == set(seen):
                raise MismatchError(
                    f"the rows in Druid differ from the staged rows: {'; '.join(differences)}",
                    hint=f"task {self._load.task}",
                )
        self._are_replaced(hidden)
        self._cluster.note(
            f"the rows of task {self._load.task} could not be verified: {len(hidden)} of its "
            f"{len(rows)} segments were replaced by a later write"
        )

    def _visible(self, rows: Sequence[Segment]) -> list[Segment]:
        """What queries read of these segments."""
        by_key = parts_of(rows)
        return [part for part in self._segments.seen(rows) if part.has_part_in(by_key)]

    # --- and then ----------------------------------------------------------------------------------------------

    def settle(self, segments: Sequence[Segment]) -> None:
        """Let go of all that was replaced, which Druid does by itself some time later, and of the tombstones that hid it."""
        if self._load.replaces != "all" or not self._before.used:
            return
        used = {segment.id for segment in self._segments.used(self._spans)}
        for some in (self._before.used, [s for s in segments if s.is_tombstone]):
            self._segments.mark_unused([s for s in some if s.id in used])
        self._wait_until_gone()

    def let_go(self) -> None:
        """Let go of all that was there before, where nothing comes in its place."""
        used = {segment.id for segment in self._segments.used(self._spans)}
        self._segments.mark_unused([s for s in self._before.used if s.id in used])
        self._wait_until_gone()

    def _wait_until_gone(self) -> None:
        self._tell(f"waiting for the old segments of {self._load.data_source} to be unloaded")

        def are_gone() -> bool:
            parts = parts_of(self._segments.seen(self._before.used))
            return not any(s.has_part_in(parts) for s in self._before.used)

        if not wait_until(are_gone, self._cluster.patience):
            raise DruidError(
                f"the rows are stored, but timed out after {self._cluster.patience:g} s waiting for the old segments to be unloaded",
                hint="check the logs of Druid's coordinator and historicals",
            )

    def take_back(self, segments: Sequence[Segment]) -> None:
        """Mark them unused, give back what they replaced, and wait until queries see again what they saw before."""
        self._tell(f"rolling back {len(segments)} segments of {self._load.data_source}")
        if not self._segments.restore(self._before.used, self._before.seen, segments):
            raise DruidError(f"the segments of ingestion task {self._load.task} are not rolled back yet")

    def _tell(self, text: str) -> None:
        self._cluster.progress(f"Druid: {text}")


def _few(spans: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """No more than can be asked for at once."""
    return spans if len(spans) <= MOST_SPANS else ((spans[0][0], spans[-1][1]),)


def overwritten(ours: Sequence[Segment], others: Sequence[Segment]) -> list[Segment]:
    """Those of a task's segments with rows that newer ones of others hide, at least in part.

    Which of their rows live on there, as after compaction they do, cannot be told. Where Druid has copied what was appended
    into what replaced the old meanwhile (concurrent locks), the copy has the mark, too, and is what counts.
    """
    return [s for s in ours if not s.is_tombstone and s.is_under(others) and not s.is_under(ours)]


def _is_hidden(segment: Segment, others: Sequence[Segment]) -> bool:
    newer: list[Interval] = [(o.start, o.end) for o in others if o.version > segment.version and segment.overlaps(o)]
    return not list(without([(segment.start, segment.end)], merged(newer)))


def _is_whole(segment: Segment, seen: Sequence[Segment]) -> bool:
    key = (segment.start, segment.end, segment.version, segment.number)
    return any((s.start, s.end, s.version, s.number) == key for s in seen)


def _descriptor(segment: Segment) -> dict[str, Any]:
    return {"itvl": interval((segment.start, segment.end)), "ver": segment.version, "part": segment.number}


def _expected(staged: StagedRows, schema: Mapping[str, Any]) -> tuple[Measures, Measured]:
    """What is measured in Druid, and what it should be."""
    rolls_up = bool((schema.get("granularitySpec") or {}).get("rollup", True))
    fields = {name: kind for name, kind in summed_fields(schema).items() if name in staged.sums}
    return Measures(fields, merges=rolls_up), Measured(staged.rows, staged.sums)


def _check_counts(report: TaskReport, expected: int, task: str) -> None:
    """Some tasks leave no report; a row that cannot be parsed has failed the task."""
    if report.processed is None:
        return
    if report.processed != expected or report.lost:
        details = ", ".join(f"{count} {name}" for name, count in (report.lost or {}).items())
        raise MismatchError(
            f"Druid ingested {report.processed} of {expected} rows{f' ({details})' if details else ''}",
            hint=f"task {task}",
        )
