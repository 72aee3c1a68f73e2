"""Opening a catalog on PostgreSQL, and what it stores."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from hivedruid import notices
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.catalog.opening import copy_catalog, open_catalog, read_catalog
from hivedruid.catalog.store import Catalog
from hivedruid.cli import main
from hivedruid.configuration import variable
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, SemanticError
from hivedruid.operations.owner import owned
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from hivedruid.settings import Settings
from tests.support.job_homes import run_script as run
from tests.support.jobs import a_job
from tests.support.postgres import Postgres


@pytest.fixture
def settings(postgres: Postgres) -> dict[str, str]:
    return postgres.settings()


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "first", tmp_path / "second"


@pytest.fixture
def catalog_of(settings: dict[str, str], tmp_path: Path) -> Iterator[Catalog]:
    with closing(open_catalog(tmp_path, settings)) as connection:
        yield Catalog(connection)


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


def test_a_plan_of_managed_tables(homes: tuple[Path, Path], settings: dict[str, str], tmp_path: Path) -> None:
    """A dry run works on a copy of the catalog, which does not have the tables of Iceberg's catalog."""
    given = {**settings, "hivedruid.iceberg.catalog.warehouse": str(tmp_path / "warehouse")}
    with Session(homes[0], hiveconf=given) as session:
        run(session, "CREATE TABLE t (a INT)")
    with Session(homes[1], hiveconf=given, dry_run=True) as session:
        plan = run(session, "SELECT count(*) FROM t x JOIN t y ON x.a = y.a")
    assert any("Spark Operator" in str(row) for row in plan)


def test_a_statement_fails_in_a_transaction(catalog_of: Catalog) -> None:
    """PostgreSQL rolls back at COMMIT: that must not pass for success."""
    connection = catalog_of.connection
    connection.begin()
    connection.execute("INSERT INTO places (data_source, druid) VALUES ('d', 'x')")
    with suppress(ExecutionError):
        connection.execute("SELECT * FROM nothing")
    with pytest.raises(ExecutionError, match="a statement of the transaction failed"):
        connection.commit()
    assert connection.execute("SELECT count(*) FROM places").fetchone() == (0,)
