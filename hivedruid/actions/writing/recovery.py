"""What becomes of an interrupted load: it is resumed once its rows are staged, or rolled back. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hivedruid.actions.recovery import Recovery, Refusal
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.writing.model import ResumeLoad, RollBackLoad
from hivedruid.embedded.intervals import format_instant
from hivedruid.java_numbers import double_text
from hivedruid.operations.loads import LoadJob, ViewJob
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.redaction import redact_spec
from hivedruid.secrets import masked

MOST_INTERVALS = 10
"""The maximum number of intervals that DESCRIBE JOB lists."""


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, LoadJob)
    next_ = _next(job, is_running=known.is_running)
    verb = "RESUME" if can_resume(job) else "CANCEL"
    repair = "" if job.has_ended else f"{verb} JOB '{job.id}'"
    return Recovery(_resume(job, next_), _cancel(job), repair, next_)


def can_resume(job: LoadJob) -> bool:
    """Whether its rows are staged, and nothing else is needed to complete it."""
    is_view = isinstance(job, ViewJob) and job.state != "verified"
    return job.staged is not None and not is_view and not job.has_ended


def _resume(job: LoadJob, next_: str) -> ResumeLoad | Refusal:
    if can_resume(job):
        return ResumeLoad(job)
    why = "it builds a materialized view" if job.staged else "not all of its rows were staged"
    return Refusal(f"job {job.id} cannot be resumed: {why}", next_)


def _cancel(job: LoadJob) -> RollBackLoad | Refusal:
    if not job.has_ended and job.state != "verified":
        return RollBackLoad(job, asked=True)
    rows = "" if job.state == "cancelled" else f": its rows are in {job.full_name}"
    hint = f"RESUME JOB '{job.id}' deletes its staged rows" if job.state == "verified" else "nothing to cancel"
    return Refusal(f"job {job.id} is {job.state}{rows}", hint)


def _next(job: LoadJob, *, is_running: bool) -> str:
    """What the user can do with a job that has not ended."""
    if job.has_ended:
        return ""
    if is_running:
        return f"wait for it to finish, or CANCEL JOB '{job.id}'"
    if not can_resume(job):
        return f"rerun the statement, or CANCEL JOB '{job.id}'"
    if job.state == "verified":
        return f"RESUME JOB '{job.id}' deletes its staged rows"
    return f"RESUME JOB '{job.id}', or CANCEL JOB '{job.id}'"


# --- DESCRIBE JOB ------------------------------------------------------------------------------------------------


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    job = operation
    assert isinstance(job, LoadJob)
    targets = sum(other.operation.statement_id == job.statement_id for other in snapshot.jobs)
    yield "target", f"{job.number + 1} of {targets}" if targets > 1 else ""
    yield "data source", job.data_source
    yield "replaces", {"nothing": "", "all": "all rows", "intervals": "the intervals of new rows"}[job.replaces]
    yield from _staged(job)
    for attempt in range(1, job.attempt + 1):
        yield "task", job.task_of(attempt)
    if job.report is not None:
        yield "rows in Druid", str(job.report.rows)
        yield "segments", str(job.report.segments)
        yield "bytes of segments", str(job.report.size or "")
    for line in json.dumps(redact_spec(job.spec), indent=2, ensure_ascii=False).splitlines():
        yield "spec", line


def _staged(job: LoadJob) -> Iterator[tuple[str, str]]:
    staged = job.staged
    if staged is None:
        return
    yield "staging folder", masked("folder", staged.folder)
    yield "rows staged", str(staged.rows)
    yield "rows without a time skipped", str(staged.skipped or "")
    yield "bytes staged", str(staged.size)
    yield "segments built", str(len(staged.segments) or "")
    for start, end in staged.intervals[:MOST_INTERVALS]:
        yield "interval", f"{format_instant(start)}/{format_instant(end)}"
    left = len(staged.intervals) - MOST_INTERVALS
    yield "interval", f"and {left} more" if left > 0 else ""
    for name, total in sorted(staged.sums.items()):
        yield f"sum of {name}", str(total.total) if isinstance(total.total, int) else double_text(total.total)
