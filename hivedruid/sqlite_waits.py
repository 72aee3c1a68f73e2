"""Connections to SQLite files that note a long wait for the transaction of another process.

SQLite's own wait is silent, and Ctrl-C does not interrupt it. So it is short here, and repeated.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, time
from typing import Any, Literal, TypeVar

from hivedruid import locks, notices

POLL = 0.2
"""Seconds of one wait of SQLite, in which it tries several times, at first after a millisecond."""
WRITE_LOCK = 120
"""The byte of the `-shm` file that a writer locks: https://sqlite.org/walformat.html#locks"""


class CatalogConnection(sqlite3.Connection):
    """A connection in autocommit mode."""

    def now(self) -> float:
        return time()

    def begin(self) -> None:
        """Begin a transaction that writes."""
        self.execute("BEGIN IMMEDIATE")


AnyConnection = TypeVar("AnyConnection", bound=CatalogConnection)


class WaitingConnection(CatalogConnection):
    """Every `execute` waits up to `patience` seconds for the locks of other processes. Made by `connect`."""

    path: Path
    patience: float

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        begun, noted = monotonic(), False
        while True:
            try:
                return super().execute(sql, parameters)
            except sqlite3.OperationalError as error:
                waited = monotonic() - begun
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or waited >= self.patience:
                    raise
            if waited >= locks.LONG and not noted:
                noted = True
                notices.note(f"waiting for a transaction on {self.path}, held by {self._writer()}")

    def _writer(self) -> str:
        try:
            return locks.holder(self.path.with_name(f"{self.path.name}-shm").stat(), "POSIX", WRITE_LOCK)
        except OSError:
            return locks.UNKNOWN


def connect(
    path: Path, *, mode: Literal["ro", "rw", "rwc"], patience: float, check_same_thread: bool = True
) -> WaitingConnection:
    """A connection in autocommit mode; `mode` is SQLite's: `rwc` creates the file. Raises sqlite3.Error."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=min(POLL, patience),
        check_same_thread=check_same_thread, factory=WaitingConnection,
    )  # fmt: skip
    connection.path, connection.patience = path, patience
    return connection


def copy_file(path: Path, target: sqlite3.Connection, *, patience: float) -> None:
    """Copy a database file. Where SQLite cannot create the files of its log, they are copied first."""
    try:
        with closing(connect(path, mode="ro", patience=patience)) as source:
            source.backup(target)
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK):
            raise
        with TemporaryDirectory() as folder:
            for name in (path.name, f"{path.name}-wal"):
                with suppress(FileNotFoundError):
                    (Path(folder) / name).write_bytes((path.parent / name).read_bytes())
            with closing(connect(Path(folder) / path.name, mode="rw", patience=patience)) as source:
                source.backup(target)


def in_memory(factory: type[AnyConnection]) -> AnyConnection:
    """A database in memory, in autocommit mode."""
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=factory)


@contextmanager
def impatient(connection: object) -> Iterator[None]:
    """Inside, `execute` raises sqlite3.OperationalError if another process has the lock for longer than one wait of
    SQLite."""
    if not isinstance(connection, WaitingConnection):
        yield
        return
    patience, connection.patience = connection.patience, 0.0
    try:
        yield
    finally:
        connection.patience = patience
