"""CREATE, DROP, SHOW and DESCRIBE of streams, and the statements that start and stop them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from hivedruid.errors import SemanticError
from hivedruid.parser.clauses import like_pattern
from hivedruid.parser.create import if_not_exists
from hivedruid.parser.ingestion import reset_target
from hivedruid.parser.queries import parse_query
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.streaming import (
    AlterStream,
    ChangeStream,
    CheckpointStream,
    CreateStream,
    DescribeStream,
    DropStream,
    ResetStream,
    RollbackStream,
    ShowBatches,
    ShowCheckpoints,
    ShowStreams,
    StreamVerb,
)
from hivedruid.parser.table_clauses import key_list, property_list
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp


def parse_create(source: SourceStatement, cursor: Cursor) -> Statement:
    """CREATE STREAM …, from the name on."""
    exists = if_not_exists(cursor)
    name = cursor.table_name()
    cursor.expect("FROM")
    from_table = cursor.table_name()
    cursor.expect("INTO")
    cursor.accept("TABLE")
    into = cursor.table_name()
    properties = property_list(cursor) if cursor.accept("WITH", "PROPERTIES") else ()
    if not cursor.accept("AS"):
        cursor.fail("AS SELECT" if properties else "WITH PROPERTIES or AS SELECT")
    query, text = _query(source, cursor)
    return CreateStream(source, name, from_table, into, query, text, properties, exists)


def _query(source: SourceStatement, cursor: Cursor) -> tuple[exp.Expression, str]:
    """The rest of the statement, parsed and as text."""
    tokens = cursor.rest()
    return parse_query(source, tokens), source.text[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def parse_alter(source: SourceStatement, cursor: Cursor) -> Statement:
    """ALTER STREAM …, from the name on."""
    name = cursor.table_name()
    if cursor.accept("AS"):
        query, text = _query(source, cursor)
        return AlterStream(source, name, query=query, text=text)
    if cursor.accept("SET", "PROPERTIES"):
        statement = AlterStream(source, name, property_list(cursor))
    elif cursor.accept("UNSET", "PROPERTIES"):
        statement = AlterStream(source, name, removed=key_list(cursor))
    else:
        cursor.fail("SET PROPERTIES, UNSET PROPERTIES or AS SELECT")
    cursor.end()
    return statement


def parse_checkpoint(source: SourceStatement, cursor: Cursor) -> Statement:
    """CHECKPOINT STREAM name, without the verb."""
    cursor.expect("STREAM")
    name = cursor.table_name()
    cursor.end()
    return CheckpointStream(source, name)


def parse_rollback(source: SourceStatement, cursor: Cursor) -> Statement:
    """ROLLBACK STREAM name TO …, without the verb."""
    cursor.expect("STREAM")
    name = cursor.table_name()
    hint = "use TO CHECKPOINT, TO CHECKPOINT n or TO BATCH n"
    if not cursor.accept("TO"):
        cursor.fail("TO", hint=hint)
    start = cursor.current
    to = cursor.accept_one("CHECKPOINT", "BATCH")
    if to is None:
        cursor.fail("CHECKPOINT or BATCH", hint=hint)
    is_last = to == "CHECKPOINT" and cursor.at_end
    batch = None if is_last else cursor.integer("the number of a batch")
    span = cursor.span(start, cursor.tokens[-1])
    cursor.end()
    return RollbackStream(source, name, cast("Literal['CHECKPOINT', 'BATCH']", to), batch, span)


def parse_change(source: SourceStatement, cursor: Cursor) -> Statement:
    """START | PAUSE | RESUME | STOP | WAIT STREAM name | RUN STREAM name [LIMIT n], the verb included."""
    verb = cast("StreamVerb", cursor.word())
    cursor.index += 1
    if not cursor.accept("STREAM"):
        is_ingestion = verb == "PAUSE" and cursor.word() == "INGESTION"
        cursor.fail("STREAM", hint="use SUSPEND INGESTION table" if is_ingestion else f"use {verb} STREAM name")
    name = cursor.table_name()
    span = cursor.span_from(0)
    limit = None
    if verb == "RUN" and cursor.accept("LIMIT"):
        token = cursor.current
        limit = cursor.integer("a number of records")
        if limit == 0:
            raise SemanticError("the number of records must be positive", span=cursor.span(token))
    cursor.end()
    return ChangeStream(source, name, verb, span, limit)


def parse_reset(source: SourceStatement, cursor: Cursor) -> Statement:
    """RESET STREAM name TO …, the verb included."""
    cursor.index += 1
    cursor.expect("STREAM")
    name = cursor.table_name()
    span = cursor.span_from(0)
    if not cursor.accept("TO"):
        cursor.fail("TO", hint="use TO EARLIEST, TO LATEST, TO TIMESTAMP '…' or TO OFFSETS (partition:offset, …)")
    target = reset_target(cursor)
    cursor.end()
    return ResetStream(source, name, target, span)


def parse_drop(source: SourceStatement, cursor: Cursor) -> Statement:
    """DROP STREAM …, from the name on."""
    exists = cursor.accept("IF", "EXISTS")
    name = cursor.table_name()
    with_table = cursor.accept("WITH", "TABLE")
    if not with_table and not cursor.at_end and not cursor.accept("KEEP", "TABLE"):
        cursor.fail("WITH TABLE or KEEP TABLE")
    cursor.end()
    return DropStream(source, name, exists, with_table)


def parse_show(source: SourceStatement, cursor: Cursor) -> Statement:
    """The statements after SHOW: STREAMS, BATCHES or CHECKPOINTS."""
    if cursor.accept("STREAMS"):
        like = like_pattern(cursor)
        cursor.end()
        return ShowStreams(source, like)
    kind = cursor.accept_one("BATCHES", "CHECKPOINTS")
    cursor.accept("FOR")
    name = cursor.table_name()
    cursor.end()
    return ShowBatches(source, name) if kind == "BATCHES" else ShowCheckpoints(source, name)


def parse_describe(source: SourceStatement, cursor: Cursor) -> Statement:
    cursor.expect("STREAM")
    name = cursor.table_name()
    cursor.end()
    return DescribeStream(source, name)
