"""INSERT, UPDATE, DELETE and MERGE of Iceberg tables of a Hive metastore.

Iceberg's own client of metastores does not work with Hive 4. So the table's metadata file is registered in the home's
Iceberg catalog for the time of the write, which adds a metadata file beside it; the metastore then makes that one the
current one, if the first one still is. Until then nobody sees the new rows. What a killed process has registered is
removed before the next write, with a note about the files that it may have left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.filesystems import local_path
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.catalog import is_on_postgres
from hivedruid.iceberg.history import read_history
from hivedruid.plan.physical import SparkJob
from hivedruid.processes import is_running
from hivedruid.spark import layout, paths, writing
from hivedruid.spark.cells import identifier, literal
from hivedruid.tables.metastore_tables import METADATA_LOCATION

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.jobs import SparkRunner

Commit = Callable[[str, str], None]
"""Makes the second metadata file of a table the current one, if the first one is it. Raises ExecutionError."""


def insert(runner: SparkRunner, home: Path, job: SparkJob, table: Table, commit: Commit, *, overwrite: bool) -> int:
    """Add the rows of a job, or replace those in the partitions of the new rows, all without partitions. Returns their
    number."""
    with _changed(runner, home, table, commit) as written, runner.running(job, target=written) as spark:
        _register(spark, written)
        condition = None
        if overwrite:
            spec = layout.present(spark, written).spec
            _check_spec(table, [field.transform for field in spec if field is not None])
            condition = None if spec else "true"
        frame = writing.shape(spark.sql(job.sql), written)
        return writing.append_or_replace(spark, frame, written, overwrite=overwrite, replaced=condition)


@contextmanager
def changed_rows(runner: SparkRunner, home: Path, table: Table, commit: Commit) -> Iterator[Table]:
    """The table as one of the home's catalog, whose rows the block changes in one commit. A source that reads the same
    table has its rows when the statement began; if it has changed since then, `commit` fails."""
    if local_path(table.properties[METADATA_LOCATION]) is None:
        raise UnsupportedError(
            f"cannot change rows of {table.full_name}: its metadata is not on this machine",
            hint="use INSERT OVERWRITE TABLE … SELECT, or change them in Hive",
        )
    with _changed(runner, home, table, commit) as written:
        with runner.running(SparkJob("", (), ()), target=written) as spark:
            _register(spark, written)
        yield written


@contextmanager
def _changed(runner: SparkRunner, home: Path, table: Table, commit: Commit) -> Iterator[Table]:
    """The table under a new name for the home's catalog, in which the block registers and changes it. At its end the
    metastore gets the new metadata file, if that has other rows."""
    if not runner.iceberg.is_own(table):
        cause = "hivedruid.catalog.url" if is_on_postgres(runner.iceberg.settings) else "hivedruid.iceberg.catalog.*"
        raise UnsupportedError(
            f"cannot write to {table.full_name}: this requires the home's own Iceberg catalog",
            hint=f"unset {cause}, or write to it in Hive",
        )
    before = table.properties[METADATA_LOCATION]
    written = replace(table, kind="iceberg", table_id=f"{_PREFIX}{os.getpid()}_{uuid4().hex}", is_written=False)
    home_catalog.prepare(home)
    _remove_leftovers(runner, home)
    try:
        yield written
        after = home_catalog.registered(home, written.table_id)
        if after is not None and after != paths.uri(before) and not _changes_nothing(before, after):
            commit(before, after)
    finally:
        home_catalog.remove(home, written.table_id)


_PREFIX = "metastore_"
"""The names of these tables in the home's catalog begin with it; the id of the process follows."""


def _register(spark: SparkSession, written: Table) -> None:
    name = literal(f"{home_catalog.NAMESPACE}.{identifier(written.table_id)}")
    metadata = literal(paths.uri(written.properties[METADATA_LOCATION]))
    spark.sql(
        f"CALL {home_catalog.CATALOG}.system.register_table(table => {name}, metadata_file => {metadata})"
    ).collect()


def _changes_nothing(before: str, after: str) -> bool:
    """Whether the snapshots since a metadata file neither add nor remove files: Spark commits one for an UPDATE without
    matching rows. Of files elsewhere this is not known."""
    first, last = local_path(before), local_path(after)
    if first is None or last is None:
        return False
    begun, history = read_history(first).current, read_history(last)
    made = takewhile(lambda each: each.id != begun, history.ancestors())
    return not any(key.startswith(("added-", "deleted-", "removed-")) for each in made for key in each.summary)


def _remove_leftovers(runner: SparkRunner, home: Path) -> None:
    """Remove what killed processes have registered. Their files stay: a metastore that was reached in the last moment
    may refer to them."""
    for table_id in home_catalog.names(home, _PREFIX):
        process = table_id.removeprefix(_PREFIX).partition("_")[0]
        if process.isdigit() and is_running(int(process)):
            continue
        metadata = home_catalog.registered(home, table_id) or ""
        home_catalog.remove(home, table_id)
        folder = metadata.rpartition("/metadata/")[0]
        runner.note(
            f"a write that was killed may have left files in {folder} that no snapshot of the table has; Iceberg's"
            " remove_orphan_files deletes them"
        )


def _check_spec(table: Table, transforms: list[str]) -> None:
    if "bucket" in transforms:
        raise ExecutionError(
            f"Cannot perform insert overwrite query on bucket partitioned Iceberg table {table.full_name}",
            hint="delete its rows in Hive, and use INSERT INTO",
        )
