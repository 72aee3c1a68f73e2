"""Durable operations as the catalog stores them; see `operations.store`."""

from __future__ import annotations

from dataclasses import astuple, fields

from hivedruid.catalog.store import Catalog
from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class OperationRecord:
    """A row of the table `operations`; `notes` are the fields of its kind as JSON."""

    id: str
    kind: str
    statement_id: str
    statement: str
    database: str
    table: str
    table_id: str
    druid: str
    text: str
    state: str
    version: int
    ended: bool
    notes: str
    error: str
    created: str
    changed: str


_NAMES = [item.name for item in fields(OperationRecord)]
_COLUMNS = ", ".join(f'"{name}"' for name in _NAMES)


class OperationRecords:
    """Every change is one transaction, or part of the caller's.

    Raises ExecutionError if the catalog cannot be written.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, operation_id: str) -> OperationRecord | None:
        return next(iter(self._select("WHERE id = ?", operation_id)), None)

    def all(self) -> list[OperationRecord]:
        """Newest first, as in the next three."""
        return self._select("")

    def unfinished(self) -> list[OperationRecord]:
        return self._select("WHERE ended = 0")

    def of_unfinished_statements(self) -> list[OperationRecord]:
        return self._select("WHERE statement_id IN (SELECT statement_id FROM operations WHERE ended = 0)")

    def of_statement(self, statement_id: str) -> list[OperationRecord]:
        return self._select("WHERE statement_id = ?", statement_id)

    def exist(self, *, ended: bool) -> bool:
        """Whether there is an unfinished operation; with `ended`, any operation."""
        query = "SELECT 1 FROM operations WHERE ended = 0 OR ended = ? LIMIT 1"
        return self._catalog.connection.execute(query, (int(ended),)).fetchone() is not None

    def _select(self, where: str, *values: str) -> list[OperationRecord]:
        query = f"SELECT {_COLUMNS} FROM operations {where} ORDER BY number DESC"
        rows = self._catalog.connection.execute(query, values)
        return [OperationRecord(**dict(zip(_NAMES, row, strict=True))) for row in rows]

    def add(self, record: OperationRecord) -> None:
        marks = ", ".join("?" for _ in _NAMES)
        with self._catalog.transaction() as connection:
            connection.execute(f"INSERT INTO operations ({_COLUMNS}) VALUES ({marks})", astuple(record))

    def update(self, record: OperationRecord, version: int) -> bool:
        """Replace the record if it has that version; whether it had."""
        values = ", ".join(f'"{name}" = ?' for name in _NAMES)
        with self._catalog.transaction() as connection:
            done = connection.execute(
                f"UPDATE operations SET {values} WHERE id = ? AND version = ?", (*astuple(record), record.id, version)
            )
            return done.rowcount == 1

    def remove_ended(self, keep: int) -> None:
        """Remove the ended operations that are not among the `keep` newest operations."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "DELETE FROM operations WHERE ended = 1 AND number <= (SELECT max(number) FROM operations) - ?", (keep,)
            )
