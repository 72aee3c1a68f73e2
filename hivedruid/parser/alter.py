"""DROP, ALTER, TRUNCATE and USE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog.properties import TIERED
from hivedruid.errors import ParseError, UnsupportedError, did_you_mean
from hivedruid.parser import column_changes, constraints, without_effect
from hivedruid.parser.commands import INGESTION_VERBS
from hivedruid.parser.create import column_list, parse_alter_view, tiered_properties
from hivedruid.parser.layout import partition_spec
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.ddl import (
    AddColumns,
    ChangeStorage,
    DropDatabase,
    DropTable,
    DropView,
    Property,
    RenameTable,
    SetPartitionSpec,
    SetTableProperties,
    TruncateTable,
    UnsetTableProperties,
    UseDatabase,
)
from hivedruid.parser.table_clauses import file_format, key_list, property_list
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import Token

_OTHER_ALTERS = {
    "DROP": "use REPLACE COLUMNS, or create a table without the column and INSERT INTO it",
    "RECOVER": "use MSCK REPAIR TABLE",
}


def _hint(word: str, name: TableName) -> str:
    if word in (*INGESTION_VERBS, "RESET"):
        table = f"{name.database}.{name.name}" if name.database else name.name
        return f"use {word} INGESTION {table}"
    words = tuple(each.partition(" ")[0] for each in _ALTERS)
    close = did_you_mean(word, words) if word not in words else None
    return _OTHER_ALTERS.get(word) or close or "create a new table, and INSERT INTO it from this one"


def parse_drop(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.accept("MATERIALIZED", "VIEW"):
        from hivedruid.parser import materialized

        return materialized.parse_drop(source, cursor)
    if cursor.accept("STREAM"):
        from hivedruid.parser import streaming

        return streaming.parse_drop(source, cursor)
    if cursor.accept("TEMPORARY", "MACRO"):
        from hivedruid.parser import macros

        return macros.parse_drop(source, cursor)
    temporary = cursor.accept("TEMPORARY", "FUNCTION")
    if temporary or cursor.accept("FUNCTION"):
        from hivedruid.parser import user_functions

        return user_functions.parse_drop(source, cursor, temporary=temporary)
    kind = cursor.accept_one("TABLE", "VIEW", "DATABASE", "SCHEMA")
    if kind is None:
        cursor.fail("TABLE, VIEW, DATABASE, FUNCTION or STREAM")
    exists = cursor.accept("IF", "EXISTS")
    if kind == "TABLE":
        name = cursor.table_name()
        exists = cursor.accept("IF", "EXISTS") or exists
        purge = cursor.accept("PURGE")
        cursor.end()
        return DropTable(source, name, exists, purge)
    if kind == "VIEW":
        name = cursor.table_name()
        cursor.end()
        return DropView(source, name, exists)
    database, token = cursor.name("a database name")
    cascade = cursor.accept("CASCADE")
    if not cascade:
        cursor.accept("RESTRICT")
    cursor.end()
    return DropDatabase(source, database, exists, cascade, cursor.span(token))


def parse_alter(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.accept("MATERIALIZED", "VIEW"):
        from hivedruid.parser import materialized

        return materialized.parse_alter(source, cursor)
    if cursor.accept("STREAM"):
        from hivedruid.parser import streaming

        return streaming.parse_alter(source, cursor)
    if cursor.accept_one("DATABASE", "SCHEMA"):
        from hivedruid.parser import databases

        return databases.parse_alter(source, cursor)
    if cursor.accept("VIEW"):
        return parse_alter_view(source, cursor)
    cursor.expect("TABLE")
    name = cursor.table_name()
    if (accepted := without_effect.parse_alter(source, cursor)) is not None:
        return accepted
    start = cursor.current
    parser = next((parse for words, parse in _ALTERS.items() if cursor.accept(*words.split())), None)
    if parser is None:
        raise _no_alter(cursor, name, start)
    statement = parser(source, cursor, name)
    cursor.end()
    return statement


def _no_alter(cursor: Cursor, name: TableName, start: Token | None) -> UnsupportedError:
    shown = {"CHANGE": "CHANGE COLUMN", "ROLLBACK": "ROLLBACK INGESTION"}
    word, verbs = cursor.word(), [shown.get(words, words) for words in _ALTERS if not words.endswith(" EXISTS")]
    if not word.isidentifier():
        cursor.fail(f"{', '.join(verbs[:-1])} or {verbs[-1]}")
    rest = [t.text for t in cursor.tokens[cursor.index : cursor.index + 2]]
    what = " ".join(t.upper() for t in rest if t.isidentifier())
    return UnsupportedError(
        f"ALTER TABLE can only be used for {', '.join(verbs[:-1])} and {verbs[-1]}, not for {what}",
        span=cursor.span(start),
        hint=_hint(word, name),
    )


def _set_properties(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    return SetTableProperties(source, name, property_list(cursor))


def _unset_properties(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    exists = cursor.accept("IF", "EXISTS")
    return UnsetTableProperties(source, name, key_list(cursor), exists)


def _set_location(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    location, token = cursor.string("the location")
    return ChangeStorage(source, name, location, span=cursor.span(token))


def _set_file_format(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    span = cursor.span()
    return ChangeStorage(source, name, stored_as=file_format(cursor), span=span)


def _set_serde(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    library, token = cursor.string("the class name of the SerDe")
    span = cursor.span(token)
    given = property_list(cursor) if cursor.accept("WITH", "SERDEPROPERTIES") else ()
    serde = (Property("serialization.lib", library, span, span), *given)
    return ChangeStorage(source, name, serde=serde, span=span)


def _set_serde_properties(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    span = cursor.span_from(cursor.index - 1)
    return ChangeStorage(source, name, serde=property_list(cursor), span=span)


def _unset_serde_properties(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    span = cursor.span_from(cursor.index - 1)
    return ChangeStorage(source, name, removed=key_list(cursor), span=span)


def _set_tiered(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    span = cursor.span_from(cursor.index - 1)
    given = property_list(cursor) if not cursor.at_end else ()
    return SetTableProperties(source, name, tiered_properties(given, span))


def _unset_tiered(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    span = cursor.span_from(cursor.index - 1)
    keys = tuple(Property(key, "", span) for key in TIERED)
    return UnsetTableProperties(source, name, keys, if_exists=True)


def _set_partition_spec(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    span = cursor.span_from(cursor.index - 3)
    return SetPartitionSpec(source, name, partition_spec(cursor, span))


def _partitions(function: str, back: int) -> Callable[[SourceStatement, Cursor, TableName], Statement]:
    """A parser of `parser/partitions.py`, from that many words before on."""

    def parse(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
        from hivedruid.parser import partitions

        cursor.index -= back
        return getattr(partitions, function)(source, cursor, name)  # type: ignore[no-any-return]

    return parse


def _add_columns(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    cursor.expect("(")
    columns = column_list(cursor)
    cursor.accept_one("CASCADE", "RESTRICT")
    return AddColumns(source, name, columns)


def _rename(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    return RenameTable(source, name, cursor.table_name())


def _rollback(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    from hivedruid.parser.statements.ingesting import AlterIngestion

    cursor.expect("INGESTION")
    return AlterIngestion(source, name, "ROLLBACK", None, cursor.span_from(cursor.index - 2))


def _compact(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    from hivedruid.parser.jobs import parse_compact

    return parse_compact(source, cursor, name)


def _execute(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    from hivedruid.parser.execute import parse_execute

    return parse_execute(source, cursor, name)


_ALTERS: Mapping[str, Callable[[SourceStatement, Cursor, TableName], Statement]] = {
    "SET TBLPROPERTIES": _set_properties,
    "UNSET TBLPROPERTIES": _unset_properties,
    "SET LOCATION": _set_location,
    "SET FILEFORMAT": _set_file_format,
    "SET SERDE": _set_serde,
    "SET SERDEPROPERTIES": _set_serde_properties,
    "UNSET SERDEPROPERTIES": _unset_serde_properties,
    "SET TIERED": _set_tiered,
    "UNSET TIERED": _unset_tiered,
    "SET PARTITION SPEC": _set_partition_spec,
    "ADD COLUMNS": _add_columns,
    "ADD CONSTRAINT": constraints.parse_add,
    "ADD PARTITION": _partitions("parse_add", 1),
    "ADD IF NOT EXISTS": _partitions("parse_add", 3),
    "CHANGE": column_changes.parse_change,
    "REPLACE COLUMNS": column_changes.parse_replace,
    "DROP CONSTRAINT": constraints.parse_drop,
    "DROP PARTITION": _partitions("parse_drop", 1),
    "DROP IF EXISTS": _partitions("parse_drop", 2),
    "RESTORE PARTITION": _partitions("parse_restore", 1),
    "EXCHANGE PARTITION": _partitions("parse_exchange", 1),
    "PARTITION COLUMN": _partitions("parse_column", 0),
    "PARTITION": _partitions("parse_change", 1),
    "RENAME TO": _rename,
    "ROLLBACK": _rollback,
    "COMPACT": _compact,
    "EXECUTE": _execute,
}
"""What follows the name in ALTER TABLE, and what parses the rest."""


def parse_truncate(source: SourceStatement, cursor: Cursor) -> Statement:
    cursor.accept("TABLE")
    name = cursor.table_name()
    if cursor.word() == "PARTITION":
        from hivedruid.parser.partitions import partition_spec as partition_values
        from hivedruid.parser.statements.partitioning import TruncatePartitions

        spec = partition_values(cursor)
        cursor.accept("FORCE")
        cursor.end()
        return TruncatePartitions(source, name, spec)
    cursor.accept("FORCE")
    cursor.end()
    return TruncateTable(source, name)


def parse_use(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.at_end:
        raise ParseError("expected a database name, found the end of the statement", span=cursor.span())
    name, token = cursor.name("a database name")
    cursor.end()
    return UseDatabase(source, name, cursor.span(token))
