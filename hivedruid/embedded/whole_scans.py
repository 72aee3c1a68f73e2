"""Scans of whole columns: Arrow reads them from the Parquet files, without DuckDB. Strings keep their dictionaries, so
that no string is copied for each row, and a Parquet file of the result gets them as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.arrow_buffers import without_dictionary
from hivedruid.druid.interval_sets import Cover
from hivedruid.embedded.intervals import parse_intervals
from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.results import Batch

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.embedded.manifest import Manifest
    from hivedruid.engine.segments import Segment
    from hivedruid.plan.physical import DruidRead

_PLAIN = frozenset(("queryType", "dataSource", "intervals", "columns", "resultFormat", "context"))
"""The parts of a scan that returns every row of its intervals as it is stored."""
_ARROW = {"LONG": "int64", "DOUBLE": "double", "STRING": "string"}
"""The Arrow type of the stored values of each Druid type."""
_BY_COLUMN = frozenset(
    ("boolean", "tinyint", "smallint", "int", "bigint", "double", "timestamp", "date", "string", "varchar")
)
"""The Hive types whose columns remain Arrow arrays."""
ROWS = 1 << 14
"""Rows of a batch of other types, whose values become Python objects."""


@dataclass(frozen=True)
class WholeScan:
    """The columns of these names and Druid types in files, `rows` in a batch; None: a row group of the file."""

    files: Sequence[Path]
    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: int | None

    def batches(self) -> Iterator[Batch]:
        """Raises UnreadableFileError."""
        for path in self.files:
            yield from self._of_file(path)

    def _of_file(self, path: Path) -> Iterator[Batch]:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        texts = [name for name, type_ in zip(self.names, self.types, strict=True) if type_ == "STRING"]
        try:
            with ParquetFile(path, read_dictionary=texts) as file:
                for number in range(file.num_row_groups):
                    group = file.read_row_group(number, list(dict.fromkeys(self.names)), use_threads=False)
                    for start in range(0, group.num_rows, self.rows or group.num_rows):
                        yield self._batch(group.slice(start, self.rows))
        except (ArrowException, OSError, KeyError) as error:
            raise UnreadableFileError(path, str(error)) from error

    def _batch(self, rows: pa.Table) -> Batch:
        columns = [rows.column(name).combine_chunks() for name in self.names]
        for column, type_ in zip(columns, self.types, strict=True):
            stored = without_dictionary(column[:0]).type
            if str(stored) != _ARROW[type_]:
                raise KeyError(f"a column of type {column.type} and not {type_}")
        return Batch(rows.num_rows, tuple(columns))


class UnreadableFileError(DruidError):
    """A segment file cannot be read."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


def whole_scan(read: DruidRead, manifest: Manifest, home: Path) -> WholeScan | None:
    """The files with the rows that a query returns, if it returns all of them as they are stored."""
    query = read.query
    if not (query.keys() <= _PLAIN and isinstance(query["dataSource"], str)):
        return None
    data_source, spans = query["dataSource"], parse_intervals(query.get("intervals"))
    schema = manifest.newest_schema(data_source)
    names = tuple(field.name for field in read.fields)
    types = tuple(schema.get(name, "") for name in names)
    segments = manifest.segments(data_source, spans)
    if not (_ARROW.keys() >= set(types) and set(names) <= set(query.get("columns") or ())):
        return None
    if not _are_alike(segments, dict(zip(names, types, strict=True)), spans):
        return None
    is_by_column = all(field.type.name in _BY_COLUMN for field in read.fields)
    return WholeScan([home / segment.path for segment in segments], names, types, None if is_by_column else ROWS)


def _are_alike(segments: Iterable[Segment], types: Mapping[str, str], spans: Any) -> bool:
    """Whether all segments have columns of these types, and only rows within these times."""
    cover = Cover(spans)
    return all(
        cover.contains(segment.start, segment.end)
        and all(segment.schema.get(name) == type_ for name, type_ in types.items())
        for segment in segments
    )
