"""Build materialized views: first the rows, then the record of their sources, so that a crash leaves at worst a stale
view."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never
from uuid import uuid4

from hivedruid.actions.materialized.gather import own_state
from hivedruid.actions.materialized.lossless import find_root
from hivedruid.actions.materialized.model import BuildView, ForgetBuild, MaterializedAction
from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.writing import run as run_jobs
from hivedruid.actions.writing.model import IngestDruid, WriteTable
from hivedruid.actions.writing.run import VIEW, Commit
from hivedruid.catalog.materialized_views import Built, find_built, invalidate, save
from hivedruid.catalog.table import Table
from hivedruid.engine.kinds import kind_of
from hivedruid.errors import ExecutionError
from hivedruid.operations.loads import ViewJob
from hivedruid.operations.operation import error_text
from hivedruid.operations.owner import is_running, owned
from hivedruid.operations.store import Operations
from hivedruid.operations.views import ManagedViewJob

if TYPE_CHECKING:
    from collections.abc import Callable

    from hivedruid.jobs.staged import StagedRows


def run(action: Action, services: Services) -> None:
    assert isinstance(action, MaterializedAction)
    match action:
        case BuildView():
            _build(action, services)
        case ForgetBuild():
            _forget(action, services)
        case _:
            assert_never(action)


def _build(action: BuildView, services: Services) -> None:
    """Compute and store the rows. Until it completes, the view counts as not built."""
    table = action.table if action.table.table_id else replace(action.table, table_id=uuid4().hex)
    if isinstance(action.write, IngestDruid):
        _check(action, action.write.job_id, services)
        _load(action, action.write, table, services)
        return
    store, job = Operations(services.catalog), _job(action, table, services)
    with owned(services.home, job, store):
        store.begin([job])
        job = store.current(job)
        try:
            _check(action, job.id, services)
            _write(action, action.write, table, services)
        except BaseException as error:
            store.move(job, "cancelled", error=error_text(error))
            raise
        store.move(job, "done")


def _job(action: BuildView, table: Table, services: Services) -> ManagedViewJob:
    name = table.full_name
    return ManagedViewJob(
        id=f"{table.name}_{uuid4().hex[:12]}", statement_id=uuid4().hex, statement=VIEW, database=table.database,
        table=table.name, table_id=table.table_id, druid=services.setting("druid.url"), creates=action.creates,
        text=f"CREATE MATERIALIZED VIEW {name}" if action.creates else f"ALTER MATERIALIZED VIEW {name} REBUILD",
    )  # fmt: skip


def _check(action: BuildView, job_id: str, services: Services) -> None:
    """Raises ExecutionError if another session builds the view, or has built it since the rebuild was planned.

    Of two builds the one that was recorded first continues. Interrupted builds of the same view end here.
    """
    store, table = Operations(services.catalog), action.table
    builds = [job for job in store.unfinished() if isinstance(job, ViewJob | ManagedViewJob)]
    earlier = builds[[job.id for job in builds].index(job_id) + 1 :]
    for job in earlier:
        if job.full_name != table.full_name:
            continue
        if is_running(services.home, services.catalog, job.statement_id):
            raise ExecutionError(f"{table.full_name} is being rebuilt by another session", hint="wait for it to finish")
        if isinstance(job, ManagedViewJob):
            store.move(job, "cancelled", error=f"replaced by job {job_id}")
    if action.intervals is not None and find_built(services.catalog, table) != action.base:
        raise ExecutionError(
            f"{table.full_name} was concurrently rebuilt by another session", hint="rerun the statement"
        )


def _load(action: BuildView, write: IngestDruid, table: Table, services: Services) -> None:
    def prepare(staged: StagedRows) -> Commit:
        commit = _commit(action, table, _counted(action, staged.rows, services), services)
        _invalidate(action, services)
        return commit

    run_jobs.write(write, services, prepare)


def _write(action: BuildView, write: WriteTable, table: Table, services: Services) -> None:
    _invalidate(action, services)
    rows = services.spark().write(write.job, table, write.overwrite)
    _commit(action, table, _counted(action, rows, services), services)()


def _forget(action: ForgetBuild, services: Services) -> None:
    store = Operations(services.catalog)
    with owned(services.home, action.job, store):
        job = store.current(action.job)
        if not job.has_ended:
            store.move(job, "cancelled", error="cancelled")


def _invalidate(action: BuildView, services: Services) -> None:
    """Mark the view as not built while its rows change, unless rows and catalog change in one commit."""
    if not action.creates and not (action.table.has_data_source and kind_of(services.druid().url).is_transactional):
        invalidate(services.catalog, action.table)


def _commit(action: BuildView, table: Table, built: Built, services: Services) -> Callable[[], None]:
    def commit() -> None:
        with services.catalog.transaction():
            if action.creates:
                services.catalog.add(table)
            stored = services.catalog.find(table.database, table.name)
            if stored is None or stored.table_id != table.table_id:
                raise ExecutionError(f"{table.full_name} was concurrently dropped by another session")
            own = own_state(stored, services.druid, services.spark)
            save(services.catalog, stored, replace(built, own=own))

    return commit


def _counted(action: BuildView, rows: int, services: Services) -> Built:
    """The build with its number of rows and its root table."""
    if action.intervals is not None:
        return action.built
    root = None
    if action.checks is not None:
        root = find_root(action.checks, rows, lambda job: next(services.spark().rows(job)))
    return replace(action.built, rows=rows, root=root)
