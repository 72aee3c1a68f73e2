"""Of two builds of one materialized view at once the one that was recorded first continues."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hivedruid.actions.materialized.model import BuildView
from hivedruid.actions.materialized.run import _check
from hivedruid.actions.writing.model import WriteTable
from hivedruid.catalog.database import open_database
from hivedruid.catalog.materialized_views import Built
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError
from hivedruid.operations.owner import owned
from hivedruid.operations.store import Operations
from hivedruid.operations.views import ManagedViewJob
from hivedruid.plan.physical import SparkJob

BUILD = BuildView(
    WriteTable(SparkJob("SELECT 1", (), ()), Table("default", "v", "iceberg", (), table_id="id_of_v"), overwrite=True),
    Built(()), creates=False, why="",
)  # fmt: skip


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Any]:
    connection = open_database(tmp_path)
    yield SimpleNamespace(home=tmp_path, catalog=Catalog(connection))
    connection.close()


def a_build(job_id: str, table: str = "v") -> ManagedViewJob:
    return ManagedViewJob(
        id=job_id, statement_id=f"s_{job_id}", statement="MATERIALIZED VIEW", database="default", table=table,
        table_id=f"id_of_{table}", druid="embedded:", text=f"ALTER MATERIALIZED VIEW default.{table} REBUILD",
    )  # fmt: skip


def states(store: Operations) -> dict[str, tuple[str, str]]:
    return {job.id: (job.state, job.error) for job in store.all()}


@pytest.mark.parametrize("is_running", [True, False])
def test_an_earlier_build_of_the_view(services: Any, is_running: bool) -> None:
    store = Operations(services.catalog)
    first, second, other = a_build("first"), a_build("second"), a_build("other", "w")
    for job in (other, first, second):
        store.begin([job])
    with owned(services.home, first, store) if is_running else nullcontext():
        _check(BUILD, "first", services)
        if is_running:
            with pytest.raises(ExecutionError, match=r"default\.v is being rebuilt by another session"):
                _check(BUILD, "second", services)
        else:
            _check(BUILD, "second", services)
    ended = ("begun", "") if is_running else ("cancelled", "replaced by job second")
    assert states(store) == {"other": ("begun", ""), "first": ended, "second": ("begun", "")}
