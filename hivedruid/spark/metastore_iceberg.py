"""INSERT into Iceberg tables of a Hive metastore.

Iceberg's own client of metastores does not work with Hive 4. So the table's metadata file is registered in the home's
Iceberg catalog for the time of the write, which adds a metadata file beside it; the metastore then makes that one the
current one, if the first one still is. Until then nobody sees the new rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.catalog import is_on_postgres
from hivedruid.plan.physical import SparkJob
from hivedruid.spark import layout, paths, writing
from hivedruid.spark.cells import identifier, literal
from hivedruid.tables.metastore_tables import METADATA_LOCATION

if TYPE_CHECKING:
    from pathlib import Path

    from hivedruid.spark.jobs import SparkRunner

Commit = Callable[[str, str], None]
"""Makes the second metadata file of a table the current one, if the first one is it. Raises ExecutionError."""


def insert(runner: SparkRunner, home: Path, job: SparkJob, table: Table, commit: Commit, *, overwrite: bool) -> int:
    """Add the rows of a job, or replace those in the partitions of the new rows, all without partitions. Returns their
    number."""
    if not runner.iceberg.is_own(table):
        cause = "hivedruid.catalog.url" if is_on_postgres(runner.iceberg.settings) else "hivedruid.iceberg.catalog.*"
        raise UnsupportedError(
            f"cannot insert into {table.full_name}: this requires the home's own Iceberg catalog",
            hint=f"unset {cause}, or write to it in Hive",
        )
    before = table.properties[METADATA_LOCATION]
    written = replace(table, kind="iceberg", table_id=f"metastore_{uuid4().hex}", is_written=False)
    home_catalog.prepare(home)
    try:
        with runner.running(job, target=written) as spark:
            name = literal(f"{home_catalog.NAMESPACE}.{identifier(written.table_id)}")
            spark.sql(
                f"CALL {home_catalog.CATALOG}.system.register_table(table => {name}, metadata_file =>"
                f" {literal(paths.uri(before))})"
            ).collect()
            condition = None
            if overwrite:
                spec = layout.present(spark, written).spec
                _check_spec(table, [field.transform for field in spec if field is not None])
                condition = None if spec else "true"
            frame = writing.shape(spark.sql(job.sql), written)
            rows = writing.append_or_replace(spark, frame, written, overwrite=overwrite, replaced=condition)
        after = home_catalog.registered(home, written.table_id)
        assert after is not None
        commit(before, after)
    finally:
        home_catalog.remove(home, written.table_id)
    return rows


def _check_spec(table: Table, transforms: list[str]) -> None:
    if "bucket" in transforms:
        raise ExecutionError(
            f"Cannot perform insert overwrite query on bucket partitioned Iceberg table {table.full_name}",
            hint="delete its rows in Hive, and use INSERT INTO",
        )
