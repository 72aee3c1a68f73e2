"""Records that cannot be parsed: left out of the rows of a Kafka table, and added to its rejects table."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Protocol

from hivedruid.catalog.table import Table
from hivedruid.errors import CommitConflictError, ExecutionError
from hivedruid.spark.appends import append_after, append_nothing
from hivedruid.spark.cells import literal
from hivedruid.spark.iceberg import IcebergTables
from hivedruid.spark.inputs import iceberg_name
from hivedruid.spark.topic_formats import RAW_VALUE
from hivedruid.spark.topics import Malformed, malformed
from hivedruid.tables.rejects import REJECT_COLUMNS, rejects_name

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

Check = Callable[[Malformed], None]
"""Raises HiveDruidError if there are too many malformed records."""

_TRIES = 20
"""Commits to a rejects table, each of which another writer may prevent."""
_NAMES = [column.name for column in REJECT_COLUMNS]
_KEY = [name for name in _NAMES if name != "error"]
"""What makes two rows the same record. A topic that was created again has others at the same offsets."""


class RejectsTables(Protocol):
    """The rejects tables of Kafka tables, see `actions.rejects`."""

    def find(self, table: Table) -> Table | None: ...

    def opened(self, table: Table) -> AbstractContextManager[Table]: ...


def reject_malformed(
    spark: SparkSession,
    rows: DataFrame,
    table: Table,
    rejects: RejectsTables,
    tables: IcebergTables,
    note: Callable[[str], None],
    check: Check = lambda _: None,
) -> int:
    """Add the malformed ones of the rows of a Kafka table, which keep RAW_VALUE, to its rejects table, if it has one.
    Returns their number. Nothing is added if `check` raises an error."""
    bad = rows.where("_bad IS NOT NULL").persist()
    try:
        found = malformed(bad, table)
        check(found)
        if found.count and rejects_name(table) is None:
            note(f"skipped {found}")
        elif found.count:
            with rejects.opened(table) as target:
                rejected = reject_rows(bad, table.properties["kafka.topic"])
                added = add_rejects(spark, rejected, found, target, tables)
            note(f"skipped {found}; {added} added to {target.full_name}")
        return found.count
    finally:
        with suppress(Exception):  # if the server is gone, so is its cache
            bad.unpersist()


def reject_rows(rows: DataFrame, topic: str) -> DataFrame:
    """The malformed ones of `topic_formats.value_rows`, which keep RAW_VALUE, as rows of a rejects table."""
    return rows.where("_bad IS NOT NULL").selectExpr(
        f"{literal(topic)} AS topic", "__partition AS partition", "__offset AS offset", "__timestamp AS timestamp",
        "_bad AS error", f"{RAW_VALUE} AS value",
    )  # fmt: skip


def add_rejects(spark: SparkSession, rejected: DataFrame, found: Malformed, table: Table, tables: IcebergTables) -> int:
    """Add the rows of `reject_rows` that a rejects table does not have; returns their number.

    The commit fails if rows were added after the snapshot in which they were looked for: the job of a process that was
    killed may still be running. Only the rows at these offsets are read, so that the cost does not grow with the table.
    """
    tables.check_rows(spark, table)
    tables.make(spark, table)
    for _ in range(_TRIES):
        base = _current(spark, table, tables)
        known = spark.sql(f"SELECT * FROM {iceberg_name(table)} VERSION AS OF {base} WHERE {_at(found)}")
        added = rejected.join(known.select(*_KEY), _KEY, "left_anti").select(*_NAMES)
        count: int = added.count()
        try:
            if count:
                append_after(spark, added.hint("rebalance"), table, base)
        except CommitConflictError:
            continue
        return count
    raise ExecutionError(
        f"malformed records were not added to {table.full_name}: other writers changed it {_TRIES} times meanwhile",
        hint="rerun the statement",
    )


def _current(spark: SparkSession, table: Table, tables: IcebergTables) -> int:
    """The current snapshot, which is created if there is none."""
    history = tables.history(spark, table)
    if history is None or history.current is None:
        append_nothing(spark, table)
        history = tables.history(spark, table)
    assert history is not None
    assert history.current is not None
    return history.current


def _at(found: Malformed) -> str:
    """The condition of rows at the offsets of these records; Iceberg skips files by it."""
    of_partitions = (
        f"(partition = {partition} AND offset BETWEEN {low} AND {high})"
        for partition, (low, high) in found.offsets.items()
    )
    return f"topic = {literal(found.topic)} AND ({' OR '.join(of_partitions)})"
