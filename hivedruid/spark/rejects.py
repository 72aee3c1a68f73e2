"""Records that cannot be parsed, as rows of a rejects table."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Protocol

from hivedruid.catalog.table import Table
from hivedruid.spark import inputs, writing
from hivedruid.spark.cells import literal
from hivedruid.spark.iceberg import IcebergTables
from hivedruid.spark.topic_formats import RAW_VALUE
from hivedruid.spark.topics import malformed
from hivedruid.tables.rejects import REJECT_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

_NAMES = [column.name for column in REJECT_COLUMNS]
_KEY = [name for name in _NAMES if name != "error"]
"""What makes two rows the same record. A topic that was created again has others at the same offsets."""


class RejectsTables(Protocol):
    """The rejects tables of Kafka tables, see `actions.rejects`."""

    def find(self, table: Table) -> Table | None: ...

    def opened(self, table: Table) -> AbstractContextManager[Table]: ...


def reject_malformed(
    spark: SparkSession, rows: DataFrame, table: Table, rejects: RejectsTables, tables: IcebergTables
) -> str:
    """Add the malformed ones of the rows of a Kafka table, which keep RAW_VALUE, to its rejects table. Returns how many
    there are and how many were added; "" if there are none."""
    bad = rows.where("_bad IS NOT NULL").persist()
    try:
        if not (found := malformed(bad, table)):
            return ""
        with rejects.opened(table) as target:
            added = add_rejects(spark, reject_rows(bad, table.properties["kafka.topic"]), target, tables)
        return f"skipped {found}; {added} added to {target.full_name}"
    finally:
        with suppress(Exception):  # if the server is gone, so is its cache
            bad.unpersist()


def reject_rows(rows: DataFrame, topic: str) -> DataFrame:
    """The malformed ones of `topic_formats.value_rows`, which keep RAW_VALUE, as rows of a rejects table."""
    return rows.where("_bad IS NOT NULL").selectExpr(
        f"{literal(topic)} AS topic", "__partition AS partition", "__offset AS offset", "__timestamp AS timestamp",
        "_bad AS error", f"{RAW_VALUE} AS value",
    )  # fmt: skip


def add_rejects(spark: SparkSession, rejected: DataFrame, table: Table, tables: IcebergTables) -> int:
    """Add the rows of `reject_rows` that a rejects table does not have; returns their number."""
    tables.check_rows(spark, table)
    added = rejected
    if tables.exists(spark, table):
        added = rejected.join(inputs.iceberg_frame(spark, table).select(*_KEY), _KEY, "left_anti").select(*_NAMES)
    if added.isEmpty():
        return 0
    return writing.write_iceberg(spark, added.hint("rebalance"), table, tables, overwrite=False)
