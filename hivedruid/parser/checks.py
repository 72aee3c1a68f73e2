"""Checks a query's tokens before sqlglot parses them, since sqlglot accepts text that is not valid in Hive."""

from __future__ import annotations

from sqlglot import Token, TokenType, exp

from hivedruid.errors import ParseError, Span
from hivedruid.parser.cast_formats import CASTS
from hivedruid.parser.functions import BEFORE_CALL
from hivedruid.parser.tokens import Cursor, describe, unset_variable
from hivedruid.parser.types import parse_type
from hivedruid.script import SourceStatement

_BY = {TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.CLUSTER_BY, TokenType.DISTRIBUTE_BY, TokenType.SORT_BY}
# An expression must follow these …
_BEFORE_ITEM = {TokenType.COMMA, TokenType.SELECT, TokenType.GROUP_BY}
# … and cannot start with these.
_NO_ITEM = _BY | {
    TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.WHERE, TokenType.HAVING, TokenType.LIMIT,
    TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT,
}  # fmt: skip
_FOREIGN = {TokenType.INTO, TokenType.FOR, TokenType.PLACEHOLDER, TokenType.PARAMETER, TokenType.DCOLON}
_FOREIGN_BEFORE: dict[TokenType, tuple[str, ...]] = {
    TokenType.FETCH: ("FIRST", "NEXT"),
    TokenType.PIVOT: ("(",),
    TokenType.UNPIVOT: ("(",),
}
_EMPTY_BRACKETS = {TokenType.IN, TokenType.VALUES}
_WATCHED = (
    _BEFORE_ITEM | _NO_ITEM | _FOREIGN | set(_FOREIGN_BEFORE) | {TokenType.L_PAREN, TokenType.DOT, TokenType.DISTINCT}
)


def check_query_tokens(source: SourceStatement, tokens: list[Token]) -> None:
    """Raise ParseError for empty items (`a,,b`, `SELECT FROM t`), other dialects' words, and variables that are not
    set.

    Cast types are those of CREATE TABLE: sqlglot accepts many more.
    """
    _check_casts(source, tokens)
    for i, token in enumerate(tokens):
        kind = token.token_type
        if kind in _WATCHED:
            before = tokens[i - 1] if i else None
            following = tokens[i + 1] if i + 1 < len(tokens) else None
            _check_foreign(source, token, before, following)
            _check_item(source, tokens, i, following)


def _check_casts(source: SourceStatement, tokens: list[Token]) -> None:
    """Parse the type after AS in each CAST like a column type."""
    is_cast: list[bool] = []  # for each open parenthesis
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.L_PAREN:
            is_cast.append(i > 0 and tokens[i - 1].text.upper() in CASTS)
        elif token.token_type == TokenType.R_PAREN:
            if is_cast:
                is_cast.pop()
        elif token.token_type == TokenType.ALIAS and is_cast and is_cast[-1]:
            cursor = Cursor(source, tokens)
            cursor.index = i + 1
            if cursor.word() not in ("INTERVAL", "TIMESTAMPLTZ"):  # the latter is added by hivedruid: see tokens
                parse_type(cursor)
                if cursor.accept("FORMAT"):
                    cursor.string("a pattern in quotes")
                    if cursor.word() != ")":
                        cursor.fail(")")


def _check_foreign(source: SourceStatement, token: Token, before: Token | None, following: Token | None) -> None:
    kind = token.token_type
    if kind in _FOREIGN_BEFORE:
        is_call = before is not None and before.token_type in BEFORE_CALL
        if is_call or following is None or following.text.upper() not in _FOREIGN_BEFORE[kind]:
            return
    elif kind not in _FOREIGN or (kind == TokenType.DCOLON and before is not None and before.start == token.start):
        return  # a number such as 10L is tokenized as 10 :: L, all at the same position
    if kind == TokenType.PARAMETER and (unset := unset_variable(source, token.start)) is not None:
        raise unset
    raise ParseError(f"unexpected {describe(source, token)}", span=span_of(source, token))


def _check_item(source: SourceStatement, tokens: list[Token], i: int, following: Token | None) -> None:
    kind = tokens[i].token_type
    before = tokens[i - 1].token_type if i else None
    if kind == TokenType.LIMIT:
        if following is not None and following.token_type != TokenType.NUMBER:
            raise _expected(source, "an integer", following)
        return
    if kind == TokenType.DOT:
        # Of a number with a suffix, such as 5BD in `a.5BD`, sqlglot drops what is before the dot.
        suffix = tokens[i + 2] if i + 2 < len(tokens) and tokens[i + 1].token_type == TokenType.NUMBER else None
        has_suffix = suffix is not None and suffix.start == tokens[i + 1].start
        if following is None or following.token_type == TokenType.FROM or has_suffix:
            raise _expected(source, "a name", following)
        return
    needs_item = kind in _BEFORE_ITEM or (kind == TokenType.DISTINCT and before == TokenType.SELECT)
    if needs_item and (following is None or following.token_type in _NO_ITEM):
        raise _expected(source, "an expression", following)
    if kind == TokenType.L_PAREN and following is not None:
        empty = following.token_type == TokenType.R_PAREN and before in _EMPTY_BRACKETS
        if empty or following.token_type == TokenType.COMMA:
            raise _expected(source, "an expression", following)


def _expected(source: SourceStatement, what: str, token: Token | None) -> ParseError:
    if token is not None and (unset := unset_variable(source, token.start)) is not None:
        return unset
    return ParseError(f"expected {what}, found {describe(source, token)}", span=span_of(source, token))


def span_of(source: SourceStatement, token: Token | None) -> Span:
    """The position of a token, or of the end of the statement."""
    if token is None:
        return source.span(len(source.text))
    return source.span(token.start, token.end + 1)


def placed(e: exp.Expr) -> exp.Expr | None:
    """The first part of an expression with a position from sqlglot: `start` and `end` of its `meta`."""
    for node in e.walk():
        if node.meta.get("start") is not None and node.meta.get("end") is not None:
            return node
    return None


def span_of_expression(source: SourceStatement, e: exp.Expr) -> Span | None:
    """The position of an expression, None if no part of it has one."""
    node = placed(e)
    return None if node is None else source.span(node.meta["start"], node.meta["end"] + 1)
