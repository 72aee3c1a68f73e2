"""Statistics of tables, and their storage in the catalog.

Statistics only choose between equivalent plans; no result may depend on them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from hivedruid.catalog.store import Catalog
from hivedruid.errors import ExecutionError
from hivedruid.lazy_dataclass import dataclass

SEGMENTS = "segments"
"""The source of statistics that Druid and the embedded store have of each segment."""

TableKey = tuple[str, str]
"""Database and name of a table."""


@dataclass(frozen=True)
class ColumnStatistics:
    """A column under its name in the data.

    `distinct`: the approximate number of values, a null counting as one; `low` and `high` as strings; `nulls`: their
    number. None if unknown. `distinct_from` and `range_from` name the sources of the values and of the bounds, empty
    for ANALYZE TABLE.
    """

    distinct: int | None = None
    has_nulls: bool | None = None
    has_multiple_values: bool = False
    low: str | None = None
    high: str | None = None
    nulls: int | None = None
    distinct_from: str = ""
    range_from: str = ""


@dataclass(frozen=True)
class TableStatistics:
    """A table's rows and columns.

    `start` and `end` enclose the times of its rows, in milliseconds since the epoch, half open. `of` identifies the
    state of the table that was analysed: if it differs, the table has changed since. `taken_at` is the time of the
    analysis, ISO 8601 in UTC; empty if there was none. `is_stale`: the table has changed since then. `rows_from` names
    the source of the number of rows, empty for ANALYZE TABLE.
    """

    rows: int | None = None
    bytes: int | None = None
    start: int | None = None
    end: int | None = None
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    of: str = ""
    taken_at: str = ""
    is_stale: bool = False
    rows_from: str = ""


Statistics = Mapping[TableKey, TableStatistics]
"""By database and name of the table."""


def combined(now: TableStatistics | None, kept: TableStatistics | None) -> TableStatistics | None:
    """The current statistics, completed with those of the last ANALYZE TABLE."""
    if now is None or kept is None:
        return now or kept
    names = dict.fromkeys((*now.columns, *kept.columns))
    return replace(
        now,
        rows=kept.rows if now.rows is None else now.rows,
        bytes=kept.bytes if now.bytes is None else now.bytes,
        columns={name: _combined_column(now.columns.get(name), kept.columns.get(name)) for name in names},
        taken_at=kept.taken_at,
        is_stale=now.of != kept.of,
        rows_from="" if now.rows is None else now.rows_from,
    )


def _combined_column(now: ColumnStatistics | None, kept: ColumnStatistics | None) -> ColumnStatistics:
    """The values that ANALYZE TABLE has counted, with the current bounds and nulls."""
    if now is None or kept is None:
        return now or kept or ColumnStatistics()
    counted, bounded = (now if kept.distinct is None else kept), (kept if now.low is None else now)
    return ColumnStatistics(
        counted.distinct,
        now.nulls > 0 if now.nulls is not None else kept.has_nulls,
        kept.has_multiple_values,
        bounded.low,
        bounded.high,
        now.nulls,
        counted.distinct_from,
        bounded.range_from,
    )


class StatisticsStore:
    """The results of ANALYZE TABLE, by Druid and data source.

    Tables outside Druid have an empty `druid` and their `table_id` as key. Raises ExecutionError if the catalog cannot
    be written; statistics that cannot be read are unknown.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, druid: str, data_source: str) -> TableStatistics | None:
        query = "SELECT facts FROM statistics WHERE druid = ? AND data_source = ?"
        try:
            row = self._catalog.connection.execute(query, (druid, data_source)).fetchone()
            return from_json(row[0]) if row else None
        except (sqlite3.Error, ExecutionError, ValueError, TypeError, AttributeError):
            return None

    def keep(self, druid: str, data_source: str, statistics: TableStatistics) -> None:
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO statistics (druid, data_source, facts) VALUES (?, ?, ?)"
                " ON CONFLICT (druid, data_source) DO UPDATE SET facts = excluded.facts",
                (druid, data_source, to_json(statistics)),
            )

    def forget(self, druid: str, data_source: str) -> None:
        with self._catalog.transaction() as connection:
            connection.execute("DELETE FROM statistics WHERE druid = ? AND data_source = ?", (druid, data_source))


_OF_TABLE = ("rows", "bytes", "start", "end", "of", "taken_at")
_OF_COLUMN = ("distinct", "has_nulls", "has_multiple_values", "low", "high", "nulls")


def to_json(statistics: TableStatistics) -> str:
    """The JSON in the catalog, without unknown values."""
    document: dict[str, Any] = _known(statistics, _OF_TABLE)
    document["columns"] = {name: _known(column, _OF_COLUMN) for name, column in statistics.columns.items()}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> TableStatistics:
    """The inverse of `to_json`. Keys written by a newer hivedruid are ignored."""
    document = json.loads(text)
    columns = {
        name: ColumnStatistics(**{key: column[key] for key in _OF_COLUMN if key in column})
        for name, column in document.get("columns", {}).items()
    }
    return TableStatistics(**{key: document[key] for key in _OF_TABLE if key in document}, columns=columns)


def _known(value: object, keys: tuple[str, ...]) -> dict[str, Any]:
    values = {key: getattr(value, key) for key in keys}
    return {key: item for key, item in values.items() if item is not None and item != ""}
