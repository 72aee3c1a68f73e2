"""CREATE, ALTER, DROP and SHOW of materialized views, from the words MATERIALIZED VIEW on."""

from __future__ import annotations

from hivedruid.errors import UnsupportedError
from hivedruid.parser.clauses import like_pattern
from hivedruid.parser.create import if_not_exists
from hivedruid.parser.queries import split_at_depth
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.parser.statements.materialized import (
    AlterMaterializedView,
    CreateMaterializedView,
    DropMaterializedView,
    ShowMaterializedViews,
)
from hivedruid.parser.table_clauses import TableClauses
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

_LAYOUTS = ("PARTITIONED", "CLUSTERED", "DISTRIBUTED", "SORTED", "PARTITIONED BY", "CLUSTERED BY")


def parse_create(source: SourceStatement, cursor: Cursor) -> Statement:
    exists = if_not_exists(cursor)
    name = cursor.table_name()
    rewrite = not cursor.accept("DISABLE", "REWRITE")
    if rewrite:
        cursor.accept("ENABLE", "REWRITE")
    if cursor.word() == "(":
        cursor.fail("a clause of CREATE MATERIALIZED VIEW", hint="name the columns with AS in the SELECT")
    text = _query_text(source, cursor)
    clauses = TableClauses(source, cursor, refuse=_refuse_layout)
    clauses.read("CREATE MATERIALIZED VIEW")
    query = clauses.found.get("query")
    if query is None:
        cursor.fail("AS SELECT")
    table = CreateTable(source, name, if_not_exists=exists, **clauses.found)
    return CreateMaterializedView(source, name, query, text, table, rewrite, exists)


def _query_text(source: SourceStatement, cursor: Cursor) -> str:
    """The query after AS (other than STORED AS)."""
    tokens = cursor.tokens[cursor.index :]
    for position in split_at_depth(tokens, {"AS"}):
        if position + 1 < len(tokens) and (position == 0 or tokens[position - 1].text.upper() != "STORED"):
            return source.text[tokens[position + 1].start : tokens[-1].end + 1]
    return ""


def _refuse_layout(cursor: Cursor) -> None:
    """PARTITIONED ON, CLUSTERED ON, DISTRIBUTED ON and SORTED ON define the layout of Hive files and do not apply
    here."""
    word = cursor.word()
    if word == "WRITE":
        raise UnsupportedError(
            "WRITE LOCALLY ORDERED BY is not supported for materialized views", span=cursor.span(), hint="remove it"
        )
    if word in _LAYOUTS:
        start = cursor.index
        cursor.index += 1
        cursor.accept("ON")
        what = word if " " in word else f"{word} ON"
        raise UnsupportedError(
            f"{what} is not supported: a materialized view has no partitions or buckets",
            span=cursor.span_from(start),
            hint="remove it; use 'druid.segment.granularity' to partition rows by time",
        )


def parse_alter(source: SourceStatement, cursor: Cursor) -> Statement:
    name = cursor.table_name()
    if cursor.accept("REBUILD"):
        cursor.end()
        return AlterMaterializedView(source, name, "rebuild")
    word = cursor.accept_one("ENABLE", "DISABLE")
    if word is None:
        cursor.fail("REBUILD, ENABLE REWRITE or DISABLE REWRITE")
    cursor.expect("REWRITE")
    cursor.end()
    return AlterMaterializedView(source, name, "enable" if word == "ENABLE" else "disable")


def parse_drop(source: SourceStatement, cursor: Cursor) -> Statement:
    exists = cursor.accept("IF", "EXISTS")
    name = cursor.table_name()
    cursor.end()
    return DropMaterializedView(source, name, exists)


def parse_show(source: SourceStatement, cursor: Cursor) -> Statement:
    database, span = None, None
    if cursor.accept_one("IN", "FROM"):
        database, token = cursor.name("a database name")
        span = cursor.span(token)
    like = like_pattern(cursor)
    cursor.end()
    return ShowMaterializedViews(source, database, like, span)
