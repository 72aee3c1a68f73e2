"""DROP, ALTER, TRUNCATE and USE."""

from __future__ import annotations

from hivedruid.catalog.properties import TIERED
from hivedruid.errors import ParseError, UnsupportedError, did_you_mean
from hivedruid.parser.commands import INGESTION_VERBS
from hivedruid.parser.create import column_list, key_list, property_list, tiered_properties
from hivedruid.parser.layout import partition_spec
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.ddl import (
    AddColumns,
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
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

_OTHER_ALTERS = {
    "REPLACE": "create a table with the new columns, and INSERT INTO it from this one",
    "CHANGE": "create a table with the new columns, and INSERT INTO it from this one",
    "DROP": "tables have no partitions, and columns cannot be dropped: create a new table and INSERT INTO it",
    "PARTITION": "tables have no partitions",
    "CONCATENATE": "remove it",
    "RECOVER": "tables have no partitions",
}


def _hint(word: str, name: TableName) -> str:
    if word in (*INGESTION_VERBS, "RESET"):
        table = f"{name.database}.{name.name}" if name.database else name.name
        return f"use {word} INGESTION {table}"
    words = ("SET", "UNSET", "ADD", "RENAME", "ROLLBACK", "COMPACT", "EXECUTE")
    close = did_you_mean(word, words) if word not in words else None
    return _OTHER_ALTERS.get(word) or close or "create a new table, and INSERT INTO it from this one"


def parse_drop(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.accept("MATERIALIZED", "VIEW"):
        from hivedruid.parser import materialized

        return materialized.parse_drop(source, cursor)
    if cursor.accept("STREAM"):
        from hivedruid.parser import streaming

        return streaming.parse_drop(source, cursor)
    kind = cursor.accept_one("TABLE", "VIEW", "DATABASE", "SCHEMA")
    if kind is None:
        cursor.fail("TABLE, VIEW, DATABASE or STREAM")
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
    cursor.expect("TABLE")
    name = cursor.table_name()
    start = cursor.current
    if cursor.accept("SET", "TBLPROPERTIES"):
        statement: Statement = SetTableProperties(source, name, property_list(cursor))
    elif cursor.accept("UNSET", "TBLPROPERTIES"):
        exists = cursor.accept("IF", "EXISTS")
        statement = UnsetTableProperties(source, name, key_list(cursor), exists)
    elif cursor.accept("SET", "TIERED"):
        span = cursor.span_from(cursor.index - 1)
        given = property_list(cursor) if not cursor.at_end else ()
        statement = SetTableProperties(source, name, tiered_properties(given, span))
    elif cursor.accept("UNSET", "TIERED"):
        span = cursor.span_from(cursor.index - 1)
        keys = tuple(Property(key, "", span) for key in TIERED)
        statement = UnsetTableProperties(source, name, keys, if_exists=True)
    elif cursor.accept("SET", "PARTITION", "SPEC"):
        span = cursor.span_from(cursor.index - 3)
        statement = SetPartitionSpec(source, name, partition_spec(cursor, span))
    elif cursor.accept("ADD", "COLUMNS"):
        cursor.expect("(")
        statement = AddColumns(source, name, column_list(cursor))
        cursor.accept_one("CASCADE", "RESTRICT")
    elif cursor.accept("RENAME", "TO"):
        statement = _rename(source, cursor, name)
    elif cursor.accept("ROLLBACK"):
        cursor.expect("INGESTION")
        statement = _rollback(source, cursor, name)
    elif cursor.accept("COMPACT"):
        from hivedruid.parser.jobs import parse_compact

        statement = parse_compact(source, cursor, name)
    elif cursor.accept("EXECUTE"):
        from hivedruid.parser.execute import parse_execute

        statement = parse_execute(source, cursor, name)
    else:
        word = cursor.word()
        if not word.isidentifier():
            cursor.fail(
                "SET TBLPROPERTIES, UNSET TBLPROPERTIES, SET TIERED, UNSET TIERED, SET PARTITION SPEC, ADD COLUMNS,"
                " RENAME TO, ROLLBACK INGESTION, COMPACT or EXECUTE"
            )
        rest = [t.text for t in cursor.tokens[cursor.index : cursor.index + 2]]
        what = " ".join(t.upper() for t in rest if t.isidentifier())
        raise UnsupportedError(
            "ALTER TABLE can only be used for SET TBLPROPERTIES, UNSET TBLPROPERTIES, SET TIERED, UNSET TIERED, SET"
            f" PARTITION SPEC, ADD COLUMNS, RENAME TO, ROLLBACK INGESTION, COMPACT and EXECUTE, not for {what}",
            span=cursor.span(start),
            hint=_hint(word, name),
        )
    cursor.end()
    return statement


def _rollback(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    from hivedruid.parser.statements.ingesting import AlterIngestion

    return AlterIngestion(source, name, "ROLLBACK", None, cursor.span_from(cursor.index - 2))


def _rename(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    return RenameTable(source, name, cursor.table_name())


def parse_truncate(source: SourceStatement, cursor: Cursor) -> Statement:
    cursor.accept("TABLE")
    name = cursor.table_name()
    if cursor.word() == "PARTITION":
        raise UnsupportedError(
            "TRUNCATE … PARTITION is not supported: tables have no partitions",
            span=cursor.span(),
            hint="keep the other rows with INSERT OVERWRITE TABLE … SELECT … WHERE",
        )
    cursor.accept("FORCE")
    cursor.end()
    return TruncateTable(source, name)


def parse_use(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.at_end:
        raise ParseError("expected a database name, found the end of the statement", span=cursor.span())
    name, token = cursor.name("a database name")
    cursor.end()
    return UseDatabase(source, name, cursor.span(token))
