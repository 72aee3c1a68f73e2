"""Operations in the catalog."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from hivedruid.catalog.connection import Connection
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ExecutionError
from hivedruid.jobs.load import LoadReport
from hivedruid.jobs.staged import StagedRows, Sum
from hivedruid.operations import store as store_module
from hivedruid.operations.kinds import KINDS
from hivedruid.operations.loads import LoadJob
from hivedruid.operations.operation import Operation
from hivedruid.operations.store import Operations, TransitionError
from tests.support.jobs import a_job


@pytest.fixture
def store(catalog: Catalog) -> Operations:
    return Operations(catalog)


def begun(store: Operations, *jobs: LoadJob) -> list[LoadJob]:
    store.begin(jobs)
    return [store.current(job) for job in jobs]


def test_an_operation_is_read_as_it_was_stored(store: Operations) -> None:
    (job,) = begun(store, a_job("a"))
    assert job.created == job.changed != ""
    staged = StagedRows("/x", 3, sums={"l": Sum(2**62)})
    moved = store.move(job, "staged", staged=staged, journal={"before": ["x"]})
    assert store.find("a") == moved
    assert (moved.staged, moved.state, moved.has_ended, moved.version) == (staged, "staged", False, 2)
    verified = store.move(moved, "verified", report=LoadReport("t", 3, 1))
    ended = store.move(verified, "cleaned")
    assert store.find("a") == ended
    assert ended.has_ended


def test_an_error_is_stored_redacted(store: Operations) -> None:
    (job,) = begun(store, a_job("a"))
    store.move(job, "planned", error="refused: password=hunter2")
    assert store.all()[0].error == "refused: password=******"


def test_unfinished_operations_and_those_of_a_statement(store: Operations) -> None:
    begun(store, a_job("a", statement_id="s"), a_job("b", statement_id="s", number=1))
    begun(store, a_job("c"))
    (done,) = store.of_statement("s")[1:]
    store.move(done, "cancelled")
    assert [job.id for job in store.unfinished()] == ["c", "b"]
    assert [job.id for job in store.of_statement("s")] == ["b", "a"]
    assert [job.id for job in store.all()] == ["c", "b", "a"]


def test_an_operation_that_another_process_moved_is_not_moved(store: Operations) -> None:
    (job,) = begun(store, a_job("a"))
    store.move(job, "cancelled")
    with pytest.raises(ExecutionError, match="changed by another session: it is now cancelled"):
        store.move(job, "staged")
    assert store.all()[0].state == "cancelled"


def test_of_two_processes_one_moves_an_operation(connect: Callable[[], Connection]) -> None:
    begun(Operations(Catalog(connect())), a_job("a"))
    together = Barrier(2)

    def move(reason: str) -> str:
        store = Operations(Catalog(connect()))
        job = store.find("a")
        assert job is not None
        together.wait()
        try:
            return store.move(job, "planned", error=reason).error
        except ExecutionError as error:
            return error.message

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(move, ("first", "second")))
    assert sum(answer.startswith("job a was changed") for answer in answers) == 1


@pytest.mark.parametrize(
    ("state", "next_"), [("planned", "published"), ("cleaned", "cleaned"), ("cancelled", "staged")]
)
def test_a_transition_that_the_kind_does_not_allow(store: Operations, state: str, next_: str) -> None:
    (job,) = begun(store, a_job("a", state=state))
    with pytest.raises(TransitionError, match=f"a load operation cannot change from {state} to {next_}"):
        store.move(job, next_)
    assert store.find("a") == job


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.kind)
def test_the_states_of_a_kind(kind: type[Operation]) -> None:
    """Every state is reached from the first one, and leads to a final one."""
    first, *_ = kind.transitions
    reached = {first}
    while more := {state for known in reached for state in kind.transitions[known]} - reached:
        reached |= more
    assert reached == set(kind.transitions)
    assert any(not following for following in kind.transitions.values())


def test_another_attempt_is_another_task(store: Operations) -> None:
    (job,) = begun(store, a_job("a", state="staged"))
    first = job.next_attempt()
    second = store.move(job, "submitted", attempt=1, journal={"x": 1}).next_attempt()
    assert (first.task, second.task) == ("hivedruid_a_1", "hivedruid_a_2")
    assert (second.state, second.journal) == ("staged", {})


def test_the_oldest_ended_operations_are_deleted(store: Operations, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MOST_ENDED", 3)
    (kept,) = begun(store, a_job("kept"))
    for number in range(6):
        (job,) = begun(store, a_job(f"j{number}"))
        store.move(job, "cancelled")
    begun(store, a_job("last"))
    assert [job.id for job in store.all()] == ["last", "j5", "j4", kept.id]


def test_the_notes_of_another_version_can_be_read(store: Operations) -> None:
    (job,) = begun(store, a_job("a"))
    staged = store.move(job, "staged", staged=StagedRows("/x", 3))
    connection = store._catalog.connection
    (text,) = connection.execute("SELECT notes FROM operations").fetchone()
    value = json.loads(text)
    other = {**value, "new": 1, "staged": {**value["staged"], "buckets": 2}}
    connection.execute("UPDATE operations SET notes = ?", (json.dumps(other),))
    assert store.find("a") == staged
