"""ALTER TABLE … EXECUTE, as in Hive 4."""

from __future__ import annotations

import re
from typing import NoReturn

from sqlglot import TokenType

from hivedruid.errors import UnsupportedError, did_you_mean
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.snapshots import DeleteOrphanFiles, ExpireSnapshots, SetSnapshot
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

_WORDS = ("EXPIRE_SNAPSHOTS", "DELETE", "ROLLBACK", "SET_CURRENT_SNAPSHOT")
_TIME = "a quoted timestamp"


def parse_execute(source: SourceStatement, cursor: Cursor, name: TableName) -> Statement:
    """The rest of ALTER TABLE table EXECUTE."""
    start = cursor.index
    if cursor.accept("EXPIRE_SNAPSHOTS"):
        return _expire(source, cursor, name, start)
    if cursor.accept("DELETE", "ORPHAN", "-", "FILES"):
        time = _quoted(cursor) if cursor.accept("OLDER", "THAN") else None
        return DeleteOrphanFiles(source, name, time, cursor.span_from(start))
    if cursor.accept("ROLLBACK"):
        cursor.expect("(")
        token = cursor.current
        is_time = token is not None and token.token_type == TokenType.STRING
        time, id_ = (cursor.string()[0], None) if is_time else (None, cursor.integer("a snapshot id or a timestamp"))
        cursor.expect(")")
        return SetSnapshot(source, name, id_, time, span=cursor.span_from(start))
    if not cursor.accept("SET_CURRENT_SNAPSHOT"):
        _refuse(cursor)
    cursor.expect("(")
    id_ = cursor.integer("a snapshot id")
    cursor.expect(")")
    return SetSnapshot(source, name, id_, is_rollback=False, span=cursor.span_from(start))


def _refuse(cursor: Cursor) -> NoReturn:
    word = cursor.word()
    if word.startswith(("CHERRY", "FAST")):
        raise UnsupportedError(
            f"EXECUTE {word} is not supported", span=cursor.span(), hint="managed tables have no branches"
        )
    cursor.fail(
        "EXPIRE_SNAPSHOTS, DELETE ORPHAN-FILES, ROLLBACK or SET_CURRENT_SNAPSHOT", hint=did_you_mean(word, _WORDS)
    )


def _expire(source: SourceStatement, cursor: Cursor, name: TableName, start: int) -> ExpireSnapshots:
    times: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    retain = None
    if cursor.word() == "(":
        text = _quoted(cursor)
        if re.fullmatch(r"\s*\d{1,19}(\s*,\s*\d{1,19})*\s*", text, re.ASCII):
            ids = tuple(map(int, text.split(",")))
        else:
            times = (text,)
    elif cursor.accept("BETWEEN"):
        first = cursor.string(_TIME)[0]
        cursor.expect("AND")
        times = (first, cursor.string(_TIME)[0])
    elif cursor.accept("RETAIN"):
        cursor.expect("LAST")
        retain = cursor.integer("the number of snapshots")
    return ExpireSnapshots(source, name, times, ids, retain, cursor.span_from(start))


def _quoted(cursor: Cursor) -> str:
    cursor.expect("(")
    text = cursor.string(_TIME)[0]
    cursor.expect(")")
    return text
