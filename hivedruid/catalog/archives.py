"""The catalog's record of the batches of rows by which the cold parts of tiered tables change.

It goes with the table. A batch is recorded before the first of its rows is in the cold part, so that no row there has
an unknown batch.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

from hivedruid.catalog.store import Catalog

BatchState = Literal["planned", "staged", "switched", "done", "cancelled"]
Effect = Literal["moved", "added", "removed"]
"""Of a batch: its rows are moved from Druid (ARCHIVE TABLE), or added (INSERT); or rows of the cold part are removed,
since Druid has others instead (UNARCHIVE TABLE, INSERT OVERWRITE)."""


@dataclass(frozen=True)
class Interval:
    """Times in milliseconds, half open, and the version of the lock under which their rows leave Druid; "" if none
    do."""

    start: int
    end: int
    version: str = ""


@dataclass(frozen=True)
class Removal:
    """Which rows of its intervals a batch removes from the cold part: those that were there when it was planned.

    That are the rows of all batches up to number `last` but those of `kept`, which were undecided; `of_others`: and the
    rows that other tools have added. `counts` are the numbers of rows by batch.
    """

    last: int
    kept: tuple[str, ...] = ()
    of_others: bool = False
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Batch:
    """A change of the cold part, with the id of its operation; `intervals` are the times of its rows.

    Moved and added rows have the id of the batch. Those that are moved are only in Druid until the batch is `staged`,
    and only in the cold part since it is `switched`; added rows count since then, and removed rows no longer do.
    Whether a staged batch is switched, Druid decides. The rows of a cancelled batch were deleted from the cold part;
    when a removal is `done`, its rows are deleted. `number` grows with each batch.
    """

    id: str
    table_id: str
    state: BatchState
    intervals: tuple[Interval, ...]
    rows: int = 0
    effect: Effect = "moved"
    removal: Removal | None = None
    number: int = field(default=0, compare=False)

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
        return self._where("table_id = ?", table_id)

    def find(self, batch_id: str) -> Batch | None:
        return next(iter(self._where("batch_id = ?", batch_id)), None)

    def _where(self, condition: str, value: str) -> tuple[Batch, ...]:
        rows = self._catalog.connection.execute(
            "SELECT batch_id, table_id, state, intervals, row_count, effect, removal, rowid FROM archived_batches"
            f" WHERE {condition} ORDER BY rowid",
            (value,),
        )
        return tuple(
            Batch(
                id_, table, state, tuple(Interval(*each) for each in json.loads(intervals)), count, effect,
                _removal(removal), number,
            )
            for id_, table, state, intervals, count, effect, removal, number in rows
        )  # fmt: skip

    def keep(self, batch: Batch) -> None:
        """Add a batch, or replace it."""
        intervals = json.dumps([[each.start, each.end, each.version] for each in batch.intervals])
        removal = json.dumps(asdict(batch.removal)) if batch.removal is not None else ""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO archived_batches (batch_id, table_id, state, intervals, row_count, effect, removal)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (batch_id) DO UPDATE SET state = excluded.state, intervals = excluded.intervals,"
                " row_count = excluded.row_count, removal = excluded.removal",
                (batch.id, batch.table_id, batch.state, intervals, batch.rows, batch.effect, removal),
            )

    def remove(self, table_id: str) -> None:
        """Remove the batches of a table whose cold part was emptied."""
        with self._catalog.transaction() as connection:
            connection.execute("DELETE FROM archived_batches WHERE table_id = ?", (table_id,))


def _removal(text: str) -> Removal | None:
    if not text:
        return None
    found = json.loads(text)
    counts = tuple((batch, rows) for batch, rows in found["counts"])
    return Removal(found["last"], tuple(found["kept"]), found["of_others"], counts)
