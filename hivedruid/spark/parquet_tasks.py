"""Reads Parquet files in Spark's Python workers: their values do not become rows of Spark first, which takes most of
the time of an INSERT that only copies columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from hivedruid.lazy_dataclass import dataclass
from hivedruid.spark.segment_tasks import Divide

UNSUITABLE = "hivedruid: cannot copy the columns of "
"""The beginning of the error of a file that only Spark can read."""
FIRST, END = -2_208_988_800_000, 253_402_300_800_000
"""1900 and 10000 in UTC: outside Spark may read other times, depending on the writer of the file."""
BATCH = 1 << 18
"""Rows that are read at a time."""
PIECE = "path STRING, number INT"
"""A row group of a file."""


@dataclass(frozen=True)
class CopiedColumn:
    """A column of the files; `field` is its name in the segments. Moments are staged in milliseconds."""

    stored: str
    field: str
    is_moment: bool


@dataclass(frozen=True)
class ParquetPieces:
    """The row groups of the files of a table, as (path, number), and the columns that are copied."""

    columns: tuple[CopiedColumn, ...]
    groups: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class DivideFiles:
    """Divides the rows of row groups; see `Divide`."""

    granularity: str
    columns: tuple[CopiedColumn, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of `segment_tasks.DIVIDED` for those of `PIECE`."""
        yield from Divide(self.granularity)(self._rows(batches))

    def _rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path, number in zip(*map(pa.Array.to_pylist, batch.columns), strict=True):
                try:
                    yield from self._group(path, number)
                except (pa.ArrowException, OSError, ValueError) as error:
                    raise RuntimeError(f"{UNSUITABLE}{path}: {error}") from None

    def _group(self, path: str, number: int) -> Iterator[pa.RecordBatch]:
        names = [column.stored for column in self.columns]
        with parquet.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
            for batch in file.iter_batches(BATCH, [number], [*dict.fromkeys(names)]):
                values = [
                    milliseconds(batch.column(column.stored)) if column.is_moment else batch.column(column.stored)
                    for column in self.columns
                ]
                yield pa.RecordBatch.from_arrays(values, [column.field for column in self.columns])


def milliseconds(times: pa.Array) -> pa.Array:
    """Timestamps in milliseconds, rounded down as Spark does. Raises ValueError for times outside FIRST and END."""
    values = pc.fill_null(times.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    if times.type.unit == "us":
        values = values // 1000
    if len(values) and (values.min() < FIRST or values.max() >= END):
        raise ValueError("a time before 1900 or after 9999")
    return pa.array(values, mask=np.asarray(times.is_null()) if times.null_count else None)
