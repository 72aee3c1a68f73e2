"""Waiting for the transaction of another process on a SQLite file."""

from __future__ import annotations

import os
import pwd
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hivedruid import locks, notices
from hivedruid.catalog.database import FILE_NAME, open_database
from hivedruid.catalog.store import Catalog
from hivedruid.iceberg import home_catalog
from hivedruid.sqlite_waits import connect

WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print(flush=True)
input()
"""


@pytest.fixture
def write() -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    """Starts a process that has a transaction on a file."""
    writers: list[subprocess.Popen[bytes]] = []

    def start(path: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", WRITER, str(path)]
        writers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        stdout = writers[-1].stdout
        assert stdout is not None
        assert stdout.readline() == b"\n"
        return writers[-1]

    yield start
    for writer in writers:
        writer.kill()
        writer.communicate()


@contextmanager
def one_note(path: Path, writer: subprocess.Popen[bytes]) -> Iterator[None]:
    """Expects one note about the wait for the writer, which is killed then."""
    command = Path(f"/proc/{writer.pid}/comm").read_text().strip()
    user = pwd.getpwuid(os.getuid()).pw_name
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        writer.kill()

    with notices.received_by(note):
        yield
    held = f"held by process {writer.pid} ({command}) of user {user}"
    assert notes == [f"waiting for a transaction on {path}, {held}"]


def test_a_long_wait_for_the_catalog_names_the_writer_once(
    tmp_path: Path, write: Callable[[Path], subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "LONG", 0.0)
    with closing(open_database(tmp_path)) as connection:
        path = tmp_path / FILE_NAME
        writer = write(path)
        with one_note(path, writer):
            Catalog(connection).add_database("another")
        assert Catalog(connection).databases() == ("another", "default")


def test_a_long_wait_for_the_iceberg_catalog_names_the_writer(
    tmp_path: Path, write: Callable[[Path], subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "LONG", 0.0)
    home_catalog.prepare(tmp_path)
    path = home_catalog.catalog_file(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        row = (home_catalog.CATALOG, home_catalog.NAMESPACE, "t", "file:///t/metadata/1.metadata.json")
        connection.execute(f"INSERT INTO iceberg_tables VALUES ({', '.join('?' * len(row))}, NULL, NULL)", row)
    writer = write(path)
    with one_note(path, writer):
        home_catalog.remove(tmp_path, "t")
    assert home_catalog.registered(tmp_path, "t") is None


def test_a_short_wait_is_not_noted(tmp_path: Path, write: Callable[[Path], subprocess.Popen[bytes]]) -> None:
    open_database(tmp_path).close()
    path = tmp_path / FILE_NAME
    write(path)
    notes: list[str] = []
    with notices.received_by(notes.append), closing(connect(path, mode="rw", patience=0.3)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.execute("BEGIN IMMEDIATE")
        assert connection.execute("SELECT name FROM databases").fetchall() == [("default",)]
    assert notes == []


def test_a_statement_that_can_never_succeed_is_not_repeated(tmp_path: Path) -> None:
    """A transaction that has read an outdated state must not write: SQLITE_BUSY_SNAPSHOT."""
    with (
        closing(open_database(tmp_path)) as first,
        closing(connect(tmp_path / FILE_NAME, mode="rw", patience=float("inf"))) as second,
    ):
        second.execute("BEGIN")
        second.execute("SELECT name FROM databases").fetchall()
        Catalog(first).add_database("another")
        with pytest.raises(sqlite3.OperationalError) as error:
            second.execute("DELETE FROM databases WHERE name = 'another'")
        assert error.value.sqlite_errorcode == sqlite3.SQLITE_BUSY_SNAPSHOT
