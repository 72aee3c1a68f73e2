"""Jobs in the catalog."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ExecutionError
from hivedruid.jobs import job as jobs_module
from hivedruid.jobs.job import Job, Jobs
from hivedruid.jobs.load import LoadReport
from hivedruid.jobs.staged import StagedRows, Sum
from tests.support.jobs import a_job


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Jobs]:
    connection = open_database(tmp_path)
    yield Jobs(Catalog(connection))
    connection.close()


def begun(store: Jobs, *jobs: Job) -> list[Job]:
    store.begin(jobs)
    return [found for job in jobs if (found := store.find(job.id)) is not None]


def test_a_job_is_what_was_stored(store: Jobs) -> None:
    (job,) = begun(store, a_job("a"))
    assert job.created == job.changed != ""
    staged = StagedRows("/x", 3, sums={"l": Sum(2**62)})
    moved = store.move(job, "staged", staged=staged, notes={"before": ["x"]})
    assert store.find("a") == moved
    assert (moved.staged, moved.state, moved.has_ended) == (staged, "staged", False)
    ended = store.move(moved, "cleaned", report=LoadReport("t", 3, 1))
    assert store.find("a") == ended
    assert ended.has_ended


def test_an_error_is_kept_without_the_secrets_in_it(store: Jobs) -> None:
    (job,) = begun(store, a_job("a"))
    store.move(job, "planned", error="refused: password=hunter2")
    assert store.all()[0].error == "refused: password=******"


def test_unfinished_jobs_and_those_of_a_statement(store: Jobs) -> None:
    begun(store, a_job("a", statement_id="s"), a_job("b", statement_id="s", number=1))
    begun(store, a_job("c"))
    (done,) = store.of_statement("s")[1:]
    store.move(done, "cancelled")
    assert [job.id for job in store.unfinished()] == ["c", "b"]
    assert [job.id for job in store.of_statement("s")] == ["b", "a"]
    assert [job.id for job in store.all()] == ["c", "b", "a"]


def test_what_another_process_moved_is_not_moved_back(store: Jobs) -> None:
    (job,) = begun(store, a_job("a"))
    store.move(job, "cancelled")
    with pytest.raises(ExecutionError, match="changed by another session: it is now cancelled"):
        store.move(job, "staged")
    assert store.all()[0].state == "cancelled"


def test_another_attempt_is_another_task(store: Jobs) -> None:
    (job,) = begun(store, a_job("a"))
    first = job.next_attempt()
    second = store.move(job, "submitted", attempt=1, notes={"x": 1}).next_attempt()
    assert (first.task, second.task) == ("hivedruid_a_1", "hivedruid_a_2")
    assert (second.state, second.notes) == ("staged", {})


def test_old_jobs_go_unfinished_ones_stay(store: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "MOST_ENDED", 3)
    (kept,) = begun(store, a_job("kept"))
    for number in range(6):
        (job,) = begun(store, a_job(f"j{number}"))
        store.move(job, "cleaned")
    begun(store, a_job("last"))
    assert [job.id for job in store.all()] == ["last", "j5", "j4", kept.id]


def test_a_job_of_another_version_can_be_read(store: Jobs) -> None:
    (job,) = begun(store, a_job("a"))
    staged = store.move(job, "staged", staged=StagedRows("/x", 3))
    connection = store._catalog.connection
    (text,) = connection.execute("SELECT definition FROM jobs").fetchone()
    value = json.loads(text)
    other = {**value, "new": 1, "staged": {**value["staged"], "buckets": 2}}
    connection.execute("UPDATE jobs SET definition = ?", (json.dumps(other),))
    assert store.find("a") == staged
