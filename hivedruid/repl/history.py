"""The input history and the colours of a statement, for prompt_toolkit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.history import FileHistory
from prompt_toolkit.lexers import Lexer, PygmentsLexer
from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]

from hivedruid.errors import ParseError, UsageError
from hivedruid.private import is_read_only
from hivedruid.script import split
from hivedruid.secret_text import mask_text

if TYPE_CHECKING:
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples

SHORT = 500
"""Lines of a statement that is coloured as a whole."""


class History(FileHistory):
    """The input history, in a private file. Secrets are replaced by stars. In a home that can only be read, further
    input is only remembered by the prompt."""

    def __init__(self, path: Path) -> None:
        self._is_kept = not is_read_only(path.parent)
        try:
            if self._is_kept:
                path.touch(mode=0o600)
                path.chmod(0o600)
        except OSError as error:
            raise UsageError(f"cannot write the history {path}: {error.strerror}") from None
        super().__init__(path)

    def store_string(self, string: str) -> None:
        if self._is_kept and string.strip() and (masked := _masked(string)):
            super().store_string(masked)


def _masked(text: str) -> str:
    """An input with its secrets replaced by stars. SET is recognized at the start of each statement only. An input that
    cannot be split into statements is not kept: "".
    """
    masked, position = mask_text(text), 0
    try:
        for item in split(text):
            original = item.text if item.original is None else item.original
            position = text.index(original, position)
            end = position + len(original)
            both = zip(masked[position:end], mask_text(original), strict=True)
            inside = "".join("*" if "*" in pair else pair[0] for pair in both)
            masked = masked[:position] + inside + text[end : end + 1] + masked[end + 1 :]  # `;` is no secret
            position = end
    except ParseError:
        return ""
    return masked


class StatementLexer(Lexer):
    """The colours of a statement. Every key computes them anew: in a long one only from some lines before those on the
    screen, so that a comment or string of many lines may be displayed without its colour.
    """

    def __init__(self) -> None:
        self._from_start = PygmentsLexer(SqlLexer)
        self._from_screen = PygmentsLexer(SqlLexer, sync_from_start=False)

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lexer = self._from_start if document.line_count <= SHORT else self._from_screen
        return lexer.lex_document(document)
