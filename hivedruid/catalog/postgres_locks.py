"""Locks of sessions with a catalog on PostgreSQL: its advisory locks.

The server releases them when the session ends: at once if the process or its connection has ended, and after about half
a minute if its machine does not respond any more. They belong to the connection that also records what the locks
protect, so that a process that has lost a lock, because it lost its connection, cannot record anything either.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from time import monotonic, sleep

from hivedruid import locks, notices
from hivedruid.catalog.postgres import PostgresConnection, halves, key_of
from hivedruid.catalog.postgres_dialect import OWNERS_TABLE
from hivedruid.errors import ExecutionError

POLL = 0.1
"""Seconds between two attempts to take a lock."""
_NOW = "extract(epoch FROM clock_timestamp())"
_HOLDERS = """
    SELECT coalesce(' on ' || host(a.client_addr), ''), l.pid FROM pg_locks l
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid = ? AND l.objid = ? AND l.objsubid = 1 AND l.granted AND l.mode = ?
"""


class SessionLocks:
    """See `NamedLocks`."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    @contextmanager
    def exclusive(self, name: str, *, patience: float = 0.0) -> Iterator[bool]:
        is_taken = self._wait(name, "pg_try_advisory_lock", patience)
        try:
            yield is_taken
        finally:
            if is_taken:
                self._release(name, "pg_advisory_unlock")

    @contextmanager
    def shared(self, name: str) -> Iterator[None]:
        self._wait(name, "pg_try_advisory_lock_shared", float("inf"))
        try:
            yield
        finally:
            self._release(name, "pg_advisory_unlock_shared")

    def is_held(self, name: str) -> bool:
        return bool(self._holders(name, "ExclusiveLock"))

    @contextmanager
    def alive(self, name: str) -> Iterator[None]:
        def beat() -> None:
            # this connection may be in a transaction
            with suppress(ExecutionError), closing(self._connection.again()) as other:
                _record(other, name)

        _record(self._connection, name)
        with locks.beating(beat):
            yield

    def last_alive(self, name: str) -> float:
        row = self._connection.execute(f"SELECT beat FROM {OWNERS_TABLE} WHERE name = ?", (name,)).fetchone()
        return float(row[0]) if row else 0.0

    def forget(self, name: str) -> None:
        self._connection.execute(f"DELETE FROM {OWNERS_TABLE} WHERE name = ?", (name,))

    def _wait(self, name: str, function: str, patience: float) -> bool:
        begun, is_noted = monotonic(), False
        while not self._take(name, function):
            waited = monotonic() - begun
            if waited >= patience:
                return False
            if waited >= locks.LONG and not is_noted:
                is_noted = True
                notices.note(
                    f"waiting for the lock {name} of {self._connection.url.shown}, held by {self._holder(name)}"
                )
            sleep(POLL)
        self._connection.holds.append(name)
        return True

    def _take(self, name: str, function: str) -> bool:
        """PostgreSQL gives a session a lock that it has once more, which would exclude nothing."""
        if name in self._connection.holds and function == "pg_try_advisory_lock":
            return False
        return bool(self._connection.execute(f"SELECT {function}(?)", (self._key(name),)).fetchone()[0])

    def _release(self, name: str, function: str) -> None:
        """A lock that cannot be given back ends with its session."""
        try:
            self._connection.execute(f"SELECT {function}(?)", (self._key(name),))
        except ExecutionError:
            self._connection.close()
        finally:
            self._connection.holds.remove(name)

    def _holder(self, name: str) -> str:
        rows = self._holders(name, "ExclusiveLock") or self._holders(name, "ShareLock")
        return f"session {rows[0][1]}{rows[0][0]}" if rows else "another session"

    def _holders(self, name: str, mode: str) -> list[tuple[str, int]]:
        return self._connection.execute(_HOLDERS, (*halves(self._key(name)), mode)).fetchall()

    def _key(self, name: str) -> int:
        return key_of(self._connection.url.schema, f"lock {name}")


def _record(connection: PostgresConnection, name: str) -> None:
    connection.execute(
        f"INSERT INTO {OWNERS_TABLE} (name, beat) VALUES (?, {_NOW}) ON CONFLICT (name) DO UPDATE SET beat = {_NOW}",
        (name,),
    )
