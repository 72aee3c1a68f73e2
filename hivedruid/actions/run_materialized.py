"""Build materialized views: the rows, and what they were computed from, in this order, so that a crash leaves a stale view at worst."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.actions.execute import Services, staged
from hivedruid.actions.gather_materialized import own_state
from hivedruid.actions.lossless import find_root
from hivedruid.actions.materialize import BuildView
from hivedruid.actions.model import IngestDruid
from hivedruid.catalog.materialized_views import Built, find_built, invalidate, save
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable


def build_view(action: BuildView, services: Services) -> None:
    """Compute and store the rows. From the first change of them until the end the view counts as not built."""
    if action.creates:
        table = action.table if action.table.table_id else replace(action.table, table_id=uuid4().hex)
        _store(action, table, services)
        return
    with _alone(services.home, action.table):
        now = find_built(services.catalog, action.table)
        if action.intervals is not None and now != action.base:
            raise ExecutionError(
                f"{action.table.full_name} was rebuilt by another session meanwhile", hint="run the statement again"
            )
        _store(action, action.table, services)


def _store(action: BuildView, table: Table, services: Services) -> None:
    if isinstance(action.write, IngestDruid):
        with staged(action.write, services) as (spec, rows):
            commit = _commit(action, table, _counted(action, rows, services), services)
            _invalidate(action, services)
            if rows or not action.creates:
                services.druid().ingest(spec, also=commit)
            else:
                commit()
        return
    write = replace(action.write, table=table)
    _invalidate(action, services)
    rows = services.spark().write(write.job, table, write.overwrite)
    _commit(action, table, _counted(action, rows, services), services)()


def _invalidate(action: BuildView, services: Services) -> None:
    """Where rows and catalog do not change in one commit, nobody may take the rows for those of a build in between."""
    if not action.creates and not (action.table.kind == "druid" and services.druid().url == "embedded:"):
        invalidate(services.catalog, action.table)


def _commit(action: BuildView, table: Table, built: Built, services: Services) -> Callable[[], None]:
    def commit() -> None:
        with services.catalog.transaction():
            if action.creates:
                services.catalog.add(table)
            stored = services.catalog.find(table.database, table.name)
            if stored is None or stored.table_id != table.table_id:
                raise ExecutionError(f"{table.full_name} was dropped by another session meanwhile")
            own = own_state(stored, services.druid, services.home)
            save(services.catalog, stored, replace(built, own=own))

    return commit


def _counted(action: BuildView, rows: int, services: Services) -> Built:
    """The build with what was counted: its rows, and the table whose rows they are."""
    if action.intervals is not None:
        return action.built
    root = None
    if action.checks is not None:
        root = find_root(action.checks, rows, lambda job: next(services.spark().rows(job)))
    return replace(action.built, rows=rows, root=root)


@contextmanager
def _alone(home: Path, table: Table) -> Iterator[None]:
    """One build of a view at a time; the operating system lets go of the lock when the process dies."""
    path = home / "locks" / f"view-{table.table_id}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ExecutionError(f"cannot open the lock file {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ExecutionError(
                f"another session is rebuilding {table.full_name}", hint="wait until it is done"
            ) from error
        yield
    finally:
        os.close(descriptor)
