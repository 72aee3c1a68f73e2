"""What is said of a statement of Hive: values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hivedruid.script import SourceStatement

FindingKind = Literal["changed", "dropped", "note", "refused"]


@dataclass(frozen=True)
class Finding:
    """Something to know about a statement; `text` is one line and holds no secret.

    changed: it is written differently now. dropped: a part of it is gone that has no effect here. note: the same text means
    something else than it did, or needs something. refused: there is no way to say it here.
    """

    kind: FindingKind
    text: str


@dataclass(frozen=True)
class Imported:
    """A statement of Hive and what became of it.

    `text` is the statement to run instead, without `;`. It is empty where nothing is left to do, and None where the statement
    cannot be mapped: `findings` say why. `summary` is what it makes; `comments` are those in front of it.
    """

    source: SourceStatement
    text: str | None
    findings: tuple[Finding, ...] = ()
    summary: str = ""
    comments: str = ""
