"""What becomes of an interrupted COMPACT: its tasks continue in Druid, so they are awaited, or stopped. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.actions.compacting.model import CancelCompaction, ResumeCompaction
from hivedruid.actions.recovery import Recovery, Refusal
from hivedruid.actions.snapshot import Snapshot
from hivedruid.operations.compactions import CompactionJob
from hivedruid.operations.operation import KnownOperation, Operation


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, CompactionJob)
    if job.has_ended:
        return Recovery.of_ended(job)
    cancel, resume = f"CANCEL JOB '{job.id}'", f"RESUME JOB '{job.id}'"
    if known.is_running:
        return Recovery(ResumeCompaction(job), CancelCompaction(job), cancel, f"wait for it to finish, or {cancel}")
    if job.state == "planned":
        next_ = f"rerun the statement, or {cancel}"
        refused = Refusal(f"job {job.id} cannot be resumed: no task was submitted", next_)
        return Recovery(refused, CancelCompaction(job), cancel, next_)
    return Recovery(ResumeCompaction(job), CancelCompaction(job), resume, f"{resume}, or {cancel}")


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    del snapshot
    assert isinstance(operation, CompactionJob)
    yield "data source", operation.data_source
    for task in operation.tasks:
        yield "task", task
