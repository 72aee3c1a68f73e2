"""A statement being rewritten: its tokens, its edits, and the findings."""

from __future__ import annotations

from sqlglot import Token, TokenType

from hivedruid.hive_ddl.findings import Finding, FindingKind
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.tokens import Cursor, tokenize
from hivedruid.script import SourceStatement


@dataclass(frozen=True)
class Pair:
    """`'key' = 'value'`; `written` is its original spelling, empty if it was changed."""

    key: str
    value: str
    written: str = ""


class Draft:
    """Edits are ranges of the statement's text; everything else keeps its original spelling."""

    def __init__(self, source: SourceStatement) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.findings: list[Finding] = []
        self._edits: list[tuple[int, int, str]] = []

    def say(self, kind: FindingKind, text: str) -> None:
        self.findings.append(Finding(kind, text))

    def replace(self, start: int, end: int, text: str) -> None:
        self._edits.append((start, end, text))

    def remove(self, start: int, end: int) -> None:
        """Remove a range, and its line if that becomes empty."""
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end + 1
        alone = not text[line_start:start].strip() and not text[end:line_end].strip()
        self._edits.append((line_start, line_end, "") if alone else (start, end, ""))

    @property
    def text(self) -> str:
        """The statement with the edits applied."""
        result = self.source.text
        for start, end, text in sorted(self._edits, reverse=True):
            result = result[:start] + text + result[end:]
        return result.rstrip()

    def cursor(self, index: int = 0) -> Cursor:
        cursor = Cursor(self.source, self.tokens)
        cursor.index = index
        return cursor

    def pairs(self, index: int) -> tuple[list[Pair], int] | None:
        """The properties in the parentheses at token `index`, and the index of the closing parenthesis; None if it is
        not a property list."""
        cursor = self.cursor(index)
        if not cursor.accept("("):
            return None
        result: list[Pair] = []
        while True:
            key = self._string(cursor)
            equals = cursor.accept("=")
            value = self._string(cursor)
            if key is None or not equals or value is None:
                return None
            result.append(Pair(key.text, value.text, self.source.text[key.start : value.end + 1]))
            if cursor.word() == ")":
                return result, cursor.index
            if not cursor.accept(","):
                return None

    @staticmethod
    def _string(cursor: Cursor) -> Token | None:
        token = cursor.current
        if token is None or token.token_type != TokenType.STRING:
            return None
        cursor.index += 1
        return token

    def replace_pairs(self, index: int, end: int, pairs: list[Pair]) -> None:
        """Rewrite the list between the parentheses at these tokens."""
        self.replace(self.tokens[index].start, self.tokens[end].end + 1, listed(pairs))


def listed(pairs: list[Pair]) -> str:
    from hivedruid.actions.utility.show import quoted

    lines = (pair.written or f"{quoted(pair.key)} = {quoted(pair.value)}" for pair in pairs)
    return "(\n  " + ",\n  ".join(lines) + ")"
