"""Managed tables in the Iceberg catalog of the settings: existence, migration, creation and deletion."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.tiers import SKETCHED
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.errors import ExecutionError, SparkError
from hivedruid.iceberg import catalog, home_catalog
from hivedruid.iceberg.appends import FORMER_METADATA
from hivedruid.iceberg.files import has_current_spec
from hivedruid.iceberg.history import MAIN, Snapshot, TableHistory
from hivedruid.iceberg.layout import Layout, read_layout
from hivedruid.iceberg.metadata import TableState, of_snapshot
from hivedruid.iceberg.partitions import PartitionSize, Values, former_spec
from hivedruid.lazy_dataclass import dataclass
from hivedruid.spark import layout, paths
from hivedruid.spark.calls import SparkCall
from hivedruid.spark.cells import identifier, literal
from hivedruid.spark.inputs import iceberg_name

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession


@dataclass(frozen=True)
class IcebergTables:
    """The Iceberg tables of a home folder. Reads the file of the home's own catalog; any other catalog is queried
    through Spark.
    """

    home: Path
    settings: Mapping[str, str]

    def is_own(self, table: Table) -> bool:
        """Whether the table is in the home's own catalog."""
        return catalog.is_own(self.settings, table)

    def folder(self, table: Table) -> Path:
        """The folder of the table's files in the home's own catalog."""
        return home_catalog.folder(self.home, table.table_id)

    def metadata(self, table: Table) -> Path | None:
        """The current metadata file of a table in the home's own catalog; None if it is not known without Spark."""
        return home_catalog.current_metadata(self.home, table.table_id) if self.is_own(table) else None

    def may_exist(self, table: Table) -> bool:
        """Whether the table may exist, as far as that is known without Spark."""
        return not self.is_own(table) or home_catalog.exists(self.home, table.table_id)

    def exists(self, spark: SparkSession, table: Table) -> bool:
        """Whether the Iceberg table of a managed table has been created, which its first write does."""
        return self.may_exist(table) if self.is_own(table) else spark.catalog.tableExists(iceberg_name(table))

    def check_read(self, spark: SparkSession, table: Table) -> None:
        """`check_rows` of a table that a statement reads or changes and that does not exist now: one in the catalog of
        other programs was dropped since the statement was planned."""
        if table.iceberg is not None:
            raise SparkError(f"{table.full_name} was dropped by another program", hint="rerun the statement")
        self.check_rows(spark, table)

    def check_rows(self, spark: SparkSession | None, table: Table) -> None:
        """Raise ExecutionError if a managed table has been written and its rows are lost.

        Another catalog is only queried if there is a session.
        """
        if not table.is_written or table.iceberg is not None:
            return
        lost = self._lost_at_home(table) if self.is_own(table) else self._lost_elsewhere(spark, table)
        if lost is not None:
            why, hint = lost
            raise ExecutionError(
                f"the data of {table.full_name} is missing: {why}",
                hint=f"{hint}, or run TRUNCATE TABLE {table.full_name} to continue with an empty table",
            )

    def _lost_at_home(self, table: Table) -> tuple[str, str] | None:
        """Why a table's rows are lost and what to do; None if they exist."""
        if home_catalog.exists(self.home, table.table_id):
            return None
        folder = self.folder(table)
        if not folder.is_dir():
            return f"folder {folder} does not exist", "restore the folder from a backup"
        return f"the table is not in {home_catalog.catalog_file(self.home)}", "restore that file from a backup"

    def _lost_elsewhere(self, spark: SparkSession | None, table: Table) -> tuple[str, str] | None:
        if spark is None or self.exists(spark, table):
            return None
        name = f"{home_catalog.NAMESPACE}.{table.table_id}"
        return f"the Iceberg catalog has no table {name}", "check the settings hivedruid.iceberg.catalog.*"

    def undo_empty_commit(self, table: Table) -> None:
        """Undo the last commit of a table of the home if it changed no file: UPDATE, DELETE and MERGE without a
        matching row commit, too."""
        if self.is_own(table):
            home_catalog.undo_empty_commit(self.home, table.table_id)

    def check_metadata(self, table: Table) -> None:
        """Raise SparkError if the table's metadata file is missing or damaged: Iceberg would retry reading it for
        minutes. Raise UsageError if the catalog's settings are incomplete.
        """
        if table.iceberg is None:
            catalog.check_warehouse(self.settings)
        if not self.is_own(table) or not home_catalog.exists(self.home, table.table_id):
            return
        try:
            home_catalog.state(self.home, table.table_id)
        except (OSError, ValueError) as error:
            raise unreadable(table, str(error)) from error

    def make_ready(self, spark: SparkSession, tables: Sequence[Table], written: Table | None) -> None:
        """Prepare the tables that a job reads or writes. A write must not change the columns of a table that the job
        also reads, which is in `tables` twice: Spark would refuse to read it."""
        for table in tables:
            self.take_over(spark, table)
        if written is not None and sum(table.table_id == written.table_id for table in tables) > 1:
            self.follow(spark, written)

    def take_over(self, spark: SparkSession, table: Table) -> None:
        """Register a table of an earlier version in the home's catalog, unchanged; see `home_catalog`.

        Registration is one row in one transaction. If another process was faster, its row is kept.
        """
        metadata = home_catalog.to_register(self.home, table.table_id) if self.is_own(table) else None
        if metadata is None:
            return
        name = literal(f"{home_catalog.NAMESPACE}.{identifier(table.table_id)}")
        try:
            spark.sql(
                f"CALL {home_catalog.CATALOG}.system.register_table(table => {name}, metadata_file =>"
                f" {literal(paths.uri(metadata))})"
            )
        except Exception:
            if home_catalog.registered(self.home, table.table_id) is None:
                raise

    def history(self, spark: SparkSession, table: Table) -> TableHistory | None:
        """The snapshots of a table; None before the first commit."""
        if self.is_own(table):
            return home_catalog.history(self.home, table.table_id)
        return history(spark, table) if self.exists(spark, table) else None

    def make(self, spark: SparkSession, table: Table) -> None:
        """Create the Iceberg table if it does not exist, or add the columns that ALTER TABLE has added since."""
        name = iceberg_name(table)
        columns = ", ".join(
            f"{identifier(c.field_name)} {spark_type(c.type)}{_comment(table, c)}" for c in table.columns
        )
        if table.iceberg is None and not self.is_own(table):
            spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {home_catalog.CATALOG}.{home_catalog.NAMESPACE}")
        elif table.iceberg is None and not home_catalog.exists(self.home, table.table_id):
            home_catalog.remove(self.home, table.table_id)  # its folder is missing: no columns can be added
        spark.sql(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) {self._clauses(table)}")
        self.follow(spark, table)

    def make_with_rows(self, spark: SparkSession, table: Table, rows: DataFrame) -> None:
        """Create a table of another catalog with rows, in one commit."""
        from hivedruid.spark.relations import views

        view = f"hivedruid_rows_{uuid4().hex}"
        with views(spark, {view: rows}):
            statement = f"CREATE TABLE {iceberg_name(table)} {self._clauses(table)} AS SELECT * FROM {view}"
            SparkCall(spark, lambda: spark.sql(statement).collect()).wait()

    def _clauses(self, table: Table) -> str:
        """What follows the columns in CREATE TABLE."""
        properties = {"format-version": "2", "write.format.default": "parquet" if table.format == "parquet" else "orc"}
        if self.is_own(table) or (table.iceberg is None and catalog.is_on_postgres(self.settings)):
            properties |= {
                "write.metadata.delete-after-commit.enabled": "true",
                "write.metadata.previous-versions-max": f"{FORMER_METADATA}",
            }
        if table.iceberg is not None:
            properties |= table.properties
        elif SKETCHED in table.properties:
            properties[SKETCHED] = table.properties[SKETCHED]
        pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
        spec = ", ".join(map(layout.transform, table.partition_spec))
        partitioned = f" PARTITIONED BY ({spec})" if spec else ""
        comment = f" COMMENT {literal(table.comment)}" if table.comment and table.iceberg is not None else ""
        return f"USING iceberg{partitioned}{comment} TBLPROPERTIES ({pairs})"

    def follow(self, spark: SparkSession, table: Table) -> None:
        """Make an Iceberg table what its definition in the home's catalog is, which ALTER TABLE may have changed since
        it was last written."""
        if table.iceberg is not None:
            return
        self._match_columns(spark, table)
        if not (table.partition_spec or table.sort_order):
            return
        for change in layout.changes(self.layout(spark, table), table):
            spark.sql(f"ALTER TABLE {iceberg_name(table)} {change}")

    def layout(self, spark: SparkSession, table: Table) -> Layout:
        """The partition spec and the sort order of the Iceberg table, which may be those before an ALTER TABLE."""
        if not self.is_own(table):
            return layout.present(spark, table)
        metadata = home_catalog.current_metadata(self.home, table.table_id)
        return read_layout(metadata) if metadata is not None else Layout()

    def check_spec(self, spark: SparkSession, table: Table, before: Layout) -> None:
        """Raise ExecutionError if the table has files of another partition spec, such as the one `before`: Iceberg
        replaces partitions of one spec."""
        if self.is_own(table):
            metadata = home_catalog.current_metadata(self.home, table.table_id)
            is_same = metadata is None or has_current_spec(metadata)
        else:
            specs = spark.sql(f"SELECT DISTINCT spec_id FROM {iceberg_name(table)}.files").count()
            is_same = specs == 0 or (specs == 1 and before.spec == table.partition_spec)
        if not is_same:
            raise former_spec(table)

    def _match_columns(self, spark: SparkSession, table: Table) -> None:
        """Add the columns that ALTER TABLE has added since the table was last written, and widen types."""
        name = iceberg_name(table)
        known = home_catalog.history(self.home, table.table_id) if self.is_own(table) else None
        if known is not None and known.columns:
            present = {column: known.types.get(column, "") for column in known.columns.values()}
        else:
            present = {field.name.lower(): field.dataType.simpleString() for field in spark.table(name).schema.fields}
        missing = [column for column in table.columns if column.field_name not in present]
        if missing:
            added = ", ".join(f"{identifier(column.field_name)} {spark_type(column.type)}" for column in missing)
            spark.sql(f"ALTER TABLE {name} ADD COLUMNS ({added})")
        for column in table.columns:
            if _is_wider(column.type, present.get(column.field_name, "")):
                change = f"ALTER COLUMN {identifier(column.field_name)} TYPE {spark_type(column.type)}"
                spark.sql(f"ALTER TABLE {name} {change}")

    def drop_from_home(self, table: Table) -> None:
        """Delete a table of the home's own catalog. Its folder is deleted first: until its catalog entry is deleted,
        too, it is a table with lost rows, and never a table in the layout of an earlier version.
        """
        folder = self.folder(table)
        try:
            doomed = folder.rename(folder.with_name(f".{folder.name}.{uuid4().hex}")) if folder.is_dir() else None
            home_catalog.remove(self.home, table.table_id)
            if doomed is not None:
                shutil.rmtree(doomed)
        except OSError as error:
            raise SparkError(f"cannot delete the data of {table.full_name} at {folder}: {error.strerror}") from error


def _comment(table: Table, column: Column) -> str:
    """The comments of the home's tables are in its own catalog."""
    return f" COMMENT {literal(column.comment)}" if column.comment and table.iceberg is not None else ""


def _is_wider(declared: HiveType, stored: str) -> bool:
    """Whether a column was declared with a narrower type when its table was last written; `stored` is its type in
    Iceberg or in Spark."""
    if declared.name == "decimal":
        return stored.startswith("decimal") and stored.replace(" ", "") != str(declared)
    return (declared.name, stored) in (("bigint", "int"), ("double", "float"))


def unreadable(table: Table, why: str) -> SparkError:
    """The error of a table whose metadata cannot be read."""
    return SparkError(
        f"the metadata of {table.full_name} cannot be read: {why}",
        hint=f"restore the files from a backup of the home folder, or DROP TABLE {table.full_name}",
    )


def state(spark: SparkSession, table: Table) -> TableState:
    """A table as Spark reads it from its catalog; the newest entry of the log is the current metadata file."""
    name = iceberg_name(table)
    newest = spark.sql(f"SELECT file, latest_snapshot_id FROM {name}.metadata_log_entries").collect()[-1]
    metadata, snapshot = newest.file.rpartition("/")[2], newest.latest_snapshot_id
    if snapshot is None:
        return of_snapshot(metadata, None, {})
    rows = spark.sql(f"SELECT summary FROM {name}.snapshots WHERE snapshot_id = {snapshot}").collect()
    return of_snapshot(metadata, snapshot, rows[0].summary if rows else {})


def history(spark: SparkSession, table: Table) -> TableHistory:
    """The snapshots of a table as Spark reads them from its catalog. Each of the queries reads the metadata: the
    references come first, since a commit between the two would otherwise have a reference and no snapshot."""
    name = iceberg_name(table)
    refs = {row.name: row.snapshot_id for row in spark.sql(f"SELECT name, snapshot_id FROM {name}.refs").collect()}
    rows = spark.sql(
        f"SELECT snapshot_id, parent_id, unix_millis(committed_at) AS at, operation, summary FROM {name}.snapshots"
    ).collect()
    snapshots = {
        row.snapshot_id: Snapshot(row.snapshot_id, row.parent_id, row.at, {**row.summary, "operation": row.operation})
        for row in rows
    }
    entries = spark.sql(
        f"SELECT unix_millis(made_current_at) AS at, snapshot_id FROM {name}.history ORDER BY made_current_at"
    ).collect()
    log = tuple((row.at, row.snapshot_id) for row in entries)
    return TableHistory(refs.get(MAIN), snapshots, refs, log=log)


def partitions(spark: SparkSession, table: Table) -> Mapping[Values, PartitionSize]:
    """The partitions of a table in another catalog. Raises ExecutionError if it has files of several specs."""
    files = f"{iceberg_name(table)}.files"
    if spark.sql(f"SELECT DISTINCT spec_id FROM {files}").count() > 1:
        raise former_spec(table)
    columns = ", ".join(f"partition.{identifier(column.field_name)}" for column in table.partition_columns)
    sizes = "count(*), sum(record_count), sum(file_size_in_bytes)"
    rows = spark.sql(f"SELECT {sizes}, {columns} FROM {files} WHERE content = 0 GROUP BY {columns}").collect()
    return {tuple(row[3:]): PartitionSize(*row[:3]) for row in rows}


def drop(spark: SparkSession, table: Table) -> None:
    """Delete a table of another catalog, and its files."""
    spark.sql(f"DROP TABLE IF EXISTS {iceberg_name(table)} PURGE")
