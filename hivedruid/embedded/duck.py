"""The only module that imports DuckDB: an in-memory database that reads segment files, created by the first query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb

from hivedruid.embedded.damage import damaged
from hivedruid.embedded.macros import macros_for
from hivedruid.errors import DruidError
from hivedruid.results import Batch

BATCH = 4096
"""Rows fetched at a time: enough to be fast, few enough to stream."""
ARROW_BATCH = 16_384
_ARROW_TYPES = frozenset(("BIGINT", "DOUBLE", "VARCHAR"))
"""Types whose Arrow arrays have the same values as the Python objects; a HUGEINT, for example, becomes a decimal."""

MAX_DEPTH = 5000
"""The maximum depth of an expression: a chain of 500 sums has 2,500 levels."""
MANY_CALLS = 200
"""The number of parentheses from which common subexpressions are not searched for: the search takes cubic time."""
# DuckDB 2.0.0 fails to bind NOT (CASE WHEN x IS NOT NULL … ELSE NULL END < …) over a file whose x are all null.
_DISABLED = "statistics_propagation"


class Duck:
    """A DuckDB database. With one thread, sums of doubles are computed in the same order in every run."""

    def __init__(self, temporary: Path, *, threads: int = 1) -> None:
        self._connection = duckdb.connect(
            config={
                "threads": threads,
                "max_expression_depth": MAX_DEPTH,
                "temp_directory": str(temporary),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        # Instants are converted between zones by name; the session's own zone must not add a third.
        self._connection.execute("SET TimeZone = 'UTC'")
        self._disabled = ""
        self._macros: set[str] = set()
        self._busy: duckdb.DuckDBPyConnection | None = None
        """The cursor that a thread is waiting for."""

    def prepare(self, sql: str) -> None:
        """Create the macros that a statement uses, and choose the optimizers for it."""
        disabled = f"{_DISABLED},common_subexpressions" if sql.count("(") > MANY_CALLS else _DISABLED
        if disabled != self._disabled:
            self._connection.execute(f"SET disabled_optimizers = '{disabled}'")
            self._disabled = disabled
        for macro in macros_for(sql):
            if macro not in self._macros:
                self._connection.execute(macro)
                self._macros.add(macro)

    def batches(self, sql: str, *, arrow: bool) -> Iterator[Batch]:
        """The rows of a SELECT in batches, as Arrow arrays if `arrow` and all types allow it. Raises DruidError."""
        with failures(sql), self._connection.cursor() as cursor:
            self.prepare(sql)
            relation = cursor.sql(sql) if arrow else None
            if relation is not None and _ARROW_TYPES.issuperset(map(str, relation.types)):
                with self._waiting(cursor):
                    reader = relation.to_arrow_reader(ARROW_BATCH)
                while (batch := self._next(cursor, reader)) is not None:
                    yield Batch(batch.num_rows, tuple(batch.columns))
                return
            with self._waiting(cursor):
                cursor.execute(sql)
                rows = cursor.fetchmany(BATCH)
            while rows:
                yield Batch(len(rows), tuple(zip(*rows, strict=True)))
                with self._waiting(cursor):
                    rows = cursor.fetchmany(BATCH)

    def _next(self, cursor: duckdb.DuckDBPyConnection, reader: Iterator[Any]) -> Any:
        with self._waiting(cursor):
            return next(reader, None)

    def all(self, sql: str) -> list[tuple[Any, ...]]:
        with failures(sql), self._connection.cursor() as cursor:
            self.prepare(sql)
            with self._waiting(cursor):
                rows: list[tuple[Any, ...]] = cursor.execute(sql).fetchall()
            return rows

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        with failures(sql), self._connection.cursor() as cursor:
            self.prepare(sql)
            with self._waiting(cursor):
                cursor.execute(sql, parameters)

    def define(self, name: str, function: Callable[[Any], Any], parameter: str, result: str) -> None:
        """Make a Python function of one argument a function of SQL; it also gets NULL."""
        self._connection.create_function(name, function, [parameter], result, null_handling="special")

    @contextmanager
    def _waiting(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        self._busy = cursor
        try:
            yield
        finally:
            self._busy = None

    def interrupt(self) -> None:
        """End the statement that another thread is waiting for."""
        if (cursor := self._busy) is not None:
            cursor.interrupt()

    def close(self) -> None:
        self._connection.close()


@contextmanager
def failures(sql: str = "") -> Iterator[None]:
    """DuckDB's and the file system's errors as one-line DruidErrors; the error names a damaged file that `sql`
    reads. DuckDB raises RuntimeError in place of the KeyboardInterrupt that ended its query (PyErr_CheckSignals in
    DuckDBPyConnection::CompletePendingQuery)."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise
    except duckdb.Error as error:
        if _hint(str(error)) is None and _UNREADABLE.search(str(error)) and (path := _damaged(sql)):
            raise damaged(unquote(path.parent.parent.name), path) from error
        raise DruidError(_message(str(error)), hint=_hint(str(error))) from error
    except OSError as error:
        raise DruidError(f"the embedded store failed: {error}", hint=_hint(str(error))) from error


_UNREADABLE = re.compile(
    r"TProtocolException|magic bytes|too small to be a Parquet|[Pp]arquet|[Dd]ecompress|Snappy|ZSTD", re.ASCII
)
_FILE = re.compile(r"'((?:[^']|'')+\.parquet)'")


def _damaged(sql: str) -> Path | None:
    """The first Parquet file of a SELECT that cannot be read completely."""
    with duckdb.connect() as connection:
        for name in dict.fromkeys(_FILE.findall(sql)):
            try:
                connection.execute(
                    "SELECT count(COLUMNS(*)), max(hash(COLUMNS(*))) FROM read_parquet(?)", [name.replace("''", "'")]
                )
            except duckdb.Error:
                return Path(name.replace("''", "'"))
    return None


def _message(text: str) -> str:
    if "Division by zero" in text or "Overflow in division" in text:
        return "/ by zero"
    first = text.strip().partition("\n")[0]
    return "the embedded store failed: " + re.sub(r"^[\w ]*Error: ", "", first)


def _hint(text: str) -> str | None:
    if "No space left" in text or "File too large" in text:
        return "free disk space or choose another folder with --home; nothing was changed"
    return None
