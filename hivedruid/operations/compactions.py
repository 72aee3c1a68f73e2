"""Operations that compact a data source with tasks of Druid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import Operation, Transitions


@dataclass(frozen=True, kw_only=True)
class CompactionJob(Operation):
    """A COMPACT of one table.

    It is `submitted` from before its first task is submitted: `tasks` are the ids of all its tasks, of which Druid need
    not have received every one. `waits`: the statement waits for the tasks and compares the rows; otherwise it is
    `done` when they are submitted. It is `failed` if a task failed, or if the rows have changed.
    """

    kind: ClassVar[str] = "compaction"
    transitions: ClassVar[Transitions] = {
        "planned": ("submitted", "done", "cancelled"),
        "submitted": ("done", "failed", "cancelled"),
        "done": (),
        "failed": (),
        "cancelled": (),
    }

    state: Literal["planned", "submitted", "done", "failed", "cancelled"] = "planned"
    data_source: str = ""
    tasks: tuple[str, ...] = ()
    waits: bool = False

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any], **common: Any) -> Self:
        return super().of_notes({**notes, "tasks": tuple(notes["tasks"])}, **common)
