"""The segments of data sources: the `segments` table of the catalog database. One transaction is one commit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hivedruid.catalog.failures import hint_of
from hivedruid.druid.interval_sets import ALL, Cover
from hivedruid.engine.segments import Segment
from hivedruid.errors import DruidError


class Manifest:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def data_sources(self) -> tuple[str, ...]:
        rows = self._query("SELECT DISTINCT data_source FROM segments WHERE used = 1 ORDER BY data_source")
        return tuple(row[0] for row in rows)

    def segments(self, data_source: str, within: Iterable[tuple[int, int]] = ALL) -> list[Segment]:
        """The used segments that overlap these intervals, in order of time and partition."""
        cover = Cover(within)
        rows = self._within(
            "start_ms, end_ms, version, partition, num_rows, size, path, schema", data_source, cover,
            "ORDER BY start_ms, end_ms, version, partition, segment_id",
        )  # fmt: skip
        schemas: dict[str, dict[str, str]] = {}  # most segments have the same: it is parsed once
        return [
            Segment(
                data_source, start, end, version, number, count, size, "available", replicas=1, path=path,
                schema=schemas.get(schema) or schemas.setdefault(schema, json.loads(schema)),
            )
            for start, end, version, number, count, size, path, schema in rows
            if cover.overlaps(start, end)
        ]  # fmt: skip

    def _within(self, columns: str, data_source: str, cover: Cover, order: str = "") -> list[Any]:
        """Columns of the used segments that overlap the hull of a set of intervals."""
        if cover.hull is None:
            return []
        first, last = cover.hull
        return self._query(
            f"SELECT {columns} FROM segments WHERE data_source = ? AND used = 1 AND start_ms < ? AND end_ms > ?"
            f" {order}",
            (data_source, last, first),
        )

    def rows(self, data_source: str) -> int:
        """The number of rows in the used segments."""
        sql = "SELECT coalesce(sum(num_rows), 0) FROM segments WHERE data_source = ? AND used = 1"
        ((rows,),) = self._query(sql, (data_source,))
        return int(rows)

    def newest_schema(self, data_source: str) -> dict[str, str]:
        """Columns and types over all used segments; if they differ, the type in the newest segment."""
        rows = self._query(
            "SELECT DISTINCT schema, max(segment_id) FROM segments WHERE data_source = ? AND used = 1"
            " GROUP BY schema ORDER BY 2 DESC",
            (data_source,),
        )
        schema: dict[str, str] = {}
        for text, _ in rows:
            for name, type_ in json.loads(text).items():
                schema.setdefault(name, type_)
                if type_ == "ARRAY<STRING>" and schema[name] == "STRING":
                    schema[name] = type_
        return schema

    def commit(
        self,
        data_source: str,
        added: Iterable[Segment],
        replaced: Iterable[tuple[int, int]] | None,
        cut: Iterable[Segment] = (),
        also: Callable[[], object] | None = None,
    ) -> None:
        """Add segments and, in the same transaction, mark as unused those within the `replaced` intervals, and the
        `cut` ones.

        `cut` are segments that the intervals cover in part: their remaining rows are among `added`. `also` is another
        change in the same transaction. None replaces nothing. Raises DruidError if a `cut` segment was changed
        concurrently.
        """
        with self.transaction():
            for segment in cut:
                self._let_go(segment)
            if replaced is not None:
                self._replace(data_source, Cover(replaced))
            for segment in added:
                self._add(segment)
            if also is not None:
                also()

    def _let_go(self, segment: Segment) -> None:
        found = self._connection.execute("UPDATE segments SET used = 0 WHERE path = ? AND used = 1", (segment.path,))
        if found.rowcount != 1:
            raise self._changed(segment.data_source)

    @staticmethod
    def _changed(data_source: str) -> DruidError:
        return DruidError(f"{data_source} was concurrently changed by another session", hint="rerun the statement")

    def _replace(self, data_source: str, replaced: Cover) -> None:
        found = self._within("segment_id, start_ms, end_ms", data_source, replaced)
        overlapping = [row for row in found if replaced.overlaps(row[1], row[2])]
        if not all(replaced.contains(start, end) for _, start, end in overlapping):
            raise self._changed(data_source)
        self._connection.executemany(
            "UPDATE segments SET used = 0 WHERE segment_id = ?", [(row[0],) for row in overlapping]
        )

    def _add(self, segment: Segment) -> None:
        row = self._connection.execute(
            "SELECT max(partition) FROM segments WHERE data_source = ? AND used = 1 AND start_ms = ? AND end_ms = ?",
            (segment.data_source, segment.start, segment.end),
        ).fetchone()
        partition = 0 if row[0] is None else row[0] + 1
        self._connection.execute(
            "INSERT INTO segments (data_source, start_ms, end_ms, version, partition, path, num_rows, size, schema)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                segment.data_source,
                segment.start,
                segment.end,
                segment.version,
                partition,
                segment.path,
                segment.rows,
                segment.size,
                json.dumps(dict(segment.schema)),
            ),
        )

    def remove(self, task: str, segments: Iterable[Segment], spans: Iterable[tuple[int, int]]) -> bool:
        """Mark segments as unused, if they are still the only ones in these intervals and no removal of this task was
        ended; returns whether they are removed."""
        given = {segment.path: segment for segment in segments}
        with self.transaction():
            there = {segment.path for segment in self.segments(next(iter(given.values())).data_source, spans)}
            if there != {*given} or not self._end_removal(task, is_done=True):
                return False
            for segment in given.values():
                self._let_go(segment)
        return True

    def was_removed(self, task: str) -> bool:
        """Whether `remove` has removed segments for this task; afterwards it cannot any more."""
        with self.transaction():
            self._end_removal(task, is_done=False)
        return self.is_removed(task)

    def is_removed(self, task: str) -> bool:
        """Whether `remove` has removed segments for this task by now."""
        return bool(self._query("SELECT 1 FROM removals WHERE task = ? AND is_done", (task,)))

    def _end_removal(self, task: str, *, is_done: bool) -> bool:
        """Record the end of a removal; returns whether it is the first one."""
        sql = "INSERT OR IGNORE INTO removals (task, is_done) VALUES (?, ?)"
        return self._connection.execute(sql, (task, is_done)).rowcount == 1

    def drop(self, data_source: str) -> None:
        """Mark all segments of a data source as unused."""
        with self.transaction():
            self._connection.execute("UPDATE segments SET used = 0 WHERE data_source = ?", (data_source,))

    def unused_paths(self) -> list[str]:
        """Files that only unused segments refer to."""
        return [
            row[0]
            for row in self._query(
                "SELECT DISTINCT path FROM segments AS unused WHERE used = 0"
                " AND NOT EXISTS (SELECT 1 FROM segments WHERE path = unused.path AND used = 1)"
            )
        ]

    def forget(self, paths: Iterable[str]) -> None:
        """Remove unused segments from the manifest, after their files were deleted."""
        with self.transaction():
            self._connection.executemany(
                "DELETE FROM segments WHERE used = 0 AND path = ?", [(path,) for path in paths]
            )

    def known_paths(self) -> set[str]:
        return {row[0] for row in self._query("SELECT path FROM segments")}

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def _query(self, sql: str, parameters: tuple[object, ...] = ()) -> list[Any]:
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise DruidError(f"cannot read the segment manifest: {error}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A write transaction, or a part of the caller's open transaction."""
        if self._connection.in_transaction:
            yield
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            hint = f"nothing was changed; {hint_of(error)}"
            raise DruidError(f"cannot change the segment manifest: {error}", hint=hint) from error
