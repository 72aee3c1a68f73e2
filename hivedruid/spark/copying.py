"""Writes columns of segment files into Parquet files; see `segment_copies`."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.errors import SegmentReadError
from hivedruid.filesystems import local_path
from hivedruid.plan.physical import DruidInput, SparkJob
from hivedruid.plan.segment_files import FileScan, pieces
from hivedruid.spark import failures, paths
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.jobs import NOTHING
from hivedruid.spark.writing import with_files

if TYPE_CHECKING:
    from pyspark.sql.types import Row

    from hivedruid.catalog.table import Table
    from hivedruid.spark.jobs import SparkRunner


def copy_segments(
    runner: SparkRunner, job: SparkJob, table: Table, places: tuple[int, ...], *, overwrite: bool
) -> int | None:
    """Write the fields at these places of the job's scan as the columns of a table, on this machine; returns the number
    of rows, or None if only Spark can read a file or convert a value: then nothing was written."""
    import pyarrow as pa

    from hivedruid.arrow import arrow_type
    from hivedruid.segments.scan import Scan
    from hivedruid.spark.segment_copies import PIECES, UNSUITABLE, WRITTEN, WriteSegments

    (item,) = job.inputs
    path = local_path(paths.location_of(table))
    if not isinstance(item, DruidInput) or not isinstance(scan := item.scan, FileScan) or path is None:
        return None
    parts = [(json.dumps(asdict(piece)),) for piece in pieces(item.read.spans, scan.files)]
    if not parts:
        return None
    wanted = Scan(tuple(zip(scan.fields, scan.types, strict=True)), item.read.query.get("filter"), scan.stored)
    schema = pa.schema([pa.field(column.name, arrow_type(column.type, "UTC")) for column in table.columns])

    def write(folder: Path) -> int:
        folder.mkdir(parents=True)
        results: list[Row] = []
        written = spark.createDataFrame(parts, PIECES).mapInArrow(
            WriteSegments(wanted, schema, places, str(folder), access), WRITTEN
        )
        SparkCall(spark, lambda: results.extend(written.collect())).wait()
        kept = {row.name for row in results}
        for file in folder.iterdir():  # of failed attempts of tasks
            if file.name not in kept:
                with suppress(OSError):
                    file.unlink()
        return sum(row.rows for row in results)

    with (
        runner.running(NOTHING, target=table) as spark,
        runner.handed_over([file.location for file in scan.files], SegmentReadError) as access,
    ):
        try:
            return with_files(table, path, write, overwrite=overwrite)
        except Exception as error:
            if UNSUITABLE in failures.full_text(error):
                return None
            raise
