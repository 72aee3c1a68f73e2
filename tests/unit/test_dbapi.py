"""The DB-API module, by the paragraphs of PEP 249."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import hivedruid
from hivedruid import dbapi, errors
from tests.support import embedded_tables


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return embedded_tables.create(tmp_path_factory.mktemp("dbapi") / "home")


@pytest.fixture
def connection(home: Path) -> Iterator[dbapi.Connection]:
    with dbapi.connect(home, "embedded:", hive_local_time_zone="UTC") as opened:
        yield opened


@pytest.fixture
def cursor(connection: dbapi.Connection) -> dbapi.Cursor:
    return connection.cursor()


# --- module interface ----------------------------------------------------------------------------------------------


def test_globals() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    assert all(hasattr(dbapi, name) for name in dbapi.__all__)


def test_exceptions_form_the_tree_of_the_pep() -> None:
    assert issubclass(dbapi.Warning, Exception)
    assert issubclass(dbapi.Error, Exception)
    assert issubclass(dbapi.InterfaceError, dbapi.Error)
    assert issubclass(dbapi.DatabaseError, dbapi.Error)
    for name in ("Data", "Operational", "Integrity", "Internal", "Programming", "NotSupported"):
        assert issubclass(getattr(dbapi, f"{name}Error"), dbapi.DatabaseError)


def test_exceptions_are_attributes_of_connections(connection: dbapi.Connection) -> None:
    names = [name for name in dbapi.__all__ if name.endswith("Error") or name == "Warning"]
    assert len(names) == 10
    assert all(getattr(connection, name) is getattr(dbapi, name) for name in names)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.UsageError("x"), dbapi.ProgrammingError),
        (errors.ParseError("x"), dbapi.ProgrammingError),
        (errors.TableNotFound("x"), dbapi.ProgrammingError),
        (errors.UnsupportedError("x"), dbapi.NotSupportedError),
        (errors.PlanError("x"), dbapi.InternalError),
        (errors.ConstraintError("x"), dbapi.IntegrityError),
        (errors.ConnectError("x"), dbapi.OperationalError),
        (errors.CancelledError("x"), dbapi.OperationalError),
        (errors.HiveDruidError("x"), dbapi.DatabaseError),
    ],
)
def test_each_error_has_a_class_of_the_pep(error: errors.HiveDruidError, kind: type[dbapi.Error]) -> None:
    assert type(dbapi.mapped(error)) is kind


def test_an_error_has_position_and_hint_in_its_text(cursor: dbapi.Cursor) -> None:
    with pytest.raises(dbapi.ProgrammingError) as caught:
        cursor.execute("SELECT 1 FROM edit")
    assert str(caught.value) == (
        "Table not found edit\nline 1, column 15: SELECT 1 FROM edit\nhint: did you mean 'edits'?"
    )
    assert isinstance(caught.value.__cause__, hivedruid.TableNotFound)


def test_wrong_settings_are_a_programming_error(tmp_path: Path) -> None:
    with pytest.raises(dbapi.ProgrammingError):
        dbapi.connect(tmp_path, settings={"hivedruid.nothing": 1})


# --- connections ---------------------------------------------------------------------------------------------------


def test_a_closed_connection_raises_errors(home: Path) -> None:
    connection = dbapi.connect(home)
    cursor = connection.cursor()
    cursor.execute("SELECT page FROM edits")
    connection.close()
    for use in (
        connection.cursor,
        connection.commit,
        connection.close,
        cursor.fetchone,
        lambda: cursor.execute("SELECT 1"),
    ):
        with pytest.raises(dbapi.InterfaceError):
            use()
    cursor.close()


def test_there_are_no_transactions(connection: dbapi.Connection) -> None:
    connection.commit()
    with pytest.raises(dbapi.NotSupportedError):
        connection.rollback()


def test_cursors_of_a_connection_see_the_same_tables(tmp_path: Path) -> None:
    with dbapi.connect(tmp_path) as connection:
        connection.cursor().execute("CREATE DATABASE d")
        assert connection.cursor().execute("SHOW DATABASES").fetchall() == [("d",), ("default",)]


# --- cursors -------------------------------------------------------------------------------------------------------


def test_description(cursor: dbapi.Cursor) -> None:
    assert cursor.description is None
    cursor.execute("SELECT 1 AS i, 2.50BD AS d, 'x' AS s, DATE '2020-01-01' AS t, unhex('00') AS b FROM edits LIMIT 0")
    description = cursor.description
    assert description is not None
    assert description[1] == ("d", "decimal(2,1)", None, None, 2, 1, None)
    codes = [column[1] for column in description]
    kinds = (dbapi.NUMBER, dbapi.NUMBER, dbapi.STRING, dbapi.DATETIME, dbapi.BINARY)
    assert [code == kind for code, kind in zip(codes, kinds, strict=True)] == [True] * 5
    assert codes[0] != dbapi.STRING
    assert dbapi.ROWID not in codes
    cursor.execute("SET hive.druid.rollup=true")
    assert cursor.description is None


def test_rowcount_is_unknown(cursor: dbapi.Cursor) -> None:
    assert cursor.rowcount == -1
    cursor.execute("SELECT page FROM edits")
    assert cursor.rowcount == -1


def test_fetching(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT page FROM edits ORDER BY `__time`")
    assert (cursor.fetchone(), cursor.fetchmany(), cursor.fetchall()) == (("a",), [("b",)], [(None,)])
    assert (cursor.fetchone(), cursor.fetchmany(), cursor.fetchall()) == (None, [], [])
    cursor.execute("SELECT page FROM edits ORDER BY `__time`")
    cursor.arraysize = 2
    assert (len(cursor.fetchmany()), len(cursor.fetchmany()), cursor.fetchmany(5)) == (2, 1, [])


def test_iteration(cursor: dbapi.Cursor) -> None:
    assert [row[0] for row in cursor.execute("SELECT page FROM edits ORDER BY `__time`")] == ["a", "b", None]


@pytest.mark.parametrize("statement", ["", "SET hive.druid.rollup=true"])
def test_without_a_result_fetching_is_an_error(cursor: dbapi.Cursor, statement: str) -> None:
    if statement:
        cursor.execute(statement)
    for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall):
        with pytest.raises(dbapi.ProgrammingError, match="there is no result to fetch"):
            fetch()


def test_a_closed_cursor_raises_errors(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT 1")
    with cursor:
        pass
    for use in (cursor.fetchone, lambda: cursor.execute("SELECT 1"), lambda: cursor.executemany("SELECT ?", [(1,)])):
        with pytest.raises(dbapi.InterfaceError, match="the cursor is closed"):
            use()
    cursor.close()


def test_parameters(cursor: dbapi.Cursor) -> None:
    query = "SELECT count(*) FROM edits WHERE page = ? AND added < ?"
    assert cursor.execute(query, ("a", 2)).fetchall() == [(1,)]
    assert cursor.execute("SELECT :a, :b", {"a": None, "b": ""}).fetchall() == [(None, "")]
    with pytest.raises(dbapi.ProgrammingError):
        cursor.execute(query, ("a",))


def test_executemany_runs_a_statement_for_each_of_the_parameters(cursor: dbapi.Cursor) -> None:
    cursor.executemany("SET hivevar:a=?", [(1,), (2,)])
    assert cursor.execute("SELECT ${a}").fetchall() == [(2,)]
    cursor.executemany("SELECT ?", [])
    assert cursor.description is None


def test_sizes_are_accepted(cursor: dbapi.Cursor) -> None:
    cursor.setinputsizes([25])
    cursor.setoutputsize(100)
    cursor.setoutputsize(100, 2)
    assert cursor.execute("SELECT 1").fetchall() == [(1,)]


# --- types ---------------------------------------------------------------------------------------------------------


def test_constructors_make_parameters(cursor: dbapi.Cursor) -> None:
    moment = datetime(2020, 2, 29, 1, 2, 3)
    ticks = time.mktime(moment.timetuple())
    values = (
        dbapi.Date(2020, 2, 29),
        dbapi.Timestamp(2020, 2, 29, 1, 2, 3),
        dbapi.DateFromTicks(ticks),
        dbapi.TimestampFromTicks(ticks),
    )
    assert cursor.execute("SELECT ?, ?, ?, ?", values).fetchone() == (
        date(2020, 2, 29),
        moment,
        date(2020, 2, 29),
        moment,
    )
    assert dbapi.Time(1, 2, 3) == dbapi.TimeFromTicks(ticks)
    assert dbapi.Binary(b"a") == b"a"


def test_null_is_none_and_decimals_are_exact(cursor: dbapi.Cursor) -> None:
    value = Decimal("12345678901234567890.0123456789")
    assert cursor.execute("SELECT ?, ?, ''", (value, None)).fetchone() == (value, None, "")
