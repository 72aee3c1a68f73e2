"""The catalog's record of the batches of rows that archive jobs move from Druid to the cold parts of tiered tables.

It goes with the table. A batch is recorded before the first of its rows is in the cold part, so that no row there has
an unknown batch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from hivedruid.catalog.store import Catalog

BatchState = Literal["planned", "staged", "switched", "done", "cancelled"]


@dataclass(frozen=True)
class Interval:
    """Times in milliseconds, half open, and the version of the lock under which their rows leave Druid."""

    start: int
    end: int
    version: str


@dataclass(frozen=True)
class Batch:
    """Rows that were in segments of these intervals of Druid.

    `state` is that of the operation: until it is staged, its rows are only in Druid, and since it is switched, only in
    the cold part. Whether a staged batch is switched, Druid decides. The rows of a cancelled batch were deleted from
    the cold part.
    """

    id: str
    table_id: str
    state: BatchState
    intervals: tuple[Interval, ...]
    rows: int = 0

    @property
    def is_decided(self) -> bool:
        return self.state in ("done", "cancelled")


class Batches:
    """Every change is one transaction, or part of the caller's. Raises ExecutionError if the catalog cannot be
    written."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, table_id: str) -> tuple[Batch, ...]:
        """The batches of a table, oldest first."""
        rows = self._catalog.connection.execute(
            "SELECT batch_id, table_id, state, intervals, row_count FROM archived_batches WHERE table_id = ?"
            " ORDER BY rowid",
            (table_id,),
        )
        return tuple(
            Batch(id_, table, state, tuple(Interval(*each) for each in json.loads(intervals)), count)
            for id_, table, state, intervals, count in rows
        )

    def keep(self, batch: Batch) -> None:
        """Add a batch, or replace it."""
        intervals = json.dumps([[each.start, each.end, each.version] for each in batch.intervals])
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO archived_batches (batch_id, table_id, state, intervals, row_count) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (batch_id) DO UPDATE SET state = excluded.state, intervals = excluded.intervals,"
                " row_count = excluded.row_count",
                (batch.id, batch.table_id, batch.state, intervals, batch.rows),
            )

    def remove(self, table_id: str) -> None:
        """Remove the batches of a table whose cold part was emptied."""
        with self._catalog.transaction() as connection:
            connection.execute("DELETE FROM archived_batches WHERE table_id = ?", (table_id,))
