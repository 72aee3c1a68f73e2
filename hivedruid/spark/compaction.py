"""Rewrites the files of managed tables with Iceberg's procedures. Each of them is one commit that changes no row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.iceberg.compaction import FEWEST, LARGE, SMALL, CompactionType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.spark.procedures import ConflictError, call, options

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.jobs import SparkRunner

_ALL = {"rewrite-all": "true"}
"""Of delete files, those remain that apply to a file that was written meanwhile."""


@dataclass(frozen=True)
class Compacted:
    """What a compaction has done: `files` data files with `bytes` were rewritten as `written` files, and `deletes`
    delete files were applied or merged."""

    files: int = 0
    bytes: int = 0
    written: int = 0
    deletes: int = 0


def compact_table(runner: SparkRunner, table: Table, type_: CompactionType, target: int) -> Compacted:
    """Compact a table, if anything was written to it, with its current partition spec and sort order. See `compact`."""

    def work(spark: SparkSession) -> Compacted:
        runner.iceberg.follow(spark, table)
        return compact(spark, table, type_, target)

    return runner.maintain(table, work, Compacted())


def compact(spark: SparkSession, table: Table, type_: CompactionType, target: int) -> Compacted:
    """Compact a table that exists. Readers see it before or after each step, with the same rows.

    Raises ConflictError if it conflicts with other writers at every attempt.
    """
    sizes = {
        "target-file-size-bytes": target,
        "min-file-size-bytes": int(SMALL * target),
        "max-file-size-bytes": int(LARGE * target),
        "min-input-files": FEWEST,
    }
    if type_ == "minor":
        return _rewrite_data(spark, table, sizes)
    strategy = {"strategy": "'sort'"} if table.sort_order else {}
    every = {**sizes, **_ALL, "delete-file-threshold": 1, "remove-dangling-deletes": "true"}
    done = _rewrite_data(spark, table, every, strategy)
    (merged,) = call(spark, table, "rewrite_position_delete_files", {"options": options(_ALL)})
    with suppress(ConflictError):  # the manifests that others rewrite meanwhile need not be merged
        call(spark, table, "rewrite_manifests", {})
    return Compacted(done.files, done.bytes, done.written, done.deletes + merged["rewritten_delete_files_count"])


def _rewrite_data(
    spark: SparkSession, table: Table, given: Mapping[str, object], strategy: Mapping[str, str] | None = None
) -> Compacted:
    (row,) = call(spark, table, "rewrite_data_files", {**(strategy or {}), "options": options(given)})
    return Compacted(
        row["rewritten_data_files_count"],
        row["rewritten_bytes_count"],
        row["added_data_files_count"],
        row["removed_delete_files_count"],
    )
