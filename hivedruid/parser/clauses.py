"""Clauses shared by several statements."""

from __future__ import annotations

from sqlglot import TokenType

from hivedruid.errors import Span
from hivedruid.parser.tokens import Cursor


def like_pattern(cursor: Cursor) -> str | None:
    """`[LIKE] 'pattern'`. LIKE is optional, as in Hive: SHOW TABLES 'a*', and SHOW FUNCTIONS floor_day."""
    if cursor.accept("LIKE"):
        return cursor.string("a quoted pattern")[0]
    if cursor.at_end:
        return None
    if cursor.word():
        return cursor.name("a pattern")[0]
    return cursor.string("a quoted pattern")[0]


def quoted_id(cursor: Cursor, what: str, listing: str) -> tuple[str, Span]:
    """A quoted id at the end of the statement; `listing` is the statement that lists the ids."""
    token = cursor.current
    if token is None or token.token_type != TokenType.STRING or not token.text.strip():
        cursor.fail(f"{what} as a quoted string", hint=f"run {listing} to list the ids")
    cursor.index += 1
    cursor.end()
    return token.text, cursor.span(token)


def where_state(cursor: Cursor, things: str, example: str) -> tuple[str, Span]:
    """The condition after WHERE: STATE = 'state'."""
    if not cursor.accept("STATE"):
        cursor.fail("STATE", hint=f"{things} can only be filtered by STATE: WHERE STATE = '{example}'")
    cursor.expect("=")
    text, token = cursor.string("a quoted state")
    return text, cursor.span(token)
