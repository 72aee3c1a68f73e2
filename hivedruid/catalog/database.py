"""The SQLite file under the home folder: the catalog's tables, and the embedded store's segment manifest.

One file, so that one commit decides what a reader sees. The schema is in `migrations`.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from hivedruid.catalog.carried_over import add_functions
from hivedruid.catalog.failures import RESTORE, hint_of, lost_catalog
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.errors import ExecutionError
from hivedruid.private import is_read_only, private_file, private_home
from hivedruid.sqlite_waits import CatalogConnection, connect, copy_file, in_memory

FILE_NAME = "catalog.sqlite"
BUSY = 30.0
"""Seconds to wait while another process writes."""


_SMALLEST = 512
"""The bytes of the smallest page of SQLite: a shorter file is an empty database for it."""
_HELD = {
    "warehouse/tables": "the files of managed tables",
    "segments": "segments of Druid tables",
}
"""The folders of a home that have the rows of tables, and what is in them."""


def open_database(home: Path) -> CatalogConnection:
    """The catalog database of a home folder, created or migrated if needed; a copy of it that cannot be changed if the
    folder can only be read.

    The connection is in autocommit mode: a transaction is `BEGIN IMMEDIATE` … `COMMIT`, one writer at a time.
    Raises ExecutionError if the folder cannot be written, the file is not a catalog or is lost, or a newer hivedruid
    wrote it.
    """
    path = home / FILE_NAME
    if is_read_only(home) and path.is_file():
        connection = copy_database(home)
        connection.execute("PRAGMA query_only = ON")
        return connection
    _check_present(home, path)
    try:
        private_home(home)
        private_file(path)  # SQLite gives its log the permissions of the file
        connection = connect(path, mode="rwc", patience=BUSY, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        if _version(connection, path) < len(MIGRATIONS):
            migrate(connection)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ExecutionError(f"cannot open the catalog {path}: {reason}", hint=_hint(home, error)) from error
    return connection


def _hint(home: Path, error: Exception) -> str:
    """What to do about a catalog that cannot be opened."""
    path = home / FILE_NAME
    if os.path.lexists(home) and not os.path.isdir(home):  # noqa: PTH112 - is_dir raises PermissionError
        return f"{home} is not a folder: choose another one with --home"
    for name in (str(path), f"{path}-wal", f"{path}-journal"):
        if os.path.isdir(name):  # noqa: PTH112 - is_dir raises PermissionError
            return f"{name} is a folder: move it away; {RESTORE}"
    if os.access(path, os.F_OK) and not os.access(path, os.R_OK):
        return f"check the permissions of {path}, or choose another folder with --home"
    return hint_of(error)


def _check_present(home: Path, path: Path) -> None:
    """Raises ExecutionError if the catalog is missing or empty, but the home has rows of tables."""
    if os.access(path, os.F_OK) and (not path.is_file() or path.stat().st_size >= _SMALLEST):
        return
    found = [text for folder, text in _HELD.items() if _has_entries(home / folder)]
    if found:
        raise lost_catalog(path, " and ".join(found))


def _has_entries(folder: Path) -> bool:
    try:
        return any(True for _ in folder.iterdir())
    except OSError:
        return False


def copy_database(home: Path) -> CatalogConnection:
    """A copy of a home folder's catalog database in memory.

    Nothing is written to the folder, which need not exist. Raises ExecutionError as `open_database` does.
    """
    path = home / FILE_NAME
    _check_present(home, path)
    connection = in_memory(CatalogConnection)
    try:
        if path.exists():
            copy_file(path, connection, patience=BUSY)
        connection.execute("PRAGMA foreign_keys = ON")
        _version(connection, path)
        migrate(connection)
    except (OSError, sqlite3.Error) as error:
        raise ExecutionError(f"cannot read the catalog {path}: {error}", hint=_hint(home, error)) from error
    return connection


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version of a catalog. Raises ExecutionError, and closes the connection, if a newer hivedruid wrote
    it.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        connection.close()
        raise ExecutionError(
            f"the catalog {path} has schema version {version}; this version of hivedruid supports up to"
            f" {len(MIGRATIONS)}",
            hint="upgrade hivedruid, or choose another folder with --home",
        )
    return version


def migrate(connection: sqlite3.Connection, to: int | None = None) -> None:
    """Bring the schema to a version, by default the newest one; a second process that waited for the lock finds it
    migrated."""
    add_functions(connection)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for number, statements in enumerate(MIGRATIONS[version:to], start=version + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()  # nothing if SQLite has rolled back, as it does on a full disk
        raise
