"""Scans of segment files as DataFrames."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hivedruid.errors import SegmentReadError
from hivedruid.filesystems import Access
from hivedruid.plan.physical import DruidRead
from hivedruid.plan.segment_files import SegmentScan, pieces

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession


def segment_frame(
    spark: SparkSession, read: DruidRead, scan: SegmentScan, access: Access, *, is_elsewhere: bool
) -> DataFrame:
    """The rows of the segments that the query returns, with its fields in order and their Druid types.

    `is_elsewhere`: Spark runs on other machines, where hivedruid may not be installed.
    """
    from hivedruid.spark.segment_source import NAME, Request, SegmentSource

    fields = tuple((field.name, type_) for field, type_ in zip(read.fields, scan.types, strict=True))
    parts = pieces(read.spans, scan.files)
    request = Request(fields, read.query.get("filter"), scan.stored, parts, access)
    if not request.pieces:
        return spark.createDataFrame([], request.schema)
    if is_elsewhere:
        from hivedruid.spark.shipping import ship

        ship(spark)
    spark.dataSource.register(SegmentSource)
    return spark.read.format(NAME).schema(request.schema).option("request", request.to_json()).load()


def read_error(text: str) -> SegmentReadError | None:
    """The error of the reader of segments in a message of Spark; None if it is another error."""
    from hivedruid.spark.segment_source import FAILED

    match = re.search(rf"RuntimeError: {FAILED}(.*)", text)
    return SegmentReadError(f"segment {match[1]}", hint="SET hivedruid.druid.read=query") if match else None
