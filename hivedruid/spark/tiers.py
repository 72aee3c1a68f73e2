"""Deletes batches of rows from the cold parts of tiered tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier, literal
from hivedruid.spark.inputs import iceberg_name

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.jobs import SparkRunner


def delete_batch(runner: SparkRunner, table: Table, column: str, batch: str) -> None:
    """Delete the rows of a batch, in one commit, if there are any. Its files contain no other rows, unless the table
    was compacted."""

    def work(spark: SparkSession) -> None:
        rows = spark.table(iceberg_name(table)).where(f"{identifier(column)} = {literal(batch)}")
        if rows.limit(1).count():
            statement = f"DELETE FROM {iceberg_name(table)} WHERE {identifier(column)} = {literal(batch)}"
            SparkCall(spark, lambda: spark.sql(statement)).wait()

    runner.maintain(table, work, None)
