"""The jobs that a statement reads from the catalog."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from hivedruid.actions.writing.gather import gather_jobs
from hivedruid.catalog.database import open_database
from hivedruid.catalog.named_locks import named_locks
from hivedruid.catalog.store import Catalog
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.owner import lock_name, owned
from hivedruid.operations.store import Operations
from tests.support.jobs import a_job

SETTINGS = {"hivedruid.job.repeat.within": "PT1H"}


def unfinished(catalog: Catalog, home: Path) -> dict[str, KnownOperation[Operation]]:
    return {known.operation.id: known for known in gather_jobs(catalog, home, SETTINGS, every=False)}


def test_unfinished_jobs_and_the_others_of_their_statements_newest_first(catalog: Catalog, tmp_path: Path) -> None:
    store = Operations(catalog)
    store.begin([a_job("a", statement_id="one"), a_job("b", statement_id="one", state="cleaned")])
    store.begin([a_job("c", statement_id="two", state="cleaned")])
    store.begin([a_job("d", statement_id="three")])
    with owned(tmp_path, store.current(a_job("d")), store):
        found = unfinished(catalog, tmp_path)
    assert list(found) == ["d", "b", "a"]
    assert [known.is_running for known in found.values()] == [True, False, False]
    assert all(known.is_recent for known in found.values())


def test_a_job_is_recent_if_its_record_or_its_lock_is(catalog: Catalog, tmp_path: Path) -> None:
    store = Operations(catalog)
    store.begin([a_job("a", statement_id="one"), a_job("b", statement_id="two")])
    with catalog.transaction() as connection:
        connection.execute("UPDATE operations SET changed = '2020-01-01T00:00:00.000Z'")
    locks = named_locks(tmp_path, catalog)
    with locks.exclusive(lock_name("two")), locks.alive(lock_name("two")):
        pass
    assert {name: known.is_recent for name, known in unfinished(catalog, tmp_path).items()} == {"a": False, "b": True}


def test_many_unfinished_statements_take_the_queries_of_one(tmp_path: Path) -> None:
    sent: list[str] = []
    counts = []
    with closing(open_database(tmp_path)) as connection:
        catalog = Catalog(connection)
        for name in ("a", "b", "c", "d"):
            Operations(catalog).begin([a_job(name)])
            connection.set_trace_callback(sent.append)
            assert name in unfinished(catalog, tmp_path)
            connection.set_trace_callback(None)
            counts.append(len(sent))
            sent.clear()
    assert counts == [1, 1, 1, 1]
