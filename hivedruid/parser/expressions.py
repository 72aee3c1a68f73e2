"""Single expressions within statements that are not queries."""

from __future__ import annotations

from sqlglot import Token, TokenType, exp

from hivedruid.errors import Span
from hivedruid.parser.queries import CLOSING, OPENING, parse_query
from hivedruid.parser.tokens import Cursor, token_at
from hivedruid.script import SourceStatement


def tokens_until(cursor: Cursor, words: set[str], what: str = "an expression") -> list[Token]:
    """The tokens up to one of the words outside parentheses and CASE, or to the end."""
    depth, end = 0, len(cursor.tokens)
    for place in range(cursor.index, len(cursor.tokens)):
        token = cursor.tokens[place]
        word = "" if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) else token.text.upper()
        if depth == 0 and word in words:
            end = place
            break
        depth += (word in OPENING or word == "CASE") - (word in CLOSING or word == "END")
    if end == cursor.index:
        cursor.fail(what)
    tokens = cursor.tokens[cursor.index : end]
    cursor.index = end
    return tokens


def parse_expression(source: SourceStatement, tokens: list[Token]) -> tuple[exp.Expression, Span]:
    """One expression and its position."""
    query = parse_query(source, [token_at(tokens[0], TokenType.SELECT, "SELECT"), *tokens])
    items = query.expressions if isinstance(query, exp.Select) else []
    if len(items) != 1 or {key for key, value in query.args.items() if value} != {"expressions"}:
        Cursor(source, tokens).fail("an expression")
    if items[0].is_star:
        Cursor(source, tokens).fail("an expression")
    if isinstance(items[0], exp.Alias):
        Cursor(source, tokens[-1:]).fail("the end of the expression")
    return items[0], source.span(tokens[0].start, tokens[-1].end + 1)
