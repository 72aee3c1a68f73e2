"""SHOW TABLE EXTENDED: the place, columns and files of tables, in Hive's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hivedruid.actions.partitioning.values import find
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType
from hivedruid.errors import CatalogStateError, UnsupportedError, did_you_mean
from hivedruid.filesystems import local_path
from hivedruid.tables.metastore_tables import INPUT_FORMATS, OUTPUT_FORMATS

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.catalog.footers import StoredFile
    from hivedruid.parser.statements.utility import ShowTableExtended

Key = tuple[str, str]
_THRIFT = {"tinyint": "byte", "smallint": "i16", "int": "i32", "bigint": "i64", "boolean": "bool"}


def gather_listed(
    statement: ShowTableExtended,
    tables: Mapping[Key, Table],
    partitions: Mapping[Key, tuple[Partition, ...]],
    zone: str,
    facts: Facts,
) -> Mapping[Key, tuple[StoredFile, ...]]:
    """The files of the tables, or of the partition that is named; none of a table whose files are elsewhere."""
    from hivedruid.actions.statistics.files import files_in
    from hivedruid.iceberg import home_catalog

    found = {}
    for key, table in tables.items():
        if table.has_snapshots and table.iceberg is None:
            found[key] = tuple(files_in(home_catalog.folder(facts.home, table.table_id) / "data"))
            continue
        partition = _partition(statement, table, partitions, zone)
        folder = local_path(_folder(table, partition))
        if table.has_folder and folder is not None:
            found[key] = tuple(files_in(folder))
    return found


def status(statement: ShowTableExtended, snapshot: Snapshot) -> list[str]:
    """The lines of all tables whose names match. Raises CatalogStateError for a partition of an unknown table."""
    tables = [snapshot.tables[key] for key in sorted(snapshot.tables)]
    if statement.spec is not None and not tables:
        hint = did_you_mean(statement.like, snapshot.names)
        raise CatalogStateError(f"Table not found {statement.like}", span=statement.span, hint=hint)
    return [line for table in tables for line in _of_table(statement, table, snapshot)]


def _of_table(statement: ShowTableExtended, table: Table, snapshot: Snapshot) -> list[str]:
    partition = _partition(statement, table, snapshot.partitions, snapshot.zone)
    format_ = table.format or ""
    lines = [
        f"tableName:{table.name}",
        "owner:",
        f"location:{_folder(table, partition)}",
        f"inputformat:{INPUT_FORMATS.get(format_, '')}",
        f"outputformat:{OUTPUT_FORMATS.get(format_, '')}",
        f"columns:{_struct('columns', table.stored_columns)}",
        f"partitioned:{'true' if table.partition_columns else 'false'}",
        f"partitionColumns:{_struct('partition_columns', table.partition_columns) if table.partition_columns else ''}",
    ]
    files = snapshot.listed_files.get((table.database, table.name))
    if files is not None:
        sizes = [file.size for file in files] or [0]
        lines += [
            f"totalNumberFiles:{len(files)}",
            f"totalFileSize:{sum(sizes)}",
            f"maxFileSize:{max(sizes)}",
            f"minFileSize:{min(sizes)}",
            f"lastUpdateTime:{max((file.modified for file in files), default=0) // 1_000_000}",
        ]
    return [*lines, ""]


def _partition(
    statement: ShowTableExtended, table: Table, partitions: Mapping[Key, tuple[Partition, ...]], zone: str
) -> Partition | None:
    if statement.spec is None:
        return None
    if not table.has_partitions:
        raise UnsupportedError(
            f"SHOW TABLE EXTENDED … PARTITION of {table.full_name} is not supported: its partitions are not folders",
            span=statement.spec.span,
            hint="use DESCRIBE FORMATTED table PARTITION (…)",
        )
    return find(statement.spec, table, partitions.get((table.database, table.name), ()), zone)


def _folder(table: Table, partition: Partition | None) -> str:
    return table.location or "" if partition is None else partition.folder(table)


def _struct(name: str, columns: Sequence[Column]) -> str:
    """The columns as Thrift's DDL (MetaStoreUtils.getDDLFromFieldSchema)."""
    return f"struct {name} {{ {', '.join(f'{_thrift(c.type)} {c.name}' for c in columns)}}}"


def _thrift(hive: HiveType) -> str:
    if hive.name in ("array", "map"):
        name = "list" if hive.name == "array" else "map"
        return f"{name}<{','.join(map(_thrift, hive.children))}>"
    return _THRIFT.get(hive.name, str(hive))
