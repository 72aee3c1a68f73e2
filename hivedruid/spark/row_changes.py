"""UPDATE and DELETE of managed tables. Each of them is one commit of Iceberg, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import spark_type
from hivedruid.spark.cells import fit, identifier
from hivedruid.spark.inputs import iceberg_name
from hivedruid.spark.procedures import repeated

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.jobs import SparkRunner

MARK = "spark.sql.iceberg.snapshot-property.hivedruid.commit"
"""Marks the commits of a session as those of hivedruid, unless they only remove whole files."""


def change_rows(
    runner: SparkRunner,
    table: Table,
    condition: str | None,
    assignments: Sequence[tuple[str, str]],
    *,
    by_rows: bool,
) -> None:
    """Delete the rows for which a condition is true, or set columns of them; both are SQL over the table's columns.

    `by_rows`: Iceberg does not decide by the metadata of files that all rows of one are deleted. The statement is
    repeated if another one changes the same files meanwhile. Raises ConflictError if that happens at every attempt.
    """
    if by_rows:  # a term that is true for every row, and that Spark cannot pass to Iceberg
        condition = f"{condition} AND hash({identifier(table.columns[0].name)} IS NULL) <= {(1 << 31) - 1}"
    types = {column.name: column.type for column in table.columns}
    values = (
        f"{identifier(name)} = {fit(f'CAST({value} AS {spark_type(types[name])})', types[name])}"
        for name, value in assignments
    )
    name = iceberg_name(table)
    statement = f"UPDATE {name} SET {', '.join(values)}" if assignments else f"DELETE FROM {name}"
    statement += f" WHERE {condition}" if condition is not None else ""

    def work(spark: SparkSession) -> None:
        runner.iceberg.follow(spark, table)
        spark.conf.set(MARK, uuid4().hex)
        try:
            repeated(spark, table, "UPDATE" if assignments else "DELETE", lambda: spark.sql(statement))
        finally:
            spark.conf.unset(MARK)

    runner.iceberg.check_rows(None, table)
    runner.maintain(table, work, None)
