"""Build materialized views: first the rows, then the record of their sources, so that a crash leaves at worst a stale view."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid import locks
from hivedruid.actions.materialized.gather import own_state
from hivedruid.actions.materialized.lossless import find_root
from hivedruid.actions.materialized.model import BuildView
from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.writing import run as run_jobs
from hivedruid.actions.writing.model import IngestDruid
from hivedruid.actions.writing.run import Commit
from hivedruid.catalog.materialized_views import Built, find_built, invalidate, save
from hivedruid.catalog.table import Table
from hivedruid.engine.kinds import kind_of
from hivedruid.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hivedruid.jobs.staged import StagedRows


def run(action: Action, services: Services) -> None:
    """Compute and store the rows. Until it completes, the view counts as not built."""
    assert isinstance(action, BuildView)
    if action.creates:
        table = action.table if action.table.table_id else replace(action.table, table_id=uuid4().hex)
        _store(action, table, services)
        return
    with _alone(services.home, action.table):
        now = find_built(services.catalog, action.table)
        if action.intervals is not None and now != action.base:
            raise ExecutionError(
                f"{action.table.full_name} was concurrently rebuilt by another session", hint="rerun the statement"
            )
        _store(action, action.table, services)


def _store(action: BuildView, table: Table, services: Services) -> None:
    if isinstance(action.write, IngestDruid):

        def prepare(staged: StagedRows) -> Commit:
            commit = _commit(action, table, _counted(action, staged.rows, services), services)
            _invalidate(action, services)
            return commit

        run_jobs.write(action.write, services, prepare)
        return
    write = replace(action.write, table=table)
    _invalidate(action, services)
    rows = services.spark().write(write.job, table, write.overwrite)
    _commit(action, table, _counted(action, rows, services), services)()


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


@contextmanager
def _alone(home: Path, table: Table) -> Iterator[None]:
    """Hold the lock of a view's build."""
    with locks.exclusive(home / "locks" / f"view-{table.table_id}") as alone:
        if not alone:
            raise ExecutionError(f"{table.full_name} is being rebuilt by another session", hint="wait for it to finish")
        yield
