"""What the footers of files contain, kept in the catalog: a footer is read once while its file does not change.

Only choices between equivalent plans depend on it. What cannot be read from the catalog is unknown.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from decimal import Decimal
from typing import Any, NamedTuple

from hivedruid.catalog.statistics import TableStatistics, from_json, to_json
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ExecutionError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.sqlite_waits import impatient

_PARSERS = {"integer": int, "decimal": Decimal, "double": float, "date": str, "timestamp": str}
"""How bounds are compared, by kind of value: dates and timestamps are in ISO 8601."""


class StoredFile(NamedTuple):
    """A file with its path, its size in bytes and its modification time in nanoseconds. A file that differs in one of
    them is another one."""

    path: str
    size: int
    modified: int


class ColumnFacts(NamedTuple):
    """A column in some rows: its bounds as strings, and the number of nulls. None if unknown.

    `kind` determines the form of the bounds: integer, decimal, double, date or timestamp.
    """

    nulls: int | None = None
    kind: str | None = None
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True)
class FileFacts:
    """The number of rows of a file, or of several, and their columns by name in lower case."""

    rows: int
    columns: Mapping[str, ColumnFacts] = field(default_factory=dict)


def merged(parts: Iterable[FileFacts]) -> FileFacts:
    """The facts of several files, or parts of one. A column that a part does not have is null in all of its rows."""
    known = list(parts)
    names = dict.fromkeys(name for part in known for name in part.columns)
    return FileFacts(sum(part.rows for part in known), {name: _merged_column(name, known) for name in names})


def _merged_column(name: str, parts: Sequence[FileFacts]) -> ColumnFacts:
    columns = [part.columns.get(name) or ColumnFacts(part.rows) for part in parts]
    counts = [column.nulls for column in columns]
    nulls = None if None in counts else sum(count for count in counts if count is not None)
    filled = [column for column, part in zip(columns, parts, strict=True) if column.nulls != part.rows]
    kinds = {column.kind for column in filled}
    kind = next(iter(kinds), None)
    if len(kinds) != 1 or kind is None:
        return ColumnFacts(nulls)
    lows = [column.low for column in filled if column.low is not None]
    highs = [column.high for column in filled if column.high is not None]
    if not len(lows) == len(highs) == len(filled):
        return ColumnFacts(nulls)
    return ColumnFacts(nulls, kind, min(lows, key=_PARSERS[kind]), max(highs, key=_PARSERS[kind]))


class FooterStore:
    """The facts of files by place and path, and the statistics of tables that were combined from them.

    A place is the LOCATION of an external table or the id of a managed one. Statements do not wait to store facts:
    while another process writes to the catalog, nothing is stored.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def known(self, place: str) -> set[StoredFile]:
        """The files whose footers were read."""
        return {StoredFile(*row) for row in self._rows("path, size, modified", place)}

    def facts(self, place: str, *, with_columns: bool = True) -> dict[StoredFile, FileFacts | None]:
        """The facts of these files; None for a damaged file."""
        columns = "columns" if with_columns else "'{}'"
        rows = self._rows(f"path, size, modified, row_count, {columns}", place)
        return {StoredFile(path, size, modified): _facts(count, text) for path, size, modified, count, text in rows}

    def keep(self, place: str, facts: Mapping[StoredFile, FileFacts | None]) -> None:
        sql = (
            "INSERT INTO footers (place, path, size, modified, row_count, columns) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (place, path) DO UPDATE SET size = excluded.size, modified = excluded.modified,"
            " row_count = excluded.row_count, columns = excluded.columns"
        )
        self._write(
            sql, [(place, *file, None if one is None else one.rows, _columns_json(one)) for file, one in facts.items()]
        )

    def forget(self, place: str, files: Iterable[StoredFile]) -> None:
        """Remove files that are not in the table any more."""
        self._write("DELETE FROM footers WHERE place = ? AND path = ?", [(place, file.path) for file in files])

    def combined(self, table_id: str, state: str) -> TableStatistics | None:
        """The statistics that were combined from the files of a table in this state; None if there are none."""
        query = "SELECT facts FROM file_statistics WHERE table_id = ? AND state = ?"
        with suppress(sqlite3.Error, ExecutionError, ValueError, TypeError, AttributeError):
            row = self._catalog.connection.execute(query, (table_id, state)).fetchone()
            return from_json(row[0]) if row else None
        return None

    def keep_combined(self, table_id: str, state: str, statistics: TableStatistics) -> None:
        sql = (
            "INSERT INTO file_statistics (table_id, state, facts)"
            " SELECT table_id, ?, ? FROM tables WHERE table_id = ?"
            " ON CONFLICT (table_id) DO UPDATE SET state = excluded.state, facts = excluded.facts"
        )
        self._write(sql, [(state, to_json(statistics), table_id)])

    def _write(self, sql: str, rows: list[tuple[str | int | None, ...]]) -> None:
        connection = self._catalog.connection
        if rows:
            # a name of a file may be no text
            with (
                suppress(sqlite3.Error, ExecutionError, UnicodeError),
                impatient(connection),
                self._catalog.transaction(),
            ):
                connection.executemany(sql, rows)

    def _rows(self, columns: str, place: str) -> list[tuple[Any, ...]]:
        with suppress(sqlite3.Error, ExecutionError):
            return self._catalog.connection.execute(
                f"SELECT {columns} FROM footers WHERE place = ?", (place,)
            ).fetchall()
        return []


def _columns_json(facts: FileFacts | None) -> str:
    """The JSON in the catalog: for each column nulls, kind, lower and upper bound."""
    columns = {} if facts is None else {n: list(c) if c.kind else [c.nulls] for n, c in facts.columns.items()}
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"))


def _facts(rows: int | None, columns: str) -> FileFacts | None:
    with suppress(ValueError, TypeError, AttributeError):
        if rows is not None:
            return FileFacts(rows, {name: ColumnFacts(*column) for name, column in json.loads(columns).items()})
    return None
