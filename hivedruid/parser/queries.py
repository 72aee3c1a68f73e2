"""Parses SELECT in any form: Hive's tokens to sqlglot's tree."""

from __future__ import annotations

import re

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError as SqlglotParseError

from hivedruid.errors import ParseError, did_you_mean
from hivedruid.lazy_regex import regex
from hivedruid.parser.cast_formats import with_cast_formats
from hivedruid.parser.checks import check_query_tokens, span_of
from hivedruid.parser.functions import keep_function_names
from hivedruid.parser.intervals import with_interval_words
from hivedruid.parser.literal_lists import set_lists, with_short_lists
from hivedruid.parser.loose_files import with_loose_files
from hivedruid.parser.names import with_marked_elements, with_names, without_marks
from hivedruid.parser.precedence import arrange
from hivedruid.parser.query_types import with_type_words
from hivedruid.parser.scripts import with_transform
from hivedruid.parser.table_functions import without_table_functions
from hivedruid.parser.time_travel import with_time_travel
from hivedruid.parser.tokens import HIVE, HIVE_NULLS_LAST, describe
from hivedruid.script import SourceStatement

OPENING = {"(", "[", "{"}
CLOSING = {")", "]", "}"}
QUERY_WORDS = ("SELECT", "WITH", "FROM", "VALUES", "MAP", "REDUCE", "(")
# What may follow the SELECT list of `FROM … SELECT …`; the FROM belongs before it.
_AFTER_SELECT_LIST = {
    "WHERE", "GROUP BY", "HAVING", "QUALIFY", "WINDOW", "ORDER BY", "CLUSTER BY", "DISTRIBUTE BY", "SORT BY", "LIMIT",
    "UNION", "EXCEPT", "MINUS", "INTERSECT", "LATERAL",
}  # fmt: skip


def parse_query(source: SourceStatement, tokens: list[Token]) -> exp.Expression:
    """The tree of a query. Positions in its `meta` count from the start of `source.text`.

    Raises ParseError, with the position, for anything but one complete query.
    """
    tokens = without_table_functions(source, _from_first(source, with_transform(with_names(tokens))))
    if not tokens:
        raise ParseError("expected a query, found the end of the statement", span=source.span(len(source.text)))
    tokens = with_time_travel(source, tokens)
    check_query_tokens(source, tokens)
    short, lists = with_short_lists(tokens)
    tree = _tree(source, tokens, short)
    return tree if set_lists(tree, lists) else _tree(source, tokens, tokens)


def _tree(source: SourceStatement, tokens: list[Token], short: list[Token]) -> exp.Expression:
    """The tree of the tokens `short`, with errors about all `tokens`."""
    marked = with_marked_elements(short) if any(token.token_type == TokenType.L_BRACKET for token in short) else short
    try:
        dialect = HIVE_NULLS_LAST if source.nulls_last else HIVE
        tokens_of_sqlglot = with_type_words(keep_function_names(with_interval_words(with_cast_formats(marked))))
        trees = dialect.parser().parse(tokens_of_sqlglot, source.text)
    except SqlglotParseError as error:
        raise _parse_error(source, tokens, error) from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ):  # sqlglot's own, on calls such as map('a')
        message = "cannot parse the query: a function has too few arguments"
        raise ParseError(message, span=source.span(tokens[0].start, tokens[0].end + 1)) from None
    except RecursionError:
        raise ParseError("the query is nested too deeply", span=source.span(tokens[0].start)) from None
    tree = trees[0] if len(trees) == 1 else None
    if not (isinstance(tree, exp.Query | exp.Values) and isinstance(tree, exp.Expression)):
        message = f"expected a query, found {describe(source, tokens[0])}"
        raise ParseError(
            message, span=span_of(source, tokens[0]), hint="a query starts with SELECT, WITH, FROM or VALUES"
        )
    if marked is not short:
        without_marks(tree)
    with_loose_files(source, tree)
    return arrange(tree)


def split_at_depth(tokens: list[Token], words: set[str]) -> list[int]:
    """The positions of those words outside parentheses."""
    depth = 0
    parts = []
    for i, token in enumerate(tokens):
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        text = token.text.upper()
        if text in OPENING:
            depth += 1
        elif text in CLOSING:
            depth -= 1
        elif depth == 0 and text in words:
            parts.append(i)
    return parts


def _from_first(source: SourceStatement, tokens: list[Token]) -> list[Token]:
    """`[WITH …] FROM t SELECT a WHERE …` in the order that sqlglot expects: `SELECT a FROM t WHERE …`."""
    if not tokens or tokens[0].token_type not in (TokenType.FROM, TokenType.WITH):
        return tokens
    starts = split_at_depth(tokens, {"SELECT", "FROM"})
    if not starts or tokens[starts[0]].token_type != TokenType.FROM:
        return tokens
    begin = starts[0]
    selects = [i for i in starts if tokens[i].token_type == TokenType.SELECT]
    if not selects:
        raise ParseError(
            "expected 'SELECT' or 'INSERT' after FROM, found the end of the statement", span=span_of(source, tokens[-1])
        )
    select = selects[0]
    after = [i for i in split_at_depth(tokens[select:], _AFTER_SELECT_LIST) if i > 0]
    end = select + after[0] if after else len(tokens)
    return tokens[:begin] + tokens[select:end] + tokens[begin:select] + tokens[end:]


_EXPECTED = regex(r"Expect(?:ed|ing):? ?(.+?)(?: but got .*|\. Got .*)?$", re.S)


def _parse_error(source: SourceStatement, tokens: list[Token], error: SqlglotParseError) -> ParseError:
    """sqlglot's first error as a ParseError: what was expected, what was found, and where."""
    details = error.errors[0] if error.errors else {}
    line, column = details.get("line"), details.get("col")
    token = next((t for t in tokens if t.line == line and t.col == column), None)
    description = str(details.get("description") or "")
    last = token is tokens[-1] if token else True
    if "Required keyword" in description or (last and "<Token token_type: TokenType.SENTINEL" in description):
        at_end = token is None or last
        where = "the end of the statement" if at_end and "SENTINEL" in description else describe(source, token)
        if "Required keyword" in description:
            place = "after" if last and token is not None else "near"
            return ParseError(f"something is missing {place} {where}", span=span_of(source, token))
        expected = match[1] if (match := _EXPECTED.match(description)) else "more"
        return ParseError(f"expected {expected}, found {where}", span=source.span(len(source.text)))
    if match := _EXPECTED.match(description):
        expected = match[1] if match[1][:1].islower() or " " in match[1] else f"'{match[1]}'"
        if last and match[1] == ")" and _is_open(tokens):
            message = f"expected {expected}, found the end of the statement"
            return ParseError(message, span=source.span(len(source.text)))
        return ParseError(f"expected {expected}, found {describe(source, token)}", span=span_of(source, token))
    hint = _misspelt_clause(tokens, token) if token is not None else None
    return ParseError(f"unexpected {describe(source, token)}", span=span_of(source, token), hint=hint)


_CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "UNION", "LATERAL")


def _misspelt_clause(tokens: list[Token], token: Token) -> str | None:
    """The hint for an unexpected WHRE, and for the t of `SELECT a FORM t`, where FORM is read as an alias."""
    place = tokens.index(token)
    words = [
        each.text.upper() for each in (token, *tokens[max(0, place - 1) : place]) if each.token_type == TokenType.VAR
    ]
    return next(filter(None, (did_you_mean(word, _CLAUSES) for word in words)), None)


def _is_open(tokens: list[Token]) -> bool:
    kinds = [token.token_type for token in tokens]
    return kinds.count(TokenType.L_PAREN) > kinds.count(TokenType.R_PAREN)
