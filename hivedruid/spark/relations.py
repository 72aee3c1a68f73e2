"""SQL over DataFrames, which are temporary views or are sent with the query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.client import Session

Frames = Mapping[str, "DataFrame"]
"""The inputs of a job, by the name of their view."""


@contextmanager
def views(spark: SparkSession, frames: Frames) -> Iterator[None]:
    """Create the inputs as temporary views for the duration of the block."""
    created: list[str] = []
    try:
        for view, frame in frames.items():
            frame.createOrReplaceTempView(view)
            created.append(view)
        yield
    finally:
        with suppress(Exception):  # if the server is gone, so are its views
            for view in created:
                spark.catalog.dropTempView(view)


def query(spark: Session, sql: str, frames: Frames = MappingProxyType({})) -> DataFrame:
    """The rows of a query. Its inputs are part of its plan: one request has everything, and no view remains if this
    process is killed. The server analyses it again for each request, so it is for queries that run once."""
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import SQL, SubqueryAlias

    spark.prepare(sql)
    return DataFrame(SQL(sql, views=[SubqueryAlias(frame._plan, view) for view, frame in frames.items()]), spark)


def used(frames: Frames, sql: str) -> Frames:
    """The inputs that a query names."""
    return {view: frame for view, frame in frames.items() if identifier(view) in sql}


def kept(spark: SparkSession, rows: DataFrame) -> DataFrame:
    """The rows, computed now and kept by Spark until `release`: they are the same whenever they are read. If Spark
    loses some of them, what reads them fails."""
    from pyspark.sql.connect.session import SparkSession

    found: list[DataFrame] = []

    def work() -> None:
        SparkSession._active_session.session = spark  # of this thread, which ends with the call
        found.append(rows.localCheckpoint())

    SparkCall(spark, work).wait()
    # The finalizer would send a request from any thread that collects garbage, which can wait for its own lock in grpc.
    found[0]._plan._spark_session = None
    return found[0]


def release(frame: DataFrame) -> None:
    from pyspark.sql.connect.plan import RemoveRemoteCachedRelation

    client = frame.sparkSession.client
    with suppress(Exception):  # if the server is gone, so are the rows
        client.execute_command(RemoveRemoteCachedRelation(frame._plan).command(session=client))
