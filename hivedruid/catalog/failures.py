"""The errors of SQLite and of the home folder as errors of the catalog, each with its own next step."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES, EDQUOT, ENOSPC, EPERM, EROFS

from hivedruid.errors import ExecutionError

RESTORE = (
    "restore catalog.sqlite from a backup, with its catalog.sqlite-wal if the backup has one; the rows of the tables"
    " are in other files of the home folder"
)
_FREE = "free space on the disk, or choose another folder with --home"
_READ_ONLY = "choose a folder that you may write to with --home; this one can only be read"
_BUSY = "another hivedruid process is writing to this home folder; try again later"
_LOCAL = "choose a folder on a local disk with --home; SQLite's locks do not work on most network file systems"
_BY_CODE = {
    sqlite3.SQLITE_FULL: _FREE,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_CORRUPT: RESTORE,
    sqlite3.SQLITE_NOTADB: RESTORE,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
}
_BY_NUMBER = {ENOSPC: _FREE, EDQUOT: _FREE, EROFS: _READ_ONLY, EACCES: _READ_ONLY, EPERM: _READ_ONLY}


def hint_of(error: Exception) -> str:
    """What to do about an error of the catalog's file."""
    if isinstance(error, OSError):
        return _BY_NUMBER.get(error.errno or 0, _LOCAL)
    return _BY_CODE.get(_code(error), _LOCAL)


def catalog_error(error: sqlite3.Error) -> ExecutionError:
    """The error for a failed statement of SQLite."""
    if _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return ExecutionError(f"the catalog is damaged: {error}", hint=RESTORE)
    if _code(error) == sqlite3.SQLITE_READONLY:
        return ExecutionError("cannot write the catalog: the home folder is read-only", hint=_READ_ONLY)
    return ExecutionError(f"cannot write the catalog: {error}", hint=hint_of(error))


@contextmanager
def catalog_errors() -> Iterator[None]:
    """Inside, an error of SQLite is one of the catalog."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise catalog_error(error) from error


def read_only_home(home: object) -> ExecutionError:
    """The error for a statement that would change a home that can only be read."""
    return ExecutionError(f"the home folder {home} is read-only", hint=_READ_ONLY)


def lost_catalog(path: object, evidence: str) -> ExecutionError:
    """The error for a home with tables whose catalog is missing or empty: a new one would make the loss final."""
    return ExecutionError(
        f"the catalog {path} is missing or empty, but the home folder contains {evidence}",
        hint=f"{RESTORE}; to begin with an empty catalog, move them away, or choose another folder with --home",
    )


def _code(error: Exception) -> int:
    """SQLite's primary result code."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
