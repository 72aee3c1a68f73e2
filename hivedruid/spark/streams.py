"""The commits of streams to managed tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hivedruid.catalog.table import Table
from hivedruid.plan.physical import SparkJob, TableInput
from hivedruid.spark import inputs, procedures, writing
from hivedruid.spark.appends import append_after, append_nothing, snapshot_properties
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier
from hivedruid.spark.jobs import NOTHING, SparkRunner
from hivedruid.spark.rejects import Check
from hivedruid.tables.rejects import leaves_out


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

    The malformed records were handled by `reject_batch`. False, and no commit, if the job has no rows, which is only
    found out if it `may_be_empty`. `file_size` is the size at which a task begins another file, in bytes; None for
    Iceberg's default. Raises CommitConflictError if another writer has added or deleted rows since snapshot `base`.
    """
    with runner.running(_after_rejects(job), target=table) as spark:
        runner.iceberg.check_rows(spark, table)
        runner.iceberg.follow(spark, table)
        frame = writing.shape(spark.sql(job.sql), table)
        if may_be_empty and frame.isEmpty():
            return False
        sizes = {"target-file-size-bytes": str(file_size)} if file_size is not None else {}
        append_after(spark, frame, table, base, {**snapshot_properties(properties), **sizes})
        return True


def reject_batch(runner: SparkRunner, job: SparkJob, check: Check) -> int:
    """Add the malformed records of a batch to its rejects table, if it has one: each once, however often this is
    repeated. Returns their number. Nothing is added if `check` raises an error."""
    return sum(
        runner.reject(job, item, check)
        for item in job.inputs
        if isinstance(item, TableInput) and leaves_out(item.table.properties)
    )


def _after_rejects(job: SparkJob) -> SparkJob:
    """The job after `reject_batch`."""
    changed = (
        replace(item, are_counted=leaves_out(item.table.properties)) if isinstance(item, TableInput) else item
        for item in job.inputs
    )
    return replace(job, inputs=tuple(changed))


def begin(runner: SparkRunner, table: Table, properties: Mapping[str, str]) -> None:
    """Create a managed table if it does not exist, and commit a snapshot without rows that has these properties."""
    with runner.running(NOTHING, target=table) as spark:
        runner.iceberg.check_rows(spark, table)
        runner.iceberg.make(spark, table)
        append_nothing(spark, table, snapshot_properties(properties))


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
