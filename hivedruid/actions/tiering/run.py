"""Run archive jobs: rows of Druid's segments are added to the cold part, and leave Druid in one transaction.

See `operations.archives` for the states. Until Druid's transaction the rows in the cold part do not count, and
afterwards those in Druid do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, assert_never
from uuid import uuid4

from hivedruid.actions.model import Action
from hivedruid.actions.recovery import current
from hivedruid.actions.services import Services
from hivedruid.actions.statement_plan import StatementPlan
from hivedruid.actions.tiering.build import archived, count_of, keeps_pieces, summed
from hivedruid.actions.tiering.model import (
    ArchiveRows,
    CancelArchive,
    ListArchives,
    ResumeArchive,
    TieringAction,
    UnarchiveNothing,
    VerifyArchive,
)
from hivedruid.actions.tiering.reading import LOCK_PATIENCE, lock_name
from hivedruid.catalog.archives import Batch, Batches, BatchState, Interval
from hivedruid.catalog.names import with_field_names
from hivedruid.catalog.table import Table
from hivedruid.catalog.tiers import cold_part
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP_LTZ
from hivedruid.druid.interval_sets import IntervalSet, merged
from hivedruid.engine.archiving import Held, Holding, NotRemovedError
from hivedruid.engine.capabilities import Archiving
from hivedruid.errors import ExecutionError, SegmentReadError
from hivedruid.operations.archives import ArchiveJob
from hivedruid.operations.operation import error_text
from hivedruid.operations.owner import is_running, owned
from hivedruid.operations.store import Operations
from hivedruid.plan.literals import rows_in_zone
from hivedruid.results import Result, ResultColumn

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.actions.writing.model import WriteTable

COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "job": STRING, "state": STRING, "start": STRING, "end": STRING, "segments": BIGINT,
        "rows": BIGINT, "created": TIMESTAMP_LTZ, "error": STRING,
    }.items()
)  # fmt: skip


def run(action: Action, services: Services) -> Result | None:
    assert isinstance(action, TieringAction)
    match action:
        case ArchiveRows():
            _archive(action, services)
        case ResumeArchive():
            _resume(action.job, services)
        case CancelArchive():
            _cancel(action.job, services)
        case ListArchives():
            return _list(action, services)
        case VerifyArchive():
            from hivedruid.actions.tiering.verify import verify

            return verify(action, services)
        case UnarchiveNothing():
            services.note(f"{action.table.full_name}: no rows of these times are archived")
        case _:
            assert_never(action)
    return None


def _archive(action: ArchiveRows, services: Services) -> None:
    for job in action.unfinished:
        _resume(job, services)
    if not action.segments:
        services.note(f"{action.table.full_name}: nothing to archive")
    for spans in action.batches:
        _archive_batch(action.table, spans, services)


def _archive_batch(table: Table, spans: IntervalSet, services: Services) -> None:
    store = Operations(services.catalog)
    job = ArchiveJob(
        id=f"{table.name}_{uuid4().hex[:12]}", statement_id=uuid4().hex, statement="ARCHIVE TABLE",
        database=table.database, table=table.name, table_id=table.table_id, druid=services.setting("druid.url"),
        text=f"ARCHIVE TABLE {table.full_name}", spans=spans,
    )  # fmt: skip
    with owned(services.home, job, store):
        with services.catalog.transaction():
            store.begin([job])
            Batches(services.catalog).keep(Batch(job.id, table.table_id, "planned", ()))
        _Run(store.current(job), table, services).move()


class Counts(NamedTuple):
    """The number of rows, and the sums of columns by name; None of a column without values."""

    rows: int
    sums: Mapping[str, int | None]


class _Run:
    """A job that this process owns."""

    def __init__(self, job: ArchiveJob, table: Table, services: Services) -> None:
        self.job = job
        self.table = table
        self.services = services
        self.archiving = services.engine(Archiving)
        self.cold = cold_part(table)

    def to(self, state: BatchState, **changes: Any) -> None:
        """Record the job and its batch in another state, in one transaction."""
        with self.services.catalog.transaction():
            self.job = Operations(self.services.catalog).move(self.job, state, **changes)
            intervals = _intervals(Holding.of_notes(self.job.holding)) if self.job.holding else ()
            sums = tuple(self.job.sums.items())
            batch = Batch(self.job.id, self.job.table_id, state, intervals, self.job.rows, sums=sums)
            Batches(self.services.catalog).keep(batch)

    def move(self) -> None:
        """From the state `planned` to the end. A failure leaves everything as it was, or a job that can be resumed."""
        begun = monotonic()
        task = f"hivedruid_archive_{self.job.id}_{uuid4().hex[:8]}"
        try:
            self.to("planned", holding=Holding(self.table.data_source, task).notes())  # so that it can be ended
            with self.archiving.hold(self.table.data_source, merged(self.job.spans), task) as held:
                self._note_left_out(held.holding)
                if held.holding.segments:
                    self._stage(held)
                    self._switch(held)
            # the job ends after its task: a killed process leaves no locks that no job knows
            if not held.holding.segments:
                self.to("cancelled", error="no segment can be archived now")
                return
            self.to("done")
        except BaseException as error:
            self._handle(error)
            raise
        self.services.info(
            f"{self.table.full_name}: {self.job.rows} rows of {len(self.job.holding['segments'])} segments archived in"
            f" {monotonic() - begun:.1f} s"
        )

    def _note_left_out(self, holding: Holding) -> None:
        from hivedruid.druid.interval_sets import iso

        for each in holding.left_out:
            self.services.note(
                f"{self.table.full_name}: {iso(each.start)}/{iso(each.end)} is not archived: {each.reason}"
            )

    def _stage(self, held: Held) -> None:
        """Add the rows to the cold part, and check that they are all there."""
        spans = merged(held.holding.buckets)
        self.to("planned", holding=held.holding.notes())  # before the first row: the batch is known
        facts = self._facts()
        self.table = with_field_names(self.table, self.services.druid().schema(self.table.data_source))
        expected = self._count(spans, facts)
        written = self._write(spans, facts) if expected.rows else 0
        if written != expected.rows or self._count(spans, facts) != expected:
            raise ExecutionError(
                f"{written} of {expected.rows} rows were added to the cold part of {self.table.full_name}",
                hint="rerun the statement",
            )
        self.services.catalog.mark_written(self.table, written=True)
        self.to("staged", rows=written, sums=expected.sums)

    def _write(self, spans: IntervalSet, facts: Snapshot) -> int:
        """Add the rows to the cold part; returns their number. Spark reads the segments as for any scan."""
        from hivedruid.actions.segments import needed_segments

        plan, by_queries = archived(self.table, spans, self.job.id, facts)
        segments = needed_segments(StatementPlan((by_queries,), (plan,)), facts, self.services.druid)
        if segments:
            _, by_segments = archived(self.table, spans, self.job.id, replace(facts, segments=segments))
            try:
                return self._written(by_segments, spans)
            except SegmentReadError as error:  # nothing was added
                self.services.note(f"{error.message}; reading the rows with queries")
        return self._written(by_queries, spans)

    def _written(self, write: WriteTable, spans: IntervalSet) -> int:
        keeps_partitions = keeps_pieces(write, self.table, spans)
        return self.services.spark().write(write.job, self.cold, False, keeps_partitions=keeps_partitions)

    def _switch(self, held: Held) -> None:
        with self.services.locks.exclusive(lock_name(self.table), patience=LOCK_PATIENCE) as alone:
            if not alone:
                raise ExecutionError(
                    f"timed out after {LOCK_PATIENCE:g} s waiting for statements that write rows of"
                    f" {self.table.full_name} elsewhere",
                    hint=f"run RESUME JOB '{self.job.id}' when they have ended",
                )
            held.remove()
            self.to("switched")

    def _handle(self, error: BaseException) -> None:
        """Cancel a job whose rows are still in Druid."""
        if self.job.state == "planned" or isinstance(error, NotRemovedError):
            self.cancel(error_text(error))

    def cancel(self, reason: str) -> None:
        """Delete the rows of the batch from the cold part."""
        self._delete_rows()
        self.to("cancelled", error=reason)

    def _delete_rows(self) -> None:
        from hivedruid.spark.tiers import delete_batch

        delete_batch(self.services.spark(), self.cold, self.job.id)

    def _facts(self) -> Snapshot:
        from hivedruid.actions.snapshot import Snapshot

        key = (self.table.database, self.table.name)
        now = datetime.fromisoformat(self.job.created)
        limits = self.services.druid().limits()
        return Snapshot(self.services.settings, now, self.table.database, tables={key: self.table}, limits=limits)

    def _count(self, spans: IntervalSet, facts: Snapshot) -> Counts:
        """The rows that queries of Druid read; without sums if Druid does not compute them all."""
        from hivedruid.actions.select.run import one_row
        from hivedruid.plan.split import druid_read

        columns = summed(self.table)
        read = druid_read(count_of(self.table, spans, facts, columns))
        if read is None:
            columns = ()
            read = druid_read(count_of(self.table, spans, facts, columns))
        assert read is not None
        rows, *sums = one_row(read, "UTC", self.services.druid())
        return Counts(int(rows), dict(zip((column.name for column in columns), sums, strict=True)))


def _intervals(holding: Holding) -> tuple[Interval, ...]:
    return tuple(Interval(*span, holding.version_of(span)) for span in holding.buckets)


# --- interrupted jobs -----------------------------------------------------------------------------------------


def _interrupted(job: ArchiveJob, services: Services, work: Callable[[_Run], None]) -> None:
    store = Operations(services.catalog)
    with owned(services.home, job, store):
        job = current(job, services)
        if job.has_ended:
            return
        table = services.catalog.find(job.database, job.table)
        if table is None or table.table_id != job.table_id:
            store.move(job, "cancelled", error="the table was dropped")
            raise ExecutionError(f"{job.full_name} was dropped: nothing to archive")
        work(_Run(job, table, services))


def _resume(job: ArchiveJob, services: Services) -> None:
    _interrupted(job, services, lambda run: None if _completed(run) else _again(run))


def _again(run: _Run) -> None:
    run._delete_rows()
    run.to("planned")
    run.move()


def _cancel(job: ArchiveJob, services: Services) -> None:
    def work(run: _Run) -> None:
        if _completed(run):
            services.note(f"job {job.id} could not be cancelled: its rows had left Druid; it was completed")
        else:
            run.cancel("cancelled")

    _interrupted(job, services, work)


def _completed(run: _Run) -> bool:
    """Whether the rows of an interrupted job have left Druid; then the job is completed."""
    holding = Holding.of_notes(run.job.holding) if run.job.holding else None
    if holding is None:
        return False
    is_removed = run.archiving.was_removed(holding)  # also ends the task, which may still hold locks
    if run.job.state != "switched":
        if not is_removed:
            return False
        run.to("switched")
    run.archiving.settle(holding)
    run.to("done")
    run.services.info(f"{run.table.full_name}: {run.job.rows} rows archived by job {run.job.id}")
    return True


# --- SHOW ARCHIVES ----------------------------------------------------------------------------------------------


def _list(action: ListArchives, services: Services) -> Result:
    return Result(COLUMNS, rows_in_zone(_rows(action.table, services), services.zone()))


def _rows(table: Table | None, services: Services) -> Iterator[tuple[Any, ...]]:
    from hivedruid.druid.interval_sets import iso

    for job in Operations(services.catalog).all():
        if not isinstance(job, ArchiveJob) or (table is not None and job.table_id != table.table_id):
            continue
        holding = Holding.of_notes(job.holding) if job.holding else None
        spans = (holding.buckets if holding is not None else ()) or tuple(merged(job.spans))
        state = (
            job.state
            if job.has_ended or is_running(services.home, services.catalog, job.statement_id)
            else "interrupted"
        )
        yield (
            job.full_name, job.id, state, iso(spans[0][0]) if spans else None, iso(spans[-1][1]) if spans else None,
            len(holding.segments) if holding is not None else None, job.rows, datetime.fromisoformat(job.created),
            job.error or None,
        )  # fmt: skip
