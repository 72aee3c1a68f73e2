"""The SQLite file under the home folder: the catalog's tables, and the embedded store's segment manifest.

One file, so that one commit decides what a reader sees. The schema is in `migrations`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from errno import ENOSPC
from pathlib import Path

from hivedruid.catalog.carried_over import add_functions
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.errors import ExecutionError
from hivedruid.private import private_file, private_home
from hivedruid.sqlite_waits import CatalogConnection, connect, in_memory

FILE_NAME = "catalog.sqlite"
BUSY = 30.0
"""Seconds to wait while another process writes."""


def open_database(home: Path) -> CatalogConnection:
    """The catalog database of a home folder, created or migrated if needed.

    The connection is in autocommit mode: a transaction is `BEGIN IMMEDIATE` … `COMMIT`, one writer at a time.
    Raises ExecutionError if the folder cannot be written, the file is not a catalog, or a newer hivedruid wrote it.
    """
    path = home / FILE_NAME
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
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or getattr(error, "errno", None) == ENOSPC:
        return "free space on the disk, or choose another folder with --home"
    if home.exists() and not home.is_dir():
        return f"{home} is not a folder: choose another one with --home"
    if isinstance(error, PermissionError):
        return "choose a folder that you may write to with --home"
    return "choose a folder on a local disk with --home; SQLite's locks do not work on most network file systems"


def copy_database(home: Path) -> CatalogConnection:
    """A copy of a home folder's catalog database in memory.

    Nothing is written to the folder, which need not exist. Raises ExecutionError as `open_database` does.
    """
    path = home / FILE_NAME
    connection = in_memory(CatalogConnection)
    try:
        if path.exists():
            with closing(connect(path, mode="ro", patience=BUSY)) as source:
                source.backup(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        _version(connection, path)
        migrate(connection)
    except (OSError, sqlite3.Error) as error:
        raise ExecutionError(f"cannot read the catalog {path}: {error}") from error
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
