"""Two home folders, as of two machines, with one catalog on PostgreSQL; their processes are killed -9."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from time import monotonic, sleep

import pytest

from hivedruid.catalog.named_locks import named_locks
from hivedruid.catalog.opening import open_catalog
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ConnectError, ExecutionError, SemanticError, UnsupportedError
from hivedruid.operations.owner import is_running, lock_name, owned
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import run_script as run
from tests.support.jobs import a_job
from tests.support.postgres import Postgres

LATE = 30
"""Seconds after which something has not happened."""


@pytest.fixture
def settings(postgres: Postgres) -> dict[str, str]:
    return postgres.settings()


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "first", tmp_path / "second"


def loaded(folder: Path) -> Counter[str]:
    return Counter(file.read_text() for file in folder.glob("[!._]*"))


def test_both_see_what_one_has_created(homes: tuple[Path, Path], settings: dict[str, str], tmp_path: Path) -> None:
    first, second = (Session(home, hiveconf=settings) for home in homes)
    with first, second:
        run(first, f"CREATE EXTERNAL TABLE t (a STRING) LOCATION '{tmp_path}/t'; CREATE VIEW v AS SELECT a FROM t")
        run(first, "CREATE DATABASE d; CREATE TABLE d.m (a INT)")
        assert run(second, "SHOW TABLES") == [{"tab_name": "t"}, {"tab_name": "v"}]
        assert run(second, "SHOW TABLES IN d") == [{"tab_name": "m"}]
        run(second, "ALTER TABLE t CHANGE a b STRING; DROP VIEW v")
        assert [row["col_name"] for row in run(first, "DESCRIBE t")] == ["b"]
    assert not any((home / "catalog.sqlite").exists() for home in homes)


def test_the_embedded_store_is_refused(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    with (
        Session(homes[0], hiveconf=settings) as session,
        pytest.raises(UnsupportedError, match="embedded store is not supported") as error,
    ):
        run(session, "CREATE EXTERNAL TABLE d (`__time` TIMESTAMP, a INT) STORED BY 'druid'")
    assert "druid.url" in (error.value.hint or "")


def test_a_plan_leaves_the_catalog_as_it_is(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    with Session(homes[0], hiveconf=settings) as session:
        run(session, "CREATE TABLE t (a INT)")
    with Session(homes[1], hiveconf=settings, dry_run=True) as planned:
        run(planned, "CREATE TABLE u LIKE t")
        assert planned.table_names() == ("t", "u")
    with Session(homes[1], hiveconf=settings) as session:
        assert session.table_names() == ("t",)


def test_of_two_that_create_a_table_one_does(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    together = Barrier(2)

    def create(home: Path) -> str:
        with Session(home, hiveconf=settings) as session:
            together.wait()
            try:
                run(session, "CREATE TABLE t (a INT)")
            except SemanticError as error:
                return error.message
        return ""

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(create, homes))
    assert answers == ["", "Table default.t already exists"]


def test_an_empty_database_is_prepared_once(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    together = Barrier(6)

    def opened(number: int) -> tuple[str, ...]:
        together.wait()
        with closing(open_catalog(homes[number % 2], settings)) as connection:
            return Catalog(connection).databases()

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(opened, range(6))) == {("default",)}


# --- jobs --------------------------------------------------------------------------------------------------------


def test_the_other_home_completes_what_a_killed_process_has_begun(
    homes: tuple[Path, Path], settings: dict[str, str], tmp_path: Path
) -> None:
    """At whichever effect it is killed, the table then has the old file or the new ones, and each of them once."""
    table, source = tmp_path / "t", tmp_path / "in"
    with Session(homes[1], hiveconf=settings) as other:
        run(other, f"CREATE EXTERNAL TABLE t (a STRING) LOCATION '{table}'")
        seen = set()
        for moment in range(1, 50):
            for folder in (table, source):
                folder.mkdir(exist_ok=True)
            for path in table.iterdir():
                path.unlink()
            (table / "a").write_text("old")
            for number in (1, 2):
                (source / f"f{number}").write_text(str(number))
            load = f"LOAD DATA INPATH '{source}' OVERWRITE INTO TABLE t"
            outcome = killed.run(homes[0], settings, load, moment)
            assert outcome.error == ""
            run(other, "DESCRIBE t")
            seen.add(frozenset(loaded(table)))
            assert loaded(table) + loaded(source) in (Counter(["old", "1", "2"]), Counter(["1", "2"])), moment
            assert Operations(other.catalog).unfinished() == ()
            if not outcome.killed:
                break
        assert not outcome.killed
        assert seen == {frozenset({"old"}), frozenset({"1", "2"})}
        assert list(tmp_path.glob(".*staged*")) == []


def test_two_that_are_killed_at_once(homes: tuple[Path, Path], settings: dict[str, str], tmp_path: Path) -> None:
    """Each load has happened or not, whichever of them was killed, and at what. Either may have completed the other."""
    table, sources = tmp_path / "t", (tmp_path / "in0", tmp_path / "in1")
    with Session(homes[1], hiveconf=settings) as session:
        run(session, f"CREATE EXTERNAL TABLE t (a STRING) LOCATION '{table}'")
        for moment in range(1, 9, 2):
            for source in sources:
                source.mkdir(exist_ok=True)
                for number in range(3):
                    (source / f"f{number}").write_text(f"{source.name} {number}")
            running = [
                killed.begin(home, settings, f"LOAD DATA INPATH '{source}' INTO TABLE t", when)
                for home, source, when in zip(homes, sources, (moment, 9 - moment), strict=True)
            ]
            outcomes = [each.outcome() for each in running]
            assert all("already running in another session" in each.error for each in outcomes if each.error), outcomes
            run(session, "DESCRIBE t")
            assert Operations(session.catalog).unfinished() == ()
            moved = loaded(table)
            for source in sources:
                there = {f"{source.name} {number}" for number in range(3)}
                assert (there & {*moved}, {*loaded(source)}) in ((there, set()), (set(), there)), moment
            assert {*moved.values()} <= {1}
            for path in table.iterdir():
                path.unlink()


def test_of_several_that_resume_at_once_one_does(
    homes: tuple[Path, Path], settings: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    for number in range(40):
        (tmp_path / "in" / f"f{number}").write_text(str(number))
    with Session(homes[0], hiveconf=settings) as session:
        run(session, f"CREATE EXTERNAL TABLE t (a STRING) LOCATION '{tmp_path}/t'")
    load = f"LOAD DATA INPATH '{tmp_path}/in' INTO TABLE t"
    assert killed.run(homes[0], settings, load, "begin").killed
    running = [killed.begin(home, settings, "DESCRIBE t") for home in (*homes, *homes)]
    outcomes = [each.outcome() for each in running]
    completed = [outcome for outcome in outcomes if "move done" in outcome.effects]
    assert len(completed) == 1, outcomes
    assert all("already running in another session" in outcome.error for outcome in outcomes if outcome.error)
    assert loaded(tmp_path / "t") == Counter(map(str, range(40)))


_OWNER = """
import sys
from pathlib import Path
from hivedruid.operations.owner import owned
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from hivedruid.settings import Settings
from tests.support.jobs import a_job
url, password = sys.argv[2:]
settings = {"hivedruid.catalog.url": url, "hivedruid.catalog.password": password}
with Session(Path(sys.argv[1]), hiveconf=settings) as session, owned(session.home, a_job("a"), Operations(session.catalog)):
    print("owned", flush=True)
    sys.stdin.read()
"""


def test_a_job_of_a_killed_owner_is_free_at_once(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    with Session(homes[1], hiveconf=settings) as session:
        store = Operations(session.catalog)
        store.begin([a_job("a")])
        job = store.current(a_job("a"))
        command = [sys.executable, "-c", _OWNER, str(homes[0]), *settings.values()]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "owned\n"
            assert is_running(homes[1], session.catalog, job.statement_id)
            with pytest.raises(ExecutionError, match="already running in another session"), owned(homes[1], job, store):
                pass
            process.kill()
        deadline = monotonic() + LATE
        while is_running(homes[1], session.catalog, job.statement_id):
            assert monotonic() < deadline
            sleep(0.01)
        with owned(homes[1], job, store):
            assert is_running(homes[1], session.catalog, job.statement_id)


def test_an_owner_that_loses_its_connection_can_record_nothing(
    homes: tuple[Path, Path], settings: dict[str, str], postgres: Postgres
) -> None:
    with Session(homes[0], hiveconf=settings) as first, Session(homes[1], hiveconf=settings) as second:
        mine, other = Operations(first.catalog), Operations(second.catalog)
        mine.begin([a_job("a")])
        job = mine.current(a_job("a"))

        def work() -> None:
            with owned(homes[0], job, mine):
                lose(first, postgres)
                with owned(homes[1], job, other):
                    with pytest.raises(ConnectError, match="lost the connection"):
                        mine.move(job, "cancelled")
                    with pytest.raises(ConnectError, match="lost the connection"):
                        mine.move(job, "cancelled")
                    other.move(job, "staged")

        with pytest.raises(ConnectError, match="lost the connection"):
            work()
        assert mine.current(job).state == "staged"  # by a new session


def lose(session: Session, postgres: Postgres) -> None:
    """End the session's connection to the database."""
    (process,) = session.catalog.connection.execute("SELECT pg_backend_pid()").fetchone()
    with postgres.connect() as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 10000)", (process,))


def test_an_idle_session_gets_another_connection(
    homes: tuple[Path, Path], settings: dict[str, str], postgres: Postgres
) -> None:
    with Session(homes[0], hiveconf=settings) as session:
        run(session, "CREATE DATABASE d")
        lose(session, postgres)
        assert session.catalog.databases() == ("d", "default")
        lose(session, postgres)
        run(session, "CREATE DATABASE e")
        assert session.catalog.databases() == ("d", "default", "e")


def test_a_transaction_that_loses_its_connection_changes_nothing(
    homes: tuple[Path, Path], settings: dict[str, str], postgres: Postgres
) -> None:
    with Session(homes[0], hiveconf=settings) as session:

        def change() -> None:
            with session.catalog.transaction():
                session.catalog.add_database("d")
                lose(session, postgres)
                with pytest.raises(ConnectError, match="lost the connection"):
                    session.catalog.add_database("e")
                session.catalog.add_database("f")

        with pytest.raises(ConnectError, match="lost the connection"):
            change()
        assert session.catalog.databases() == ("default",)


def test_locks_of_one_name(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    with Session(homes[0], hiveconf=settings) as first, Session(homes[1], hiveconf=settings) as second:
        one, two = (named_locks(each.home, each.catalog) for each in (first, second))
        with one.shared("x"), one.shared("x"), two.shared("x"):
            with two.exclusive("x") as alone:
                assert not alone
            assert not one.is_held("x")
        with one.exclusive("x") as alone, one.exclusive("x") as again, two.exclusive("x") as other:
            assert (alone, again, other) == (True, False, False)
            assert two.is_held("x")
            with two.exclusive("y") as another:
                assert another
        assert not two.is_held("x")


def test_the_lock_of_a_statement_in_another_schema_is_another_one(homes: tuple[Path, Path], postgres: Postgres) -> None:
    with (
        Session(homes[0], hiveconf=postgres.settings()) as first,
        Session(homes[1], hiveconf=postgres.settings()) as second,
        named_locks(homes[0], first.catalog).exclusive(lock_name("s")),
    ):
        assert not is_running(homes[1], second.catalog, "s")
