"""Copies columns of segment files into Parquet files in Spark's Python workers: the values do not become rows of Spark
first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from hivedruid.filesystems import Access, local_copy
from hivedruid.segments.errors import SegmentError
from hivedruid.segments.scan import Scan, scan_file
from hivedruid.spark.segment_source import check_packages

UNSUITABLE = "hivedruid: cannot copy the columns of segment "
"""The beginning of the error of a segment that only Spark can write."""
FIRST, END = -62_135_596_800_000, 253_402_300_800_000
"""The years 1 and 10000 in UTC: times outside are not copied."""
PIECES = "piece STRING"
"""A `plan.segment_files.Piece` as JSON."""
WRITTEN = "name STRING, rows BIGINT"
"""A row for each file."""
GROUP_BYTES = 1 << 27
"""The size in memory of the rows of a row group, about."""

TYPES = {
    "tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(), "boolean": pa.bool_(),
    "float": pa.float32(), "double": pa.float64(), "string": pa.string(), "timestamp": pa.timestamp("us"),
}  # fmt: skip
"""Hive type → that of the files, which is the one that Spark would write."""


@dataclass(frozen=True)
class CopiedField:
    """A column of the files: its name and Hive type, and the position of the scan's field with its values."""

    name: str
    type: str
    place: int


@dataclass(frozen=True)
class WriteSegments:
    """Writes the rows of pieces of segments, as a `segments.scan.Scan` returns them, into files in a folder."""

    scan: Scan
    fields: tuple[CopiedField, ...]
    folder: str
    access: Access

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of `WRITTEN` for those of `PIECES`."""
        check_packages()
        for batch in batches:
            for text in batch.column(0).to_pylist():
                piece = json.loads(text)
                try:
                    name, rows = self._written(piece)
                except (SegmentError, pa.ArrowException, OSError, ValueError) as error:
                    raise RuntimeError(f"{UNSUITABLE}{piece['id']}: {error}") from None
                yield pa.RecordBatch.from_pydict({"name": [name], "rows": pa.array([rows], pa.int64())})

    def _written(self, piece: Mapping[str, Any]) -> tuple[str, int]:
        """The file of a piece, and its number of rows; "" without rows."""
        name, rows = f"part-{uuid4().hex}.snappy.parquet", 0
        schema = pa.schema([pa.field(field.name, TYPES[field.type]) for field in self.fields])
        with local_copy(piece["location"], self.access) as place:
            groups = _groups(scan_file(self.scan, place, piece["intervals"], piece["number"], piece["of"]))
            first = next(groups, None)
            if first is None:
                return "", 0
            with parquet.ParquetWriter(
                Path(self.folder, name), schema, compression="snappy", store_schema=False
            ) as file:
                group: pa.Table | None = first
                while group is not None:
                    columns = [_value(group.column(field.place), field.type) for field in self.fields]
                    file.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=group.num_rows)
                    rows += group.num_rows
                    group = next(groups, None)
        return name, rows


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    taken: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            taken.append(batch)
            size += batch.nbytes
        if size >= GROUP_BYTES:
            yield pa.Table.from_batches(taken)
            taken, size = [], 0
    if taken:
        yield pa.Table.from_batches(taken)


def _value(values: pa.ChunkedArray, hive: str) -> pa.ChunkedArray:
    """Values of a Druid type as a Hive type. Raises ValueError if one does not fit, which becomes NULL in Spark."""
    match hive:
        case "boolean":
            return pc.not_equal(values, 0)
        case "timestamp":
            least, most = pc.min_max(values).values()
            if least.is_valid and (least.as_py() < FIRST or most.as_py() >= END):
                raise ValueError("a time before the year 1 or after 9999")
            return pc.multiply(values, 1000).cast(TYPES[hive])
        case "float":
            return values.cast(TYPES[hive], safe=False)
        case _:
            return values.cast(TYPES[hive])
