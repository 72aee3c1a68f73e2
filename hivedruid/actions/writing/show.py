"""SHOW JOBS, DESCRIBE JOB, CANCEL JOB and RESUME JOB: rows and actions from the jobs of a snapshot. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.utility.model import Show
from hivedruid.actions.writing.model import VIEW, ContinueJob, WithdrawJob
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP_LTZ
from hivedruid.cells import double_text, hive_text
from hivedruid.embedded.intervals import format_instant
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.ingestion.problems import Problem
from hivedruid.jobs.job import STATES, Job, KnownJob
from hivedruid.parser.statements import writing as s
from hivedruid.plan.literals import zone_of
from hivedruid.redaction import redact_spec
from hivedruid.results import ResultColumn
from hivedruid.secrets import masked

COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "id": STRING, "statement": STRING, "table": STRING, "state": STRING, "running": STRING, "rows": BIGINT,
        "bytes": BIGINT, "segments": BIGINT, "created": TIMESTAMP_LTZ, "changed": TIMESTAMP_LTZ, "error": STRING,
    }.items()
)  # fmt: skip
"""`rows` are the staged rows; `bytes` and `segments` those of the published segments, once known."""
DETAIL_COLUMNS = (ResultColumn("name", STRING), ResultColumn("value", STRING))
MOST_INTERVALS = 10
"""The maximum number of intervals that DESCRIBE JOB lists."""


def show_jobs(statement: s.ShowJobs, snapshot: Snapshot) -> Show:
    chosen = snapshot.jobs
    if statement.state is not None:
        if statement.state not in STATES:
            raise SemanticError(
                f"'{statement.state}' is not a valid job state", span=statement.state_span,
                hint=did_you_mean(statement.state, STATES) or f"the states are {', '.join(STATES)}",
            )  # fmt: skip
        chosen = tuple(known for known in chosen if known.job.state == statement.state)
    if statement.name is not None:
        key = (statement.name.database or snapshot.database, statement.name.name)
        if not any((known.job.database, known.job.table) == key for known in snapshot.jobs):
            from hivedruid.actions.lookup import find_table

            find_table(statement.name, snapshot)  # a table that was dropped, or not created yet, may have jobs
        chosen = tuple(known for known in chosen if (known.job.database, known.job.table) == key)
    return Show(COLUMNS, tuple(_row(known, snapshot.zone) for known in chosen))


def _row(known: KnownJob, zone: str) -> tuple[Any, ...]:
    job, report = known.job, known.job.report
    return (
        job.id, job.kind, job.full_name, job.state, _running(known), job.staged.rows if job.staged else None,
        report.size or None if report else None, report.segments if report else None,
        _moment(job.created, zone), _moment(job.changed, zone), job.error or None,
    )  # fmt: skip


def _running(known: KnownJob) -> str:
    """`interrupted`: its process died without recording an error. A failed job has not ended either."""
    if known.is_running:
        return "yes"
    return "no" if known.job.has_ended or known.job.error else "interrupted"


def _moment(text: str, zone: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(zone_of(zone))


# --- one job -----------------------------------------------------------------------------------------------------


def describe_job(statement: s.DescribeJob, snapshot: Snapshot) -> Show:
    known = _find(statement.job, statement.span, snapshot)
    return Show(DETAIL_COLUMNS, tuple((name, text) for name, text in _details(known, snapshot) if text))


def _details(known: KnownJob, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    job = known.job
    targets = sum(other.job.statement_id == job.statement_id for other in snapshot.jobs)
    yield "id", job.id
    yield "statement", job.kind
    yield "text", job.text
    yield "table", job.full_name
    yield "target", f"{job.number + 1} of {targets}" if targets > 1 else ""
    yield "druid.url", masked("druid.url", job.druid)
    yield "data source", job.data_source
    yield "replaces", {"nothing": "", "all": "all rows", "intervals": "the intervals of new rows"}[job.replaces]
    yield "state", job.state
    yield "running", _running(known)
    for name, moment in (("created", job.created), ("changed", job.changed)):
        yield name, hive_text(TIMESTAMP_LTZ)(_moment(moment, snapshot.zone))
    yield "error", job.error
    yield from _staged(job)
    for attempt in range(1, job.attempt + 1):
        yield "task", job.task_of(attempt)
    if job.report is not None:
        yield "rows in Druid", str(job.report.rows)
        yield "segments", str(job.report.segments)
        yield "bytes of segments", str(job.report.size or "")
    yield "next", _next(known)
    for line in json.dumps(redact_spec(job.spec), indent=2, ensure_ascii=False).splitlines():
        yield "spec", line


def _staged(job: Job) -> Iterator[tuple[str, str]]:
    staged = job.staged
    if staged is None:
        return
    yield "staging folder", masked("folder", staged.folder)
    yield "rows staged", str(staged.rows)
    yield "rows without a time skipped", str(staged.skipped or "")
    yield "bytes staged", str(staged.size)
    for start, end in staged.intervals[:MOST_INTERVALS]:
        yield "interval", f"{format_instant(start)}/{format_instant(end)}"
    left = len(staged.intervals) - MOST_INTERVALS
    yield "interval", f"and {left} more" if left > 0 else ""
    for name, total in sorted(staged.sums.items()):
        yield f"sum of {name}", str(total.total) if isinstance(total.total, int) else double_text(total.total)


def _next(known: KnownJob) -> str:
    """What the user can do with a job that has not ended."""
    job = known.job
    if job.has_ended:
        return ""
    if known.is_running:
        return f"wait for it to finish, or CANCEL JOB '{job.id}'"
    if not can_resume(job):
        return f"rerun the statement, or CANCEL JOB '{job.id}'"
    if job.state == "verified":
        return f"RESUME JOB '{job.id}' deletes its staged rows"
    return f"RESUME JOB '{job.id}', or CANCEL JOB '{job.id}'"


def can_resume(job: Job) -> bool:
    """Whether its rows are staged, and nothing else is needed to complete it."""
    return job.staged is not None and job.kind != VIEW and not job.has_ended


def cancel_job(statement: s.CancelJob, snapshot: Snapshot) -> WithdrawJob:
    job = _find(statement.job, statement.span, snapshot).job
    if job.has_ended or job.state == "verified":
        rows = "" if job.state == "cancelled" else f": its rows are in {job.full_name}"
        raise SemanticError(
            f"job {job.id} is {job.state}{rows}", span=statement.span,
            hint=f"RESUME JOB '{job.id}' deletes its staged rows" if job.state == "verified" else "nothing to cancel",
        )  # fmt: skip
    return WithdrawJob(job, asked=True)


def resume_job(statement: s.ResumeJob, snapshot: Snapshot) -> ContinueJob:
    known = _find(statement.job, statement.span, snapshot)
    job = known.job
    if known.is_running:
        raise SemanticError(
            f"job {job.id} is running in another session", span=statement.span, hint="SHOW JOBS shows its state"
        )
    if job.has_ended:
        raise SemanticError(
            f"job {job.id} is {job.state}",
            span=statement.span,
            hint=f"it has ended; see DESCRIBE JOB '{job.id}'",
        )
    if not can_resume(job):
        why = "it builds a materialized view" if job.staged else "not all of its rows were staged"
        raise SemanticError(f"job {job.id} cannot be resumed: {why}", span=statement.span, hint=_next(known))
    return ContinueJob(job)


def _find(job_id: str, span: Span | None, snapshot: Snapshot) -> KnownJob:
    for known in snapshot.jobs:
        if known.job.id == job_id:
            return known
    hint = did_you_mean(job_id, [known.job.id for known in snapshot.jobs])
    raise SemanticError(f"job '{job_id}' does not exist", span=span, hint=hint or "SHOW JOBS lists the ids")


# --- SHOW PROBLEMS -----------------------------------------------------------------------------------------------------


def problems(jobs: Sequence[KnownJob]) -> tuple[Problem, ...]:
    """The jobs that have not ended and do not run."""
    return tuple(_problem(known) for known in jobs if not known.job.has_ended and not known.is_running)


def _problem(known: KnownJob) -> Problem:
    job = known.job
    name = "job failed" if job.error else "job interrupted"
    cause = job.error or f"its process has ended; the job is {job.state}"
    verb = "RESUME" if can_resume(job) else "CANCEL"
    return Problem(job.full_name, name, cause, f"{job.kind}, job {job.id}", f"{verb} JOB '{job.id}'")
