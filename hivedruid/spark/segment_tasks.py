"""Builds segments from the rows of one Spark partition. It runs in Spark's Python workers.

Hosts without hivedruid get `segment_source.PACKAGE`: this module must not import anything else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.druid import granularities
from hivedruid.druid.planned_segments import PlannedMetric, SegmentPlan
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.segments.files import ZIP_NAME, zip_files
from hivedruid.segments.offsets import Int64s
from hivedruid.segments.segment import TIME
from hivedruid.segments.writing.segment import Dimension, Metric, SegmentSpec, Written, write_segment
from hivedruid.spark.segment_source import check_packages

if TYPE_CHECKING:
    from hivedruid.jobs.staged import NumberType

INDEX = "index"
UNSEEN = "hivedruid: the folder of the job does not exist on "
"""The beginning of the error of a machine that does not see the folder (worker_python.py)."""
UNFINISHED = "unfinished"
"""A file in the folder of a job while segments are written into it."""
MOST_BYTES = 1 << 29
"""The size in memory of the rows of a segment, about a third of what building it takes."""
RESULT = "bucket BIGINT, read BIGINT, path STRING, rows BIGINT, size BIGINT, sums STRING"
"""A row for each segment: the number of its bucket, the rows read and those stored, its folder below the job's, its
size in bytes, and the sums of the measured fields as JSON. Rows without a time are counted in a row without a path."""


@dataclass(frozen=True)
class Build:
    """`key`: the column with the number of the bucket; `folder`: the job's, which contains UNFINISHED; `measured`: the
    fields to sum and their types; `access`: to the storage of the folder."""

    plan: SegmentPlan
    key: str
    folder: str
    measured: tuple[tuple[str, NumberType], ...]
    access: Access

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of `RESULT` for the rows of a partition, which are sorted by `key`."""
        check_packages()
        part = os.urandom(8).hex()  # no other attempt of the task uses this name
        for number, (bucket, rows) in enumerate(self._groups(batches)):
            yield self._result(bucket, rows, f"{part}_{number}")

    def _groups(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int | None, pa.Table]]:
        """The rows of each segment, with their bucket."""
        bucket: int | None = None
        taken: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in batches:
            for value, piece in _runs(batch, self.key):
                left = piece
                while left.num_rows:
                    is_full = rows >= self.plan.most_rows or size >= MOST_BYTES
                    if taken and (value != bucket or is_full):
                        yield bucket, pa.Table.from_batches(taken)
                        taken, rows, size = [], 0, 0
                    bucket = value
                    head = left.slice(0, self.plan.most_rows - rows)
                    left = left.slice(head.num_rows)
                    taken.append(head)
                    rows, size = rows + head.num_rows, size + head.nbytes
        if taken:
            yield bucket, pa.Table.from_batches(taken)

    def _result(self, bucket: int | None, rows: pa.Table, name: str) -> pa.RecordBatch:
        found: dict[str, Any] = {"bucket": bucket, "read": rows.num_rows}
        if bucket is not None:
            found["sums"] = json.dumps({field: _sum(rows.column(field), kind) for field, kind in self.measured})
            path, written = self._written(rows, bucket, name)
            found |= {"path": path, "rows": written.rows, "size": written.size}
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
    "sums": pa.string(),
})  # fmt: skip


def _runs(batch: pa.RecordBatch, key: str) -> Iterator[tuple[int | None, pa.RecordBatch]]:
    """The rows of each bucket; adjacent rows of one bucket are together."""
    keys = batch.column(batch.schema.get_field_index(key))
    encoded = pc.run_end_encode(keys)
    start = 0
    for end, value in zip(encoded.run_ends.to_pylist(), encoded.values.to_pylist(), strict=True):
        yield value, batch.slice(start, end - start)
        start = end


def _spec(plan: SegmentPlan, bucket: int) -> SegmentSpec:
    metrics = (
        Metric(m.name, m.type, {"type": m.aggregator, "name": m.name, **({"fieldName": m.field} if m.field else {})})
        for m in plan.metrics
    )
    return SegmentSpec(
        granularities.interval(bucket, plan.granularity),
        tuple(Dimension(d.name, d.type, d.handling) for d in plan.dimensions),
        tuple(metrics),
        plan.rollup,
        {"type": "none"} if plan.query_granularity == "NONE" else plan.query_granularity,
    )


def _shaped(rows: pa.Table, plan: SegmentPlan) -> pa.Table:
    """The columns of the segment; times are truncated to the query granularity."""
    time = pc.cast(rows.column(TIME), pa.int64()).to_numpy()
    columns: dict[str, Any] = {TIME: truncated(time, plan.query_granularity)}
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
