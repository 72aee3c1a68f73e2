"""Partitions of external tables: the values of their columns, and the names of their folders, escaped as Hive does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hivedruid.catalog.table import Column, Table
from hivedruid.lazy_dataclass import dataclass
from hivedruid.lazy_regex import regex

if TYPE_CHECKING:
    from hivedruid.catalog.connection import Connection
    from hivedruid.catalog.store import Catalog

NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is named after if the value is NULL or empty. In a column of strings it is the value itself."""
_ESCAPED = regex(r"[\x01-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
"""FileUtils.charToEscape."""
_ESCAPE = regex(r"%([0-9A-Fa-f]{2})")


def escape(text: str) -> str:
    """As FileUtils.escapePathName."""
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text) or NULL_VALUE


def unescape(text: str) -> str:
    """As FileUtils.unescapePathName."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


class Files(NamedTuple):
    """The format of files and the SerDe, as those of a table; `serde` has its items."""

    format: str
    serde: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Partition:
    """One partition: the `values` of the partition columns as text, in their order. `location` is None for the folder
    of its name below the table's LOCATION. `files` are those of a partition in a Hive metastore if
    they differ from those of the table; `unreadable` is why they cannot be read, if they cannot."""

    values: tuple[str, ...]
    location: str | None = None
    files: Files | None = None
    unreadable: str = ""

    def name(self, columns: Iterable[Column]) -> str:
        """`day=2024-01-01/country=de`, as in SHOW PARTITIONS and in the names of folders."""
        pairs = zip(columns, self.values, strict=True)
        return "/".join(f"{escape(column.name)}={escape(value)}" for column, value in pairs)

    def folder(self, table: Table) -> str:
        """The folder or URI with its files."""
        if self.location is not None:
            return self.location
        return f"{(table.location or '').rstrip('/')}/{self.name(table.partition_columns)}"


def parse_name(name: str, columns: Sequence[Column]) -> Partition | None:
    """The partition of a folder below the table's LOCATION; None if it is not one of these columns.

    The names of columns may be in any case.
    """
    parts = [part.partition("=") for part in name.split("/")]
    if len(parts) != len(columns) or any(not equals or not value for _, equals, value in parts):
        return None
    if any(unescape(key).lower() != column.name for (key, _, _), column in zip(parts, columns, strict=True)):
        return None
    return Partition(tuple(unescape(value) for _, _, value in parts))


class Partitions:
    """The partitions of tables in the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def of(self, table: Table) -> tuple[Partition, ...]:
        """The partitions of a table, by name as SHOW PARTITIONS sorts them."""
        if table.is_temporary:
            return tuple(_partition(*each) for each in sorted(self._of_session(table).items()))
        query = "SELECT name, location FROM partitions WHERE table_id = ? ORDER BY name"
        rows = self._catalog.connection.execute(query, (table.table_id,))
        return tuple(_partition(name, location) for name, location in rows)

    def add(self, table: Table, partitions: Iterable[Partition]) -> None:
        """Add partitions; those that exist keep their location."""
        if table.is_temporary:
            names = {each.name(table.partition_columns): each.location for each in partitions}
            self._catalog.temporary_partitions[table.table_id] = names | self._of_session(table)
            return
        with self._catalog.transaction() as connection:
            for partition in partitions:
                self._insert(connection, table, partition)

    def remove(self, table: Table, partitions: Iterable[Partition]) -> None:
        columns = table.partition_columns
        if table.is_temporary:
            for partition in partitions:
                self._of_session(table).pop(partition.name(columns), None)
            return
        with self._catalog.transaction() as connection:
            connection.executemany(
                "DELETE FROM partitions WHERE table_id = ? AND name = ?",
                [(table.table_id, partition.name(columns)) for partition in partitions],
            )

    def replace(self, table: Table, removed: Iterable[Partition], added: Iterable[Partition]) -> None:
        """Remove and add partitions in one transaction."""
        with self._catalog.transaction():
            self.remove(table, removed)
            self.add(table, added)

    def _of_session(self, table: Table) -> dict[str, str | None]:
        return self._catalog.temporary_partitions.get(table.table_id, {})

    def _insert(self, connection: Connection, table: Table, partition: Partition) -> None:
        connection.execute(
            "INSERT INTO partitions (table_id, name, location) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (table.table_id, partition.name(table.partition_columns), partition.location),
        )


def _partition(name: str, location: str | None) -> Partition:
    return Partition(tuple(unescape(part.partition("=")[2]) for part in name.split("/")), location)
