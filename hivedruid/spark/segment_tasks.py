"""Builds segments in two steps: rows are divided by segment interval, then segments are built from those of each. Both
run in Spark's Python workers; in between Spark moves the divided rows, which are few values with many rows each.

Hosts without hivedruid get `segment_source.PACKAGE`: this module must not import anything else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.druid import granularities
from hivedruid.druid.planned_segments import PlannedMetric, SegmentPlan
from hivedruid.druid.sketch_folds import sketch_fold
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.files import ZIP_NAME, zip_files
from hivedruid.segments.offsets import Int64s
from hivedruid.segments.segment import TIME
from hivedruid.segments.writing.segment import Dimension, Metric, SegmentSpec, Written, write_segment
from hivedruid.spark.segment_ranges import Bound, ranges
from hivedruid.spark.segment_source import check_packages

if TYPE_CHECKING:
    from hivedruid.jobs.staged import NumberType

INDEX = "index"
UNSEEN = "hivedruid: the folder of the job does not exist on "
"""The beginning of the error of a machine that does not see the folder (worker_python.py)."""
UNFINISHED = "unfinished"
"""A file in the folder of a job while segments are written into it."""
DIVIDED_BYTES = 1 << 26
"""The size in memory of the rows that are divided at a time."""
MOST_BYTES = 1 << 29
"""The size in memory of the rows from which segments are built at a time, about a third of what building takes."""
PARTS = 64
"""The number of a row's bucket modulo this is its part: few pieces, however many buckets there are."""
PART = "part"
DIVIDED = f"{PART} INT, count BIGINT, piece BINARY"
"""A row for some rows of one part, as an Arrow stream, and their number. Rows without a time are only counted, in rows
without a part."""
RESULT = "bucket BIGINT, read BIGINT, path STRING, rows BIGINT, size BIGINT, sums STRING, bounds STRING"
"""A row for each segment: the number of its bucket, the rows read and those stored, its folder below the job's, its
size in bytes, and as JSON the sums of the measured fields and the bounds of its values (`BuiltSegment`). Rows without a
time are counted in a row without a path."""


@dataclass(frozen=True)
class Divide:
    """Divides rows by the bucket of their `__time`, in milliseconds, of a granularity."""

    granularity: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of `DIVIDED` for the rows of a partition."""
        check_packages()
        taken: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            taken.append(batch)
            size += batch.nbytes
            if size >= DIVIDED_BYTES:
                yield from self._divided(pa.Table.from_batches(taken))
                taken, size = [], 0
        if taken:
            yield from self._divided(pa.Table.from_batches(taken))

    def _divided(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        time = rows.column(TIME)
        if time.null_count:
            yield _piece(None, time.null_count, None)
            rows = rows.filter(time.is_valid())
        parts = (bucket_numbers(_times(rows), self.granularity) % PARTS).astype(np.uint8)
        if np.any(parts[1:] < parts[:-1]):
            order = np.argsort(parts, kind="stable")  # by counting, since there are few values
            rows, parts = rows.combine_chunks().take(pa.array(order)), parts[order]
        ends = np.cumsum(np.bincount(parts, minlength=PARTS))
        for part, (start, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
            if start < end:
                yield _piece(part, end - start, _stream(rows.slice(start, end - start)))


def _piece(part: int | None, count: int, piece: pa.Buffer | None) -> pa.RecordBatch:
    if piece is None:
        data = pa.nulls(1, pa.binary())
    else:
        offsets = pa.py_buffer(np.array([0, piece.size], dtype=np.int32))
        data = pa.Array.from_buffers(pa.binary(), 1, [None, offsets, piece])
    return pa.RecordBatch.from_arrays([pa.array([part], pa.int32()), pa.array([count], pa.int64()), data], _DIVIDED)


_DIVIDED = ["part", "count", "piece"]


def _stream(rows: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(rows)
    return sink.getvalue()


class Group(NamedTuple):
    """The rows of a segment, their bucket, and the bounds of their values, see `BuiltSegment`."""

    bucket: int
    rows: pa.Table
    first: Bound = None
    until: Bound = None


@dataclass(frozen=True)
class Build:
    """`folder`: the job's, which contains UNFINISHED; `measured`: the fields to sum and their types; `access`: to the
    storage of the folder."""

    plan: SegmentPlan
    folder: str
    measured: tuple[tuple[str, NumberType], ...]
    access: Access

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of `RESULT` for those of `DIVIDED`, which are sorted by part."""
        check_packages()
        name = os.urandom(8).hex()  # no other attempt of the task uses it
        for number, group in enumerate(self._groups(batches)):
            yield self._result(group, f"{name}_{number}")

    def _groups(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Group | int]:
        """The rows of each segment; of rows without a time their number."""
        taken: list[pa.Table] = []
        last: int | None = None
        size = 0
        for part, count, piece in _pieces(batches):
            if piece is None:
                yield count
                continue
            if taken and (part != last or size >= MOST_BYTES):
                yield from self._segments(pa.concat_tables(taken))
                taken, size = [], 0
            taken.append(pa.ipc.open_stream(piece).read_all())
            last, size = part, size + taken[-1].nbytes
        if taken:
            yield from self._segments(pa.concat_tables(taken))

    def _segments(self, rows: pa.Table) -> Iterator[Group]:
        """The rows of each bucket, in tables of at most the maximum of a segment."""
        most, names = self.plan.most_rows, self.plan.ranges
        for bucket, found in _buckets(rows, self.plan.granularity):
            if names:
                yield from (Group(bucket, *part) for part in ranges(found, names, most))
                continue
            for start in range(0, found.num_rows, most):
                yield Group(bucket, found.slice(start, most))

    def _result(self, group: Group | int, name: str) -> pa.RecordBatch:
        if isinstance(group, int):
            return pa.RecordBatch.from_pylist([{"read": group}], schema=_SCHEMA)
        sums = {field: _sum(group.rows.column(field), kind) for field, kind in self.measured}
        path, written = self._written(group.rows, group.bucket, name)
        found = {
            "bucket": group.bucket, "read": group.rows.num_rows, "path": path, "rows": written.rows,
            "size": written.size, "sums": json.dumps(sums), "bounds": json.dumps([group.first, group.until]),
        }  # fmt: skip
        return pa.RecordBatch.from_pylist([found], schema=_SCHEMA)

    def _written(self, rows: pa.Table, bucket: int, name: str) -> tuple[str, Written]:
        """Write a segment as Druid's own tasks do: as a folder on this machine, elsewhere as a zip. Returns its path
        below the job's folder. Raises OSError if this machine does not see that folder, or the job was cancelled."""
        shaped, spec = _shaped(rows, self.plan), _spec(self.plan, bucket)
        folder = local_path(self.folder)
        if folder is not None:
            try:
                (folder / name).mkdir()
            except FileNotFoundError:
                raise FileNotFoundError(f"{UNSEEN}{gethostname()}: {folder}") from None
            return f"{name}/{INDEX}", write_segment(shaped, spec, folder / name / INDEX)
        with TemporaryDirectory(prefix="hivedruid-segment-") as scratch:
            written = write_segment(shaped, spec, Path(scratch, INDEX))
            zip_files(Path(scratch, INDEX), Path(scratch, ZIP_NAME))
            job = open_location(self.folder, self.access)
            if not (job / UNFINISHED).exists():
                raise FileNotFoundError(f"{self.folder} was removed: the job was cancelled")
            (job / name / ZIP_NAME).write_from(Path(scratch, ZIP_NAME))
        return f"{name}/{ZIP_NAME}", written


_SCHEMA = pa.schema({
    "bucket": pa.int64(), "read": pa.int64(), "path": pa.string(), "rows": pa.int64(), "size": pa.int64(),
    "sums": pa.string(), "bounds": pa.string(),
})  # fmt: skip


def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int | None, int, pa.Buffer | None]]:
    for batch in batches:
        parts, counts, pieces = batch.columns
        for part, count, piece in zip(parts.to_pylist(), counts.to_pylist(), pieces, strict=True):
            yield part, count, piece.as_buffer()


def _buckets(rows: pa.Table, granularity: str) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each bucket."""
    numbers = bucket_numbers(_times(rows), granularity)
    if np.all(numbers == numbers[0]):
        yield int(numbers[0]), rows
        return
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=numbers[order[0]] - 1))
    whole = rows.combine_chunks()
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        yield int(numbers[order[start]]), whole.take(pa.array(order[start:end]))


def _times(rows: pa.Table) -> Int64s:
    times: Int64s = pc.cast(rows.column(TIME), pa.int64()).to_numpy()
    return times


def bucket_numbers(times: Int64s, granularity: str) -> Int64s:
    """The numbers of the buckets that times are in, see `granularities.number`."""
    if width := granularities.WIDTHS.get(granularity):
        return (times - granularities.ORIGINS.get(granularity, 0)) // width
    days, places = np.unique(times // granularities.DAY, return_inverse=True)
    found = [granularities.number(int(day) * granularities.DAY, granularity) for day in days]
    return np.array(found, dtype=np.int64)[places]


def _spec(plan: SegmentPlan, bucket: int) -> SegmentSpec:
    metrics = map(_metric, plan.metrics)
    return SegmentSpec(
        granularities.interval(bucket, plan.granularity),
        tuple(Dimension(d.name, d.type, d.handling) for d in plan.dimensions),
        tuple(metrics),
        plan.rollup,
        {"type": "none"} if plan.query_granularity == "NONE" else plan.query_granularity,
    )


def _metric(planned: PlannedMetric) -> Metric:
    if (sketch := planned.sketch) is not None:
        aggregator = {**sketch.combining, "name": planned.name}
        return Metric(planned.name, planned.type, aggregator, sketch_fold(sketch.kind, merges=sketch.merges))
    field = {"fieldName": planned.field} if planned.field else {}
    return Metric(planned.name, planned.type, {"type": planned.aggregator, "name": planned.name, **field})


def _shaped(rows: pa.Table, plan: SegmentPlan) -> pa.Table:
    """The columns of the segment; times are truncated to the query granularity."""
    columns: dict[str, Any] = {TIME: truncated(_times(rows), plan.query_granularity)}
    for dimension in plan.dimensions:
        columns[dimension.name] = rows.column(dimension.name)
    for metric in plan.metrics:
        columns[metric.name] = _values(rows, metric)
    return pa.table(columns)


def _values(rows: pa.Table, metric: PlannedMetric) -> Any:
    return rows.column(metric.field) if metric.field else np.ones(rows.num_rows, dtype=np.int64)


def truncated(times: Int64s, granularity: str) -> Int64s:
    """The starts of the buckets of a granularity that times are in."""
    if width := granularities.WIDTHS.get(granularity):
        return times - (times - granularities.ORIGINS.get(granularity, 0)) % width
    numbers, places = np.unique(times // granularities.DAY, return_inverse=True)
    starts = [granularities.floor(int(day) * granularities.DAY, granularity) for day in numbers]
    return np.array(starts, dtype=np.int64)[places]


def _sum(column: pa.ChunkedArray, kind: NumberType) -> tuple[int | float, float]:
    """The sum of the values as Druid stores them, and of their absolute values; see `jobs.staged.Sum`."""
    if kind == "LONG":
        return int(pc.fill_null(column.cast(pa.int64()), 0).to_numpy().sum()), 0.0
    values = column.cast(pa.float32(), safe=False) if kind == "FLOAT" else column
    numbers = pc.fill_null(values.cast(pa.float64(), safe=False), 0.0).to_numpy()
    with np.errstate(all="ignore"):
        return float(numbers.sum()), float(np.abs(numbers).sum())
