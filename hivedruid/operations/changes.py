"""Operations that change an ingestion: START, STOP, ALTER, RESET and the other verbs.

Rerunning the statement completes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, ClassVar, Literal, Self

from hivedruid.jobs.staged import known_fields
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import Operation, Transitions


@dataclass(frozen=True)
class ChangeNotes:
    """What a rerun of the statement needs to know.

    `rerun`: the statement, if it is more than the verb. Of ALTER: `runs` if the supervisor should run afterwards,
    `rolls_back` if it is ROLLBACK INGESTION. Of RESET: `was` is the state before, `target` the target as written in the
    statement, `offsets` the announced offsets by the text of their partition.
    """

    rerun: str = ""
    runs: bool = False
    rolls_back: bool = False
    was: str = ""
    target: str = ""
    offsets: Mapping[str, int] | None = None


@dataclass(frozen=True, kw_only=True)
class IngestionJob(Operation):
    """A change of the ingestion into one table. It is `moved` when RESET has changed the offsets in Druid."""

    kind: ClassVar[str] = "ingestion"
    transitions: ClassVar[Transitions] = {
        "begun": ("moved", "done", "cancelled"),
        "moved": ("done", "cancelled"),
        "done": (),
        "cancelled": (),
    }

    state: Literal["begun", "moved", "done", "cancelled"] = "begun"
    verb: str = ""
    change: ChangeNotes = field(default_factory=ChangeNotes)

    @property
    def rerun(self) -> str:
        """The statement that completes it; "" if only the user knows it."""
        return rerun_statement(self.verb, self.full_name, self.change.rerun)

    def notes(self) -> dict[str, Any]:
        return {"verb": self.verb, "change": asdict(self.change)}

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any], **common: Any) -> Self:
        change = known_fields(ChangeNotes, notes["change"])
        return super().of_notes({**notes, "change": ChangeNotes(**change)}, **common)


def statement_name(verb: str) -> str:
    """The statement of a change in SHOW JOBS."""
    return f"{verb} TABLE" if verb in ("ALTER", "DROP") else f"{verb} INGESTION"


def rerun_statement(verb: str, table: str, rerun: str = "") -> str:
    """The statement that completes an interrupted change; "" if only the user knows it. `table` is the name as SQL."""
    if rerun or verb == "ALTER":
        return rerun
    return f"DROP TABLE {table}" if verb == "DROP" else f"{verb} INGESTION {table}"
