"""The commits of streams to managed tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.errors import CommitConflictError
from hivedruid.plan.physical import SparkJob
from hivedruid.spark import inputs, procedures, writing
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier
from hivedruid.spark.failures import full_text
from hivedruid.spark.jobs import NOTHING, SparkRunner

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


def append_batch(
    runner: SparkRunner,
    job: SparkJob,
    table: Table,
    base: int,
    properties: Mapping[str, str],
    *,
    may_be_empty: bool,
    file_size: int | None = None,
) -> bool:
    """Append the job's rows to a managed table in one commit, whose snapshot gets these properties.

    False, and no commit, if the job has no rows, which is only found out if it `may_be_empty`. `file_size` is the size
    at which a task begins another file, in bytes; None for Iceberg's default. Raises
    CommitConflictError if another writer has added or deleted rows since snapshot `base`.
    """
    with runner.running(job, target=table) as spark:
        runner.iceberg.check_rows(spark, table)
        runner.iceberg.follow(spark, table)
        frame = writing.shape(spark.sql(job.sql), table)
        if may_be_empty and frame.isEmpty():
            return False
        sizes = {"target-file-size-bytes": str(file_size)} if file_size is not None else {}
        _append(spark, frame, table, base, {**_named(properties), **sizes})
        return True


def begin(runner: SparkRunner, table: Table, properties: Mapping[str, str]) -> None:
    """Create a managed table if it does not exist, and commit a snapshot without rows that has these properties."""
    with runner.running(NOTHING, target=table) as spark:
        runner.iceberg.check_rows(spark, table)
        runner.iceberg.make(spark, table)
        name = inputs.iceberg_name(table)
        writer = spark.table(name).limit(0).writeTo(name)
        for key, value in _named(properties).items():
            writer = writer.option(key, value)
        SparkCall(spark, writer.append).wait()


def add_tag(runner: SparkRunner, table: Table, tag: str, snapshot: int) -> None:
    """Refer to a snapshot of a managed table by a tag, which keeps it from expiring."""
    _alter(runner, table, f"CREATE OR REPLACE TAG {identifier(tag)} AS OF VERSION {snapshot}")


def remove_tags(runner: SparkRunner, table: Table, tags: Iterable[str]) -> None:
    for tag in tags:
        _alter(runner, table, f"DROP TAG IF EXISTS {identifier(tag)}")


def _alter(runner: SparkRunner, table: Table, change: str) -> None:
    with runner.running(NOTHING, target=table) as spark:
        runner.iceberg.check_rows(spark, table)
        SparkCall(spark, lambda: spark.sql(f"ALTER TABLE {inputs.iceberg_name(table)} {change}").collect()).wait()


def roll_back(runner: SparkRunner, table: Table, snapshot: int) -> None:
    """Make a snapshot of a managed table the current one."""
    with runner.running(NOTHING, target=table) as spark:
        runner.iceberg.check_rows(spark, table)
        procedures.make_current(spark, table, snapshot, is_rollback=False)


def _append(spark: SparkSession, frame: DataFrame, table: Table, base: int, given: Mapping[str, str]) -> None:
    """Append to an Iceberg table in one commit, unless rows were added or deleted since snapshot `base`.

    An overwrite of no rows is an append that Iceberg validates: its conflict filter is true for every row, and the
    validation is repeated with each attempt to commit (BaseOverwriteFiles).
    """
    from pyspark.sql.connect.functions import lit

    writer = frame.writeTo(inputs.iceberg_name(table))
    options = {"validate-from-snapshot-id": str(base), "isolation-level": "serializable", **given}
    for key, value in options.items():
        writer = writer.option(key, value)
    try:
        SparkCall(spark, lambda: writer.overwrite(lit(False))).wait()
    except Exception as error:
        text = full_text(error)
        if any(reason in text for reason in _CONFLICTS):
            raise CommitConflictError(f"another writer has changed {table.full_name} since the batch began") from error
        raise


def _named(properties: Mapping[str, str]) -> dict[str, str]:
    """Properties of a snapshot as options of a write."""
    return {f"snapshot-property.{key}": value for key, value in properties.items()}
