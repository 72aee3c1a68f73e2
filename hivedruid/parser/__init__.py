"""Parses the text of a statement to a `Statement`. sqlglot's Hive dialect parses SELECT, alone or inside other
statements. Small parsers over sqlglot's tokens parse the rest, one module per family; queries load none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from hivedruid.errors import ParseError, Span, UnsupportedError
from hivedruid.lazy_regex import regex
from hivedruid.parser.queries import QUERY_WORDS, parse_query, split_at_depth
from hivedruid.parser.statements import Explain, Query, Statement
from hivedruid.parser.tokens import next_sign, next_word, tokenize
from hivedruid.script import SourceStatement
from hivedruid.secret_text import closed

if TYPE_CHECKING:
    from hivedruid.parser.macros import Macro

__all__ = ["parse"]


def parse(source: SourceStatement, macros: Mapping[str, Macro] | None = None) -> Statement:
    """Parse `source`, with calls of `macros` replaced by their expressions.

    Raises ParseError if the text is not a statement of the dialect, and UnsupportedError if hivedruid does not support
    it; both with the position.
    """
    if not source.text.isascii() and (broken := _SURROGATE.search(source.text)):
        raise ParseError(
            "the statement contains a lone surrogate, which is not valid in UTF-8",
            span=source.span(*broken.span()),
            hint="save the script as UTF-8 and write characters beyond U+FFFF directly",
        )
    try:
        statement = _parse_from(source, 0)
        if not macros:
            return statement
        from hivedruid.parser.macros import expanded

        return expanded(statement, macros)
    except (ParseError, UnsupportedError) as error:
        if error.hint is None and isinstance(error, ParseError):
            error.hint = _end_of_statement(source, error.span)
        closed(error, source.line, source.text if source.original is None else source.original)
        raise


def _end_of_statement(source: SourceStatement, span: Span | None) -> str | None:
    """The hint for an error at one of the first two words of a line that begins as a statement does: the `;` before it
    may be missing."""
    if span is None or span.line <= source.line:
        return None
    from hivedruid.parser.commands import STARTS

    words = list(islice(re.finditer(r"\w+", span.source_line), 2))
    if not words or words[0][0].upper() not in STARTS or span.column - 1 not in [word.start() for word in words]:
        return None
    return f"if a new statement begins with {words[0][0].upper()}, end the one before it with ;"


_SURROGATE = regex("[\ud800-\udfff]")


def _parse_from(source: SourceStatement, offset: int) -> Statement:
    word, start, end = next_word(source.text, offset)
    if word == "EXPLAIN":
        return _explain(source, start, end)
    if word in QUERY_WORDS or next_sign(source.text, offset)[0] == "(":
        tokens = tokenize(source, offset)
        if word not in ("FROM", "WITH") or not split_at_depth(tokens, {"INSERT"}):
            return Query(source, parse_query(source, tokens))
        word = "INSERT"
    from hivedruid.parser.commands import parse_command

    return parse_command(source, word, offset, end)


def _explain(source: SourceStatement, start: int, end: int) -> Statement:
    if start > 0 and next_word(source.text)[1] != start:
        raise ParseError("expected a statement to explain, found EXPLAIN", span=source.span(start, end))
    from hivedruid.parser.explain import options

    mode, notes, begin = options(source, end)
    if next_word(source.text, begin)[0] == "SOURCE":
        raise UnsupportedError(
            "EXPLAIN SOURCE is not supported",
            span=source.span(start, end),
            hint="run EXPLAIN for each statement of the script",
        )
    return Explain(source, _parse_from(source, begin), mode, notes)
