"""The journal of a job: what the catalog says is what Druid has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hivedruid.actions.writing.run import _Journal
from hivedruid.catalog.database import open_database
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ExecutionError
from hivedruid.jobs.load import LoadReport
from hivedruid.jobs.staged import StagedRows
from hivedruid.operations.loads import LoadJob
from hivedruid.operations.store import Operations
from tests.support.jobs import a_job


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Any]:
    connection = open_database(tmp_path)
    yield SimpleNamespace(catalog=Catalog(connection), place=lambda: None)
    connection.close()


def journal(services: Any, table_id: str, commit: Any = None) -> _Journal:
    store = Operations(services.catalog)
    store.begin([a_job("a", table_id=table_id)])
    job = store.find("a")
    assert isinstance(job, LoadJob)
    job = store.move(job, "staged", staged=StagedRows("/x", 1))
    made = _Journal(job.next_attempt(), job, services, commit)
    made.submitted({"before": 1})
    made.published({"before": 1})
    return made


def stored(services: Any) -> tuple[str, int, str]:
    job = Operations(services.catalog).find("a")
    assert isinstance(job, LoadJob)
    return job.state, job.attempt, job.error


def test_a_table_that_was_dropped_meanwhile_gets_no_rows(services: Any) -> None:
    made = journal(services, "gone")
    with pytest.raises(ExecutionError, match="was concurrently dropped by another session"):
        made.verified(LoadReport("t", 1, 1))
    assert stored(services) == ("published", 1, "")


def test_what_is_taken_back_after_a_commit_that_failed_is_staged_again(services: Any) -> None:
    def commit() -> None:
        raise ExecutionError("no room")

    made = journal(services, "", commit)
    with pytest.raises(ExecutionError, match="no room"):
        made.verified(LoadReport("t", 1, 1))
    made.rolled_back("no room")
    error = ExecutionError("no room")
    made.failed(error)
    assert stored(services) == ("staged", 1, "no room")
    assert error.hint == "RESUME JOB 'a' resubmits the staged rows, CANCEL JOB deletes them"
