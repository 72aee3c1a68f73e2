"""The segments that an ingestion task has published: find them by their mark, wait for them, verify them, roll them
back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from hivedruid.clients.measured import Measured, Measures, measured
from hivedruid.clients.segments import ETERNITY, Segments, wait_until
from hivedruid.druid.interval_sets import merged
from hivedruid.engine.segments import Segment, hidden, hidden_in_part, parts_of
from hivedruid.errors import DruidError
from hivedruid.jobs.staged import StagedRows, summed_fields
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.clients.tasks import TaskReport
    from hivedruid.jobs.load import Load

LOOKS = 3
"""The number of attempts to measure rows while other writes change their visible segments."""


class TakenAwayError(DruidError):
    """Segments of the task were marked as unused by others, without a replacement."""


class MismatchError(DruidError):
    """The rows in Druid differ from the staged rows."""


class OverwrittenError(DruidError):
    """Segments of the task were replaced by a later write, which may contain their rows."""


@dataclass(frozen=True)
class Before:
    """The state when the task was submitted: used segments with rows, and the visible ones among them."""

    used: tuple[Segment, ...] = ()
    seen: tuple[Segment, ...] = ()

    def notes(self) -> dict[str, Any]:
        """As JSON; of a segment only its identity."""
        return {"used": [_row(s) for s in self.used], "seen": [_row(s) for s in self.seen]}

    @classmethod
    def of_notes(cls, data_source: str, notes: Mapping[str, Any]) -> Before:
        used, seen = (tuple(Segment(data_source, *row[1:]) for row in notes.get(key) or ()) for key in ("used", "seen"))
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
        self._spans = spans

    def used(self) -> list[Segment]:
        """The used segments of the task."""
        return [s for s in self._segments.used(self._spans) if s.task == self._load.task]

    def ever(self, expected: int | None) -> list[Segment]:
        """The segments of the task, including unused ones. `expected`: the number that it reported."""
        found = self.used()
        if expected is None or len(found) < expected:
            # Druid lists segments that lie within a span, and appended segments may be wider than any of them
            span = ETERNITY if self._load.replaces == "nothing" else self._hull
            found += [s for s in self._segments.unused(span) if s.task == self._load.task]
        return found

    def check_not_overwritten(self) -> None:
        """Raises OverwrittenError if segments of the task were replaced by a later write: they cannot be rolled
        back."""
        ours = self.ever(None)
        others = [s for s in self._around(ours) if s.task != self._load.task]
        if overwritten(ours, others):
            raise OverwrittenError(
                f"cannot roll back task {self._load.task}: its segments were replaced by a later write",
                hint="complete the job with RESUME JOB",
            )

    def _around(self, segments: Sequence[Segment]) -> list[Segment]:
        """The used segments in the intervals of these segments."""
        spans = merged((s.start, s.end) for s in segments)
        return self._segments.used(spans)

    def visible(self) -> Literal["none", "some", "all"]:
        """See `Archiving.loaded`."""
        segments = self.ever(None)
        if not segments:
            return "none"
        rows = [segment for segment in segments if not segment.is_tombstone]
        known = {*self._visible(rows)}
        missing = [segment for segment in rows if segment not in known]
        is_complete = not missing or {*missing} <= hidden(missing, self._around(missing))
        return "all" if is_complete and (not self._before.used or self._is_none_read()) else "some"

    # --- until they can be queried -----------------------------------------------------------------------------

    def wait(self, segments: Sequence[Segment]) -> None:
        """Wait until queries see each segment with rows, or its replacement by a later write.

        Raises TakenAwayError if a segment was dropped, and DruidError on timeout.
        """
        rows = [segment for segment in segments if not segment.is_tombstone]

        def on_missing(missing: int) -> None:
            self._progress(f"{len(rows) - missing} of {len(rows)} segments of {self._load.data_source} are loaded")

        if not self._segments.wait_for(rows, self._cluster.patience, self._are_replaced, on_missing):
            raise DruidError(
                f"the rows are stored, but timed out after {self._cluster.patience:g} s waiting for their segments to"
                " be loaded",
                hint="check that the historical is running and has free space: hivedruid doctor",
            )

    def _are_replaced(self, missing: Sequence[Segment]) -> bool:
        """Whether newer segments hide all of these. Raises TakenAwayError if one is unused and not hidden."""
        used = self._around(missing)
        ids = {segment.id for segment in used}
        replaced = hidden(missing, used)
        gone = [s for s in missing if s.id not in ids and s not in replaced]
        if gone:
            raise TakenAwayError(
                f"{len(gone)} segments of the ingestion task {self._load.task} were dropped before they could be"
                " queried"
            )
        return len(replaced) == len({*missing})

    # --- verification ------------------------------------------------------------------------------------------

    def check(self, segments: Sequence[Segment], report: TaskReport) -> None:
        """Verify the rows of exactly these segments against the staged rows.

        Raises MismatchError, with the differences, and TakenAwayError if segments were dropped. If some were already
        replaced by a later write, they cannot be verified, which is noted.
        """
        staged = self._load.staged
        _check_counts(report, staged.rows, self._load.task)
        measures, expected = _expected(staged, self._load.spec["spec"]["dataSchema"])
        rows = [segment for segment in segments if not segment.is_tombstone]
        if measures.merges and not measures.fields:
            return
        self._progress(f"verifying the rows of {len(rows)} segments of {self._load.data_source}")
        for _ in range(LOOKS):
            seen = self._visible(rows)
            found = measured(self._cluster, self._load.data_source, [s.descriptor for s in seen], measures)
            differences = list(measures.differences(expected, found))
            if not differences:
                return
            known = {*seen}
            unseen = [s for s in rows if s not in known]
            if not unseen and {*self._visible(rows)} == known:
                raise MismatchError(
                    f"the rows in Druid differ from the staged rows: {'; '.join(differences)}",
                    hint=f"task {self._load.task}",
                )
        self._are_replaced(unseen)
        self._cluster.note(
            f"the rows of task {self._load.task} could not be verified: {len(unseen)} of its "
            f"{len(rows)} segments were replaced by a later write"
        )

    def _visible(self, rows: Sequence[Segment]) -> list[Segment]:
        """The parts of these segments that queries read."""
        by_key = parts_of(rows)
        return [part for part in self._segments.seen(rows) if part.has_part_in(by_key)]

    # --- cleanup -----------------------------------------------------------------------------------------------

    def settle(self, segments: Sequence[Segment]) -> None:
        """Mark the replaced segments, and the tombstones that hide them, as unused; Druid itself would do so later.

        The tombstones follow when the servers have dropped what they hide: if a server dropped a tombstone first,
        queries would read the hidden segment until it is dropped, too.
        """
        if self._load.replaces != "all" or not self._before.used:
            return
        used = {segment.id for segment in self._segments.used(self._spans)}
        self._segments.mark_unused([s for s in self._before.used if s.id in used])
        tombstones = [s for s in segments if s.is_tombstone and s.id in used]
        if tombstones:
            old = {s.id for s in self._before.used}
            self._wait_until_gone(lambda: not old & self._segments.served(self._before.used))
            self._segments.mark_unused(tombstones)
        self._wait_until_gone(self._is_none_read)

    def let_go(self) -> None:
        """Mark all earlier segments as unused, if nothing replaces them."""
        used = {segment.id for segment in self._segments.used(self._spans)}
        self._segments.mark_unused([s for s in self._before.used if s.id in used])
        self._wait_until_gone(self._is_none_read)

    def _is_none_read(self) -> bool:
        """Whether queries read none of the old segments."""
        parts = parts_of(self._segments.seen(self._before.used))
        return not any(s.has_part_in(parts) for s in self._before.used)

    def _wait_until_gone(self, are_gone: Callable[[], bool]) -> None:
        self._progress(f"waiting for the old segments of {self._load.data_source} to be unloaded")
        if not wait_until(are_gone, self._cluster.patience):
            raise DruidError(
                f"the rows are stored, but timed out after {self._cluster.patience:g} s waiting for the old segments to"
                " be unloaded",
                hint="check the logs of Druid's coordinator and historicals",
            )

    def take_back(self, segments: Sequence[Segment]) -> None:
        """Mark the segments as unused, restore those that they replaced, and wait until queries see the earlier
        state."""
        self._progress(f"rolling back {len(segments)} segments of {self._load.data_source}")
        if not self._segments.restore(self._before.used, self._before.seen, segments):
            raise DruidError(f"the segments of ingestion task {self._load.task} are not rolled back yet")

    def _progress(self, text: str) -> None:
        self._cluster.progress(f"Druid: {text}")


def overwritten(ours: Sequence[Segment], others: Sequence[Segment]) -> list[Segment]:
    """The task's segments with rows that newer segments of others hide, at least in part.

    Whether the newer ones contain their rows, as after compaction, is unknown. If Druid has copied appended segments
    into a concurrent replacement (concurrent locks), the copies have the mark, too, and are the used ones.
    """
    under = hidden_in_part(ours, others) - hidden_in_part(ours, ours)
    return [s for s in ours if not s.is_tombstone and s in under]


def _expected(staged: StagedRows, schema: Mapping[str, Any]) -> tuple[Measures, Measured]:
    """The measures to compare, and their expected values."""
    rolls_up = bool((schema.get("granularitySpec") or {}).get("rollup", True))
    fields = {name: kind for name, kind in summed_fields(schema).items() if name in staged.sums}
    return Measures(fields, merges=rolls_up), Measured(staged.rows, staged.sums)


def _check_counts(report: TaskReport, expected: int, task: str) -> None:
    """Compare the reported number of rows. Some tasks have no report; an unparseable row fails the task."""
    if report.processed is None:
        return
    if report.processed != expected or report.lost:
        details = ", ".join(f"{count} {name}" for name, count in (report.lost or {}).items())
        raise MismatchError(
            f"Druid ingested {report.processed} of {expected} rows{f' ({details})' if details else ''}",
            hint=f"task {task}",
        )
