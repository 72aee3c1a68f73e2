"""DESCRIBE, SHOW, SET, RESET and SOURCE."""

from __future__ import annotations

import re
from typing import Literal, cast

from sqlglot import TokenType

from hivedruid.errors import ParseError
from hivedruid.parser.clauses import like_pattern
from hivedruid.parser.loose_files import folder_of
from hivedruid.parser.statements import SourceScript, Statement
from hivedruid.parser.statements.utility import (
    DescribeDatabase,
    DescribeFile,
    DescribeFunction,
    DescribeTable,
    LoosePath,
    ResetSettings,
    SetSetting,
    ShowColumns,
    ShowConf,
    ShowCreateDatabase,
    ShowCreateTable,
    ShowKind,
    ShowNames,
    ShowTableExtended,
    ShowTableProperties,
)
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_describe(source: SourceStatement, cursor: Cursor) -> Statement:
    """DESCRIBE [EXTENDED | FORMATTED] [database.]table [column], DESCRIBE DATABASE [EXTENDED] name, DESCRIBE 'file'.

    `a.b` is table b of database a, never column b of table a; the last of three names separated by dots is a column.
    """
    if cursor.word() in ("DATABASE", "SCHEMA") and cursor.word(1) not in ("", "."):
        cursor.index += 1
        extended = cursor.accept("EXTENDED")
        name, token = cursor.name("a database name")
        cursor.end()
        return DescribeDatabase(source, name, extended, cursor.span(token))
    if cursor.word() == "JOB":
        from hivedruid.parser import jobs

        if jobs.is_describe_job(cursor):
            return jobs.parse_describe_job(source, cursor)
    if cursor.word() == "STREAM" and cursor.word(1) not in ("", "."):
        from hivedruid.parser import streaming

        return streaming.parse_describe(source, cursor)
    if cursor.accept("FUNCTION"):
        return _describe_function(source, cursor)
    if cursor.current is not None and cursor.current.token_type == TokenType.STRING:
        path, token = cursor.string()
        cursor.end()
        return DescribeFile(source, LoosePath(path, folder_of(source)), cursor.span(token))
    mode = "plain"
    if cursor.word() in ("EXTENDED", "FORMATTED") and len(cursor.tokens) > 1:
        mode = cursor.word().lower()
        cursor.index += 1
    table = cursor.table_name()
    if cursor.word() == "PARTITION":
        from hivedruid.parser.partitions import partition_spec
        from hivedruid.parser.statements.partitioning import DescribePartition

        spec = partition_spec(cursor)
        cursor.end()
        return DescribePartition(source, table, spec, cast("Literal['plain', 'extended', 'formatted']", mode))
    column, span = None, None
    if not cursor.at_end:
        cursor.accept(".")
        column, token = cursor.name("a column name")
        span = cursor.span(token)
    cursor.end()
    return DescribeTable(source, table, cast("Literal['plain', 'extended', 'formatted']", mode), column, span)


def _describe_function(source: SourceStatement, cursor: Cursor) -> DescribeFunction:
    extended = cursor.accept("EXTENDED")
    token = cursor.current
    if token is not None and token.token_type == TokenType.STRING:
        name, token = cursor.string("a function name")
    elif token is not None and re.fullmatch(r"\w+", token.text):  # `if` and `map` are keywords elsewhere
        name = token.text
        cursor.index += 1
        if cursor.accept("."):
            name += f".{cursor.name('a function name')[0]}"
    else:
        cursor.fail("a function name")
    cursor.end()
    return DescribeFunction(source, name.lower(), extended)


SHOW_KINDS = (
    "TABLES", "VIEWS", "MATERIALIZED VIEWS", "DATABASES", "FUNCTIONS", "COLUMNS", "PARTITIONS", "CREATE TABLE",
    "TABLE EXTENDED", "CREATE DATABASE", "TBLPROPERTIES", "CONF", "INGESTIONS", "TASKS", "TASK", "PROBLEMS", "OFFSETS",
    "TOPICS", "STREAMS",
    "BATCHES", "CHECKPOINTS", "JOBS", "COMPACTIONS", "SEGMENTS", "ARCHIVES", "DATA SOURCES",
)  # fmt: skip
"""What may follow SHOW."""


def parse_show(source: SourceStatement, cursor: Cursor) -> Statement:
    if cursor.accept("MATERIALIZED", "VIEWS"):
        from hivedruid.parser import materialized

        return materialized.parse_show(source, cursor)
    kind = cursor.accept_one("TABLES", "VIEWS", "DATABASES", "SCHEMAS", "FUNCTIONS")
    if kind:
        return _names(source, cursor, "DATABASES" if kind == "SCHEMAS" else kind)
    if cursor.accept("CREATE", "TABLE") or cursor.accept("CREATE", "VIEW"):
        name = cursor.table_name()
        cursor.end()
        return ShowCreateTable(source, name)
    if cursor.accept("CREATE", "DATABASE") or cursor.accept("CREATE", "SCHEMA"):
        database, token = cursor.name("a database name")
        cursor.end()
        return ShowCreateDatabase(source, database, cursor.span(token))
    if cursor.accept("TABLE", "EXTENDED"):
        return _table_extended(source, cursor)
    if cursor.accept("PARTITIONS"):
        from hivedruid.parser import partitions

        return partitions.parse_show(source, cursor)
    if cursor.accept("TBLPROPERTIES"):
        return _properties(source, cursor)
    if cursor.accept("CONF"):
        key, token = cursor.string("a quoted name of a setting")
        cursor.end()
        return ShowConf(source, key, cursor.span(token))
    if cursor.word() in ("INGESTIONS", "TASKS", "TASK", "PROBLEMS", "OFFSETS", "TOPICS"):
        from hivedruid.parser.ingestion import parse_show_ingestion

        return parse_show_ingestion(source, cursor)
    if cursor.accept("DATA", "SOURCES"):
        from hivedruid.parser.ingestion import parse_show_data_sources

        return parse_show_data_sources(source, cursor)
    if cursor.word() in ("STREAMS", "BATCHES", "CHECKPOINTS"):
        from hivedruid.parser import streaming

        return streaming.parse_show(source, cursor)
    if cursor.word() in ("JOBS", "COMPACTIONS", "SEGMENTS"):
        from hivedruid.parser.jobs import parse_show_jobs

        return parse_show_jobs(source, cursor)
    if cursor.word() == "ARCHIVES":
        from hivedruid.parser.tiering import parse_show_archives

        return parse_show_archives(source, cursor)
    cursor.accept("SORTED")
    if cursor.accept_one("COLUMNS", "FIELDS"):
        return _columns(source, cursor)
    return cursor.fail(
        f"{', '.join(SHOW_KINDS[:-1])} or {SHOW_KINDS[-1]}",
        hint="use DESCRIBE JOB 'id'" if cursor.word() == "JOB" and len(cursor.tokens) > 1 else None,
    )


def _names(source: SourceStatement, cursor: Cursor, kind: str) -> ShowNames:
    database, span = None, None
    if kind in ("TABLES", "VIEWS") and cursor.accept_one("IN", "FROM"):
        database, token = cursor.name("a database name")
        span = cursor.span(token)
    like = like_pattern(cursor) if kind != "DATABASES" or cursor.word() == "LIKE" else None
    cursor.end()
    return ShowNames(source, cast("ShowKind", kind.lower()), database, like, span)


def _table_extended(source: SourceStatement, cursor: Cursor) -> ShowTableExtended:
    database = cursor.name("a database name")[0] if cursor.accept_one("IN", "FROM") else None
    cursor.expect("LIKE")
    like, token = cursor.string("a quoted pattern")
    spec = None
    if cursor.word() == "PARTITION":
        from hivedruid.parser.partitions import partition_spec

        spec = partition_spec(cursor)
    cursor.end()
    return ShowTableExtended(source, like, database, spec, cursor.span(token))


def _properties(source: SourceStatement, cursor: Cursor) -> ShowTableProperties:
    name = cursor.table_name()
    key, span = None, None
    if cursor.accept("("):
        key, token = cursor.string("a quoted property name")
        span = cursor.span(token)
        cursor.expect(")")
    cursor.end()
    return ShowTableProperties(source, name, key, span)


def _columns(source: SourceStatement, cursor: Cursor) -> ShowColumns:
    if not cursor.accept_one("IN", "FROM"):
        cursor.fail("IN or FROM")
    name = cursor.table_name()
    if name.database is None and cursor.accept_one("IN", "FROM"):
        database, token = cursor.name("a database name")
        name = type(name)(name.name, database, cursor.span(token))
    like = cursor.string("a quoted pattern")[0] if cursor.accept("LIKE") or not cursor.at_end else None
    cursor.end()
    return ShowColumns(source, name, like)


_TRAILING_COMMENT = re.compile(r"(?:^|\s)(?:--[^\r\n]*|/\*.*?\*/)\s*$", re.S)


def _raw(source: SourceStatement, offset: int) -> tuple[str, int]:
    """The text after the first word, without surrounding blanks and comments, and its start."""
    text = source.text[offset:]
    while True:
        stripped = _TRAILING_COMMENT.sub("", text)
        if stripped == text:
            break
        text = stripped
    start = offset + len(text) - len(text.lstrip())
    return text.strip(), start


_TIME_ZONE = re.compile(r"TIME\s+ZONE\s+(.+)", re.IGNORECASE | re.DOTALL)


def parse_set(source: SourceStatement, offset: int) -> Statement:
    """SET. Everything after the first `=` is the value, unchanged. SET TIME ZONE sets hive.local.time.zone."""
    text, start = _raw(source, offset)
    if not text:
        return SetSetting(source)
    if text == "-v":
        return SetSetting(source, verbose=True)
    if zone := _TIME_ZONE.match(text):
        value = zone[1].strip()
        if value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1:
            value = value[1:-1]
        return SetSetting(source, "hive.local.time.zone", value, span=source.span(start, start + len(text)))
    key, equals, value = text.partition("=")
    key = key.strip()
    span = source.span(start, start + max(1, len(key)))
    if not key or re.search(r"\s", key):
        if re.match(r"role\s", key, re.IGNORECASE):
            from hivedruid.parser.refused import role

            return role(source, source.span(start, start + 4))
        hint = "use SET key=value"
        raise ParseError(f"expected a setting name, found '{key or text[:1]}'", span=span, hint=hint)
    return SetSetting(source, key, value.strip() if equals else None, span=span)


def parse_reset(source: SourceStatement, offset: int) -> Statement:
    text, start = _raw(source, offset)
    if re.search(r"\s", text):
        raise ParseError("expected one setting name", span=source.span(start, start + len(text)))
    return ResetSettings(source, text or None, source.span(start, start + len(text)) if text else None)


def parse_source(source: SourceStatement, offset: int) -> Statement:
    """SOURCE path, in quotes or not."""
    text, start = _raw(source, offset)
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1]
    if not text:
        raise ParseError("expected a script path, found the end of the statement", span=source.span(len(source.text)))
    return SourceScript(source, text, source.span(start, start + len(text)))
