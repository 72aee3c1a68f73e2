"""Run the compaction actions: requests to Druid, and the rows of SHOW COMPACTIONS and SHOW SEGMENTS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, assert_never
from uuid import uuid4

from hivedruid.actions.compacting import rewrites
from hivedruid.actions.compacting.build import NOT_HERE
from hivedruid.actions.compacting.model import (
    CancelCompaction,
    CompactFiles,
    CompactingAction,
    CompactSegments,
    ConfigureCompaction,
    ForgetRewrite,
    ListCompactions,
    ListSegments,
    ResumeCompaction,
    ResumeRewrite,
)
from hivedruid.actions.model import Action
from hivedruid.actions.recovery import current
from hivedruid.actions.services import Services
from hivedruid.actions.watching.run import table_names
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP_LTZ
from hivedruid.clients.compaction import ISSUED
from hivedruid.druid.interval_sets import iso
from hivedruid.engine.capabilities import Compaction, Merging, SegmentLists
from hivedruid.engine.compaction import AutomaticCompaction, CompactionAmount, CompactionError, CompactionLimits
from hivedruid.errors import ExecutionError, HiveDruidError
from hivedruid.ingestion import overview as o
from hivedruid.ingestion.model import Task
from hivedruid.operations.compactions import CompactionJob
from hivedruid.operations.operation import error_text
from hivedruid.operations.owner import owned
from hivedruid.operations.store import Operations
from hivedruid.plan.literals import rows_in_zone
from hivedruid.results import Result, ResultColumn
from hivedruid.setting_types import seconds

if TYPE_CHECKING:
    from hivedruid.engine.segments import Segment

TASK_COLUMNS = (ResultColumn("task", STRING),)
COMPACTION_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "type": STRING, "state": STRING, "task": STRING, "created": TIMESTAMP_LTZ, "duration": DOUBLE,
        "error": STRING, "awaiting": STRING, "compacted": STRING, "skipped": STRING,
    }.items()
)  # fmt: skip
SEGMENT_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "interval_start": STRING, "interval_end": STRING, "version": STRING, "partition": BIGINT,
        "rows": BIGINT, "bytes": BIGINT, "state": STRING, "replicas": BIGINT,
    }.items()
)  # fmt: skip


def run(action: Action, services: Services) -> Result | None:
    assert isinstance(action, CompactingAction)
    match action:
        case ListSegments():
            return _segments(action, services)
        case CompactSegments():
            return _compact(action, services)
        case CompactFiles():
            rewrites.compact(action, services)
            return None
        case ResumeRewrite():
            rewrites.resume(action, services)
            return None
        case ForgetRewrite():
            rewrites.forget(action, services)
            return None
        case ResumeCompaction():
            _resume(action, services)
            return None
        case CancelCompaction():
            _cancel(action, services)
            return None
        case ListCompactions():
            return _compactions(action, services)
        case ConfigureCompaction():
            configure(action, services)
            return None
        case _:
            assert_never(action)


def configure(action: ConfigureCompaction, services: Services) -> None:
    if action.is_possible:
        services.engine(Compaction).configure_compaction(action.table.data_source, action.config)
    elif action.config is not None:
        services.note(NOT_HERE)


def _compact(action: CompactSegments, services: Services) -> Result:
    """Returns the ids of the tasks, with or without `wait`."""
    if action.task is None:
        before, after = services.engine(Merging).merge(action.table.data_source)
        merged = "nothing to compact" if before == after else f"compacted into {after}"
        services.note(f"{action.table.full_name} had {before} segments: {merged}")
        return Result(TASK_COLUMNS)
    store, job = Operations(services.catalog), _job(action, services)

    def on_submit(ids: tuple[str, ...]) -> None:
        nonlocal job
        job = store.move(job, "submitted", tasks=ids)

    with owned(services.home, job, store):
        store.begin([job])
        job = store.current(job)
        try:
            limits = _limits(services) if action.wait else None
            tasks = services.engine(Compaction).compact(action.task, limits, on_submit)
        except BaseException as error:
            _fail(job, error, services)
            raise
        store.move(job, "done")
    if not tasks:
        services.note(f"{action.table.full_name} has no queryable segments: nothing to compact")
    return Result(TASK_COLUMNS, iter([(task,) for task in tasks]))


def _job(action: CompactSegments, services: Services) -> CompactionJob:
    table = action.table
    return CompactionJob(
        id=f"{table.name}_{uuid4().hex[:12]}", statement_id=uuid4().hex, statement="COMPACT", database=table.database,
        table=table.name, table_id=table.table_id, druid=services.setting("druid.url"),
        text=f"ALTER TABLE {table.full_name} COMPACT 'major'{' AND WAIT' if action.wait else ''}",
        data_source=table.data_source, waits=action.wait,
    )  # fmt: skip


def _limits(services: Services) -> CompactionLimits:
    slot, load = (
        seconds(services.setting(f"hivedruid.{key}")) for key in ("task.slot.timeout", "segment.load.timeout")
    )
    return CompactionLimits(slot, load)


def _fail(job: CompactionJob, error: BaseException, services: Services) -> None:
    """Record a failure. Tasks that were submitted and have not failed continue in Druid."""
    store = Operations(services.catalog)
    message = error_text(error)
    if job.state == "planned":
        store.move(job, "cancelled", error=message)
        return
    job = store.current(job)
    if job.has_ended:  # CANCEL JOB in another session
        return
    if isinstance(error, CompactionError):
        store.move(job, "failed", error=message)
        return
    store.move(job, "submitted", error=message)
    next_ = f"RESUME JOB '{job.id}' waits for the tasks, CANCEL JOB '{job.id}' stops them"
    if isinstance(error, HiveDruidError):
        error.hint = "; ".join(filter(None, (error.hint, next_)))
    else:
        services.note(f"the compaction of {job.full_name} continues in Druid; {next_}")


def _resume(action: ResumeCompaction, services: Services) -> None:
    store = Operations(services.catalog)
    with owned(services.home, action.job, store):
        job = current(action.job, services)
        if job.has_ended:
            return
        try:
            unknown = services.engine(Compaction).resume_compaction(job.data_source, job.tasks, _limits(services))
        except BaseException as error:
            _fail(job, error, services)
            raise
        if len(unknown) == len(job.tasks):
            store.move(job, "cancelled", error="no task was submitted")
            raise ExecutionError(
                f"Druid has no task of job {job.id}: nothing was compacted", hint="rerun the statement"
            )
        store.move(job, "done", error="")
    services.note(f"{job.full_name} was compacted; its rows before and after were not compared")
    if unknown:
        services.note(
            f"{len(unknown)} of {len(job.tasks)} tasks were not submitted: rerun {job.text} to compact the rest"
        )


def _cancel(action: CancelCompaction, services: Services) -> None:
    """Stop the tasks. A session that waits for them fails."""
    job = current(action.job, services)
    if job.has_ended:
        raise ExecutionError(f"job {job.id} has already ended", hint=f"DESCRIBE JOB '{job.id}'")
    store = Operations(services.catalog)
    succeeded = services.engine(Compaction).cancel_compaction(job.tasks)
    if not store.current(job).has_ended:
        store.move(job, "cancelled", error="cancelled")
    if succeeded:
        services.note(
            f"{len(succeeded)} of {len(job.tasks)} tasks of job {job.id} had already compacted their segments"
        )


def _compactions(action: ListCompactions, services: Services) -> Result:
    rows = [*_in_druid(action, services), *rewrites.rows(action.table, services)]
    return Result(COMPACTION_COLUMNS, rows_in_zone(rows, services.zone()))


def _in_druid(action: ListCompactions, services: Services) -> Iterator[o.Row]:
    if not action.is_possible or (action.table is not None and not action.table.has_data_source):
        return iter(())
    engine = services.engine(Compaction)
    names = table_names(services.catalog)
    source = None
    if action.table is not None:
        source = action.table.data_source
        names[source] = action.table.full_name
    watched = [one for one in engine.automatic_compactions() if source in (None, one.data_source)]
    return compaction_rows(watched, engine.compaction_tasks(source), names, datetime.now(UTC))


def compaction_rows(
    watched: Iterable[AutomaticCompaction], tasks: Iterable[Task], names: Mapping[str, str], now: datetime
) -> Iterator[o.Row]:
    """The tables with automatic compaction, by name; then the tasks, newest first."""
    for one in sorted(watched, key=lambda w: names.get(w.data_source, w.data_source)):
        amounts = (None if a is None else _amount(a) for a in (one.awaiting, one.compacted, one.skipped))
        name = names.get(one.data_source, one.data_source)
        yield (name, "automatic", one.state, None, None, None, one.problem or None, *amounts)
    for task in tasks:
        id_, _, table, state, created, duration, _, error = o.task_row(
            task, names.get(task.data_source, task.data_source), now
        )
        kind = "automatic" if task.id.startswith(ISSUED) else "major"
        yield (table, kind, state, id_, created, duration, error, None, None, None)


def _amount(amount: CompactionAmount) -> str:
    return f"{amount.segments} segment(s), {amount.intervals} interval(s), {amount.size} bytes"


def _segments(action: ListSegments, services: Services) -> Result:
    tables = [action.table] if action.table is not None else services.catalog.tables(action.database)
    stored = sorted((table for table in tables if table.has_data_source), key=lambda t: t.full_name)
    listed = services.engine(SegmentLists).listed_segments([table.data_source for table in stored])
    rows = [
        segment_row(table.full_name, segment)
        for table, segments in zip(stored, listed, strict=True)
        for segment in segments
    ]
    return Result(SEGMENT_COLUMNS, iter(rows))


def segment_row(table: str, segment: Segment) -> o.Row:
    """Intervals are text: Druid's eternity is beyond any timestamp."""
    return (
        table, iso(segment.start), iso(segment.end), segment.version, segment.number, segment.rows, segment.size,
        segment.state, segment.replicas,
    )  # fmt: skip
