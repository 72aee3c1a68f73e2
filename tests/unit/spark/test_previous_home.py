"""A home folder that an earlier version left behind (tests/homes): its files and managed tables, and its interrupted
writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.errors import SemanticError
from hivedruid.iceberg import home_catalog
from hivedruid.session import Session
from tests.support.previous_home import answers, expected_rows, run, unpacked


@pytest.fixture
def home() -> Iterator[Path]:
    with unpacked() as folder:
        yield folder


@pytest.fixture
def session(home: Path) -> Iterator[Session]:
    with Session(home, confirm=lambda _: True) as opened:
        yield opened


def job_of(table: str, state: str) -> str:
    """The id of the one job of a table in that state."""
    (job,) = (row[0] for row in answers()["SHOW JOBS"] if (row[2], row[3]) == (table, state))
    return str(job)


def state_of(session: Session, job: str) -> str:
    (state,) = (row[3] for row in run(session, "SHOW JOBS") if row[0] == job)
    return str(state)


def unchanged(*tables: str) -> dict[str, list[list[object]]]:
    return {table: answers()[f"SELECT * FROM {table} ORDER BY `__time`, n"] for table in tables}


def rows_of(session: Session, *tables: str) -> dict[str, list[list[object]]]:
    return {table: run(session, f"SELECT * FROM {table} ORDER BY `__time`, n") for table in tables}


def test_every_statement_returns_what_it_returned(session: Session) -> None:
    expected = {text: expected_rows(text) for text in answers() if text.startswith("SELECT")}
    assert {text: run(session, text) for text in expected} == expected


def test_managed_tables_are_taken_over_and_written(home: Path, session: Session) -> None:
    trips = session.catalog.get("default", "trips")
    former = home_catalog.current_metadata(home, trips.table_id)
    assert home_catalog.registered(home, trips.table_id) is None
    run(session, "SELECT * FROM trips")
    assert home_catalog.current_metadata(home, trips.table_id) == former
    assert home_catalog.registered(home, trips.table_id) is not None
    run(session, "INSERT INTO trips VALUES (5, 'dan', 2, '2024-04-01 00:00:00', 1)")
    run(session, "INSERT INTO shop.unwritten SELECT id, driver FROM trips; INSERT INTO shop.emptied VALUES (9)")
    assert run(session, "SELECT * FROM trips ORDER BY id")[:4] == answers()["SELECT * FROM trips ORDER BY id"]
    assert run(session, "SELECT count(*) FROM shop.unwritten") == [[5]]
    assert run(session, "SELECT * FROM shop.emptied") == [[9]]


def test_materialized_views_are_built_and_rebuilt(session: Session) -> None:
    fares = [row[4] for row in run(session, "SHOW MATERIALIZED VIEWS") if row[0] == "fares"]
    assert fares == ["No"]
    run(session, "INSERT INTO trips VALUES (5, 'dan', 2, '2024-04-01 00:00:00', 1)")
    for view in ("fares", "names", "per_day", "shop.old_sums", "shop.unbuilt", "shop.rebuilding"):
        run(session, f"ALTER MATERIALIZED VIEW {view} REBUILD")
    for database in ("default", "shop"):
        assert {row[4] for row in run(session, f"SHOW MATERIALIZED VIEWS IN {database}")} == {"No"}
    fares_before = answers()["SELECT * FROM fares ORDER BY driver"]
    assert run(session, "SELECT * FROM fares ORDER BY driver") == [*fares_before, ["dan", "2.00", 1]]
    assert run(session, "SELECT count(*) FROM shop.old_sums") == [[6]]
    assert run(session, "SELECT k FROM shop.rebuilding ORDER BY `__time`") == [["before"], ["after"], ["last"]]


def test_interrupted_jobs_are_resumed_or_cancelled(session: Session) -> None:
    planned, staged = job_of("shop.planned", "planned"), job_of("shop.staged", "staged")
    with pytest.raises(SemanticError, match="not all of its rows were staged"):
        run(session, f"RESUME JOB '{planned}'")
    run(session, f"CANCEL JOB '{planned}'; RESUME JOB '{staged}'")
    run(session, f"CANCEL JOB '{job_of('shop.given_up', 'staged')}'")
    assert rows_of(session, "shop.planned", "shop.given_up") == unchanged("shop.planned", "shop.given_up")
    assert [row[1] for row in rows_of(session, "shop.staged")["shop.staged"]] == [-1, 20, 21]
    assert [state_of(session, job) for job in (planned, staged)] == ["cancelled", "cleaned"]


def test_interrupted_statements_are_resumed(session: Session) -> None:
    """The first target of a multi-insert, a CREATE TABLE AS; a build of a view is run again."""
    run(session, f"RESUME JOB '{job_of('shop.first', 'staged')}'; RESUME JOB '{job_of('shop.made', 'staged')}'")
    run(session, f"CANCEL JOB '{job_of('shop.second', 'planned')}'")
    assert run(session, "SELECT n FROM shop.first ORDER BY n") == [[1], [2], [3], [4], [5]]
    assert run(session, "SELECT k, sum(n) FROM shop.made GROUP BY k ORDER BY k") == [["a", 6], ["b", 9]]
    assert rows_of(session, "shop.second") == unchanged("shop.second")
    run(session, "ALTER MATERIALIZED VIEW shop.rebuilding REBUILD")
    assert state_of(session, job_of("shop.rebuilding", "staged")) == "cancelled"


def test_a_statement_continues_what_was_interrupted(session: Session) -> None:
    """Another write to the table first ends its jobs."""
    run(session, "INSERT INTO shop.staged VALUES ('2024-01-09', 99); DROP TABLE shop.given_up")
    assert [row[1] for row in rows_of(session, "shop.staged")["shop.staged"]] == [-1, 99]
    for table in ("shop.staged", "shop.given_up"):
        assert state_of(session, job_of(table, "staged")) == "cancelled"


def test_tables_are_changed_and_dropped(session: Session) -> None:
    run(session, "ALTER TABLE points RENAME TO places; ALTER TABLE days ADD COLUMNS (x INT); DROP TABLE shop.orders")
    run(session, "INSERT INTO days VALUES ('2024-03-01', 'new', 1, 2)")
    assert run(session, "SELECT count(*), sum(x) FROM days") == [[8, 2]]
    assert run(session, "SELECT count(*) FROM places") == [[3]]
    assert ["orders"] not in run(session, "SHOW TABLES IN shop")
