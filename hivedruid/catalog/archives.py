"""The catalog's record of the batches of rows by which the cold parts of tiered tables change.

It goes with the table. A batch is recorded before the first of its rows is in the cold part, so that no row there has
an unknown batch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any, Literal

from hivedruid.catalog.store import Catalog
from hivedruid.lazy_dataclass import dataclass

BatchState = Literal["planned", "staged", "switched", "done", "cancelled"]
Effect = Literal["moved", "added", "removed"]
"""Of a batch: its rows are moved from Druid (ARCHIVE TABLE), or added (INSERT); or rows of the cold part are removed,
since Druid has others instead (UNARCHIVE TABLE, INSERT OVERWRITE), or by DELETE: that batch has no intervals."""


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
    when a removal is `done`, its rows are deleted. `number` grows with each batch. `sums` are those of integer columns
    of the rows, by name; None of a column without values.
    """

    id: str
    table_id: str
    state: BatchState
    intervals: tuple[Interval, ...]
    rows: int = 0
    effect: Effect = "moved"
    removal: Removal | None = None
    number: int = field(default=0, compare=False)
    sums: tuple[tuple[str, int | None], ...] = ()

    @property
    def is_decided(self) -> bool:
        return self.state in ("done", "cancelled")

    @property
    def deleted(self) -> Mapping[str, int]:
        """The numbers of rows that a DELETE removes, by batch; "" are those of other tools. Empty for all others, which
        have times when they count the rows."""
        return dict(self.removal.counts) if self.removal is not None and not self.intervals else {}


_COLUMNS = "batch_id, table_id, state, row_count, effect, removal, rowid, sums"
_CURRENT = f"""
    SELECT {_COLUMNS} FROM archived_batches WHERE rowid IN (
        SELECT max(rowid) FROM archived_batches WHERE table_id = :table
        UNION SELECT rowid FROM archived_batches WHERE table_id = :table AND state <> 'done'
        UNION SELECT rowid FROM archived_batches WHERE table_id = :table AND rowid > (
            SELECT min(CAST(json_extract(removal, '$.last') AS BIGINT)) FROM archived_batches
            WHERE table_id = :table AND state <> 'done' AND removal <> ''
        )
    ) ORDER BY rowid
"""
_SINCE = f"""
    SELECT {_COLUMNS} FROM archived_batches WHERE rowid IN (
        SELECT rowid FROM archived_batches WHERE table_id = :table AND state <> 'done'
        UNION SELECT rowid FROM archived_batches WHERE batch_id IN (SELECT value FROM json_each(:known))
        UNION SELECT rowid FROM archived_batches WHERE table_id = :table AND rowid > coalesce(
            (SELECT rowid FROM archived_batches WHERE batch_id = :newest), 0
        )
    ) ORDER BY rowid
"""
# an interval that overlaps a span ends after its start, and before its end and the length of the longest interval
_OVERLAPPING = """
    FROM json_each(:spans) AS span CROSS JOIN archived_intervals AS i JOIN archived_batches AS b
        ON b.batch_id = i.batch_id
        AND i.table_id = :table AND i.end_ms > CAST(json_extract(span.value, '$[0]') AS BIGINT)
        AND i.start_ms < CAST(json_extract(span.value, '$[1]') AS BIGINT)
        AND i.end_ms < CAST(json_extract(span.value, '$[1]') AS BIGINT)
            + (SELECT max(end_ms - start_ms) FROM archived_intervals WHERE table_id = :table)
"""


class Batches:
    """Every change is one transaction, or part of the caller's. Raises ExecutionError if the catalog cannot be
    written.

    A table may have many batches: `current`, `since`, `hidden` and `may_hold` read only those that a query depends on.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, table_id: str) -> tuple[Batch, ...]:
        """The batches of a table, oldest first."""
        return self._batches(f"SELECT {_COLUMNS} FROM archived_batches WHERE table_id = ? ORDER BY rowid", (table_id,))

    def find(self, batch_id: str) -> Batch | None:
        found = self._batches(f"SELECT {_COLUMNS} FROM archived_batches WHERE batch_id = ?", (batch_id,))
        return next(iter(found), None)

    def current(self, table_id: str) -> tuple[Batch, ...]:
        """The batches that are not done, the newest one, and those that are newer than a removal which is not done;
        oldest first."""
        return self._batches(_CURRENT, {"table": table_id})

    def since(self, table_id: str, before: Sequence[Batch]) -> tuple[Batch, ...]:
        """The batches that may be in another state than when `before` were the current ones: these, newer ones, and
        those that are not done; all of them if the newest one was removed. Oldest first."""
        known = json.dumps([batch.id for batch in before])
        newest = before[-1].id if before else ""
        return self._batches(_SINCE, {"table": table_id, "known": known, "newest": newest})

    def hidden(self, table_id: str, spans: Sequence[tuple[int, int]]) -> tuple[Batch, ...]:
        """The batches whose rows have left Druid, each with those of its intervals that overlap the spans."""
        query = f"SELECT DISTINCT b.batch_id, i.start_ms, i.end_ms, i.version {_OVERLAPPING} WHERE b.state = 'done'"
        found: dict[str, list[Interval]] = {}
        for id_, *interval in self._rows(query, {"table": table_id, "spans": json.dumps(spans)}):
            found.setdefault(id_, []).append(Interval(*interval))
        return tuple(Batch(id_, table_id, "done", tuple(intervals)) for id_, intervals in found.items())

    def may_hold(self, table_id: str, spans: Sequence[tuple[int, int]]) -> bool:
        """Whether the cold part has rows of these times by its batches, or may have."""
        query = f"SELECT 1 {_OVERLAPPING} WHERE b.effect <> 'removed' OR b.state NOT IN ('done', 'cancelled') LIMIT 1"
        return bool(self._rows(query, {"table": table_id, "spans": json.dumps(spans)}))

    def edge(self, table_id: str) -> int | None:
        """The end of the times of the archived rows, in milliseconds; None if there are none."""
        query = (
            "SELECT i.end_ms FROM archived_intervals AS i JOIN archived_batches AS b ON b.batch_id = i.batch_id"
            " WHERE i.table_id = ? AND b.state IN ('switched', 'done') AND b.effect <> 'removed' AND b.row_count > 0"
            " ORDER BY i.end_ms DESC LIMIT 1"
        )
        return next((end for (end,) in self._rows(query, (table_id,))), None)

    def keep(self, batch: Batch) -> None:
        """Add a batch, or replace it."""
        removal = json.dumps(asdict(batch.removal)) if batch.removal is not None else ""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO archived_batches (batch_id, table_id, state, row_count, effect, removal, sums)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (batch_id) DO UPDATE SET state = excluded.state, row_count = excluded.row_count,"
                " removal = excluded.removal, sums = excluded.sums",
                (
                    batch.id,
                    batch.table_id,
                    batch.state,
                    batch.rows,
                    batch.effect,
                    removal,
                    json.dumps(batch.sums),
                ),
            )
            connection.execute("DELETE FROM archived_intervals WHERE batch_id = ?", (batch.id,))
            connection.executemany(
                "INSERT INTO archived_intervals (table_id, batch_id, start_ms, end_ms, version) VALUES (?, ?, ?, ?, ?)",
                [(batch.table_id, batch.id, each.start, each.end, each.version) for each in batch.intervals],
            )

    def end_removal(self, batch: Batch) -> None:
        """Record that the rows which a batch removes are deleted: the batches that had them have so many rows less, and
        their sums are not known any more."""
        counts = dict(batch.removal.counts) if batch.removal is not None else {}
        with self._catalog.transaction():
            for other in self.of(batch.table_id):
                if counts.get(other.id):
                    self.keep(replace(other, rows=other.rows - counts[other.id], sums=()))
            self.keep(replace(batch, state="done"))

    def remove(self, table_id: str) -> None:
        """Remove the batches of a table whose cold part was emptied."""
        with self._catalog.transaction() as connection:
            for name in ("archived_batches", "archived_intervals"):
                connection.execute(f"DELETE FROM {name} WHERE table_id = ?", (table_id,))

    def _rows(self, query: str, values: Mapping[str, str] | tuple[str, ...]) -> list[tuple[Any, ...]]:
        return self._catalog.connection.execute(query, values).fetchall()

    def _batches(self, query: str, values: Mapping[str, str] | tuple[str, ...]) -> tuple[Batch, ...]:
        rows = self._rows(query, values)
        intervals: dict[str, list[Interval]] = {id_: [] for id_, *_ in rows}
        of_them = (
            "SELECT batch_id, start_ms, end_ms, version FROM archived_intervals"
            " WHERE batch_id IN (SELECT value FROM json_each(?)) ORDER BY rowid"
        )
        for id_, *interval in self._rows(of_them, (json.dumps([*intervals]),)) if rows else ():
            intervals[id_].append(Interval(*interval))
        return tuple(
            Batch(id_, table, state, tuple(intervals[id_]), count, effect, _removal(removal), number, _sums(sums))
            for id_, table, state, count, effect, removal, number, sums in rows
        )


def _sums(text: str) -> tuple[tuple[str, int | None], ...]:
    return tuple((name, value) for name, value in json.loads(text))


def _removal(text: str) -> Removal | None:
    if not text:
        return None
    found = json.loads(text)
    counts = tuple((batch, rows) for batch, rows in found["counts"])
    return Removal(found["last"], tuple(found["kept"]), found["of_others"], counts)
