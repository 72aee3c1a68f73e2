"""Run COMPACT of managed tables: a durable operation that rewrites files with Spark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.actions.compacting.model import CompactFiles, ForgetRewrite, ResumeRewrite
from hivedruid.actions.recovery import current
from hivedruid.actions.services import Services
from hivedruid.catalog.properties import target_size
from hivedruid.errors import ExecutionError
from hivedruid.iceberg.compaction import CompactionType
from hivedruid.operations.operation import error_text
from hivedruid.operations.owner import is_running, owned
from hivedruid.operations.rewrites import RewriteJob
from hivedruid.operations.store import Operations

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.ingestion.overview import Row


def compact(action: CompactFiles, services: Services) -> None:
    """Returns when the files are rewritten, with and without AND WAIT."""
    table = action.table
    store = Operations(services.catalog)
    job = RewriteJob(
        id=f"{table.name}_{uuid4().hex[:12]}", statement_id=uuid4().hex, statement="COMPACT", database=table.database,
        table=table.name, table_id=table.table_id, druid=services.setting("druid.url"), type=action.type,
        text=f"ALTER TABLE {table.full_name} COMPACT '{action.type}'",
    )  # fmt: skip
    with owned(services.home, job, store):
        store.begin([job])
        _rewrite(store.current(job), table, action.type, services)


def resume(action: ResumeRewrite, services: Services) -> None:
    store = Operations(services.catalog)
    with owned(services.home, action.job, store):
        job = current(action.job, services)
        if job.has_ended:
            return
        table = services.catalog.find(job.database, job.table)
        if table is None or table.table_id != job.table_id:
            store.move(job, "cancelled", error="the table was dropped")
            raise ExecutionError(f"{job.full_name} was dropped: nothing to compact")
        _rewrite(job, table, "major" if job.type == "major" else "minor", services)


def forget(action: ForgetRewrite, services: Services) -> None:
    store = Operations(services.catalog)
    with owned(services.home, action.job, store):
        job = store.current(action.job)
        if not job.has_ended:
            store.move(job, "cancelled", error="cancelled")


def rows(table: Table | None, services: Services) -> Iterator[Row]:
    """The rows of SHOW COMPACTIONS: the compactions of managed tables, or of one table, newest first."""
    for job in Operations(services.catalog).all():
        if isinstance(job, RewriteJob) and (table is None or job.table_id == table.table_id):
            created, changed = map(datetime.fromisoformat, (job.created, job.changed))
            end = changed if job.has_ended else datetime.now(UTC)
            amount = f"{job.files} file(s), {job.bytes} bytes" if job.state == "done" else None
            yield (
                job.full_name, job.type, _state(job, services), job.id, created, (end - created).total_seconds(),
                job.error or None, None, amount, None,
            )  # fmt: skip


def _state(job: RewriteJob, services: Services) -> str:
    """The state in the words of Druid's tasks."""
    if not job.has_ended:
        return "RUNNING" if is_running(services.home, services.catalog, job.statement_id) else "INTERRUPTED"
    return "SUCCESS" if job.state == "done" else "FAILED"


def _rewrite(job: RewriteJob, table: Table, type_: CompactionType, services: Services) -> None:
    from hivedruid.spark.compaction import compact_table

    store, begun = Operations(services.catalog), monotonic()
    try:
        done = compact_table(services.spark(), table, type_, target_size(table.properties))
    except BaseException as error:
        store.move(job, "failed", error=error_text(error))
        raise
    store.move(job, "done", files=done.files, bytes=done.bytes, written=done.written)
    if not done.files and not done.deletes:
        services.note(f"{table.full_name}: nothing to compact")
        return
    deletes = f", {_files(done.deletes, 'delete file')} removed" if done.deletes else ""
    services.info(
        f"{table.full_name}: {_files(done.files)} ({done.bytes} bytes) rewritten as {_files(done.written)}{deletes}"
        f" in {monotonic() - begun:.1f} s"
    )


def _files(count: int, noun: str = "file") -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
