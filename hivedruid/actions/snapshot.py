"""The external facts that building actions needs, read beforehand so that building is pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import Table
from hivedruid.errors import UnsupportedError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.facts import PlannerFacts
from hivedruid.plan.file_counts import FileCount, PartitionChoice

if TYPE_CHECKING:
    from datetime import datetime

    from hivedruid.actions.loose_files import LooseFile
    from hivedruid.actions.partitioning.folders import PartitionFolders
    from hivedruid.actions.streaming.facts import StreamFacts
    from hivedruid.actions.writing.input_files import InputFiles
    from hivedruid.catalog.databases import DatabaseDetails
    from hivedruid.catalog.footers import StoredFile
    from hivedruid.catalog.functions import UserFunction
    from hivedruid.catalog.iceberg_place import IcebergPlace
    from hivedruid.catalog.materialized_views import SourceState
    from hivedruid.catalog.partitions import Partition
    from hivedruid.catalog.streams import StreamRecord
    from hivedruid.druid.retention import Rule
    from hivedruid.druid.versions import DruidVersion
    from hivedruid.engine.capabilities import SegmentRoot
    from hivedruid.engine.segments import Segment
    from hivedruid.errors import Span
    from hivedruid.iceberg.files import TableFiles
    from hivedruid.iceberg.history import TableHistory
    from hivedruid.ingestion.lifecycle import IngestionFacts
    from hivedruid.ingestion.model import TopicDetails
    from hivedruid.operations.operation import KnownOperation, Operation
    from hivedruid.parser.statements.ddl import ColumnDef
    from hivedruid.plan.nodes import TableScan
    from hivedruid.plan.rex import Rex


@dataclass(frozen=True)
class Snapshot(PlannerFacts):
    """The facts of one statement: the planner's, and those of the families of statements.

    `discovered` maps a data source that a CREATE names, if it exists, to its segmentMetadata response: the column
    types by their name in Druid; `refused_names` has why Druid's services refuse paths with such a name.
    `dropped` are the tables of the database that DROP DATABASE CASCADE names, `names`
    those of the tables that SHOW TABLES, SHOW VIEWS or DROP DATABASE is about; `variables` are the hivevars. `read`
    are the Druid tables whose rows the statement reads or adds to, `queried` the names of all tables that its queries
    read, directly or through views, `absent` those whose data sources do not exist; `unreachable` is the reason why
    Druid could not be queried, if the statement can continue without it. `plan_only`: the actions are shown, not run;
    `lists_segments`: with the segments of tiered tables. `ingestions` describes the ingestion into the Kafka
    ingestion tables that the statement may change, by (database, name); empty if the engine cannot ingest. `fresh_id`
    is for a table that is created and started by the same statement. `source_states` are the states of the tables
    that a build of a materialized view reads, by `database.name`. `jobs` are those that are relevant to the
    statement, newest first: for SHOW JOBS all, for a statement that writes the unfinished ones and its own.
    `segment_root` is where a statement that writes can put segments; None if the engine or the settings exclude that.
    `described_topics` are those of the Kafka tables that DESCRIBE shows, or why they are not known; `sample` the
    values of records for CREATE TABLE … LIKE TOPIC, `avro_schemas` the schemas with the columns of a new Kafka table.
    `table_files` are those of managed tables in the home's own catalog, by (database, name), `histories` their
    snapshots. `hot_segments` are those of the tiered table that the statement archives. `hidden` are the tables that
    temporary tables of the same names hide; `folder_of_rows` is for the rows of a temporary table that the statement
    creates, `warehouse` for external tables without LOCATION, and
    `database_location` that of the database of a new table, if it has one. `streams` are all streams, and `stream` is
    the one that the statement creates, changes or shows.
    `partitions` are those of external tables, and of managed ones if they are known; `partition_folders` what MSCK
    finds; `has_moves`: an operation that moves files of an external table has not ended. `input_files` are those of
    LOAD DATA, `file_columns` those of the file of CREATE TABLE … LIKE FILE. `called` are the functions of users that
    the statement calls, directly or through views, `version` is that of the cluster when it was last used, for EXPLAIN
    EXTENDED; None if it is not needed or not known. `new_function` is that of CREATE FUNCTION, `new_place` the Iceberg
    catalog of the database of CREATE TABLE. `listed_files` are those of the tables of SHOW TABLE EXTENDED.
    `loose_files` are the files without a table that the statement names, by their paths as written, `first_lines` those
    of a text at the LOCATION of CREATE TABLE.
    `supervisor` is the spec of the supervisor of CREATE TABLE … FROM SUPERVISOR, None if there is none.
    `retention` are the retention rules by data source, those of all under `_default`; None if they do not matter or are
    not known. `small_files` are the tables of files that are small enough to be read without Spark, for a
    statement that writes. `source_segments` are the segments of data sources, also unused ones, for DROP and RESTORE
    PARTITION.
    """

    discovered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    refused_names: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[Table, ...] = ()
    names: tuple[str, ...] = ()
    database_comments: Mapping[str, str] = field(default_factory=dict)
    database_details: Mapping[str, DatabaseDetails] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    read: tuple[Table, ...] = ()
    queried: frozenset[tuple[str, str]] = frozenset()
    unreachable: str | None = None
    plan_only: bool = False
    lists_segments: bool = False
    ingestions: Mapping[tuple[str, str], IngestionFacts] = field(default_factory=dict)
    fresh_id: str = ""
    source_states: Mapping[str, SourceState] = field(default_factory=dict)
    jobs: tuple[KnownOperation[Operation], ...] = ()
    segment_root: SegmentRoot | None = None
    described_topics: Mapping[tuple[str, str], TopicDetails | str] = field(default_factory=dict)
    sample: tuple[bytes, ...] = ()
    avro_schemas: tuple[str, ...] = ()
    table_files: Mapping[tuple[str, str], TableFiles] = field(default_factory=dict)
    streams: tuple[StreamRecord, ...] = ()
    stream: StreamFacts | None = None
    histories: Mapping[tuple[str, str], TableHistory] = field(default_factory=dict)
    hot_segments: tuple[Segment, ...] = ()
    hidden: Mapping[tuple[str, str], Table] = field(default_factory=dict)
    folder_of_rows: str = ""
    warehouse: str = ""
    database_location: str = ""
    partitions: Mapping[tuple[str, str], tuple[Partition, ...]] = field(default_factory=dict)
    partition_folders: Mapping[tuple[str, str], PartitionFolders] = field(default_factory=dict)
    has_moves: bool = False
    input_files: InputFiles | None = None
    file_columns: tuple[ColumnDef, ...] = ()
    called: tuple[UserFunction, ...] = ()
    new_place: IcebergPlace | None = None
    new_function: UserFunction | None = None
    version: DruidVersion | None = None
    listed_files: Mapping[tuple[str, str], tuple[StoredFile, ...]] = field(default_factory=dict)
    loose_files: Mapping[str, LooseFile] = field(default_factory=dict)
    first_lines: tuple[str, ...] = ()
    supervisor: Mapping[str, Any] | None = None
    retention: Mapping[str, tuple[Rule, ...]] | None = None
    source_segments: Mapping[str, tuple[Segment, ...]] = field(default_factory=dict)
    small_files: frozenset[tuple[str, str]] = frozenset()

    def file_count(self, scan: TableScan, condition: Rex | None) -> FileCount | None:
        files = self.table_files.get((scan.table.database, scan.table.name))
        if files is None or not (self.plan_only or self.tiers) or condition is None:
            return None
        from hivedruid.iceberg.pruning import matching

        stored = {column.name: column.field_name for column in scan.table.columns}
        found = matching(files, condition, {c.id: stored.get(c.name, c.name) for c in scan.columns})
        return None if found is None else FileCount(len(found), len(files.data))

    def snapshot_of(self, table: Table, version: int | str | datetime, span: Span | None) -> int:
        from hivedruid.actions.snapshots.choice import chosen

        history = self.histories.get((table.database, table.name))
        return super().snapshot_of(table, version, span) if history is None else chosen(table, history, version, span)

    def partition_choice(self, table: Table, ids: Mapping[str, str], condition: Rex | None) -> PartitionChoice | None:
        if not table.has_partitions:
            return None
        key = table.database, table.name
        if table.metastore and key not in self.partitions:
            return PartitionChoice((), 0, is_pending=True, condition=self._metastore_condition(table, ids, condition))
        known = chosen = self.partitions.get(key, ())
        if condition is not None:
            from hivedruid.actions.partitioning.pruning import remaining

            chosen = remaining(table, known, ids, condition, self.zone)
        unreadable = next((each for each in chosen if each.unreadable), None)
        if unreadable is not None:
            raise UnsupportedError(
                f"cannot read partition {unreadable.name(table.partition_columns)} of {table.full_name}:"
                f" {unreadable.unreadable}",
                hint="write the partition again in Hive, or exclude it with a condition on the partition columns",
            )
        return PartitionChoice(chosen, len(known), condition=self._metastore_condition(table, ids, condition))

    def _metastore_condition(self, table: Table, ids: Mapping[str, str], condition: Rex | None) -> str | None:
        if not table.metastore or condition is None:
            return None
        from hivedruid.actions.partitioning.elsewhere import metastore_condition

        return metastore_condition(table, ids, condition)

    def number_of_files(self, table: Table) -> int | None:
        files = self.table_files.get((table.database, table.name))
        return None if files is None else len(files.data)
