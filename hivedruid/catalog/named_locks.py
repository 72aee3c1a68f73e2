"""Locks between all processes that use a catalog, by name.

With the catalog in the home folder they are lock files there (`hivedruid.locks`). With the catalog on PostgreSQL,
processes of several machines exclude each other: the locks belong to the session with the database
(`postgres_locks`). Either way a lock ends with the process that holds it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hivedruid import locks

if TYPE_CHECKING:
    from hivedruid.catalog.store import Catalog


class NamedLocks(Protocol):
    """Every method raises ExecutionError if locks cannot be used."""

    def exclusive(self, name: str, *, patience: float = 0.0) -> AbstractContextManager[bool]:
        """Try to take a lock for up to `patience` seconds; yields False if another session holds it."""

    def shared(self, name: str) -> AbstractContextManager[None]:
        """Hold a lock together with others; waits for an exclusive holder."""

    def is_held(self, name: str) -> bool:
        """Whether a session holds a lock exclusively."""

    def alive(self, name: str) -> AbstractContextManager[None]:
        """Inside, record again and again that the holder of a lock is alive."""

    def last_alive(self, name: str) -> float:
        """When its last holder was alive, in seconds since 1970; 0 if that is not known."""

    def forget(self, name: str) -> None:
        """Remove what is recorded of a lock that will not be used again."""


def named_locks(home: Path, catalog: Catalog) -> NamedLocks:
    """The locks of a catalog."""
    from hivedruid.catalog.opening import on_postgres

    session = on_postgres(catalog.connection)
    if session is None:
        return FileLocks(home)
    from hivedruid.catalog.postgres_locks import SessionLocks

    return SessionLocks(session)


class FileLocks:
    """Lock files in the folder `locks` of a home."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def path(self, name: str) -> Path:
        return self._home / "locks" / name

    def exclusive(self, name: str, *, patience: float = 0.0) -> AbstractContextManager[bool]:
        return locks.exclusive(self.path(name), patience=patience)

    def shared(self, name: str) -> AbstractContextManager[None]:
        return locks.shared(self.path(name))

    def is_held(self, name: str) -> bool:
        return locks.is_held(self.path(name))

    def alive(self, name: str) -> AbstractContextManager[None]:
        return locks.heartbeat(self.path(name))

    def last_alive(self, name: str) -> float:
        try:
            return self.path(name).stat().st_mtime
        except OSError:
            return 0.0

    def forget(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)
