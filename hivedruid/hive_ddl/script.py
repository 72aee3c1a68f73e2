"""Scripts of Hive, and what its shells print: statements, also without `;`, and the comments between them."""

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
"""What no script has; without it a line that is `OK` stays."""
_CREATED = ("EXTERNAL", "MANAGED", "TEMPORARY", "TRANSACTIONAL", "MATERIALIZED", "TABLE", "VIEW", "DATABASE")


def statements(text: str, file: str | None = None) -> Iterator[tuple[str, SourceStatement]]:
    """Each statement, with the comments in front of it.

    Where SHOW CREATE TABLE was printed one after the other without `;`, a CREATE that begins a line ends the one before.
    Raises ParseError, when it gets there, for a string, name or comment that is never closed.
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
    """The text without what beeline and Hive's command line print around a statement; every character keeps its place."""

    def blank(match: re.Match[str]) -> str:
        return " " * len(match[0])

    framed = _FRAME.search(text) is not None
    if framed:
        text = _FRAMED.sub(lambda match: f" {match['inside']}".ljust(len(match[0])), _FRAME.sub(blank, text))
    return _PRINTED.sub(blank, text) if framed or _SHELL.search(text) else text


def _comments(between: str) -> str:
    """The comments between two statements, without the `;` and blank lines in front of them."""
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
    """Where in the text a CREATE begins a line, outside brackets, and no statement that takes one stands before it."""
    try:
        tokens = tokenize(source)
    except ParseError:
        return []
    cursor = Cursor(source, tokens)
    found, depth = [], 0
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
            found.append(token.start)
    return found
