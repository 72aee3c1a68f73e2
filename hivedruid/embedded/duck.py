"""The one importer of DuckDB: an in-memory database that reads segment files, made when the first query comes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from hivedruid.embedded.macros import macros_for
from hivedruid.errors import DruidError

BATCH = 4096
"""Rows fetched at a time: enough to be fast, few enough to stream."""


class Duck:
    """A DuckDB database. On one thread sums of doubles come in one order, the same in every run."""

    def __init__(self, temporary: Path, *, threads: int = 1) -> None:
        self._connection = duckdb.connect(
            config={
                "threads": threads,
                "temp_directory": str(temporary),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        # Instants are converted between zones by name; the session's own zone must not add a third.
        self._connection.execute("SET TimeZone = 'UTC'")
        # DuckDB 2.0.0 fails to bind NOT (CASE WHEN x IS NOT NULL … ELSE NULL END < …) over a file whose x are all null.
        self._connection.execute("SET disabled_optimizers = 'statistics_propagation'")
        self._macros: set[str] = set()

    def prepare(self, sql: str) -> None:
        """Create the macros that a statement uses."""
        for macro in macros_for(sql):
            if macro not in self._macros:
                self._connection.execute(macro)
                self._macros.add(macro)

    def rows(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a SELECT in batches. Raises DruidError."""
        with failures(), self._connection.cursor() as cursor:
            self.prepare(sql)
            cursor.execute(sql)
            while batch := cursor.fetchmany(BATCH):
                yield batch

    def all(self, sql: str) -> list[tuple[Any, ...]]:
        with failures(), self._connection.cursor() as cursor:
            self.prepare(sql)
            rows: list[tuple[Any, ...]] = cursor.execute(sql).fetchall()
            return rows

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        with failures(), self._connection.cursor() as cursor:
            self.prepare(sql)
            cursor.execute(sql, parameters)

    def close(self) -> None:
        self._connection.close()


@contextmanager
def failures() -> Iterator[None]:
    """DuckDB's and the file system's errors as one-line DruidErrors."""
    try:
        yield
    except duckdb.Error as error:
        raise DruidError(_message(str(error)), hint=_hint(str(error))) from error
    except OSError as error:
        raise DruidError(f"the embedded store failed: {error}", hint=_hint(str(error))) from error


def _message(text: str) -> str:
    if "Division by zero" in text or "Overflow in division" in text:
        return "/ by zero"
    first = text.strip().partition("\n")[0]
    return "the embedded store failed: " + re.sub(r"^[\w ]*Error: ", "", first)


def _hint(text: str) -> str | None:
    if "No space left" in text or "File too large" in text:
        return "free disk space or choose another folder with --home; nothing was changed"
    return None
