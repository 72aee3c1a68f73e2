"""Stages rows for Druid as segments: Spark divides them by segment interval, and its Python workers build the files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EEXIST
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import merged
from hivedruid.druid.planned_segments import SegmentPlan
from hivedruid.errors import ExecutionError, PlanError, SparkError
from hivedruid.filesystems import Access, Location, open_location
from hivedruid.jobs.staged import BuiltSegment, NumberType, StagedRows, Sum, summed_fields
from hivedruid.spark import failures
from hivedruid.spark.calls import SparkCall, remove_output
from hivedruid.spark.shipping import ship

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import Row

    from hivedruid.spark.jobs import SparkRunner
    from hivedruid.spark.parquet_tasks import ParquetPieces

_LEAST_TASKS = "spark.sql.adaptive.coalescePartitions.minPartitionNum"


def build(
    frame: DataFrame,
    table: Table,
    spec: Mapping[str, Any],
    plan: SegmentPlan,
    folder: str,
    access: Access,
    *,
    skip_timeless: bool,
    is_elsewhere: bool = False,
) -> StagedRows:
    """Write the rows as segments into new folders below `folder`, which is created in deep storage.

    Fields are named like the table's columns, by position; `__time` is in milliseconds. Raises ExecutionError for rows
    without a `__time`, unless they are skipped; for a folder that cannot be created, and for a full disk. The folder is
    removed on error. `is_elsewhere`: Spark runs on other machines, all of which must have access to the folder: a task
    that does not see it fails.
    """
    from hivedruid.spark.segment_tasks import DIVIDED, Divide

    if len(frame.columns) != len(table.columns):
        raise PlanError(f"{len(frame.columns)} columns for the {len(table.columns)} of {table.full_name}")
    frame = frame.toDF(*(column.field_name for column in table.columns))
    if is_elsewhere:
        ship(frame.sparkSession)
    divided = frame.mapInArrow(Divide(plan.granularity), DIVIDED)
    return _built(divided, table, spec, plan, folder, access, skip_timeless=skip_timeless)


def build_from_files(
    runner: SparkRunner,
    pieces: ParquetPieces,
    table: Table,
    spec: Mapping[str, Any],
    plan: SegmentPlan,
    folder: str,
    *,
    skip_timeless: bool,
) -> StagedRows | None:
    """The same with columns of Parquet files that Spark's Python workers read; None if they cannot read them."""
    from hivedruid.spark.jobs import NOTHING
    from hivedruid.spark.parquet_tasks import PIECE, UNSUITABLE, DivideFiles
    from hivedruid.spark.segment_tasks import DIVIDED

    with runner.running(NOTHING) as spark, runner.handed_over([folder], ExecutionError) as access:
        groups = spark.createDataFrame(list(pieces.groups), PIECE)
        divided = groups.mapInArrow(DivideFiles(plan.granularity, pieces.columns), DIVIDED)
        try:
            return _built(divided, table, spec, plan, folder, access, skip_timeless=skip_timeless)
        except Exception as error:
            if UNSUITABLE in failures.full_text(error):
                return None
            raise


def _built(
    divided: DataFrame,
    table: Table,
    spec: Mapping[str, Any],
    plan: SegmentPlan,
    folder: str,
    access: Access,
    *,
    skip_timeless: bool,
) -> StagedRows:
    """Build the segments of the rows of `segment_tasks.DIVIDED`."""
    from hivedruid.spark.segment_tasks import PART, RESULT, Build

    measured = summed_fields(spec["spec"]["dataSchema"])
    place = _prepared(folder, access)
    try:
        moved = divided.hint("rebalance", PART).sortWithinPartitions(PART)
        built = moved.mapInArrow(Build(plan, folder, tuple(measured.items()), access), RESULT)
        results: list[Row] = []
        with _small_tasks(divided.sparkSession):
            SparkCall(divided.sparkSession, lambda: results.extend(built.collect())).wait()
        staged = _staged(results, plan, measured, folder)
        if staged.skipped and not skip_timeless:
            raise ExecutionError(
                f"{staged.skipped} of {staged.rows + staged.skipped} rows have no time: {TIME_COLUMN} is null",
                hint="exclude such rows with WHERE, or SET hivedruid.null.time=skip; nothing was changed",
            )
        _remove_others(place, staged)
    except BaseException as error:
        remove_output(folder, access)
        if failures.is_full_disk(error):
            raise SparkError(
                f"the disk is full: the segments of {table.full_name} do not fit into {folder}",
                hint="free up disk space there and in spark.local.dir; nothing was changed",
            ) from error
        raise
    return staged


@contextmanager
def _small_tasks(spark: SparkSession) -> Iterator[None]:
    """Spark merges the partitions of a shuffle into tasks, into one for each core if there are few bytes: then some
    cores have nothing to do while the last tasks run. No hint sets the number of tasks."""
    if spark.conf.get(_LEAST_TASKS, None) is not None:
        yield
        return
    spark.sql(f"SET {_LEAST_TASKS}=16")  # conf.set() would warn, since Spark advises a minimum of bytes instead
    try:
        yield
    finally:
        spark.sql(f"RESET {_LEAST_TASKS}")


def _prepared(folder: str, access: Access) -> Location:
    """The folder of the job, which must be new, with the mark that it is being written."""
    from hivedruid.spark.segment_tasks import UNFINISHED

    try:
        place = open_location(folder, access)
        if place.exists():
            raise FileExistsError(EEXIST, "it already exists")
        place.create_folder()
        (place / UNFINISHED).write(b"")
    except OSError as error:
        raise ExecutionError(
            f"cannot create the folder {folder} in Druid's deep storage: {error.strerror or error}",
            hint="check its permissions, or SET hivedruid.druid.write=native",
        ) from error
    return place


def _staged(results: Iterable[Row], plan: SegmentPlan, measured: Mapping[str, NumberType], folder: str) -> StagedRows:
    """The rows of `segment_tasks.RESULT` together."""
    segments: list[BuiltSegment] = []
    rows = skipped = 0
    totals: dict[str, Sum] = {name: Sum(0 if kind == "LONG" else 0.0) for name, kind in measured.items()}
    for result in results:
        if result.path is None:
            skipped += result.read
            continue
        rows += result.read
        span = granularities.interval(result.bucket, plan.granularity)
        first, until = (None if bound is None else tuple(bound) for bound in json.loads(result.bounds))
        segments.append(BuiltSegment(*span, result.path, result.rows, result.size, first, until))
        for name, (total, magnitude) in json.loads(result.sums).items():
            totals[name] = _added(totals[name], total, magnitude)
    segments.sort(key=lambda s: (s.start, s.path))
    size = sum(segment.size for segment in segments)
    intervals = merged((s.start, s.end) for s in segments)
    return StagedRows(folder, rows, size, intervals, totals, skipped, tuple(segments))


def _added(sum_: Sum, total: float, magnitude: float) -> Sum:
    if isinstance(sum_.total, int) and isinstance(total, int):
        return Sum((sum_.total + total + 2**63) % 2**64 - 2**63)
    return Sum(sum_.total + total, sum_.magnitude + magnitude)


def _remove_others(folder: Location, staged: StagedRows) -> None:
    """Remove what failed attempts of tasks have written, and the mark."""
    kept = {segment.path.partition("/")[0] for segment in staged.segments}
    for name in folder.names():
        if name not in kept:
            with suppress(OSError):
                (folder / name).remove()
