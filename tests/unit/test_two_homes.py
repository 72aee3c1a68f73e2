"""Two home folders, as of two machines, with one catalog on PostgreSQL; their processes are killed -9."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from time import monotonic, sleep

import psycopg
import pytest

from hivedruid import notices
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.catalog.named_locks import named_locks
from hivedruid.catalog.opening import copy_catalog, open_catalog, read_catalog
from hivedruid.catalog.store import Catalog
from hivedruid.cli import main
from hivedruid.configuration import variable
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, SemanticError, UnsupportedError
from hivedruid.operations.owner import is_running, lock_name, owned
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from hivedruid.settings import Settings
from tests.support import killed
from tests.support.job_homes import Row
from tests.support.job_homes import run as run_one
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


def run(session: Session, script: str) -> list[Row]:
    """The rows of the last statement."""
    return [run_one(session, text) for text in script.split("; ")][-1]


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


# --- opening -----------------------------------------------------------------------------------------------------


def refused(home: Path, settings: dict[str, str]) -> HiveDruidError:
    with pytest.raises(HiveDruidError) as error:
        open_catalog(home, settings)
    return error.value


def test_a_server_that_cannot_be_reached(tmp_path: Path) -> None:
    error = refused(tmp_path, {"hivedruid.catalog.url": "postgresql://127.0.0.1:1/none"})
    assert isinstance(error, ConnectError)
    assert error.message.startswith("cannot connect to the catalog postgresql://127.0.0.1:1/none (schema hivedruid): ")
    assert "hivedruid.catalog.url" in (error.hint or "")


def test_psycopg_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refused(tmp_path, {"hivedruid.catalog.url": "postgresql://127.0.0.1:1/none"})
    assert "requires psycopg" in error.message
    assert "hivedruid[postgres]" in (error.hint or "")


def test_what_a_command_reads(
    tmp_path: Path, settings: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """doctor, before there is a catalog, and while a job of another home is interrupted, or runs."""
    for key, value in settings.items():
        monkeypatch.setenv(variable(key), value)

    def checked() -> dict[str, str]:
        main(["doctor", "--home", str(tmp_path / "one"), "--format", "json"])
        rows = json.loads(capsys.readouterr().out)
        return {row["feature"]: f"{row['state']}: {row['detail']}" for row in rows}

    assert ": no catalog yet, PostgreSQL " in checked()["home: catalog"]
    with closing(read_catalog(tmp_path, settings)) as connection:
        assert Catalog(connection).databases() == ("default",)
    with Session(tmp_path / "two", hiveconf=settings) as session:
        run(session, "CREATE TABLE t (a INT)")
        store = Operations(session.catalog)
        store.begin([a_job("a")])
        found = checked()
        assert f"schema version {len(MIGRATIONS)}, PostgreSQL " in found["home: catalog"]
        assert [key for key in found if key.startswith("jobs: ")] != []
        with owned(session.home, store.current(a_job("a")), store):
            assert [key for key in checked() if key.startswith("jobs: ")] == []


def test_a_wrong_password_is_not_shown(tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG", "hunter2hunter2")
    error = refused(tmp_path, {**postgres.settings(), "hivedruid.catalog.password": "env:WRONG"})
    assert "authentication failed" in error.message
    assert "hunter2" not in f"{error.message} {error.hint}"


def test_a_newer_catalog_is_refused_and_left_untouched(tmp_path: Path, postgres: Postgres) -> None:
    settings = postgres.settings("newer")
    open_catalog(tmp_path, settings).close()
    with postgres.connect() as connection:
        connection.execute(f"UPDATE newer.hivedruid_schema SET version = {len(MIGRATIONS) + 1}")
        connection.execute("CREATE TABLE newer.of_the_newer_version (a TEXT)")
        for read in (open_catalog, copy_catalog):
            with pytest.raises(ExecutionError, match="schema version") as error:
                read(tmp_path, settings)
            assert "upgrade" in (error.value.hint or "")
        assert connection.execute("SELECT version FROM newer.hivedruid_schema").fetchall() == [(len(MIGRATIONS) + 1,)]


def test_an_older_catalog_is_brought_forward(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = postgres.settings("older")
    for module in ("postgres", "database"):
        monkeypatch.setattr(f"hivedruid.catalog.{module}.MIGRATIONS", MIGRATIONS[:12])
    with closing(open_catalog(tmp_path, settings)) as older:
        Catalog(older).add_database("d")
    monkeypatch.undo()
    with postgres.connect() as connection:

        def version() -> int:
            ((found,),) = connection.execute("SELECT version FROM older.hivedruid_schema").fetchall()
            return int(found)

        with closing(copy_catalog(tmp_path, settings)) as copied:  # for statements that only plan
            assert Catalog(copied).databases() == ("d", "default")
            assert Catalog(copied).table_names("d") == ()
        assert version() == 12
        with closing(open_catalog(tmp_path, settings)) as opened:
            assert Catalog(opened).databases() == ("d", "default")
        assert version() == len(MIGRATIONS)


def test_a_home_with_tables_of_its_own_brings_a_note(tmp_path: Path, postgres: Postgres) -> None:
    with Session(tmp_path) as session:
        run(session, "CREATE TABLE t (a INT)")
    noted: list[str] = []
    settings = postgres.settings()
    with notices.received_by(noted.append):
        for _ in range(2):
            with Session(tmp_path, hiveconf=settings) as session:
                assert session.table_names() == ()
    (note,) = noted
    assert note.endswith(f"the tables of {tmp_path / 'catalog.sqlite'} are not in it")


def test_a_session_keeps_its_catalog(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    key = "hivedruid.catalog.url"
    with Session(homes[0], hiveconf=settings) as session:
        for statement in (f"SET {key}=postgresql://elsewhere/db", "SET hivedruid.catalog.password=env:X"):
            with pytest.raises(SemanticError, match="cannot be changed in a session"):
                run(session, statement)
        run(session, f"RESET {key}")
        assert session.settings[key] == settings[key]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://me:hunter2hunter2@host/db", "must not contain a password"),
        ("postgresql://host/db?password=hunter2hunter2", "must not contain a password"),
        ("mysql://host/db", "must be postgresql://host:port/database"),
        ("postgresql://host", "must be postgresql://host:port/database"),
        ("postgresql:///db", "must be postgresql://host:port/database"),
        ("postgresql://host:x/db", "port"),
        ("postgresql://host/db?schema=a%20b", "name of the schema"),
        ("postgresql://host/db?sslmod=require", "'sslmod' is not one of its options"),
    ],
)
def test_invalid_addresses(url: str, why: str) -> None:
    with pytest.raises(SemanticError) as error:
        Settings({"hivedruid.catalog.url": url})
    assert why in error.value.message
    assert "hunter2" not in f"{error.value.message} {error.value.hint}"


def test_a_schema_of_something_else_is_left_untouched(tmp_path: Path, postgres: Postgres) -> None:
    with postgres.connect() as connection:
        connection.execute("CREATE SCHEMA others; CREATE TABLE others.tables (a INT)")
        error = refused(tmp_path, postgres.settings("others"))
        assert 'relation "tables" already exists' in error.message
        assert "?schema=NAME" in (error.hint or "")
        names = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'others'::regnamespace")
        assert names.fetchall() == [("tables",)]


def test_a_user_without_rights(tmp_path: Path, postgres: Postgres) -> None:
    with postgres.connect() as connection:
        password = postgres.password_file.read_text(encoding="ascii")
        connection.execute(psycopg.sql.SQL("CREATE USER guest PASSWORD {}").format(password))
    settings = postgres.settings("of_guest")
    settings["hivedruid.catalog.url"] = settings["hivedruid.catalog.url"].replace("team@", "guest@")
    error = refused(tmp_path, settings)
    assert "permission denied" in error.message
    assert "grant" in (error.hint or "")


def test_a_database_of_another_encoding(tmp_path: Path, postgres: Postgres) -> None:
    with postgres.connect() as connection:
        connection.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    settings = postgres.settings()
    settings["hivedruid.catalog.url"] = settings["hivedruid.catalog.url"].replace("/catalogs", "/latin")
    error = refused(tmp_path, settings)
    assert "encoding LATIN1" in error.message
    assert "UTF8" in (error.hint or "")


def test_a_second_writer_is_told_who_is_in_the_way(
    homes: tuple[Path, Path], settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hivedruid.catalog.postgres.PATIENCE", 0.2)
    with closing(open_catalog(homes[0], settings)) as first, closing(open_catalog(homes[1], settings)) as second:
        first.begin()
        with pytest.raises(ExecutionError, match=r"it is locked by session \d+ of user team on 127\.0\.0\.1") as error:
            Catalog(second).add_database("d")
        assert "another hivedruid" in (error.value.hint or "")
        assert not second.in_transaction
        first.rollback()
        Catalog(second).add_database("d")
        assert Catalog(first).databases() == ("d", "default")


def test_texts_are_stored_and_compared_as_in_sqlite(homes: tuple[Path, Path], settings: dict[str, str]) -> None:
    with closing(open_catalog(homes[0], settings)) as connection:
        catalog = Catalog(connection)
        for name in ("b", "a_b", "ab", "é", "z"):
            catalog.add_database(name, f"100% '{name}' ? :x \\")
        assert catalog.databases() == ("a_b", "ab", "b", "default", "z", "é")
        assert catalog.database_comment("é") == "100% 'é' ? :x \\"


def test_a_delimiter_that_is_u_0000_does_not_hide_tables(
    homes: tuple[Path, Path], settings: dict[str, str], tmp_path: Path
) -> None:
    with Session(homes[0], hiveconf=settings) as session:
        run(
            session,
            "CREATE EXTERNAL TABLE t (a STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\000'"
            f" LOCATION '{tmp_path}'; CREATE VIEW v AS SELECT 1 AS a",
        )
        assert run(session, "SHOW VIEWS") == [{"tab_name": "v"}]
        assert session.catalog.get("default", "t").serde["field.delim"] in ("\0", "\\000")
