"""Appends to managed tables that fail if another writer has changed the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.errors import CommitConflictError
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.failures import full_text
from hivedruid.spark.inputs import iceberg_name

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

_CONFLICTS = (
    "org.apache.iceberg.exceptions.ValidationException",
    "Found conflicting files",
    "Found new conflicting delete files",
    "Cannot determine history between starting snapshot",
    "org.apache.iceberg.exceptions.CommitFailedException",
)
"""Iceberg's messages if rows were added or deleted since the base (MergingSnapshotProducer), if the base has expired
(SnapshotUtil), or if a commit was not possible because of others."""


def append_after(
    spark: SparkSession, frame: DataFrame, table: Table, base: int, options: Mapping[str, str] | None = None
) -> None:
    """Append to an Iceberg table in one commit. Raises CommitConflictError if rows were added or deleted since snapshot
    `base`.

    An overwrite of no rows is an append that Iceberg validates: its conflict filter is true for every row, and the
    validation is repeated with each attempt to commit (BaseOverwriteFiles).
    """
    from pyspark.sql.connect.functions import lit

    writer = frame.writeTo(iceberg_name(table))
    validated = {"validate-from-snapshot-id": str(base), "isolation-level": "serializable"}
    for key, value in {**validated, **(options or {})}.items():
        writer = writer.option(key, value)
    try:
        SparkCall(spark, lambda: writer.overwrite(lit(False))).wait()
    except Exception as error:
        text = full_text(error)
        if any(reason in text for reason in _CONFLICTS):
            raise CommitConflictError(f"another writer has changed {table.full_name} since the batch began") from error
        raise


def append_nothing(spark: SparkSession, table: Table, options: Mapping[str, str] | None = None) -> None:
    """Commit a snapshot without rows."""
    name = iceberg_name(table)
    writer = spark.table(name).limit(0).writeTo(name)
    for key, value in (options or {}).items():
        writer = writer.option(key, value)
    SparkCall(spark, writer.append).wait()


def snapshot_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Properties of a snapshot as options of a write."""
    return {f"snapshot-property.{key}": value for key, value in properties.items()}
