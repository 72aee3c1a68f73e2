"""The result of converting a Hive statement."""

from __future__ import annotations

from typing import Literal

from hivedruid.lazy_dataclass import dataclass
from hivedruid.script import SourceStatement

FindingKind = Literal["changed", "dropped", "note", "refused"]


@dataclass(frozen=True)
class Finding:
    """A remark about a statement; `text` is one line without secrets, `hint` says what to do.

    changed: the syntax has changed. dropped: a part without effect in hivedruid was removed. note: the same text has
    another meaning than in Hive, or has requirements. refused: hivedruid has no equivalent.
    """

    kind: FindingKind
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.text}; {self.hint}" if self.hint else self.text


@dataclass(frozen=True)
class Imported:
    """A Hive statement and its conversion.

    `text` is the statement to run instead, without `;`. It is empty if nothing is left to run, and None if the
    statement cannot be mapped; `findings` contain the reason. `summary` describes the created table; `comments` are
    the comments before the statement.
    """

    source: SourceStatement
    text: str | None
    findings: tuple[Finding, ...] = ()
    summary: str = ""
    comments: str = ""

    @property
    def place(self) -> str:
        return f"{self.source.file}:{self.source.line}" if self.source.file else f"line {self.source.line}"
