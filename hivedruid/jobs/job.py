"""Jobs that write to Druid, recorded in the catalog so that any process can resume them.

    planned → staged → submitted → published → verified → cleaned
                 ↑_________|  the task failed, or was rolled back

A job that is rolled back or cancelled is `cancelled`. `cleaned` and `cancelled` are the final states.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from hivedruid.catalog.job_records import JobRecords
from hivedruid.catalog.store import Catalog
from hivedruid.druid.ingestion import Replaces
from hivedruid.errors import ExecutionError
from hivedruid.jobs.load import Load, LoadReport, LoadState
from hivedruid.jobs.staged import StagedRows, known_fields
from hivedruid.secret_text import redact

JobState = Literal["planned", "staged", "submitted", "published", "verified", "cleaned", "cancelled"]
STATES: tuple[JobState, ...] = get_args(JobState)
ENDS: tuple[JobState, ...] = ("cleaned", "cancelled")
IN_DRUID: tuple[JobState, ...] = ("submitted", "published")
"""States in which Druid may have rows of the job."""
MOST_ENDED = 1000
"""The number of ended jobs that are kept."""


@dataclass(frozen=True)
class Job:
    """One target of one statement.

    `statement_id` is shared by the targets of a multi-insert, `number` counts them from 0. `fingerprint` is equal for
    equal statements (see `actions.jobs.origin`), `text` the statement for display, secrets masked. `table_id` is "" for
    CREATE TABLE … AS, whose table, `definition` (the Table as JSON), is added to the catalog with the rows. `druid` is the
    druid.url. `attempt` counts the tasks that were submitted, `notes` are the engine's. `created` and `changed` are ISO 8601
    in UTC.
    """

    id: str
    statement_id: str
    number: int
    kind: str
    database: str
    table: str
    table_id: str
    druid: str
    fingerprint: str
    text: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    replaces: Replaces = "nothing"
    state: JobState = "planned"
    staged: StagedRows | None = None
    attempt: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict)
    definition: str = ""
    report: LoadReport | None = None
    error: str = ""
    created: str = ""
    changed: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.table}"

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

    def next_attempt(self) -> Job:
        """The job before it submits another task."""
        return replace(self, attempt=self.attempt + 1, state="staged", notes={})

    @property
    def has_ended(self) -> bool:
        return self.state in ENDS

    def load(self) -> Load:
        """The load for the engine, from the job's state. Only for jobs whose rows are staged."""
        assert self.staged is not None
        state: LoadState = self.state if self.state in IN_DRUID else "staged"  # type: ignore[assignment]
        return Load(self.task, self.spec, self.staged, self.replaces, state, self.notes)


@dataclass(frozen=True)
class KnownJob:
    """A job; whether a process runs it, and whether it changed recently (hivedruid.job.repeat.within)."""

    job: Job
    is_running: bool
    is_recent: bool = True


class Jobs:
    """Every change is one transaction. Raises ExecutionError if the catalog cannot be written."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._records = JobRecords(catalog)

    def find(self, job_id: str) -> Job | None:
        text = self._records.find(job_id)
        return _from_json(text) if text is not None else None

    def all(self) -> tuple[Job, ...]:
        """Newest first."""
        return tuple(map(_from_json, self._records.all()))

    def unfinished(self) -> tuple[Job, ...]:
        """Those that have not ended, newest first, running or not."""
        return tuple(map(_from_json, self._records.unfinished()))

    def of_statement(self, statement_id: str) -> tuple[Job, ...]:
        return tuple(map(_from_json, self._records.of_statement(statement_id)))

    def begin(self, jobs: Iterable[Job]) -> None:
        """Record all targets of a statement at once, including those not yet started; the oldest ended jobs are deleted."""
        now = _now()
        with self._catalog.transaction():
            for job in jobs:
                begun = replace(job, created=now, changed=now)
                self._records.add(begun.id, begun.statement_id, _to_json(begun))
            self._records.remove_ended(MOST_ENDED)

    def move(self, job: Job, state: JobState, **changes: Any) -> Job:
        """Store the job in another state, with changed fields, and return it.

        Raises ExecutionError if another process has changed or ended it concurrently.
        """
        if "error" in changes:
            changes["error"] = redact(changes["error"])
        moved = replace(job, state=state, changed=_now(), **changes)
        with self._catalog.transaction():
            stored = self.find(job.id)
            if stored is None or (stored.state, stored.changed) != (job.state, job.changed):
                now = "gone" if stored is None else stored.state
                raise ExecutionError(f"job {job.id} was changed by another session: it is now {now}", hint="SHOW JOBS")
            self._records.update(job.id, _to_json(moved), ended=moved.has_ended)
        return moved


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_json(job: Job) -> str:
    value = {**vars(job)}
    value["staged"] = job.staged.to_json() if job.staged is not None else None
    value["report"] = vars(job.report) if job.report is not None else None
    return json.dumps(value)


def _from_json(text: str) -> Job:
    """Unknown keys, written by another version of hivedruid, are ignored."""
    value = json.loads(text)
    staged, report = value.pop("staged", None), value.pop("report", None)
    return Job(
        **known_fields(Job, value),
        staged=StagedRows.from_json(staged) if staged is not None else None,
        report=LoadReport(**known_fields(LoadReport, report)) if report is not None else None,
    )
