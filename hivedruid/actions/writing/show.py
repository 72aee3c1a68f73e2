"""SHOW JOBS, DESCRIBE JOB, CANCEL JOB and RESUME JOB: rows and actions from the operations of a snapshot. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from hivedruid.actions.model import Action
from hivedruid.actions.recovery import Refusal, handler, recovery
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.utility.model import Show
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP_LTZ
from hivedruid.cells import hive_text
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.ingestion.repairs import Problem
from hivedruid.operations.changes import IngestionJob
from hivedruid.operations.kinds import STATES
from hivedruid.operations.loads import LoadJob
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.parser.statements import writing as s
from hivedruid.plan.literals import zone_of
from hivedruid.results import ResultColumn
from hivedruid.secrets import masked

COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "id": STRING, "statement": STRING, "table": STRING, "state": STRING, "running": STRING, "rows": BIGINT,
        "bytes": BIGINT, "segments": BIGINT, "created": TIMESTAMP_LTZ, "changed": TIMESTAMP_LTZ, "error": STRING,
    }.items()
)  # fmt: skip
"""`rows` are the staged rows; `bytes` and `segments` those of the published segments, once known. Only loads have them.
"""
DETAIL_COLUMNS = (ResultColumn("name", STRING), ResultColumn("value", STRING))

Known = KnownOperation[Operation]


def show_jobs(statement: s.ShowJobs, snapshot: Snapshot) -> Show:
    chosen = snapshot.jobs
    if statement.state is not None:
        if statement.state not in STATES:
            raise SemanticError(
                f"'{statement.state}' is not a valid job state", span=statement.state_span,
                hint=did_you_mean(statement.state, STATES) or f"the states are {', '.join(STATES)}",
            )  # fmt: skip
        chosen = tuple(known for known in chosen if known.operation.state == statement.state)
    if statement.name is not None:
        key = (statement.name.database or snapshot.database, statement.name.name)
        if not any(_table(known) == key for known in snapshot.jobs):
            from hivedruid.actions.lookup import find_table

            find_table(statement.name, snapshot)  # a table that was dropped, or not created yet, may have jobs
        chosen = tuple(known for known in chosen if _table(known) == key)
    return Show(COLUMNS, tuple(_row(known, snapshot.zone) for known in chosen))


def _table(known: Known) -> tuple[str, str]:
    return known.operation.database, known.operation.table


def _row(known: Known, zone: str) -> tuple[Any, ...]:
    job = known.operation
    return (
        job.id, job.statement, job.full_name, job.state, _running(known), *_figures(job),
        _moment(job.created, zone), _moment(job.changed, zone), job.error or None,
    )  # fmt: skip


def _figures(job: Operation) -> tuple[int | None, int | None, int | None]:
    """The number of rows, bytes and segments."""
    if not isinstance(job, LoadJob):
        return None, None, None
    report = job.report
    rows = job.staged.rows if job.staged else None
    return rows, (report.size or None) if report else None, report.segments if report else None


def _running(known: Known) -> str:
    """`interrupted`: its process died without recording an error. A failed job has not ended either."""
    if known.is_running:
        return "yes"
    return "no" if known.operation.has_ended or known.operation.error else "interrupted"


def _moment(text: str, zone: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(zone_of(zone))


# --- one job -----------------------------------------------------------------------------------------------------


def describe_job(statement: s.DescribeJob, snapshot: Snapshot) -> Show:
    known = _find(statement.job, statement.span, snapshot)
    return Show(DETAIL_COLUMNS, tuple((name, text) for name, text in _details(known, snapshot) if text))


def _details(known: Known, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    job = known.operation
    yield "id", job.id
    yield "statement", job.statement
    yield "text", job.text
    yield "table", job.full_name
    yield "druid.url", masked("druid.url", job.druid)
    yield "state", job.state
    yield "running", _running(known)
    for name, moment in (("created", job.created), ("changed", job.changed)):
        yield name, hive_text(TIMESTAMP_LTZ)(_moment(moment, snapshot.zone))
    yield "error", job.error
    yield "next", recovery(known).next
    yield from handler(job.kind).details(job, snapshot)


def cancel_job(statement: s.CancelJob, snapshot: Snapshot) -> Action:
    known = _find(statement.job, statement.span, snapshot)
    return _action(recovery(known).cancel, statement.span)


def resume_job(statement: s.ResumeJob, snapshot: Snapshot) -> Action:
    known = _find(statement.job, statement.span, snapshot)
    job = known.operation
    if known.is_running:
        raise SemanticError(
            f"job {job.id} is running in another session", span=statement.span, hint="SHOW JOBS shows its state"
        )
    if job.has_ended:
        raise SemanticError(
            f"job {job.id} is {job.state}", span=statement.span, hint=f"it has ended; see DESCRIBE JOB '{job.id}'"
        )
    return _action(recovery(known).resume, statement.span)


def _action(found: Action | Refusal, span: Span | None) -> Action:
    if isinstance(found, Refusal):
        raise SemanticError(found.message, span=span, hint=found.hint)
    return found


def _find(job_id: str, span: Span | None, snapshot: Snapshot) -> Known:
    for known in snapshot.jobs:
        if known.operation.id == job_id:
            return known
    hint = did_you_mean(job_id, [known.operation.id for known in snapshot.jobs])
    raise SemanticError(f"job '{job_id}' does not exist", span=span, hint=hint or "SHOW JOBS lists the ids")


# --- SHOW PROBLEMS ----------------------------------------------------------------------------------------------------


def problems(jobs: Sequence[Known]) -> tuple[Problem, ...]:
    """The jobs that have not ended and do not run. Changes of ingestions are among the problems of the ingestions."""
    stopped = (known for known in jobs if not known.operation.has_ended and not known.is_running)
    return tuple(_problem(known) for known in stopped if not isinstance(known.operation, IngestionJob))


def _problem(known: Known) -> Problem:
    job = known.operation
    name = "job failed" if job.error else "job interrupted"
    cause = job.error or f"its process has ended; the job is {job.state}"
    return Problem(job.full_name, name, cause, f"{job.statement}, job {job.id}", recovery(known).repair)
