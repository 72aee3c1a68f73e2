"""Python rows as Spark views, with which the results of plans are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.plan.physical import SparkJob, TableInput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Columns = Sequence[tuple[str, HiveType]]


def frame(spark: SparkSession, columns: Columns, rows: Iterable[Sequence[Any]]) -> DataFrame:
    """The rows, with times as milliseconds since the epoch or as strings."""
    listed = ", ".join(
        "(" + ", ".join(spark_value(v, t) for v, (_, t) in zip(row, columns, strict=True)) + ")" for row in rows
    )
    names = ", ".join(f"`{name}`" for name, _ in columns)
    if listed:
        return spark.sql(f"SELECT * FROM VALUES {listed} AS v({names})")
    nulls = ", ".join(f"{spark_value(None, type_)} AS `{name}`" for name, type_ in columns)
    return spark.sql(f"SELECT {nulls} WHERE FALSE")


def spark_value(value: Any, type_: HiveType) -> str:
    """A typed constant, rendered independently of the planner."""
    kind = spark_type(type_)
    if value is None:
        return f"CAST(NULL AS {kind})"
    if type_.is_timestamp and isinstance(value, int):
        return f"CAST(timestamp_millis({value}) AS {kind})"
    if isinstance(value, list | tuple):
        if list(value) in ([], [None]):  # as Druid stores them
            return f"CAST(NULL AS {kind})"
        return f"array({', '.join(spark_value(item, type_.children[0]) for item in value)})"
    if isinstance(value, str):
        return f"CAST(CAST(X'{value.encode().hex()}' AS STRING) AS {kind})"
    return f"CAST('{value}' AS {kind})"


def create_views(spark: SparkSession, job: SparkJob, rows: Callable[[TableInput], DataFrame]) -> None:
    """The views that the SQL of a job reads, over the rows of its tables."""
    for item in job.inputs:
        assert isinstance(item, TableInput)
        rows(item).select(*item.columns).createOrReplaceTempView(item.view)
    for part in job.computed:
        spark.sql(part.sql).createOrReplaceTempView(part.view)
