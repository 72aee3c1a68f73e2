"""ALTER TABLE … SET LOCATION, FILEFORMAT, SERDE and SERDEPROPERTIES: where and how files are read. Pure.

No file is changed: existing ones are read with the new format, as in Hive.
"""

from __future__ import annotations

from dataclasses import replace

from hivedruid.actions.ddl.model import ReplaceTable
from hivedruid.actions.lookup import altered_table
from hivedruid.actions.model import Action
from hivedruid.actions.partitioning.model import ChangePartitions
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, UnsupportedError, did_you_mean
from hivedruid.parser.statements import ddl as s
from hivedruid.tables import hive_tables
from hivedruid.tables.property_checks import check_secret

_LIBRARY = "serialization.lib"


def change_storage(statement: s.ChangeStorage, snapshot: Snapshot) -> tuple[Action, ...]:
    """Raises SemanticError and UnsupportedError, with the position, for tables whose files are not at a LOCATION."""
    table = altered_table(statement.name, snapshot)
    if not table.has_folder:
        raise UnsupportedError(
            f"{table.full_name} is not a table of files", span=statement.span,
            hint="use ALTER TABLE … SET TBLPROPERTIES",
        )  # fmt: skip
    if statement.location is not None:
        return _set_location(statement, table, snapshot)
    if table.is_temporary and table.is_written:
        raise UnsupportedError(
            f"the format of a temporary table with rows cannot be changed: {table.full_name}", span=statement.span,
            hint="create another one with STORED AS, and INSERT INTO it",
        )  # fmt: skip
    after = _with_format(statement, table)
    return (ReplaceTable(table, after),) if after != table else ()


def _set_location(statement: s.ChangeStorage, table: Table, snapshot: Snapshot) -> tuple[Action, ...]:
    """As in Hive, existing partitions stay where they are."""
    if table.kind != "files":
        raise UnsupportedError(
            f"{table.full_name} is not an external table: its files are in the home folder", span=statement.span,
            hint="use CREATE EXTERNAL TABLE",
        )  # fmt: skip
    location = hive_tables.checked_location(statement.location or "", statement.span)
    moved = ReplaceTable(table, replace(table, location=location))
    known = snapshot.partitions.get((table.database, table.name), ())
    here = tuple(each for each in known if each.location is None)
    if not here:
        return (moved,)
    pinned = tuple(replace(each, location=each.folder(table)) for each in here)
    return ChangePartitions(table, added=pinned, removed=here, makes_folders=False), moved


def _with_format(statement: s.ChangeStorage, table: Table) -> Table:
    for item in statement.serde:
        check_secret(item)
    given = {item.key: item.value for item in statement.serde}
    gone = {item.key for item in statement.removed}
    serde = {**{key: value for key, value in table.serde.items() if key not in gone}, **given}
    format_ = statement.stored_as or hive_tables.declared_format(table) or "textfile"
    if format_ == "sequencefile" and table.kind != "files":
        raise UnsupportedError(
            "SequenceFiles cannot be loaded into managed tables", span=statement.span,
            hint="create an external table over them, and use INSERT … SELECT",
        )  # fmt: skip
    if statement.stored_as is not None:
        serde[_LIBRARY] = hive_tables.FORMAT_SERDES[format_]
    elif _LIBRARY in given:
        format_ = _format_of(given[_LIBRARY], table, statement)
    hive_tables.check_serde(table.stored_columns, serde, statement.span)
    if table.has_snapshots:
        return replace(table, serde=hive_tables.declared_serde(format_, serde))
    columns = (*hive_tables.as_serde_reads(table.stored_columns, serde), *table.folder_columns)
    return replace(table, serde=serde, format=format_, columns=columns)


def _format_of(library: str, table: Table, statement: s.ChangeStorage) -> str:
    """The format of the files of a SerDe. SequenceFiles remain such."""
    format_ = hive_tables.SERDE_FORMATS.get(library)
    if format_ is None:
        raise SemanticError(
            f"SerDe '{library}' is not supported", span=statement.span,
            hint=did_you_mean(library, hive_tables.SERDE_FORMATS)
            or f"supported: {', '.join(hive_tables.SERDE_FORMATS)}",
        )  # fmt: skip
    if table.format != "sequencefile":
        return format_
    if format_ not in hive_tables.TEXTS:
        raise UnsupportedError(
            f"SerDe '{library}' is not supported for SequenceFiles", span=statement.span,
            hint="use ALTER TABLE … SET FILEFORMAT for files of another format",
        )  # fmt: skip
    return table.format
