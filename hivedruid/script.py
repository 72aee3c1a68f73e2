"""Splits scripts into statements with positions, and substitutes `${…}`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property

from hivedruid.errors import ParseError, SemanticError, Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.lazy_regex import regex
from hivedruid.secret_text import mask_from_first, mask_text, reference_places

SUBSTITUTE_DEPTH = 40
"""Hive's default of hive.variable.substitute.depth."""


@dataclass(frozen=True)
class SourceStatement:
    r"""One statement of a script, without its `;`, after substitution.

    `line` and `column` (1-based) give the start of the statement in `file`. If `text` differs from the file (a `${…}`
    was replaced, a `\;` became `;`), `original` is the text in the file, and `places` maps each character of `text` to
    its range in `original`.
    """

    text: str
    line: int = 1
    column: int = 1
    file: str | None = None
    original: str | None = field(default=None, repr=False, compare=False)
    places: tuple[tuple[int, int], ...] = field(default=(), repr=False, compare=False)
    nulls_last: bool = True
    """The default null order of ORDER BY (hive.default.nulls.last)."""

    def span(self, start: int, end: int | None = None) -> Span:
        """The position of `text[start:end]` in the script. Secrets in the line are replaced by stars."""
        text = self.text
        end = start + 1 if end is None else end
        if self.original is not None:
            text = self.original
            start, end = self._original_range(start, end)
        starts = self._line_starts
        lines_before = bisect_right(starts, start) - 1
        line_start = starts[lines_before]
        line_end = starts[lines_before + 1] if lines_before + 1 < len(starts) else len(text)
        source_line = self._lines.get(line_start)
        if source_line is None:
            source_line = self._masked[line_start:line_end].rstrip("\r\n")
            source_line = " " * (self.column - 1) + source_line if lines_before == 0 else source_line
            self._lines[line_start] = source_line
        column = start - line_start + (self.column if lines_before == 0 else 1)
        length = max(1, min(end - start, len(source_line) - column + 1))
        return Span(self.line + lines_before, column, length, source_line, self.file)

    @cached_property
    def _line_starts(self) -> list[int]:
        """The line start offsets of the original text."""
        return _line_starts(self.text if self.original is None else self.original)

    @cached_property
    def _lines(self) -> dict[int, str]:
        """A cache of displayed lines by start offset: a long line has many spans."""
        return {}

    @cached_property
    def _masked(self) -> str:
        """The original text with secrets replaced by stars, cached because every name in a query has a span."""
        return mask_text(self.text if self.original is None else self.original)

    def _original_range(self, start: int, end: int) -> tuple[int, int]:
        if start >= len(self.places):
            size = len(self.original or "")
            return size, size + 1
        last = max(start, min(end, len(self.places)) - 1)
        return self.places[start][0], self.places[last][1]


_PIECE = regex(
    r"""
      (?P<comment>--[^\r\n]*|/\*.*?\*/)
    | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|`[^`]*`)
    | (?P<escape>\\;)
    | (?P<end>;)
    | (?P<open>/\*|['"`])
    """,
    re.S | re.X,
)
_OPEN_NAMES = {"'": "string", '"': "string", "`": "quoted identifier", "/*": "comment"}


def split(text: str, file: str | None = None) -> Iterator[SourceStatement]:
    r"""The statements of a script, in order; empty statements and those with only comments are omitted.

    A `;` inside a string, a backquoted name or a comment does not end a statement, nor does `\;` (which becomes `;`).
    The last statement may go without `;`. Raises ParseError at an unterminated string, name or comment.
    """
    scanner = _Scanner(text, file)
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        scanner.plain(match.start())
        if kind == "open":
            raise scanner.unterminated(match)
        if kind == "end":
            if statement := scanner.finish(match.start()):
                yield statement
        elif kind == "escape":
            scanner.begin(match.start())
            scanner.escapes.append(match.start())
        elif kind == "string":
            scanner.begin(match.start())
        scanner.position = match.end()
    scanner.plain(len(text))
    if statement := scanner.finish(len(text)):
        yield statement


def without_comments(text: str) -> str:
    """The text with a blank in place of each comment. Hints (`/*+ … */`) stay."""

    def piece(match: re.Match[str]) -> str:
        return " " if match.lastgroup == "comment" and not match[0].startswith("/*+") else match[0]

    return _PIECE.sub(piece, text)


def is_complete(text: str) -> bool:
    """Whether every statement in `text` is complete, so that a prompt can run it."""
    begun = False
    end = 0
    for match in _PIECE.finditer(text):
        begun = begun or bool(_BLANK.sub("", text[end : match.start()]))
        if match.lastgroup == "open":
            return False
        if match.lastgroup == "end":
            begun = False
        elif match.lastgroup != "comment":
            begun = True
        end = match.end()
    return not begun and not _BLANK.sub("", text[end:])


def last_end(text: str) -> int:
    """The offset after the last `;` that ends a statement, 0 without one."""
    end = 0
    for match in _PIECE.finditer(text):
        if match.lastgroup == "open":
            break
        if match.lastgroup == "end":
            end = match.end()
    return end


_LINE_END = regex(r"\r\n?|\n")


def _line_starts(text: str) -> list[int]:
    """The offset of each line; lines end as comments do."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


_BLANK = regex(r"[\s\ufeff]+")
_SOLID = regex(r"[^\s\ufeff]")


class _Scanner:
    """Where `split` is: the offset reached, where the current statement began, and the `\\;` in it."""

    def __init__(self, text: str, file: str | None) -> None:
        self.text = text
        self.file = file
        self.position = 0
        self.start: int | None = None
        self.escapes: list[int] = []

    def begin(self, offset: int) -> None:
        if self.start is None:
            self.start = offset

    def plain(self, end: int) -> None:
        """Text without quotes, comments and semicolons: a statement starts at its first non-blank character."""
        if self.start is None and (match := _SOLID.search(self.text, self.position, end)):
            self.start = match.start()

    def finish(self, end: int) -> SourceStatement | None:
        start, escapes = self.start, self.escapes
        self.start, self.escapes = None, []
        if start is None:
            return None
        original = self.text[start:end].rstrip()
        line, column = self.place(start)
        if not escapes:
            return SourceStatement(original, line, column, self.file)
        dropped = {offset - start for offset in escapes}
        kept = [i for i in range(len(original)) if i not in dropped]
        text = "".join(original[i] for i in kept)
        return SourceStatement(text, line, column, self.file, original, tuple((i, i + 1) for i in kept))

    def place(self, offset: int) -> tuple[int, int]:
        """1-based line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    @cached_property
    def _starts(self) -> list[int]:
        return _line_starts(self.text)

    def unterminated(self, match: re.Match[str]) -> ParseError:
        start = match.start()
        line, column = self.place(start)
        line_end = self._starts[line] if line < len(self._starts) else len(self.text)
        begun = start - column + 1 if self.start is None else min(self.start, start - column + 1)
        shown = mask_from_first(self.text[begun:])
        source_line = shown[start - column + 1 - begun : line_end - begun].rstrip("\r\n")
        span = Span(line, column, len(match[0]), source_line, self.file)
        close = "*/" if match[0] == "/*" else match[0]
        return ParseError(
            f"unterminated {_OPEN_NAMES[match[0]]}: missing closing {close}",
            span=span,
            hint="add it, or check whether the script is truncated",
        )


_VARIABLE = regex(r"\$\{([^}$ ]+)\}")


def substitute(
    statement: SourceStatement,
    hivevars: Mapping[str, str],
    hiveconf: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
    system: Mapping[str, str] | None = None,
    *,
    depth: int = SUBSTITUTE_DEPTH,
) -> SourceStatement:
    """The statement with `${hivevar:x}`, `${x}`, `${hiveconf:x}`, `${env:X}` and `${system:x}` replaced.

    As in Hive, values are substituted recursively (up to `depth` times), `${a${b}}` is evaluated from the inside,
    strings and comments are included, and unknown variables are kept. Unlike in Hive, `${env:X}` as the whole value of
    a secret property is also kept: it is a reference, and the secret does not become part of the text. Raises
    SemanticError if the substitution does not terminate.
    """
    if "${" not in statement.text:
        return statement
    spaces = {"hivevar": hivevars, "hiveconf": hiveconf, "env": environment or {}, "system": system or {}}

    def look_up(name: str) -> str | None:
        prefix, colon, rest = name.partition(":")
        if colon and prefix in spaces:
            return spaces[prefix].get(rest)
        return hivevars.get(name)

    text = statement.text
    places = list(statement.places) or [(i, i + 1) for i in range(len(text))]
    for _ in range(depth + 1):
        replaced = _replace_once(text, places, look_up)
        if replaced is None:
            break
        text, places = replaced
    else:
        start = statement.text.find("${")
        raise SemanticError(
            f"variables are still unresolved after {depth} rounds of substitution",
            span=statement.span(start, statement.text.find("}", start) + 1),
            hint="check for a variable whose value refers to itself",
        )
    if text == statement.text:
        return statement
    original = statement.text if statement.original is None else statement.original
    return replace(statement, text=text, original=original, places=tuple(places))


def _replace_once(
    text: str, places: list[tuple[int, int]], look_up: Callable[[str], str | None]
) -> tuple[str, list[tuple[int, int]]] | None:
    """One round of substitution, or None if there is nothing to replace."""
    parts: list[str] = []
    new_places: list[tuple[int, int]] = []
    end = 0
    kept = reference_places(text)
    for match in _VARIABLE.finditer(text):
        value = look_up(match[1])
        if value is None or match.start() in kept:
            continue
        parts += (text[end : match.start()], value)
        new_places += places[end : match.start()]
        new_places += [(places[match.start()][0], places[match.end() - 1][1])] * len(value)
        end = match.end()
    if not parts:
        return None
    return "".join(parts) + text[end:], new_places + places[end:]


def source_path(statement: SourceStatement) -> str | None:
    """The path of a SOURCE statement, None for any other."""
    if statement.text.lstrip()[:6].lower() != "source":
        return None
    from hivedruid.parser import parse
    from hivedruid.parser.statements import SourceScript

    parsed = parse(statement)
    return parsed.path if isinstance(parsed, SourceScript) else None
