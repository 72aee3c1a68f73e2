"""Run the jobs that write to Druid: stage, submit, record each step, clean up. Another process can resume an
interrupted job.

The jobs of a statement have one owner; see `operations.owner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, assert_never

from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.model import Action
from hivedruid.actions.recovery import current
from hivedruid.actions.select.reduce import reduced
from hivedruid.actions.services import Services
from hivedruid.actions.writing import cold, copied_columns, local, run_directories, run_row_changes, staging, topics
from hivedruid.actions.writing.model import (
    CancelTopicWrite,
    ChangeTableRows,
    IngestDruid,
    LoadFiles,
    MergeTableRows,
    ResumeLoad,
    ResumeTopicWrite,
    RollBackLoad,
    SegmentWriting,
    SkipTarget,
    WriteTable,
    WritingAction,
)
from hivedruid.actions.writing.ways import SETTING
from hivedruid.catalog.archives import Batches
from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.places import Places
from hivedruid.catalog.store import from_json, to_json
from hivedruid.engine.capabilities import Loading, SegmentPublishing
from hivedruid.errors import DruidError, ExecutionError, HiveDruidError
from hivedruid.filesystems import Access
from hivedruid.operations.loads import IN_DRUID, LoadJob, ViewJob
from hivedruid.operations.operation import error_text
from hivedruid.operations.owner import is_running, owned
from hivedruid.operations.store import Operations
from hivedruid.scratch import remove_rows
from hivedruid.tables.metastore_tables import ICEBERG

if TYPE_CHECKING:
    from hivedruid.actions.writing.jobs import Origin
    from hivedruid.jobs.load import LoadReport
    from hivedruid.jobs.staged import StagedRows

VIEW = "MATERIALIZED VIEW"
"""The name in SHOW JOBS of a job that builds one."""
Commit = Callable[[], object]
"""The catalog change that is committed together with the verified load."""
PATIENCE = 60.0
"""Seconds to wait for another process to notice that its job was cancelled."""


def run(action: Action, services: Services) -> None:
    assert isinstance(action, WritingAction)
    match action:
        case IngestDruid():
            complete_job(action, services)
        case WriteTable():
            _write_table(action, services)
        case LoadFiles():
            from hivedruid.actions.partitioning import moves

            moves.load(action, services)
        case ChangeTableRows():
            run_row_changes.run(action, services)
        case MergeTableRows():
            run_row_changes.merge(action, services)
        case ResumeLoad():
            resume_load(action, services)
        case RollBackLoad():
            roll_back_load(action, services)
        case SkipTarget():
            skip_target(action, services)
        case ResumeTopicWrite():
            topics.resume(action, services)
        case CancelTopicWrite():
            topics.cancel(action, services)
        case _:
            assert_never(action)


def _write_table(action: WriteTable, services: Services) -> None:
    if action.table.kind == "kafka":
        topics.append(action, services)
        return
    if action.table.has_partitions:
        from hivedruid.actions.partitioning import moves

        moves.write(action, reduced(action.job, services), services)
        return
    if action.is_directory:
        run_directories.write(action.table, reduced(action.job, services), services)
        return
    if action.table.metastore and action.table.format == ICEBERG:
        metastore, table = services.metastore, action.table
        job = reduced(action.job, services)
        services.spark().write_in_metastore(
            job, table, partial(metastore.commit_iceberg, table), overwrite=action.overwrite
        )
        return
    if action.table.metastore:
        services.metastore.begin_write(action.table, ())
    try:
        if not local.written(action, services) and copied_columns.into_files(action, services) is None:
            job = reduced(action.job, services)
            services.spark().write(job, action.table, action.overwrite, replaced=action.replaced)
    except BaseException:
        if action.table.is_temporary and not action.table.is_written:
            remove_rows(action.table.location)
        raise
    if action.table.has_own_folder and not action.table.is_written:
        services.catalog.mark_written(action.table, written=True)


# --- the jobs of a statement -------------------------------------------------------------------------------------


@contextmanager
def statement_jobs(
    actions: Sequence[Action], services: Services, origin: Origin, query_id: str
) -> Iterator[list[LoadJob]]:
    """The jobs of the statement's targets, in order: recorded together, and locked inside the context."""
    jobs = list(_planned(actions, origin, query_id))
    if not jobs:
        yield jobs
        return
    store = Operations(services.catalog)
    staging.clean(services, store)
    with owned(services.home, jobs[0], store):
        store.begin(jobs)
        try:
            yield jobs
        except BaseException as error:
            _handle_failure(error, store, services, query_id)
            raise


def _planned(actions: Sequence[Action], origin: Origin, query_id: str) -> Iterator[LoadJob]:
    from uuid import uuid4

    number = 0
    for place, action in enumerate(actions, start=1):
        ingest = action.ingests
        if ingest is None:
            continue
        following = actions[place] if place < len(actions) else None
        added = following.table if isinstance(following, AddTable) else None
        is_view = ingest is not action
        table = ingest.table
        yield (ViewJob if is_view else LoadJob)(
            id=f"{table.name}_{uuid4().hex[:12]}", statement_id=query_id, number=number,
            statement=VIEW if is_view else "CREATE TABLE AS" if added else ingest.statement,
            database=table.database, table=table.name, table_id=table.table_id, druid=origin.druid,
            fingerprint=origin.fingerprint, text=origin.text, spec=ingest.spec, replaces=ingest.replaces,
            definition=to_json(added) if added else "",
        )  # fmt: skip
        number += 1


def _handle_failure(error: BaseException, store: Operations, services: Services, statement_id: str) -> None:
    """Handle a failed statement. Submitted loads stay recorded, so that a rerun does not submit them twice.

    If nothing was submitted, because staging failed or the user interrupted it, the jobs are cancelled.
    """
    jobs = [job for job in store.of_statement(statement_id) if isinstance(job, LoadJob)]
    if any(job.state in (*IN_DRUID, "verified", "cleaned") for job in jobs):
        return
    if isinstance(error, KeyboardInterrupt) or any(job.state == "planned" for job in jobs):
        for job in jobs:
            if not job.has_ended:
                _end(job, services, error_text(error))


# --- one job -----------------------------------------------------------------------------------------------------


def stage(action: IngestDruid, services: Services) -> StagedRows:
    """Stage the rows of a planned job; returns the existing ones if they are already staged."""
    store = Operations(services.catalog)
    job = _job(action, services)
    if job.staged is not None:
        return job.staged
    division = cold.begin(action, services)
    writing = _publishable(action, services)
    if writing is not None:
        job = store.move(job, "planned", folder=staging.segment_folder(writing.root, job))
    folder = staging.folder_of(job, services)
    try:
        services.engine(Loading).check(action.spec)
        skips = services.setting("hivedruid.null.time") == "skip"
        staged = (
            copied_columns.into_segments(action, writing, folder, services, skip_timeless=skips)
            if division is None
            else None
        )
        if staged is None:
            staged = local.staged(action, folder, services, skip_timeless=skips)
        if staged is None:
            staged = services.spark().stage(
                reduced(action.job, services), action.table, action.spec, folder, skip_timeless=skips,
                plan=writing.plan if writing is not None else None, division=division,
            )  # fmt: skip
        batch = cold.staged_batch(action, staged, division, services)
        with services.catalog.transaction() if batch is not None else nullcontext():
            store.move(job, "staged", staged=staged, spec=staging.filled(action.spec, folder))
            if batch is not None:
                Batches(services.catalog).keep(batch)
    except BaseException:
        staging.remove(folder, services)
        raise
    if staged.skipped:
        rows = "row without a __time was" if staged.skipped == 1 else "rows without a __time were"
        services.note(f"{staged.skipped} {rows} not written to {job.full_name}")
    return staged


def _publishable(action: IngestDruid, services: Services) -> SegmentWriting | None:
    """How segments are built; None if Druid's task builds them, or if they could not be published now.

    Raises ExecutionError if they are required, and could not be.
    """
    writing = action.segments
    if writing is None:
        return None
    problem = services.engine(SegmentPublishing).publishing_problem(
        action.table.data_source, writing.plan.granularity, writing.root, Access.of(services.settings),
        appends=action.replaces == "nothing",
    )  # fmt: skip
    if not problem:
        return writing
    if writing.is_required:
        raise ExecutionError(
            f"cannot publish segments of {action.table.full_name}: {problem}", hint=f"SET {SETTING}=auto"
        )
    services.note(f"a Druid task builds the segments of {action.table.full_name}: {problem}")
    return None


def complete_job(action: IngestDruid, services: Services) -> None:
    """Complete a job whose rows are staged."""
    job = _job(action, services)
    _complete(job, services, begun=_start_time(job))


def write(action: IngestDruid, services: Services, prepare: Callable[[StagedRows], Commit]) -> None:
    """Stage the rows of a job and complete it. `prepare` runs in between and returns a part of the commit."""
    staged = stage(action, services)
    job = _job(action, services)
    try:
        commit = prepare(staged)
    except BaseException as error:
        _end(job, services, error_text(error))
        raise
    _complete(job, services, commit, _start_time(job))


def _job(action: IngestDruid, services: Services) -> LoadJob:
    job = Operations(services.catalog).find(action.job_id)
    assert isinstance(job, LoadJob)
    return job


def _start_time(job: LoadJob) -> float:
    """When a job of this process was started, on the monotonic clock."""
    return monotonic() - (datetime.now(UTC) - datetime.fromisoformat(job.created)).total_seconds()


def _complete(job: LoadJob, services: Services, commit: Commit | None = None, begun: float | None = None) -> None:
    """Complete a job with staged rows from its current state."""
    begun = monotonic() if begun is None else begun
    if job.state != "verified":
        journal = _Journal(job if job.state in IN_DRUID else job.next_attempt(), job, services, commit)
        try:
            services.engine(Loading).ingest(journal.load(), journal)
        except BaseException as error:
            journal.failed(error)
            raise
        job = journal.job
    _clean(job, services)
    services.info(summary(job, monotonic() - begun, cold.rows_of(job, services)))


class _Journal:
    """Records the progress of a job in the catalog; see `jobs.load.Journal`."""

    def __init__(self, next_: LoadJob, stored: LoadJob, services: Services, commit: Commit | None) -> None:
        self.job = stored
        self._next = next_
        self._services = services
        self._store = Operations(services.catalog)
        self._commit = commit

    def load(self) -> Any:
        return self._next.load()

    def submitted(self, notes: Mapping[str, Any]) -> None:
        attempt = self._next.attempt
        self.job = self._store.move(self.job, "submitted", attempt=attempt, journal=dict(notes), error="")

    def published(self, notes: Mapping[str, Any]) -> None:
        self.job = self._store.move(self.job, "published", journal=dict(notes))

    def verified(self, report: LoadReport) -> None:
        published = self.job
        try:
            with self._services.catalog.transaction():
                self._verify(report)
        except BaseException:
            self.job = published  # the state in the catalog
            raise

    def _verify(self, report: LoadReport) -> None:
        job, catalog = self.job, self._services.catalog
        if job.table_id and not Ingestions(catalog).is_known(job.table_id):
            raise ExecutionError(f"{job.full_name} was concurrently dropped by another session")
        self.job = self._store.move(job, "verified", report=report, journal={}, error="")
        if place := self._services.place():
            Places(catalog).remember(job.data_source, place)
        if job.definition:
            catalog.add(from_json(_new_id(), job.database, job.table, job.definition))
        cold.switched(job, catalog)
        if self._commit is not None:
            self._commit()

    def rolled_back(self, reason: str) -> None:
        if self.job.state in IN_DRUID:
            self.job = self._store.move(self.job, "staged", journal={}, error=reason)

    def failed(self, error: BaseException) -> None:
        """After an error: Ctrl-C cancels the job; otherwise its staged rows are kept for RESUME JOB."""
        self.job = self._store.current(self.job)  # on the embedded store all steps may have been rolled back at once
        if self.job.state == "staged" and isinstance(error, KeyboardInterrupt):
            _end(self.job, self._services, "interrupted")
        elif not self.job.has_ended:
            with suppress(HiveDruidError):
                self.job = self._store.move(self.job, self.job.state, error=error_text(error))
            if isinstance(error, HiveDruidError):
                what = (
                    "continues the load"
                    if self.job.state in IN_DRUID
                    else "resubmits the staged rows, CANCEL JOB deletes them"
                )
                error.hint = "; ".join(filter(None, (error.hint, f"RESUME JOB '{self.job.id}' {what}")))


def _new_id() -> str:
    from uuid import uuid4

    return uuid4().hex


# --- resume and roll back ----------------------------------------------------------------------------------------


def resume_load(action: ResumeLoad, services: Services) -> None:
    """Resume the job of another process. Raises ExecutionError if that is not possible."""
    with owned(services.home, action.job, Operations(services.catalog)):
        job = current(action.job, services)
        if job.has_ended:
            return
        if job.state == "planned" or (isinstance(job, ViewJob) and job.state != "verified"):
            _roll_back(job, services)
            raise ExecutionError(
                f"not all rows of job {job.id} were staged: nothing was changed",
                hint="rerun the statement",
            )
        interrupted = f"job {job.id}, which was {job.state} when it was interrupted"
        if action.is_rerun:
            services.note(f"resuming {interrupted}: its rows are not computed again")
        else:
            services.note(f"completing {interrupted}")
        _complete(job, services)


def roll_back_load(action: RollBackLoad, services: Services) -> None:
    """Roll back a job. If another process runs it, that process is stopped first."""
    if action.asked and is_running(services.home, services.catalog, action.job.statement_id):
        _stop_other_process(action.job, services)
    with owned(services.home, action.job, Operations(services.catalog)):
        job = current(action.job, services)
        if not job.has_ended:
            _roll_back(job, services, with_table=action.with_table)
        elif action.asked:
            raise ExecutionError(f"job {job.id} has already ended", hint=f"DESCRIBE JOB '{job.id}'")


def _stop_other_process(job: LoadJob, services: Services) -> None:
    """Stop another process that runs a job, and return when it has released the lock.

    The job is changed first, so that the other process fails before it records the rows as verified.
    """
    job = current(job, services)
    if job.state != "submitted":  # published segments are being verified there
        raise ExecutionError(
            f"job {job.id} is {job.state} and running in another session",
            hint="wait for it to finish, or press Ctrl-C in that session",
        )
    from hivedruid.jobs.load import NoJournal

    job = Operations(services.catalog).move(job, "published", journal={**job.journal, "rolls_back": "cancelled"})
    services.engine(Loading).roll_back(job.load(), NoJournal())
    end = monotonic() + PATIENCE
    while is_running(services.home, services.catalog, job.statement_id):
        if monotonic() >= end:
            raise ExecutionError(
                f"timed out after {PATIENCE:g} s waiting for job {job.id} to stop in another session",
                hint=f"rerun CANCEL JOB '{job.id}' once it has stopped",
            )
        sleep(0.1)


def skip_target(action: SkipTarget, services: Services) -> None:
    job = action.job
    done = "already loaded by" if job.state == "cleaned" else "cancelled in"
    services.note(f"{job.full_name} skipped: {done} job {job.id}")


def _roll_back(job: LoadJob, services: Services, *, with_table: bool = False) -> None:
    if job.state == "verified":
        _clean(job, services)
        return
    if job.state in IN_DRUID:
        journal = _Journal(job, job, services, None)
        try:
            services.engine(Loading).roll_back(job.load(), journal)
        except DruidError:  # the task is shut down, and remaining rows are dropped with the table
            if not with_table:
                raise
        job = journal.job
        if job.state in IN_DRUID and not with_table:
            raise ExecutionError(f"job {job.id} was not rolled back", hint=f"rerun CANCEL JOB '{job.id}'")
    _end(job, services, job.error or "cancelled")


def _end(job: LoadJob, services: Services, why: str) -> None:
    staging.remove(staging.folder_of(job, services), services)
    cold.cancel(job, services)
    Operations(services.catalog).move(job, "cancelled", error=why)


def _clean(job: LoadJob, services: Services) -> None:
    if services.setting("hivedruid.staging.keep") != "true" and not job.folder:
        staging.remove(staging.folder_of(job, services), services)
    cold.complete(job, services)
    Operations(services.catalog).move(job, "cleaned")


# --- messages ----------------------------------------------------------------------------------------------------


def summary(job: LoadJob, seconds: float, cold_rows: int = 0) -> str:
    """`default.t: 5,000,000 rows, 120.4 MB, 30 segments in 40.2 s (124,378 rows/s)`. `cold_rows` were added to the cold
    part of a tiered table."""
    rows = job.staged.rows if job.staged is not None else 0
    segments = job.report.segments if job.report is not None else 0
    size = job.report.size if job.report is not None else 0
    parts = [f"{rows:,} row{'' if rows == 1 else 's'}"]
    if size:
        parts.append(_size(size))
    parts.append(f"{segments:,} segment{'' if segments == 1 else 's'}")
    parts += [f"{cold_rows:,} row{'' if cold_rows == 1 else 's'} in the cold part"] if cold_rows else []
    rate = f" ({rows / seconds:,.0f} rows/s)" if rows >= _MANY and seconds > 0 else ""
    return f"{job.full_name}: {', '.join(parts)} in {seconds:.1f} s{rate}"


_MANY = 1000
"""The number of rows from which rows per second are shown."""


def _size(size: int) -> str:
    from rich.filesize import decimal

    return decimal(size)
