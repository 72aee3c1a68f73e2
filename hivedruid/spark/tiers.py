"""Changes of the cold parts of tiered tables: rows are added or deleted as batches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.catalog.tiers import BATCH_COLUMN, LOST_BY_ORC
from hivedruid.catalog.types import spark_type
from hivedruid.errors import SparkError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import other_machines
from hivedruid.spark import paths, writing
from hivedruid.spark.arrivals import Arrivals
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier, literal
from hivedruid.spark.inputs import iceberg_name

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.iceberg import IcebergTables
    from hivedruid.spark.jobs import SparkRunner


@dataclass(frozen=True)
class Added:
    """The number of rows that were added, and their first and last time in milliseconds."""

    rows: int
    first: int
    last: int


@dataclass
class Division:
    """Rows for Druid, of which those before `edge` (milliseconds) are added to the cold part `table` as a batch.

    `added` is the result, after `divide`; None if there are no such rows.
    """

    table: Table
    edge: int
    batch: str
    added: Added | None = None

    def divide(
        self, spark: SparkSession, frame: DataFrame, table: Table, folder: Path, tables: IcebergTables
    ) -> DataFrame:
        """Write the earlier rows, and return the others. Fields are those of the columns of `table`, by position.

        Both are divided from the same rows, which are stored in `folder`: a query may return others when it runs again.
        """
        fields = [column.field_name for column in table.columns]
        every, place = frame.toDF(*fields), folder / "rows"
        arrivals = Arrivals() if other_machines(tables.settings) else None
        stored = arrivals.followed(every) if arrivals else every
        SparkCall(spark, lambda: stored.write.parquet(paths.uri(place))).wait()
        rows = spark.read.schema(every.schema).parquet(paths.readable(place))
        if arrivals:
            names = [path.name for path in place.glob("part-*")]
            arrivals.check(names, place, lambda: (every.count(), rows.count()))
        time = identifier(next(f for f, c in zip(fields, self.table.columns, strict=False) if c.name == TIME_COLUMN))
        first_lost, end_lost = LOST_BY_ORC
        is_earlier = f"{time} < {self.edge} AND NOT ({time} >= {first_lost} AND {time} < {end_lost})"
        earlier = rows.where(is_earlier)
        count, first, last = earlier.selectExpr("count(*)", f"min({time})", f"max({time})").collect()[0]
        if not count:
            return rows
        shaped = writing.shape(earlier.selectExpr(*self._values(fields)), self.table)
        written = writing.write_iceberg(spark, shaped, self.table, tables, overwrite=False)
        if written != count:
            raise SparkError(
                f"{written} of {count} rows were added to {self.table.full_name}", hint="rerun the statement"
            )
        self.added = Added(count, first, last)
        return rows.where(f"{time} IS NULL OR NOT ({is_earlier})")

    def _values(self, fields: list[str]) -> list[str]:
        """The columns of the cold part from the fields for Druid, in which `__time` is in milliseconds."""
        values = []
        for field, column in zip(fields, self.table.columns, strict=False):
            value = identifier(field)
            if column.name == TIME_COLUMN:
                value = f"CAST(timestamp_millis({value}) AS {spark_type(column.type)})"
            values.append(value)
        return [*values, literal(self.batch)]


def delete_batch(runner: SparkRunner, table: Table, batch: str) -> None:
    """Delete the rows of a batch, in one commit, if there are any. Its files contain no other rows, unless the table
    was compacted."""
    delete_rows(runner, table, f"{identifier(BATCH_COLUMN)} = {literal(batch)}")


def delete_rows(runner: SparkRunner, table: Table, condition: str) -> None:
    """Delete the rows of a condition, in one commit, if there are any."""

    def work(spark: SparkSession) -> None:
        if spark.table(iceberg_name(table)).where(condition).limit(1).count():
            statement = f"DELETE FROM {iceberg_name(table)} WHERE {condition}"
            SparkCall(spark, lambda: spark.sql(statement)).wait()

    runner.maintain(table, work, None)


def count_rows(runner: SparkRunner, table: Table, condition: str) -> Mapping[str, int]:
    """The number of rows of a condition by batch; "" are those of other tools."""

    def work(spark: SparkSession) -> Mapping[str, int]:
        batch = f"coalesce({identifier(BATCH_COLUMN)}, '') AS batch"
        rows = spark.table(iceberg_name(table)).where(condition).selectExpr(batch)
        return {row.batch: row["count"] for row in rows.groupBy("batch").count().collect()}

    return runner.maintain(table, work, {})
