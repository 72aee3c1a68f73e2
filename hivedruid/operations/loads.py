"""Operations that write to Druid: rows are staged, and one task loads them.

    planned → staged → submitted → published → verified → cleaned
                 ↑_________|  the task failed, or was rolled back

An operation that is rolled back or cancelled is `cancelled`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Literal, Self

from hivedruid.druid.ingestion import Replaces
from hivedruid.jobs.load import Load, LoadReport, LoadState
from hivedruid.jobs.staged import StagedRows, known_fields
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import KnownOperation, Operation, Transitions

State = Literal["planned", "staged", "submitted", "published", "verified", "cleaned", "cancelled"]
IN_DRUID: tuple[State, ...] = ("submitted", "published")
"""States in which Druid may have rows of the job."""


@dataclass(frozen=True, kw_only=True)
class LoadJob(Operation):
    """One target of one statement that writes rows to Druid.

    `number` counts the targets of a multi-insert from 0. `fingerprint` is equal for equal statements (see
    `actions.writing.jobs.origin`). `definition` is the table of CREATE TABLE … AS as JSON, which is added to the
    catalog with the rows. `folder` is that of its segments in deep storage; "" if a task of Druid builds them.
    `attempt` counts the tasks that were submitted, `journal` contains the engine's notes.
    """

    kind: ClassVar[str] = "load"
    transitions: ClassVar[Transitions] = {
        "planned": ("staged", "cancelled"),
        "staged": ("submitted", "verified", "cancelled"),  # no task is needed to write no rows
        "submitted": ("published", "verified", "staged", "cancelled"),
        "published": ("verified", "staged", "cancelled"),
        "verified": ("cleaned",),
        "cleaned": (),
        "cancelled": (),
    }

    state: State = "planned"
    number: int = 0
    fingerprint: str = ""
    spec: Mapping[str, Any] = field(default_factory=dict)
    replaces: Replaces = "nothing"
    staged: StagedRows | None = None
    attempt: int = 0
    journal: Mapping[str, Any] = field(default_factory=dict)
    definition: str = ""
    folder: str = ""
    report: LoadReport | None = None

    @property
    def data_source(self) -> str:
        return str(self.spec["spec"]["dataSchema"]["dataSource"])

    @property
    def task(self) -> str:
        """The id of the last submitted task; of the first one if none was submitted."""
        return self.task_of(max(1, self.attempt))

    def task_of(self, attempt: int) -> str:
        """The id of the task of an attempt, from 1."""
        return f"hivedruid_{self.id}_{attempt}"

    def next_attempt(self) -> Self:
        """The job before it submits another task."""
        return replace(self, attempt=self.attempt + 1, state="staged", journal={})

    def load(self) -> Load:
        """The load for the engine, from the job's state. Only for jobs whose rows are staged."""
        assert self.staged is not None
        state: LoadState = self.state if self.state in IN_DRUID else "staged"  # type: ignore[assignment]
        return Load(self.task, self.spec, self.staged, self.replaces, state, self.journal)

    def notes(self) -> dict[str, Any]:
        staged = self.staged.to_json() if self.staged is not None else None
        report = vars(self.report) if self.report is not None else None
        return {**super().notes(), "staged": staged, "report": report}

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any], **common: Any) -> Self:
        staged, report = notes.get("staged"), notes.get("report")
        parsed = {
            "staged": StagedRows.from_json(staged) if staged is not None else None,
            "report": LoadReport(**known_fields(LoadReport, report)) if report is not None else None,
        }
        return super().of_notes({**notes, **parsed}, **common)


@dataclass(frozen=True, kw_only=True)
class ViewJob(LoadJob):
    """The load of a materialized view's rows.

    Only its own statement has all facts to record, so it cannot be resumed.
    """

    kind: ClassVar[str] = "view"


def known_loads(known: Iterable[KnownOperation[Operation]]) -> list[KnownOperation[LoadJob]]:
    """The operations that write to Druid."""
    return [
        KnownOperation(job, one.is_running, one.is_recent) for one in known if isinstance(job := one.operation, LoadJob)
    ]
