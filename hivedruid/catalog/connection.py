"""What the catalog needs of a database: SQLite's connections are like this, and `postgres.PostgresConnection`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

Parameters = Sequence[Any] | Mapping[str, Any]
"""The values of `?`, or of `:name`."""


class Cursor(Protocol):
    """The rows of a statement, or the number of rows that it changed."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection in autocommit mode. Statements are in the SQL that both databases have, or that
    `postgres_dialect` adds to PostgreSQL."""

    @property
    def in_transaction(self) -> bool: ...

    def now(self) -> float:
        """The time in seconds since 1970, by a clock that all sessions with this catalog have in common."""

    def begin(self) -> None:
        """Begin a transaction as the only one that writes to the catalog: others wait until it ends."""

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor: ...

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor: ...

    def close(self) -> None: ...
