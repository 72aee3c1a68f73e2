"""Copies columns of segment files into Parquet files in Spark's Python workers: the values do not become rows of Spark
first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from hivedruid.filesystems import Access, local_copy
from hivedruid.lazy_dataclass import dataclass
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


@dataclass(frozen=True)
class WriteSegments:
    """Writes the rows of pieces of segments into files in a folder. `schema` is that of the files, and `places` are the
    positions of its fields among those of the scan."""

    scan: Scan
    schema: pa.Schema
    places: tuple[int, ...]
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
        with local_copy(piece["location"], self.access) as place:
            groups = _groups(scan_file(self.scan, place, piece["intervals"], piece["number"], piece["of"]))
            first = next(groups, None)
            if first is None:
                return "", 0
            with parquet.ParquetWriter(
                Path(self.folder, name), self.schema, compression="snappy", store_schema=False
            ) as file:
                group: pa.Table | None = first
                while group is not None:
                    columns = [
                        _value(group.column(place), type_)
                        for place, type_ in zip(self.places, self.schema.types, strict=True)
                    ]
                    file.write_table(pa.Table.from_arrays(columns, schema=self.schema), row_group_size=group.num_rows)
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


def _value(values: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    """Values of a Druid type as those of a Hive type. Raises ValueError if one does not fit, which becomes NULL in
    Spark."""
    if pa.types.is_boolean(type_):
        return pc.not_equal(values, 0)
    if pa.types.is_timestamp(type_):
        least, most = pc.min_max(values).values()
        if least.is_valid and (least.as_py() < FIRST or most.as_py() >= END):
            raise ValueError("a time before the year 1 or after 9999")
        return pc.multiply(values, 1000).cast(type_)
    return values.cast(type_, safe=not pa.types.is_float32(type_))
