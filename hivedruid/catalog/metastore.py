"""What a Hive metastore stores of databases and tables, as values, and the interface of its client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from hivedruid.catalog.databases import DatabaseDetails
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.catalog.partitions import Partition
    from hivedruid.catalog.table import Table

URIS = "hive.metastore.uris"
_ID = "metastore-"


def table_id(stored: StoredTable) -> str:
    """An id that no table of the home has."""
    return f"{_ID}{stored.id}-{stored.database}.{stored.name}"


CATALOG = "hivedruid.catalog"


def creates_there(settings: Mapping[str, str]) -> bool:
    """Whether CREATE and DROP are about the Hive metastore."""
    return settings.get(CATALOG) == "metastore"


def is_in_metastore(table_id: str) -> bool:
    """Whether an id is that of a table in a Hive metastore."""
    return table_id.startswith(_ID)


@dataclass(frozen=True)
class Storage:
    """How files are stored: a StorageDescriptor. The columns are those in the files: name, type and comment. `skewed`:
    the rows of some values are in folders of their own."""

    columns: Sequence[Sequence[str]] = ()
    location: str = ""
    input_format: str = ""
    serde: str = ""
    serde_properties: Mapping[str, str] = field(default_factory=dict)
    buckets: int = 0
    skewed: bool = False
    output_format: str = ""


@dataclass(frozen=True)
class StoredTable:
    """A table or view as the metastore returns it. `type` is that of Hive: EXTERNAL_TABLE, VIRTUAL_VIEW, …."""

    id: int
    database: str
    name: str
    type: str
    storage: Storage
    partition_columns: Sequence[Sequence[str]] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    view_text: str = ""


@dataclass(frozen=True)
class StoredPartition:
    """A partition as the metastore returns it."""

    values: Sequence[str]
    storage: Storage


@dataclass(frozen=True)
class StoredDatabase:
    """A database as the metastore returns it."""

    name: str
    comment: str
    details: DatabaseDetails


class Metastore(Protocol):
    """A Hive metastore. Every method raises ConnectError if it cannot be reached."""

    @property
    def uris(self) -> str:
        """The value of hive.metastore.uris, for messages."""

    def database_names(self) -> tuple[str, ...]: ...

    def database(self, name: str) -> StoredDatabase | None: ...

    def table_names(self, database: str, *, only_views: bool = False) -> tuple[str, ...]: ...

    def table(self, database: str, name: str) -> Table | None: ...

    def partitions(self, table: Table, condition: str | None) -> tuple[Partition, ...]:
        """The partitions of a table, by name. `condition` is a filter in the metastore's language, which may leave out
        partitions whose values do not satisfy it; None for all partitions."""

    def begin_write(self, table: Table, partitions: Iterable[Partition]) -> None:
        """Remove the statistics of a table, or of these partitions of it, which rows that are about to be written make
        wrong: Hive returns count(*) from them."""

    def commit_iceberg(self, table: Table, before: str, after: str) -> None:
        """Make a metadata file of an Iceberg table the current one. Raises ExecutionError if it was not `before`."""

    def create_table(self, table: Table) -> None: ...

    def drop_table(self, table: Table, *, delete_data: bool) -> None: ...

    def create_database(self, database: StoredDatabase) -> None: ...

    def drop_database(self, name: str) -> None:
        """Drop a database without tables."""

    def exchange_partitions(self, target: Table, source: Table, given: Mapping[str, str]) -> None:
        """Make the partitions of `source` with these values those of `target`, with their folders."""

    def add_partitions(self, table: Table, partitions: Iterable[Partition]) -> None:
        """Add partitions with the format of the table; those that exist stay as they are."""
