"""CREATE TABLE, VIEW and DATABASE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import TokenType

from hivedruid.catalog.kinds import DRUID_STORAGE_HANDLER, KAFKA_STORAGE_HANDLER
from hivedruid.catalog.properties import TIER_COLD, TIER_HOT
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.constraints import column_constraint, table_constraint
from hivedruid.parser.queries import parse_query
from hivedruid.parser.statements import Statement, SupervisorName, TableName
from hivedruid.parser.statements.ddl import (
    ColumnDef,
    ColumnName,
    ConstraintDef,
    CreateTable,
    CreateView,
    LikeFile,
    Property,
    RenameTable,
    SetTableProperties,
    UnsetTableProperties,
)
from hivedruid.parser.table_clauses import TableClauses, key_list, property_list
from hivedruid.parser.tokens import Cursor
from hivedruid.parser.types import parse_type
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import Token

    from hivedruid.catalog.types import HiveType


def parse_create(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.accept("OR", "REPLACE"):
        if cursor.accept("MATERIALIZED", "VIEW"):
            raise UnsupportedError(
                "CREATE OR REPLACE MATERIALIZED VIEW is not supported",
                span=cursor.span_from(0),
                hint=(
                    "use DROP MATERIALIZED VIEW and CREATE MATERIALIZED VIEW; use ALTER MATERIALIZED VIEW … REBUILD to"
                    " recompute its rows"
                ),
            )
        temporary = cursor.accept("TEMPORARY")
        cursor.expect("VIEW")
        return replace(_view(source, cursor, or_replace=True), temporary=temporary)
    if cursor.accept("VIEW"):
        return _view(source, cursor, or_replace=False)
    if cursor.accept("TEMPORARY", "VIEW"):
        return replace(_view(source, cursor, or_replace=False), temporary=True)
    if cursor.accept("MATERIALIZED", "VIEW"):
        from hivedruid.parser.materialized import parse_create as parse_create_materialized

        return parse_create_materialized(source, cursor)
    if cursor.accept_one("DATABASE", "SCHEMA"):
        from hivedruid.parser import databases

        return databases.parse_create(source, cursor)
    if cursor.accept("STREAM"):
        from hivedruid.parser.streaming import parse_create as parse_create_stream

        return parse_create_stream(source, cursor)
    if cursor.accept("TEMPORARY", "MACRO"):
        from hivedruid.parser.macros import parse_create as parse_create_macro

        return parse_create_macro(source, cursor)
    temporary = cursor.accept("TEMPORARY", "FUNCTION")
    if temporary or cursor.accept("FUNCTION"):
        from hivedruid.parser.user_functions import parse_create as parse_create_function

        return parse_create_function(source, cursor, temporary=temporary)
    sort = cursor.accept_one("MANAGED", "TRANSACTIONAL", "EXTERNAL", "TEMPORARY")
    if not cursor.accept("TABLE"):
        cursor.fail("TABLE, VIEW, DATABASE, FUNCTION or STREAM" if sort in (None, "MANAGED") else "TABLE")
    return replace(_table(source, cursor, external=sort == "EXTERNAL"), temporary=sort == "TEMPORARY")


def if_not_exists(cursor: Cursor) -> bool:
    return cursor.accept("IF", "NOT", "EXISTS")


def _table(source: SourceStatement, cursor: Cursor, *, external: bool) -> CreateTable:
    exists = if_not_exists(cursor)
    name = cursor.table_name()
    clauses = TableClauses(source, cursor, has_own_files=not external)
    topic: tuple[Property, ...] = ()
    if cursor.accept("LIKE"):
        if topic := _topic(cursor):
            clauses.found["topic_span"] = topic[0].value_span
        elif (file := _like_file(cursor)) is not None:
            clauses.found["like_file"] = file
        else:
            clauses.found["like"] = cursor.table_name()
    elif cursor.accept("FROM"):
        clauses.found["supervisor"] = _supervisor(cursor, external=external)
    elif cursor.accept("("):
        constraints: list[ConstraintDef] = []
        clauses.found["columns"] = column_list(cursor, constraints)
        clauses.found["constraints"] = tuple(constraints)
    clauses.read()
    if "supervisor" in clauses.found:
        if "query" in clauses.found:
            raise SemanticError(
                "CREATE TABLE … FROM SUPERVISOR has no query", span=name.span,
                hint="remove AS SELECT: the rows are those that the supervisor ingests",
            )  # fmt: skip
        clauses.found.setdefault("storage_handler", DRUID_STORAGE_HANDLER)
    if external and (file := _file_without_columns(clauses.found)) is not None:
        clauses.found["like_file"] = file
    if clauses.tiered is not None:
        clauses.found["properties"] = tiered_properties(clauses.found.get("properties", ()), clauses.tiered)
    if topic:
        clauses.found.setdefault("storage_handler", KAFKA_STORAGE_HANDLER)
        properties = clauses.found.get("properties", ())
        if again := next((item for item in properties if item.key == "kafka.topic"), None):
            raise SemanticError("the topic is specified twice", span=again.key_span, hint="remove the property")
        clauses.found["properties"] = (*topic, *properties)
    return CreateTable(source, name, external=external, if_not_exists=exists, **clauses.found)


def _supervisor(cursor: Cursor, *, external: bool) -> SupervisorName:
    """What follows FROM."""
    start = cursor.index
    if not cursor.accept("SUPERVISOR"):
        cursor.fail("SUPERVISOR", hint="use FROM SUPERVISOR 'id', or AS SELECT … FROM")
    text, token = cursor.string("the id of a supervisor")
    if not external:
        raise SemanticError(
            "a table from a supervisor must be external: its data source exists without the table",
            span=cursor.span_from(start), hint="use CREATE EXTERNAL TABLE … FROM SUPERVISOR",
        )  # fmt: skip
    return SupervisorName(text, cursor.span(token))


def _like_file(cursor: Cursor) -> LikeFile | None:
    """FILE format 'path'; None if the next token is the name of a table."""
    if cursor.word() != "FILE" or cursor.word(1) in ("", "."):
        return None
    start = cursor.index
    cursor.accept("FILE")
    format_ = cursor.accept_one("PARQUET", "ORC")
    if format_ is None:
        cursor.fail("PARQUET or ORC")
    path, _ = cursor.string("the path of a file")
    return LikeFile(format_.lower(), path, cursor.span_from(start))


def _file_without_columns(found: Mapping[str, Any]) -> LikeFile | None:
    """The LOCATION whose files have the columns of the table, if the statement has none."""
    if found.get("stored_as") not in ("parquet", "orc") or "location" not in found:
        return None
    others = {"columns", "query", "like", "like_file", "supervisor", "topic_span", "storage_handler", "serde"}
    return None if others & found.keys() else LikeFile(found["stored_as"], found["location"], found["location_span"])


def tiered_properties(given: tuple[Property, ...], span: Span) -> tuple[Property, ...]:
    """The properties of a tiered table, with those that make it one."""
    keys = {item.key for item in given}
    made = ((TIER_HOT, "druid"), (TIER_COLD, "orc"))
    return (*(Property(key, value, span, span) for key, value in made if key not in keys), *given)


def _topic(cursor: Cursor) -> tuple[Property, ...]:
    """TOPIC 'name', as the property kafka.topic; () if the next token is the name of a table."""
    following = cursor.tokens[cursor.index + 1 : cursor.index + 2]
    if not any(token.token_type == TokenType.STRING for token in following) or not cursor.accept("TOPIC"):
        return ()
    name, token = cursor.string("the name of a topic")
    return (Property("kafka.topic", name, value_span=cursor.span(token)),)


def column_list(cursor: Cursor, constraints: list[ConstraintDef] | None = None) -> tuple[ColumnDef, ...]:
    """The columns, including the closing parenthesis. Constraints between them are added to `constraints`."""
    columns: list[ColumnDef] = []
    while True:
        constraint = table_constraint(cursor) if constraints is not None else None
        if constraint is None or constraints is None:
            columns.append(_column(cursor))
        else:
            constraints.append(constraint)
        if cursor.accept(")"):
            break
        if not cursor.accept(","):
            cursor.fail("a comma or a closing parenthesis")
    if not columns:
        cursor.fail("a column")
    return tuple(columns)


def _column(cursor: Cursor) -> ColumnDef:
    name, token = cursor.name("a column name")
    column = ColumnName(name, cursor.span(token))
    hive_type, comment, constraints = column_options(cursor, column, (",", ")"))
    return ColumnDef(name, hive_type, comment or "", column.span, constraints)


def column_options(
    cursor: Cursor, column: ColumnName, ends: tuple[str, ...]
) -> tuple[HiveType, str | None, tuple[ConstraintDef, ...]]:
    """The type of a column, its comment, if there is one, and its constraints."""
    hive_type = parse_type(cursor)
    comment = None
    constraints: list[ConstraintDef] = []
    while not cursor.at_end and cursor.word() not in ends:
        if cursor.accept("COMMENT"):
            comment = cursor.string("the comment")[0]
        elif (constraint := column_constraint(cursor, column)) is not None:
            constraints.append(constraint)
        else:
            cursor.fail("a comma or a closing parenthesis" if ")" in ends else "COMMENT, FIRST, AFTER or the end")
    return hive_type, comment, tuple(constraints)


def _view(source: SourceStatement, cursor: Cursor, *, or_replace: bool) -> CreateView:
    exists = if_not_exists(cursor)
    name: TableName = cursor.table_name()
    columns: list[str] = []
    comments: list[str] = []
    comment = ""
    properties: tuple[Property, ...] = ()
    if cursor.accept("("):
        while True:
            column, token = cursor.name("a column name")
            if column in columns:
                raise SemanticError(f"Duplicate column name {column} in the view definition.", span=cursor.span(token))
            columns.append(column)
            comments.append(cursor.string("the comment")[0] if cursor.accept("COMMENT") else "")
            if not cursor.accept(","):
                break
        cursor.expect(")")
    if cursor.accept("COMMENT"):
        comment = cursor.string("the comment")[0]
    if cursor.accept("PARTITIONED"):
        raise UnsupportedError(
            "PARTITIONED ON is not supported: views have no partitions", span=name.span, hint="remove it"
        )
    if cursor.accept("TBLPROPERTIES"):
        properties = property_list(cursor)
    cursor.expect("AS")
    tokens: list[Token] = cursor.rest()
    query = parse_query(source, tokens)
    text = source.text[tokens[0].start : tokens[-1].end + 1]
    return CreateView(
        source, name, query, text, exists, or_replace, tuple(columns), tuple(comments), comment, properties
    )


def parse_alter_view(source: SourceStatement, cursor: Cursor) -> Statement:
    """What follows ALTER VIEW: name AS query, SET or UNSET TBLPROPERTIES, RENAME TO."""
    name = cursor.table_name()
    if not cursor.accept("AS") and cursor.word() not in ("SELECT", "WITH"):
        return _alter_view(source, cursor, name)
    tokens: list[Token] = cursor.rest()
    query = parse_query(source, tokens)
    text = source.text[tokens[0].start : tokens[-1].end + 1]
    return CreateView(source, name, query, text, or_replace=True, alters=True)


def _alter_view(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    statement: Statement
    if cursor.accept("SET", "TBLPROPERTIES"):
        statement = SetTableProperties(source, name, property_list(cursor), of_view=True)
    elif cursor.accept("UNSET", "TBLPROPERTIES"):
        exists = cursor.accept("IF", "EXISTS")
        statement = UnsetTableProperties(source, name, key_list(cursor), exists, of_view=True)
    elif cursor.accept("RENAME", "TO"):
        statement = RenameTable(source, name, cursor.table_name(), of_view=True)
    else:
        cursor.fail("AS, SET TBLPROPERTIES, UNSET TBLPROPERTIES or RENAME TO")
    cursor.end()
    return statement
