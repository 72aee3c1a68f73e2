"""Stages rows for Druid as newline-delimited JSON for one ingestion task, and measures them in the same pass."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.errors import ExecutionError, PlanError, SparkError
from hivedruid.filesystems import Access, local_path
from hivedruid.jobs.staged import Interval, Layout, StagedRows, layout
from hivedruid.spark import failures, paths, writing
from hivedruid.spark.arrivals import Arrivals
from hivedruid.spark.calls import remove_output
from hivedruid.spark.measures import TIME, Measures, number_of
from hivedruid.spark.row_text import JSON_OPTIONS
from hivedruid.staging_folder import no_time, prepare
from hivedruid.tables.druid_tables import GRANULARITY_KEY

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

MOST_INTERVALS = 100_000
"""Maximum intervals per task: each requires an overlord lock and at least one segment."""


def stage(
    frame: DataFrame,
    table: Table,
    spec: Mapping[str, Any],
    folder: str,
    *,
    skip_timeless: bool = False,
    shared: bool = False,
    is_elsewhere: bool = False,
) -> StagedRows:
    """Write the rows as newline-delimited `*.json.gz` for the index_parallel task of `spec`; returns their measures.

    Fields are named like the table's columns, by position; `__time` is in milliseconds. Nulls are omitted, "" is
    written; NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity". Raises ExecutionError for rows
    without a `__time`, which Druid cannot store, unless they are skipped; for a folder that is not empty or cannot be
    created, and for a full disk. A local folder is removed on error; only its owner can access it unless `shared`.
    `is_elsewhere`: Spark runs on other machines.
    """
    if len(frame.columns) != len(table.columns):
        raise PlanError(f"{len(frame.columns)} columns for the {len(table.columns)} of {table.full_name}")
    frame = frame.toDF(*(column.field_name for column in table.columns))
    measures = Measures.of(spec["spec"]["dataSchema"], frame.schema)
    local = local_path(folder)
    arrivals = Arrivals() if is_elsewhere and local is not None else None
    if local is not None:
        prepare(local, shared=shared)
    try:
        values = _write(frame, measures, layout(spec), folder, arrivals, skip_timeless=skip_timeless)
        rows, timeless = int(values["rows"]), int(values["timeless"])
        if timeless and not skip_timeless:
            raise no_time(timeless, rows + timeless)
        size = _arrived(rows, local) if local is not None else 0
        if arrivals is not None and local is not None:
            written = [path.name for path in local.iterdir()]
            arrivals.check(written, local, lambda: (frame.count() - timeless, _staged(frame, measures, folder).count()))
        intervals = measures.staged_intervals(values)
        if intervals is None:
            intervals = _intervals_of(_staged(frame, measures, folder), measures)
    except BaseException as error:
        if local is not None:
            remove_output(folder, Access())
        if failures.is_full_disk(error):
            raise _no_room(folder, table) from error
        raise
    sums = measures.sums(values)
    return StagedRows(folder, rows, size, intervals, sums, timeless)


def bytes_so_far(folder: str) -> int:
    """The total size of all files in a local folder, including files that are being written."""
    local = local_path(folder)
    total = 0
    for place, _, names in os.walk(local) if local is not None else ():
        for name in names:
            try:
                total += Path(place, name).stat().st_size
            except OSError:  # Spark has moved it in the meantime
                continue
    return total


def _no_room(folder: str, table: Table) -> SparkError:
    local = local_path(folder)
    room = f", which has {shutil.disk_usage(local.parent).free / 1e6:,.0f} MB free" if local is not None else ""
    return SparkError(
        f"the disk is full: Spark could not stage all rows of {table.full_name} in {folder}{room}",
        hint="free up disk space there and in spark.local.dir, or SET hivedruid.staging.root to a location with"
        " more space; nothing was changed",
    )


def _write(
    frame: DataFrame, measures: Measures, files: Layout, folder: str, arrivals: Arrivals | None, *, skip_timeless: bool
) -> dict[str, Any]:
    """Write the files; returns the values of the measures."""
    from pyspark.sql.connect.functions import expr

    mode = "error" if local_path(folder) is None else "append"

    def write(measured: DataFrame) -> None:
        rows = measured.where(f"{TIME} IS NOT NULL") if skip_timeless else measured
        rows = rows.hint("rebalance", GRANULARITY_KEY) if files.clustered else rows
        rows = rows.drop(GRANULARITY_KEY)
        # Compression takes most of the time: the best level would take twice as long and reduce the size by a fifth.
        writer = (arrivals.followed(rows) if arrivals else rows).write.options(**JSON_OPTIONS)
        writer = writer.option("compression", "gzip").option("zlib.compress.level", "BEST_SPEED")
        writer.mode(mode).json(paths.uri(folder))

    keyed = frame.withColumn(GRANULARITY_KEY, expr(number_of(measures.granularity)))
    values = writing.observed(keyed, write, measures.aggregates)
    if not values:
        values = _measured(_staged(frame, measures, folder), measures)
        if skip_timeless:
            values["timeless"] = frame.where(f"{TIME} IS NULL").count()
    return values


def _arrived(rows: int, folder: Path) -> int:
    """The total size of the files, which must be on this machine."""
    writing.drop_markers(folder)
    files = list(folder.glob("part-*"))
    writing.check_arrived(rows, bool(files), folder)
    return sum(path.stat().st_size for path in files)


def _staged(frame: DataFrame, measures: Measures, folder: str) -> DataFrame:
    """The measured fields, read back from the staged files."""
    from pyspark.sql.connect.functions import expr
    from pyspark.sql.types import StructType

    wanted = {TIME_COLUMN, *measures.values}
    schema = StructType([field for field in frame.schema if field.name in wanted])
    rows = frame.sparkSession.read.schema(schema).option("mode", "FAILFAST").json(paths.readable(folder))
    return rows.withColumn(GRANULARITY_KEY, expr(number_of(measures.granularity)))


def _measured(staged: DataFrame, measures: Measures) -> dict[str, Any]:
    from pyspark.sql.connect.functions import expr

    aggregates = (expr(text).alias(name) for name, text in measures.aggregates.items())
    return dict(staged.agg(*aggregates).collect()[0].asDict())


def _intervals_of(staged: DataFrame, measures: Measures) -> tuple[Interval, ...]:
    """The same as `Measures.staged_intervals`, from the files. Raises ExecutionError if there are too many segment
    intervals."""
    from pyspark.sql.connect.functions import expr

    numbers = staged.select(expr(f"{GRANULARITY_KEY} AS n")).distinct()
    runs = numbers.selectExpr("n", "n - row_number() OVER (ORDER BY n) AS run").groupBy("run")
    totals = ("min(n) AS first", "max(n) AS last")
    rows = runs.agg(*map(expr, totals)).limit(MOST_INTERVALS + 1).collect()
    if len(rows) > MOST_INTERVALS:
        raise ExecutionError(
            f"the rows are in more than {MOST_INTERVALS:,} intervals of the segment granularity {measures.granularity}",
            hint="choose a coarser druid.segment.granularity",
        )
    return measures.intervals((run.first, run.last) for run in rows)
