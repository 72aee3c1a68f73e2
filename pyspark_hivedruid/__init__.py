"""`spark.read.format("hivedruid")`: Druid data sources in PySpark, read from their segment files (docs/segments.md).

Spark finds this package by its name: it imports `DefaultSource` of every installed package that begins with `pyspark_`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pyspark.sql import datasource as spark
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.druid.interval_sets import IntervalSet
    from hivedruid.plan.segment_files import SegmentFiles, SegmentKey
    from hivedruid.settings import Settings

TIME = "__time"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DefaultSource(DataSource):  # type: ignore[misc]
    """Options: `datasource` (or the argument of `load`), `columns`, and the settings `druid.*` of hivedruid."""

    @classmethod
    def name(cls) -> str:
        return "hivedruid"

    def schema(self) -> str:
        with closing(_cluster(self.options)) as cluster:
            types = _readable(cluster.schema(_data_source(self.options)))
        if not types:
            raise ValueError(f"the data source {_data_source(self.options)} does not exist")
        names = _columns(self.options) or tuple(types)
        if unknown := [name for name in names if name not in types]:
            raise ValueError(f"the data source has no column {unknown[0]!r}; it has {', '.join(types)}")
        return ", ".join(f"`{name.replace('`', '``')}` {_sql_type(name, types)}" for name in names)

    def reader(self, schema: StructType) -> DruidReader:
        return DruidReader(dict(self.options), tuple(field.name for field in schema.fields))


class DruidReader(DataSourceReader):  # type: ignore[misc]
    """Reads the columns `names`. `where` are native filters, `spans` the times that conditions on __time allow."""

    def __init__(self, options: Mapping[str, str], names: tuple[str, ...]) -> None:
        from hivedruid.druid.interval_sets import ALL

        self._options, self._names = options, names
        self._where: list[dict[str, Any]] = []
        self._spans: IntervalSet = ALL
        self._files: SegmentFiles | None = None

    def _listed(self) -> SegmentFiles:
        """The segments at the first call. Raises ValueError if their files cannot be read."""
        if self._files is None:
            with closing(_cluster(self._options)) as cluster:
                self._files = cluster.segment_files(_data_source(self._options))
            if self._files.problem:
                raise ValueError(f"the segment files cannot be read: {self._files.problem}")
        return self._files

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - Spark's name
        """Keep what the reader of segments evaluates, and return the rest for Spark."""
        from hivedruid.druid.interval_sets import intersection
        from hivedruid.segments.native_filters import segment_filter

        types = self._listed().types
        for one in filters:
            self._spans = intersection(self._spans, _times(one))
            native = _native(one, types)
            if native is not None and segment_filter(native, types) is not None:
                self._where.append(native)
            else:
                yield one

    def partitions(self) -> list[InputPartition]:
        from hivedruid.plan.segment_files import pieces

        needed = self._listed().within(self._spans)
        parts = [*pieces(self._spans, needed.files), *([needed.growing] if needed.growing else [])]
        return [InputPartition(part) for part in parts] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[RecordBatch]:
        from hivedruid.plan.segment_files import Piece

        part = partition.value
        if isinstance(part, Piece):
            yield from self._file(part)
        elif part:
            yield from self._growing(part)

    @property
    def _filter(self) -> dict[str, Any] | None:
        return {"type": "and", "fields": self._where} if self._where else None

    def _file(self, piece: Any) -> Iterator[RecordBatch]:
        from hivedruid.filesystems import Access, local_copy
        from hivedruid.segments.errors import SegmentError
        from hivedruid.segments.scan import Scan, scan_file

        types = self._listed().types
        scan = Scan(tuple((name, types[name]) for name in self._names), self._filter, types)
        try:
            with local_copy(piece.location, Access.of(_settings(self._options))) as path:
                for batch in scan_file(scan, path, piece.intervals, piece.number, piece.of):
                    yield self._converted(batch)
        except (SegmentError, OSError) as error:
            raise ValueError(f"segment {piece.id}: {error}") from None

    def _growing(self, segments: tuple[SegmentKey, ...]) -> Iterator[RecordBatch]:
        """Rows that only running tasks have, by a native query."""
        from pyarrow import parquet

        from hivedruid.plan.physical import scan_of

        types = self._listed().types
        read = scan_of(
            _data_source(self._options), self._spans, {name: types[name] for name in self._names}, self._filter
        )
        with closing(_cluster(self._options)) as cluster, TemporaryDirectory() as folder:
            path = Path(folder, "rows.parquet")
            cluster.write_rows_of(read, segments, [f"_{n}" for n in range(len(self._names))], path)
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches():
                    yield self._converted(batch)

    def _converted(self, batch: RecordBatch) -> RecordBatch:
        """The batch with the names of the columns, and __time as a timestamp."""
        import pyarrow as pa

        arrays = [
            column.cast(pa.timestamp("ms")).cast(pa.timestamp("us", "UTC")) if name == TIME else column
            for name, column in zip(self._names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(self._names))


def _data_source(options: Mapping[str, str]) -> str:
    name = options.get("datasource") or options.get("path")
    if not name:
        raise ValueError('name the data source: spark.read.format("hivedruid").load("wiki")')
    return name


def _columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The option `columns`: a JSON list, or names separated by commas."""
    text = options.get("columns", "").strip()
    return tuple(json.loads(text)) if text.startswith("[") else tuple(filter(None, map(str.strip, text.split(","))))


def _cluster(options: Mapping[str, str]) -> DruidCluster:
    """A client of the cluster that the options `druid.*` name."""
    from hivedruid.clients.address import address
    from hivedruid.clients.cluster import DruidCluster

    if "druid.url" not in options:
        raise ValueError('set the option "druid.url" to the URL of a router or broker')
    return DruidCluster(address(_settings(options)), progress=lambda _: None, note=lambda _: None)


def _settings(options: Mapping[str, str]) -> Settings:
    """The settings of hivedruid among the options."""
    from hivedruid.settings import Settings

    return Settings({k: value for k, value in options.items() if k.startswith(("druid.", "hive.", "hivedruid."))})


def _readable(types: Mapping[str, str]) -> dict[str, str]:
    from hivedruid.plan.physical import STORED_AS

    return {name: type_ for name, type_ in types.items() if type_ in STORED_AS}


def _sql_type(name: str, types: Mapping[str, str]) -> str:
    from hivedruid.plan.physical import STORED_AS

    return "TIMESTAMP" if name == TIME else str(STORED_AS[types[name]]).upper()


# --- filters -----------------------------------------------------------------------------------------------------


_RANGES = (
    (spark.GreaterThan, "lower", True),
    (spark.GreaterThanOrEqual, "lower", False),
    (spark.LessThan, "upper", True),
    (spark.LessThanOrEqual, "upper", False),
)


def _native(one: Any, types: Mapping[str, str]) -> dict[str, Any] | None:
    """A filter of Spark as a native filter; None if it is evaluated by Spark."""
    if isinstance(one, spark.Not):
        inner = _native(one.child, types)
        return {"type": "not", "field": inner} if inner is not None and inner["type"] == "null" else None
    column = _column(one)
    if column is None or column == TIME or column not in types:
        return None
    if isinstance(one, spark.IsNull | spark.IsNotNull):
        null = {"type": "null", "column": column}
        return null if isinstance(one, spark.IsNull) else {"type": "not", "field": null}
    if isinstance(one, spark.StringStartsWith):
        is_plain = not {"%", "_"} & {*one.value}
        return {"type": "like", "dimension": column, "pattern": f"{one.value}%"} if is_plain else None
    wanted = {"STRING": str, "LONG": int}.get(types[column])
    values = list(one.value) if isinstance(one, spark.In) else [getattr(one, "value", None)]
    if wanted is None or not all(type(value) is wanted for value in values):
        return None
    typed = {"column": column, "matchValueType": types[column]}
    if isinstance(one, spark.EqualTo):
        return {"type": "equals", **typed, "matchValue": values[0]}
    if isinstance(one, spark.In):
        return {"type": "inType", **typed, "values": values}
    if types[column] == "STRING":
        return None  # Spark orders strings by their UTF-8 bytes, Druid by UTF-16 units
    for kind, side, is_open in _RANGES:
        if isinstance(one, kind):
            return {"type": "range", **typed, side: values[0], f"{side}Open": is_open}
    return None


def _column(one: Any) -> str | None:
    """The column that a filter is about."""
    attribute: tuple[str, ...] = getattr(one, "attribute", ())
    return attribute[0] if len(attribute) == 1 else None


def _times(one: Any) -> IntervalSet:
    """Times that contain all those that satisfy a filter."""
    from hivedruid.druid.interval_sets import ALL, MAX, MIN

    value = getattr(one, "value", None)
    if _column(one) != TIME or not isinstance(value, datetime) or value.tzinfo is None:
        return ALL
    millis = (value - EPOCH) // timedelta(milliseconds=1)
    if isinstance(one, spark.EqualTo):
        return ((millis, millis + 1),)
    if isinstance(one, spark.GreaterThan | spark.GreaterThanOrEqual):
        return ((millis, MAX),)
    return ((MIN, millis + 1),) if isinstance(one, spark.LessThan | spark.LessThanOrEqual) else ALL
