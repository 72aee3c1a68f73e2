"""Ingestion statements (START, STOP, RESET, …), KILL TASK, and SHOW INGESTIONS, TASKS, PROBLEMS, OFFSETS, TOPICS, …"""

from __future__ import annotations

import re
from typing import cast

from sqlglot import TokenType

from hivedruid.errors import ParseError, SemanticError, Span, did_you_mean
from hivedruid.parser.clauses import like_pattern, quoted_id, where_state
from hivedruid.parser.statements import Statement, SupervisorName, TableName
from hivedruid.parser.statements.ingesting import AlterIngestion, IngestionVerb, ResetTarget, ResetTo
from hivedruid.parser.statements.watching import (
    KillTask,
    ShowDataSources,
    ShowIngestions,
    ShowOffsets,
    ShowProblems,
    ShowTask,
    ShowTasks,
    ShowTopics,
)
from hivedruid.parser.tokens import Cursor, next_sign, next_word
from hivedruid.script import SourceStatement

TASK_STATES = ("WAITING", "PENDING", "RUNNING", "SUCCESS", "FAILED")
"""The states of Druid's tasks: TaskState, with RUNNING refined by RunnerTaskState."""

_TIMESTAMP = re.compile(
    r"(?P<date>\d{4}-\d{1,2}-\d{1,2})(?:"
    r" (?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.\d{1,9})?)?)?",
    re.ASCII,
)
_MAX_PARTITION = 2**31 - 1
_MAX_OFFSET = 2**63 - 1


def parse_ingestion(source: SourceStatement, cursor: Cursor) -> Statement:
    """START | STOP | SUSPEND | RESUME | HANDOFF | WAIT | RESET INGESTION table, the verb included; all but START also
    with the quoted id of a supervisor."""
    verb = cast("IngestionVerb", cursor.word())
    if cursor.word(1) == "STREAM" and verb in ("START", "STOP", "WAIT"):
        from hivedruid.parser.streaming import parse_change

        return parse_change(source, cursor)
    cursor.index += 1
    if not cursor.accept("INGESTION"):
        what = ("INGESTION", "STREAM") if verb in ("START", "STOP", "WAIT") else ("INGESTION",)
        close = did_you_mean(cursor.word(), what)
        cursor.fail(" or ".join(what), hint=close or f"use {verb} INGESTION table")
    name = _ingestion_name(cursor, verb)
    span = cursor.span_from(0)
    target = None
    if verb == "RESET" and not cursor.at_end:
        if not cursor.accept("TO"):
            cursor.fail("TO", hint=f"use TO {cursor.word()}" if cursor.word() in _TARGETS else None)
        target = reset_target(cursor)
    cursor.end()
    return AlterIngestion(source, name, verb, target, span)


def _ingestion_name(cursor: Cursor, verb: IngestionVerb) -> TableName | SupervisorName:
    """A table, or the quoted id of a supervisor."""
    token = cursor.current
    if token is None or token.token_type != TokenType.STRING:
        return cursor.table_name()
    text, token = cursor.string("the id of a supervisor")
    if verb == "START":
        raise SemanticError(
            "a supervisor cannot be started by its id: only a table has the spec to submit", span=cursor.span(token),
            hint="RESUME INGESTION 'id' continues a suspended supervisor; CREATE EXTERNAL TABLE … FROM SUPERVISOR 'id'"
            " makes a table with its spec",
        )  # fmt: skip
    return SupervisorName(text, cursor.span(token))


def is_reset(source: SourceStatement, end: int) -> bool:
    """Whether what follows RESET, which ends at `end`, is `INGESTION table` or `STREAM name`; a word alone could be a
    setting."""
    word, _, after = next_word(source.text, end)
    sign, place = next_sign(source.text, after)
    return word in ("INGESTION", "STREAM") and bool(sign) and place > after


_TARGETS = ("EARLIEST", "LATEST", "OFFSETS", "TIMESTAMP")


def reset_target(cursor: Cursor) -> ResetTarget:
    """What follows RESET … TO."""
    start = cursor.index
    to = cursor.accept_one(*_TARGETS)
    if to is None:
        cursor.fail("EARLIEST, LATEST, OFFSETS or TIMESTAMP")
    offsets = _offsets(cursor) if to == "OFFSETS" else ()
    timestamp = _timestamp(cursor) if to == "TIMESTAMP" else None
    return ResetTarget(cast("ResetTo", to), offsets, timestamp, cursor.span_from(start))


def _offsets(cursor: Cursor) -> tuple[tuple[int, int], ...]:
    """`(partition:offset, …)`, every partition once."""
    offsets: dict[int, int] = {}
    cursor.expect("(")
    while True:
        token = cursor.current
        partition = _number(cursor, "a partition number", _MAX_PARTITION)
        if partition in offsets:
            raise ParseError(f"partition {partition} is specified twice", span=cursor.span(token))
        cursor.expect(":")
        offsets[partition] = _number(cursor, "an offset", _MAX_OFFSET)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(offsets.items())


def _number(cursor: Cursor, what: str, most: int) -> int:
    token = cursor.current
    if cursor.word() == "-" and cursor.word(1).isdecimal():
        span = cursor.span(token, cursor.tokens[cursor.index + 1])
        raise ParseError(
            f"{what} must be 0 or more", span=span, hint="use TO EARLIEST to start at the first available record"
        )
    if token is None or token.token_type != TokenType.NUMBER or not re.fullmatch(r"\d+", token.text, re.ASCII):
        cursor.fail(what)
    if len(token.text) > len(str(most)) or int(token.text) > most:
        raise ParseError(f"{what} must be at most {most}", span=cursor.span(token))
    cursor.index += 1
    return int(token.text)


def _timestamp(cursor: Cursor) -> str:
    text, token = cursor.string("a quoted timestamp")
    if not _is_timestamp(text):
        raise ParseError(
            f"'{text}' is not a valid timestamp" if len(text) <= 40 else "not a valid timestamp",
            span=cursor.span(token),
            hint="use 'yyyy-MM-dd HH:mm:ss', in hive.local.time.zone",
        )
    return text.strip()


def _is_timestamp(text: str) -> bool:
    """Whether Hive parses the text as a timestamp with a valid date and time."""
    from datetime import datetime

    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        return False
    try:
        datetime(
            *(int(part) for part in match["date"].split("-")),  # type: ignore[arg-type]
            *(int(match[part] or 0) for part in ("hour", "minute", "second")),
        )
    except ValueError:
        return False
    return True


def parse_show_ingestion(source: SourceStatement, cursor: Cursor) -> Statement:
    """The statements after SHOW: INGESTIONS, TASKS, TASK, PROBLEMS, OFFSETS or TOPICS."""
    if cursor.accept("OFFSETS"):
        cursor.accept("FOR")
        name = cursor.table_name()
        cursor.end()
        return ShowOffsets(source, name)
    if cursor.accept("TASKS"):
        return _tasks(source, cursor)
    if cursor.accept("TASK"):
        return ShowTask(source, *_task(cursor))
    if cursor.accept("PROBLEMS"):
        cursor.end()
        return ShowProblems(source)
    shown = ShowTopics if cursor.accept("TOPICS") else ShowIngestions
    if shown is ShowIngestions:
        cursor.expect("INGESTIONS")
    like = like_pattern(cursor)
    cursor.end()
    return shown(source, like)


def parse_show_data_sources(source: SourceStatement, cursor: Cursor) -> Statement:
    like = like_pattern(cursor)
    cursor.end()
    return ShowDataSources(source, like)


def _tasks(source: SourceStatement, cursor: Cursor) -> ShowTasks:
    name = cursor.table_name() if cursor.accept("FOR") else None
    state, span = _task_state(cursor) if cursor.accept("WHERE") else (None, None)
    if not cursor.at_end:
        cursor.fail("FOR or WHERE" if name is None and state is None else "the end of the statement")
    return ShowTasks(source, name, state, span)


def _task_state(cursor: Cursor) -> tuple[str, Span]:
    text, span = where_state(cursor, "tasks", "RUNNING")
    state = text.upper()
    if state not in TASK_STATES:
        raise SemanticError(
            f"'{text}' is not a valid task state" if len(text) <= 40 else "not a valid task state",
            span=span,
            hint=did_you_mean(state, TASK_STATES) or f"valid states: {', '.join(TASK_STATES)}",
        )
    return state, span


def parse_kill(source: SourceStatement, cursor: Cursor) -> Statement:
    """KILL TASK 'id'."""
    if not cursor.accept("TASK"):
        hint = "use CANCEL JOB 'id'" if cursor.word() == "JOB" else None
        cursor.fail("TASK", hint=hint or did_you_mean(cursor.word(), ("TASK",)) or "use KILL TASK 'id'")
    return KillTask(source, *_task(cursor))


def _task(cursor: Cursor) -> tuple[str, Span]:
    return quoted_id(cursor, "a task id", "SHOW TASKS")
