"""Rows in Python as Spark views, over which the results of plans are computed independently of Druid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.plan.physical import SparkJob, TableInput
from hivedruid.spark.relations import query, used
from hivedruid.spark.rows import stream
from tests.equivalence.comparison import Rows

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_EXCHANGES = re.compile(r"\b(GROUP BY|ORDER BY|JOIN|OVER|DISTINCT|FILTER)\b")
"""Operators before which Spark exchanges rows, unless they are one partition."""


def create_view(spark: SparkSession, table: Table, rows: Iterable[Sequence[Any]]) -> None:
    """A view over the rows of a table, with times as milliseconds since the epoch or as strings; Spark parses them
    once."""
    columns = table.columns
    listed = ", ".join(
        "(" + ", ".join(spark_value(v, c.type) for v, c in zip(row, columns, strict=True)) + ")" for row in rows
    )
    names = ", ".join(f"`{c.name}`" for c in columns)
    nulls = ", ".join(f"{spark_value(None, c.type)} AS `{c.name}`" for c in columns)
    text = f"SELECT * FROM VALUES {listed} AS v({names})" if listed else f"SELECT {nulls} WHERE FALSE"
    spark.sql(text).createOrReplaceTempView(_view(table))


def _view(table: Table) -> str:
    return f"{table.name}_raw"


def answer(spark: SparkSession, job: SparkJob) -> Rows:
    """The rows of a job over the views of its tables. Without parts that are computed first, it is one request.

    Spark's optimizer filters and projects the rows of the views itself. For other operators, rows that are known to be
    one partition need no exchange, which is half of the time.
    """
    frames = {}
    is_one = _EXCHANGES.search(" ".join([job.sql, *(part.sql for part in job.computed)])) is not None
    for item in job.inputs:
        assert isinstance(item, TableInput)
        rows = spark.table(_view(item.table))
        frames[item.view] = (rows.coalesce(1) if is_one else rows).select(*item.columns)
    for part in job.computed:
        query(spark, part.sql, used(frames, part.sql)).createOrReplaceTempView(part.view)
    return list(stream(query(spark, job.sql, used(frames, job.sql)), [column.type for column in job.columns]))


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
