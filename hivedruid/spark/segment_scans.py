"""Scans of segments as DataFrames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.errors import SegmentReadError
from hivedruid.filesystems import Access, local_copy
from hivedruid.plan.physical import DruidInput, DruidRead
from hivedruid.plan.segment_files import READ, FileScan, pieces
from hivedruid.plan.segment_queries import THRESHOLD, QueryScan
from hivedruid.responses.answers import sent

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.engine.engine import DruidEngine
    from hivedruid.spark.segment_source import FileRequest, QueryRequest


def file_frame(
    spark: SparkSession, read: DruidRead, scan: FileScan, access: Access, *, is_elsewhere: bool
) -> DataFrame:
    """The rows of the segments that the query returns, with its fields in order and their Druid types.

    `is_elsewhere`: Spark runs on other machines, where hivedruid may not be installed.
    """
    from hivedruid.spark.segment_source import FileRequest

    fields = tuple(zip(scan.fields, scan.types, strict=True))
    parts = tuple((piece,) for piece in pieces(read.spans, scan.files))
    request = FileRequest(fields, read.query.get("filter"), scan.stored, access, parts)
    return _frame(spark, request, scan.types, is_elsewhere=is_elsewhere)


def stage(item: DruidInput, path: Path, druid: DruidEngine) -> None:
    """Write the rows of an input as one Parquet file: from the segment files in this process, else with its query."""
    scan = item.scan
    if not isinstance(scan, FileScan) or not write_rows(item, scan, path):
        druid.write_parquet(item.read, item.columns, path)


def write_rows(item: DruidInput, scan: FileScan, path: Path) -> bool:
    """Write the rows as one Parquet file with the columns of the input, in this process. False if a file cannot be
    read: it was removed, or has columns of other types."""
    from hivedruid.responses.batches import schema_of, write_groups
    from hivedruid.segments.conversions import BYTES
    from hivedruid.segments.errors import SegmentError
    from hivedruid.segments.scan import Scan, scan_file
    from hivedruid.sketches.kinds import kind_of

    read = item.read
    is_bytes = [
        column in item.binaries and kind_of(scan.stored.get(name, "")) is not None
        for column, name in zip(item.columns, scan.fields, strict=True)
    ]
    types = [BYTES if is_sketch else type_ for is_sketch, type_ in zip(is_bytes, scan.types, strict=True)]
    wanted = Scan(tuple(zip(scan.fields, types, strict=True)), read.query.get("filter"), scan.stored)

    def rows() -> Iterator[RecordBatch]:
        for piece in pieces(read.spans, scan.files):
            with local_copy(piece.location, Access()) as place:
                yield from scan_file(wanted, place, piece.intervals, piece.number, piece.of)

    try:
        write_groups(rows(), schema_of(item.columns, types), path)
    except (SegmentError, OSError):
        return False
    return True


def query_frame(spark: SparkSession, read: DruidRead, scan: QueryScan, access: Path | None) -> DataFrame:
    """The same with the queries of the scan. `access` is the file with the access to Druid; None if Spark runs on other
    machines."""
    from hivedruid.spark.segment_source import QueryRequest

    fields = tuple((f.name, type_, str(f.type)) for f, type_ in zip(read.fields, scan.types, strict=True))
    path = str(access or "")
    request = QueryRequest(sent(read.query), fields, scan.broker, scan.timeout, path, scan.pieces)
    return _frame(spark, request, scan.types, is_elsewhere=access is None)


def _frame(
    spark: SparkSession, request: FileRequest | QueryRequest, types: tuple[str, ...], *, is_elsewhere: bool
) -> DataFrame:
    from hivedruid.spark.segment_source import NAME, SegmentSource, schema_of, to_json

    schema = schema_of(types)
    if not request.partitions:
        return spark.createDataFrame([], schema)
    if is_elsewhere:
        from hivedruid.spark.shipping import ship

        ship(spark)
    spark.dataSource.register(SegmentSource)
    return spark.read.format(NAME).schema(schema).option("request", to_json(request)).load()


def read_error(text: str) -> SegmentReadError | None:
    """The error of the reader of segments in a message of Spark; None if it is another error."""
    from hivedruid.spark.segment_source import FAILED

    match = re.search(rf"RuntimeError: {FAILED}(.*)", text)
    hint = f"SET {READ}=query and SET {THRESHOLD}=0, to read the rows with one query"
    return SegmentReadError(f"segment {match[1]}", hint=hint) if match else None
