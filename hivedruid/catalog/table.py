"""Tables of the catalog: frozen values without any I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

from hivedruid.catalog.constraints import Constraint
from hivedruid.catalog.iceberg_place import IcebergPlace
from hivedruid.catalog.kinds import KINDS, TableKind, Use
from hivedruid.catalog.layout import PartitionField, SortField
from hivedruid.catalog.properties import TIER_COLD
from hivedruid.catalog.types import HiveType
from hivedruid.errors import Span, UnsupportedError
from hivedruid.lazy_dataclass import dataclass

TIME_COLUMN = "__time"
COPIED = "hivedruid.copied"
"""A property of files without a table: their rows are a copy of a text."""
LOOSE_FILES = "file:"
"""The database of files without a table (`FROM 'orders.csv'`), whose names are paths; no database has such a name."""


@dataclass(frozen=True)
class Column:
    """A column; `name` is lower case as in Hive, `field` is the name in the data if it differs: in Druid, or in Iceberg
    if it was renamed. `reading` is how queries read its field in Druid (`stored_types.reading_of`); it is not part of
    the catalog."""

    name: str
    type: HiveType
    comment: str = ""
    field: str | None = None
    reading: str = ""

    @property
    def field_name(self) -> str:
        return self.field or self.name


@dataclass(frozen=True)
class Table:
    """A table or view. `table_id` never changes, even on RENAME; `properties` are TBLPROPERTIES as given.

    `owns_data_source`: a Druid table that created its data source, instead of using an existing one by
    druid.datasource. `view_text` is the query of a view; a materialized view has one and also the kind of table that
    stores its rows; `rewrite_enabled`: whether other queries can be rewritten to read it. `is_written`: the folder of
    a managed or temporary table, or of the archived rows of a tiered one, has been created, so it must exist;
    otherwise the table, or its archive, is empty. `format` is orc, parquet, textfile or jsonfile for tables with a
    folder; `serde` contains ROW FORMAT and SERDEPROPERTIES (keys `field.delim`, `escape.delim`,
    `serialization.null.format`, `quoteChar`, …, as in Hive). `partition_spec` and `sort_order` are those of a managed
    table, which its next write sets in Iceberg; the partition spec of an external table has its last columns.
    `snapshot` is the one that is read of a managed table, None for the current one. `metastore` is the URI of the Hive
    metastore that the table is in, empty for the home's own; `in_session`: it is a view that exists only in its
    session; `iceberg` is its place in the Iceberg catalog of its
    database; `unreadable` is why its rows cannot be read, and what to
    do, `unwritable` why INSERT is refused.
    """

    database: str
    name: str
    kind: TableKind
    columns: tuple[Column, ...]
    external: bool = False
    comment: str = ""
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    serde: Mapping[str, str] = field(default_factory=dict, hash=False)
    format: str | None = None
    location: str | None = None
    view_text: str | None = None
    table_id: str = ""
    owns_data_source: bool = False
    rewrite_enabled: bool = False
    is_written: bool = False
    partition_spec: tuple[PartitionField, ...] = ()
    sort_order: tuple[SortField, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    snapshot: int | None = None
    metastore: str = ""
    iceberg: IcebergPlace | None = None
    unreadable: tuple[str, str] | None = None
    unwritable: tuple[str, str] | None = None
    in_session: bool = False

    def at_snapshot(self, snapshot: int) -> Table:
        """The managed table as it was after a commit. Its name contains the snapshot, so that no facts about the
        current rows, which are found by name, apply to it."""
        return replace(self, name=f"{self.name}@{snapshot}", snapshot=snapshot)

    @cached_property
    def effective_serde(self) -> Mapping[str, str]:
        """The properties that the SerDe gets: TBLPROPERTIES come before SERDEPROPERTIES, as in Hive."""
        return {**self.serde, **self.properties}

    @property
    def is_materialized(self) -> bool:
        """Whether it is a materialized view: it has stored rows, and the query that computes them."""
        return not self.is_view and self.view_text is not None

    @property
    def is_view(self) -> bool:
        """Whether it is a plain view: a query without stored rows."""
        return not KINDS[self.kind].stores

    @property
    def has_data_source(self) -> bool:
        """Whether its rows are in a Druid data source."""
        return "data source" in KINDS[self.kind].stores

    @property
    def has_topic(self) -> bool:
        """Whether its rows are the records of a Kafka topic."""
        return "topic" in KINDS[self.kind].stores

    @property
    def has_folder(self) -> bool:
        """Whether its rows are in files of a folder."""
        return "folder" in KINDS[self.kind].stores

    @property
    def has_snapshots(self) -> bool:
        """Whether Iceberg commits its files."""
        return "snapshots" in KINDS[self.kind].stores

    @property
    def is_temporary(self) -> bool:
        """Whether it exists only in its session."""
        return self.kind == "temporary" or self.in_session

    @property
    def is_loose(self) -> bool:
        """Whether it is a file without a table."""
        return self.database == LOOSE_FILES

    @property
    def is_copy(self) -> bool:
        """Whether its rows are a copy of a text without a table: a Parquet file with the types of the columns."""
        return self.is_loose and self.properties.get(COPIED) == "true"

    @property
    def has_own_folder(self) -> bool:
        """Whether its folder is in the home, and the first write creates it: `is_written` records that."""
        return self.has_snapshots or self.kind == "temporary"

    @property
    def partition_columns(self) -> tuple[Column, ...]:
        """The columns whose values are the names of partitions; none if a managed table has other transforms."""
        if self.kind in ("files", "temporary"):
            return self.folder_columns
        if not self.has_snapshots or any(field.transform != "identity" for field in self.partition_spec):
            return ()
        named = (self.column(field.column) for field in self.partition_spec)
        return tuple(column for column in named if column is not None)

    @property
    def last_columns(self) -> tuple[Column, ...]:
        """The partition columns if they are the last ones, as PARTITIONED BY (column type, …) makes them."""
        named = self.partition_columns
        return named if named and self.columns[-len(named) :] == named else ()

    @property
    def folder_columns(self) -> tuple[Column, ...]:
        """The columns whose values are in the names of folders, not in the files; they are the last ones."""
        return self.columns[len(self.stored_columns) :]

    @property
    def stored_columns(self) -> tuple[Column, ...]:
        """The columns in the files."""
        return self.columns[: len(self.columns) - (len(self.partition_spec) if self.has_partitions else 0)]

    @property
    def has_partitions(self) -> bool:
        """Whether its rows are in folders of partitions, which the catalog lists."""
        return self.kind in ("files", "temporary") and bool(self.partition_spec)

    @property
    def has_parquet_files(self) -> bool:
        """Whether its rows are in Parquet files at its LOCATION, and not in folders of partitions."""
        return self.kind == "files" and self.format == "parquet" and not self.has_partitions

    @property
    def is_tiered(self) -> bool:
        """Whether a Druid table's archived rows are in an Iceberg table; see `catalog/tiers.py`."""
        return TIER_COLD in self.properties

    def check(self, use: Use, span: Span | None) -> None:
        """Raise SemanticError or UnsupportedError if a statement cannot use this kind of table in this way."""
        if use not in ("drop", "alter"):
            self.check_readable(span)
        if (self.metastore or self.iceberg) and use == "materialize":
            where = "a Hive metastore" if self.metastore else str(self.iceberg)
            raise UnsupportedError(
                f"a materialized view cannot read {self.full_name}, which is in {where}: whether its rows have"
                " changed is not tracked",
                span=span, hint=f"copy the rows into a managed table: CREATE TABLE … AS SELECT * FROM {self.full_name}",
            )  # fmt: skip
        kind = KINDS[self.kind]
        refusal = kind.refused.get(use)
        if refusal is not None:
            message, hint = (
                text.format(table=self.full_name, noun=kind.noun) for text in (refusal.message, refusal.hint)
            )
            raise refusal.error(message, span=span, hint=hint or None)

    def check_readable(self, span: Span | None) -> None:
        """Raise UnsupportedError if the rows of the table cannot be read."""
        if self.unreadable is not None:
            reason, hint = self.unreadable
            raise UnsupportedError(f"cannot read {self.full_name}: {reason}", span=span, hint=hint)

    @property
    def full_name(self) -> str:
        """For messages: `database.name`; without a table, the path of a file or the id of a supervisor in quotes."""
        if self.is_loose or not self.database:
            return f"'{self.name}'"
        return f"{self.database}.{self.name}"

    @property
    def data_source(self) -> str:
        """The Druid data source behind the table; Hive's default is `<db>.<table>`."""
        return self.properties.get("druid.datasource") or self.full_name

    def column(self, name: str) -> Column | None:
        """The column of that name in any case, or None."""
        return self._by_name.get(name.lower())

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in reversed(self.columns)}
