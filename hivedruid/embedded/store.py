"""The embedded store: data sources as Parquet segments below a home folder, native queries answered by DuckDB.

Opening it does no I/O: DuckDB is imported and the folder is read by the first query or ingestion.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hivedruid.druid.interval_sets import Cover
from hivedruid.druid.limits import NO_LIMITS, DruidLimits
from hivedruid.embedded.damage import damaged
from hivedruid.embedded.manifest import Manifest
from hivedruid.embedded.storage import Storage
from hivedruid.engine.archiving import HOLD_LONGEST, HOLD_PATIENCE
from hivedruid.engine.capabilities import Archiving, Loading, Merging, SegmentLists
from hivedruid.engine.engine import DruidEngine
from hivedruid.engine.segments import Segment
from hivedruid.errors import DruidError
from hivedruid.results import Batch, Batches, values
from hivedruid.setting_types import EMBEDDED

if TYPE_CHECKING:
    from hivedruid.catalog.statistics import TableStatistics
    from hivedruid.embedded.duck import Duck
    from hivedruid.embedded.plan import Plan
    from hivedruid.embedded.relations import Relation
    from hivedruid.engine.archiving import Held, Holding, Span
    from hivedruid.jobs.load import Journal, Load, LoadReport
    from hivedruid.plan.physical import DruidRead


MANY = 50_000
"""Rows of a scan from which on they are fetched as Arrow arrays."""


class EmbeddedStore(DruidEngine, Loading, SegmentLists, Archiving, Merging):
    """An engine in this process. All methods raise DruidError."""

    url = EMBEDDED

    def __init__(self, home: Path, connection: sqlite3.Connection) -> None:
        self._manifest = Manifest(connection)
        self._storage = Storage(home.absolute(), self._manifest)
        self._duck: Duck | None = None
        self._reconciled = False
        self._is_interrupted = False

    def data_sources(self) -> tuple[str, ...]:
        """The names of all data sources, sorted."""
        return self._manifest.data_sources()

    def schema(self, data_source: str) -> dict[str, str]:
        """Druid type by column: `__time` first, multi-value strings as ARRAY<STRING>; empty for a data source that does
        not exist."""
        return self._manifest.newest_schema(data_source)

    def refusal_of_name(self, data_source: str) -> str:  # noqa: ARG002 - no requests are sent
        """Never."""
        return ""

    def limits(self) -> DruidLimits:
        """None: DuckDB spills to disk."""
        return NO_LIMITS

    def statistics(self, data_source: str) -> TableStatistics | None:
        """Statistics from the manifest; None without rows."""
        from hivedruid.embedded.metadata import statistics

        return statistics(self._manifest.segments(data_source))

    def analysed(self, data_source: str, columns: Mapping[str, str]) -> TableStatistics:
        """Statistics from a scan of all rows, with the number of values of these columns."""
        from hivedruid.embedded.metadata import analysed

        duck = self._open()
        with self._storage.reading():
            segments = self._manifest.segments(data_source)
            schema = self._manifest.newest_schema(data_source)
            return analysed(segments, self._relation(segments, schema), columns, duck.all)

    def segments(self, data_source: str) -> tuple[Segment, ...]:
        """The segments of the manifest, which can all be queried."""
        return tuple(self._manifest.segments(data_source))

    def listed_segments(self, data_sources: Sequence[str]) -> tuple[tuple[Segment, ...], ...]:
        """The same of each data source: the store does not list unused segments."""
        return tuple(map(self.segments, data_sources))

    def rows(self, read: DruidRead) -> Batches:
        """The rows of a native query, streamed: the values of `read.fields`, in order.

        LONG is int (times are milliseconds), DOUBLE float, FLOAT the float that its decimal text spells, STRING str,
        a multi-value with several values a list. Segment files stay while the iterator is not exhausted or closed.
        """
        return Batches(self._batches(read))

    def _batches(self, read: DruidRead) -> Iterator[Batch]:
        from hivedruid.embedded.answer import item, value

        is_large = bool(read.fields) and self._is_large(read.query)
        if is_large and (yield from self._whole_columns(read)):
            return
        duck = self._open()
        with self._storage.reading():
            plan = self._plan(read.query)
            for field in read.fields:
                plan.field(field.name)
            items = [item(field.name, plan.columns[field.name]) for field in read.fields]
            multiple = [field.name in plan.multiple for field in read.fields]
            is_empty = True
            for batch in duck.batches(plan.select(items or ["1"]), arrow=is_large):
                is_empty = False
                columns = [
                    [value(cell, True) for cell in values(column)] if is_multiple else column
                    for column, is_multiple in zip(batch.columns, multiple, strict=False)
                ]
                yield Batch(batch.size, tuple(columns))
        if is_empty and read.over_nothing is not None:
            yield from self._batches(read.over_nothing)

    def _whole_columns(self, read: DruidRead) -> Generator[Batch, None, bool]:
        """The rows of a scan that Arrow reads from the files alone. Returns whether these are all rows; if not, there
        were none."""
        from hivedruid.embedded.whole_scans import UnreadableFileError, whole_scan

        self._reconcile()
        self._is_interrupted = False
        rows = 0
        with self._storage.reading():
            scan = whole_scan(read, self._manifest, self._storage.home)
            if scan is None:
                return False
            try:
                for batch in scan.batches():
                    yield batch
                    rows += batch.size
                    if self._is_interrupted:
                        raise DruidError("the embedded store failed: Interrupted!")
            except UnreadableFileError as error:
                if not rows:  # DuckDB reads the file, or says what is wrong with it
                    return False
                raise damaged(str(read.query["dataSource"]), error.path) from error
        return rows > 0

    def _is_large(self, query: Mapping[str, Any]) -> bool:
        """Whether a scan may return so many rows that the import of Arrow is worth its time."""
        source = query["dataSource"]
        if query["queryType"] != "scan" or not isinstance(source, str) or query.get("limit", MANY) < MANY:
            return False
        return self._manifest.rows(source) >= MANY

    def answer(self, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The JSON that a Druid broker sends for a native query."""
        duck = self._open()
        with self._storage.reading():
            if query.get("queryType") == "segmentMetadata":
                from hivedruid.embedded.metadata import segment_metadata

                return segment_metadata(query, self._manifest, self._relation, duck.all)
            from hivedruid.embedded.answer import answer

            return answer(query, self._plan(query), duck.all)

    def write_parquet(self, read: DruidRead, columns: Sequence[str], path: Path) -> None:
        """The rows of a native query as one Parquet file, its fields named `columns`; it is written even if there are
        no rows.

        LONG is BIGINT, DOUBLE and FLOAT are DOUBLE (a FLOAT as its decimal text spells it), STRING is VARCHAR.
        """
        from hivedruid.embedded.answer import item
        from hivedruid.embedded.sql import identifier, multi_value, plain_identifier, string_literal

        if read.over_nothing is not None and next(self.rows(replace(read, over_nothing=None)), None) is None:
            read = read.over_nothing
        duck = self._open()
        with self._storage.reading():
            plan = self._plan(read.query)
            items = []
            for field, column in zip(read.fields, columns, strict=True):
                plan.field(field.name)
                source = item(field.name, plan.columns[field.name]).rpartition(" AS ")[0] or identifier(field.name)
                source = multi_value(source) if field.name in plan.multiple else source
                items.append(f"{source} AS {plain_identifier(column)}")
            duck.run(f"COPY ({plan.select(items)}) TO {string_literal(str(path))} (FORMAT parquet)")

    def check(self, spec: Mapping[str, Any]) -> None:
        """Refuse input sources other than local files."""
        kind = spec["spec"]["ioConfig"]["inputSource"]["type"]
        if kind != "local":
            raise DruidError(
                f"the embedded store reads local files only, not input source '{kind}'",
                hint="set hivedruid.staging.root to a local folder",
            )

    def ingest(self, load: Load, journal: Journal) -> LoadReport:
        """Run an `index_parallel` task; one commit adds its segments or replaces existing ones, or nothing changes.

        `journal` is written in the same commit.
        """
        from hivedruid.embedded.ingest import ingest

        self._reconcile()
        return ingest(load, self._storage, self._manifest, journal)

    def roll_back(self, load: Load, journal: Journal) -> None:  # noqa: ARG002 - no task runs, and none is half done
        """There is nothing to roll back: an uncommitted load has no effect."""
        journal.rolled_back("cancelled")

    def merge(self, data_source: str) -> tuple[int, int]:
        """Merge the segments of each interval; see `Merging.merge`."""
        from hivedruid.embedded.merging import merge

        self._reconcile()
        return merge(data_source, self._storage, self._manifest)

    def hold(
        self, data_source: str, spans: Sequence[Span], task_id: str, *, patience: float = HOLD_PATIENCE,  # noqa: ARG002
        longest: float = HOLD_LONGEST,  # noqa: ARG002
    ) -> AbstractContextManager[Held]:  # fmt: skip
        """The segments as they are now; see `Archiving.hold`. Others can write: `Held.remove` then refuses."""
        from hivedruid.embedded.archiving import hold

        return hold(data_source, spans, task_id, self._storage, self._manifest)

    def was_removed(self, holding: Holding) -> bool:
        """See `Archiving.was_removed`."""
        return self._manifest.was_removed(holding.task)

    def is_removed(self, holding: Holding) -> bool:
        """See `Archiving.is_removed`."""
        return self._manifest.is_removed(holding.task)

    def settle(self, holding: Holding) -> None:  # noqa: ARG002 - it is unread with the commit
        """Delete the files of removed segments that nothing reads."""
        self._storage.clean()

    def loaded(self, load: Load) -> Literal["none"]:  # noqa: ARG002
        """A load that is committed is also recorded as verified; see `Archiving.loaded`."""
        return "none"

    def visible(self, data_source: str, spans: Sequence[Span]) -> tuple[Segment, ...]:
        """See `Archiving.visible`."""
        return tuple(self._manifest.segments(data_source, spans))

    def drop(self, data_source: str) -> None:
        """Drop all segments of a data source, and delete their files."""
        self._manifest.drop(data_source)
        self._storage.clean()

    def interrupt(self) -> None:
        self._is_interrupted = True
        if (duck := self._duck) is not None:
            duck.interrupt()

    def close(self) -> None:
        if self._duck is not None:
            self._duck.close()
            self._duck = None

    def _open(self) -> Duck:
        self._reconcile()
        if self._duck is None:
            from hivedruid.embedded.duck import Duck

            self._duck = Duck(self._storage.temporary)
        return self._duck

    def _reconcile(self) -> None:
        """Delete, once, the files that crashed or replaced ingestions left behind, if the folder can be read: an error
        of reading it is that of the query."""
        if not self._reconciled:
            with suppress(PermissionError):
                self._storage.clean()
            self._reconciled = True

    def _plan(self, query: Mapping[str, Any]) -> Plan:
        from hivedruid.embedded.queries import plan
        from hivedruid.embedded.relations import Tables

        tables = Tables(self._tables, lambda inner: plan(inner, tables).as_relation())
        try:
            return plan(query, tables)
        except KeyError as error:
            raise DruidError(f"the native query is missing {error}") from error

    def _tables(self, data_source: str, intervals: tuple[tuple[int, int], ...]) -> Relation:
        segments = self._manifest.segments(data_source, intervals)
        relation = self._relation(segments, self._manifest.newest_schema(data_source))
        cover = Cover(intervals)
        relation.is_in_time = all(cover.contains(segment.start, segment.end) for segment in segments)
        return relation

    def _relation(self, segments: list[Segment], schema: dict[str, str]) -> Relation:
        """The rows of segments with one schema: files of equal schema are read together, others are cast."""
        from hivedruid.embedded.relations import NO_SPANS, Relation, aligned
        from hivedruid.embedded.sql import DUCKDB_TYPES, identifier, string_literal

        if not segments:
            columns: Mapping[str, str] = schema or {"__time": "LONG"}
            nulls = ", ".join(f"CAST(NULL AS {DUCKDB_TYPES[t]}) AS {identifier(n)}" for n, t in columns.items())
            return Relation(f"SELECT {nulls} WHERE FALSE", columns, NO_SPANS)
        groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for segment in segments:
            path = string_literal(str(self._storage.home / segment.path))
            groups.setdefault(tuple(segment.schema.items()), []).append(path)
        parts = []
        spans = []
        for types, files in groups.items():
            rows = f"read_parquet([{', '.join(files)}], hive_partitioning = false"
            parts.append(aligned(Relation(f"SELECT * FROM {rows})", dict(types)), schema))
            spans.append(
                f'SELECT min("__time") AS lo, max("__time") AS hi FROM {rows}, filename = true) GROUP BY filename'
            )
        return Relation(" UNION ALL ".join(parts), schema, " UNION ALL ".join(spans))
