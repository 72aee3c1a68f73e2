"""Splits Hive scripts and shell output into statements, with or without `;`, and the comments between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hivedruid.errors import ParseError
from hivedruid.parser.tokens import Cursor, tokenize
from hivedruid.script import SourceStatement, split

_FRAME = re.compile(r"^\+-[-+]*\+[ \t]*$", re.MULTILINE)
_FRAMED = re.compile(r"^\|(?P<inside>.*?)\|?[ \t]*$", re.MULTILINE)
_PRINTED = re.compile(
    r"^[ \t|]*createtab_stmt[ \t|]*$|^\d[\d,]* rows? (?:selected|affected).*$|^Time taken: .*$|^OK[ \t]*$", re.MULTILINE
)
_SHELL = re.compile(r"^(?:createtab_stmt[ \t]*$|Time taken: )", re.MULTILINE)
"""Output that scripts never contain; without it a line `OK` is kept."""
_CREATED = ("EXTERNAL", "MANAGED", "TEMPORARY", "TRANSACTIONAL", "MATERIALIZED", "TABLE", "VIEW", "DATABASE")


def statements(text: str, file: str | None = None) -> Iterator[tuple[str, SourceStatement]]:
    """Each statement, with the comments before it. In SHOW CREATE TABLE output without `;`, a CREATE at the start of a
    line ends the previous statement. Raises ParseError at an unterminated string, name or comment.
    """
    text = without_frames(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    end = 0
    for source in split(text, file):
        begin = starts[source.line - 1] + source.column - 1
        comments = _comments(text[end:begin])
        end = begin + len(source.original or source.text)
        for piece in _pieces(source):
            yield comments, piece
            comments = ""


def without_frames(text: str) -> str:
    """The text without the frames that beeline and the Hive CLI print around statements; all characters keep their
    positions."""

    def blank(match: re.Match[str]) -> str:
        return " " * len(match[0])

    framed = _FRAME.search(text) is not None
    if framed:
        text = _FRAMED.sub(lambda match: f" {match['inside']}".ljust(len(match[0])), _FRAME.sub(blank, text))
    return _PRINTED.sub(blank, text) if framed or _SHELL.search(text) else text


def _comments(between: str) -> str:
    """The comments between two statements, without the preceding `;` and blank lines."""
    return between.strip().removeprefix(";").strip()


def _pieces(source: SourceStatement) -> Iterator[SourceStatement]:
    begins = _begins(source)
    if not begins:
        yield source
        return
    text = source.text
    for start, end in zip([0, *begins], [*begins, len(text)], strict=True):
        span = source.span(start)
        yield replace(
            source, text=text[start:end].rstrip(), line=span.line, column=span.column, original=None, places=()
        )


def _begins(source: SourceStatement) -> list[int]:
    """The offsets of CREATE at the start of a line, outside parentheses, that is not part of another statement."""
    try:
        tokens = tokenize(source)
    except ParseError:
        return []
    cursor = Cursor(source, tokens)
    starts, depth = [], 0
    for index, token in enumerate(tokens):
        cursor.index = index
        depth += {"(": 1, ")": -1}.get(cursor.word(), 0)
        line_start = source.text.rfind("\n", 0, token.start) + 1
        if (
            index > 0
            and depth <= 0
            and cursor.word() == "CREATE"
            and cursor.word(1) in _CREATED
            and not source.text[line_start : token.start].strip()
        ):
            starts.append(token.start)
    return starts
