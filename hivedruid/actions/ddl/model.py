"""The actions that change the catalog, and the data and ingestion of its tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.model import Action
from hivedruid.catalog.databases import NO_DETAILS, DatabaseDetails
from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.table import Table
from hivedruid.druid.retention import Rule
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.actions.compacting.model import ConfigureCompaction
    from hivedruid.actions.ingesting.model import ChangeIngestion


@dataclass(frozen=True)
class AddTable(Action):
    """Add a table or view to the catalog; with `replace` it replaces a view of the same name. `supervisor` is the one
    whose spec has the columns and properties of the table."""

    table: Table
    replace: bool = False
    makes_folder: bool = True
    supervisor: str = ""

    @property
    def names_only(self) -> Action | None:
        is_elsewhere = self.table.metastore or self.table.iceberg
        return None if is_elsewhere else replace(self, makes_folder=False)


@dataclass(frozen=True)
class RemoveTable(Action):
    """Remove a table from the catalog; with `delete_data` its data is deleted, too.

    `ingestion` and automatic `compaction` are stopped first, and its own `retention` rules removed. With `purge`
    Druid's segments are deleted, not only marked as unused.
    """

    table: Table
    delete_data: bool
    ingestion: ChangeIngestion | None = None
    purge: bool = False
    compaction: ConfigureCompaction | None = None
    retention: ConfigureRetention | None = None

    @property
    def empties(self) -> tuple[Table, ...]:
        return (self.table,) if self.delete_data else ()

    @property
    def names_only(self) -> RemoveTable | None:
        if self.table.metastore or self.table.iceberg:
            return None
        return replace(self, delete_data=False, ingestion=None, compaction=None, retention=None)


@dataclass(frozen=True)
class ReplaceTable(Action):
    """The same table (by `table_id`) with other properties, columns or name."""

    before: Table
    after: Table

    @property
    def names_only(self) -> Action:
        return self


@dataclass(frozen=True)
class ConfigureRetention(Action):
    """Set the retention rules of a table's data source; without `rules` those of its own are removed.

    `others` are rules that were not set by the table, which stay. `is_possible`: whether the engine has a coordinator.
    """

    table: Table
    rules: tuple[Rule, ...]
    others: tuple[Rule, ...] = ()
    is_possible: bool = True


@dataclass(frozen=True)
class EmptyTable(Action):
    """Remove all rows of a table; with `purge` Druid's segments are deleted, not only marked as unused."""

    table: Table
    purge: bool = False

    @property
    def empties(self) -> tuple[Table, ...]:
        return (self.table,)


@dataclass(frozen=True)
class RemoveColdPart(Action):
    """Drop the cold part of a table that was tiered: it has no rows."""

    table: Table


@dataclass(frozen=True)
class AddDatabase(Action):
    """Add a database to the home, or to the Hive metastore at an address; `makes_namespace` in its Iceberg catalog."""

    name: str
    comment: str = ""
    details: DatabaseDetails = NO_DETAILS
    metastore: str = ""
    makes_namespace: bool = True

    @property
    def names_only(self) -> Action | None:
        return None if self.metastore else replace(self, makes_namespace=False)


@dataclass(frozen=True)
class ChangeDatabase(Action):
    """Store other properties, another owner or location of a database."""

    name: str
    details: DatabaseDetails

    @property
    def names_only(self) -> Action:
        return self


@dataclass(frozen=True)
class RemoveDatabase(Action):
    """Remove a database; its `tables` (CASCADE) are removed first."""

    name: str
    tables: tuple[RemoveTable, ...] = ()
    metastore: str = ""

    @property
    def empties(self) -> tuple[Table, ...]:
        return tuple(table for removal in self.tables for table in removal.empties)

    @property
    def names_only(self) -> RemoveDatabase | None:
        if self.metastore:
            return None
        names = (removal.names_only for removal in self.tables)
        return replace(self, tables=tuple(removal for removal in names if removal is not None))


@dataclass(frozen=True)
class UseDatabaseAction(Action):
    name: str

    @property
    def names_only(self) -> Action:
        return self


@dataclass(frozen=True)
class AddFunction(Action):
    """CREATE FUNCTION."""

    function: UserFunction

    @property
    def names_only(self) -> Action:
        return self


@dataclass(frozen=True)
class RemoveFunction(Action):
    """DROP FUNCTION."""

    function: UserFunction

    @property
    def names_only(self) -> Action:
        return self


DdlAction = (
    AddTable
    | RemoveTable
    | ReplaceTable
    | ConfigureRetention
    | EmptyTable
    | RemoveColdPart
    | AddDatabase
    | ChangeDatabase
    | RemoveDatabase
    | UseDatabaseAction
    | AddFunction
    | RemoveFunction
)
