"""What becomes of an interrupted write to a topic: its transaction is completed, or aborted. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hivedruid.actions.model import Action
from hivedruid.actions.recovery import Recovery, Refusal
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.writing.model import CancelTopicWrite, ResumeTopicWrite, WriteTable
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.topics import TopicJob


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, TopicJob)
    if job.has_ended:
        return Recovery.of_ended(job)
    if known.is_running:
        return Recovery.of_running(job)
    cancel, resume = f"CANCEL JOB '{job.id}'", f"RESUME JOB '{job.id}'"
    if job.state == "planned":
        next_ = f"rerun the statement, or {cancel}"
        refused = Refusal(f"job {job.id} cannot be resumed: not all of its records were staged", next_)
        return Recovery(refused, CancelTopicWrite(job), cancel, next_)
    return Recovery(ResumeTopicWrite(job), CancelTopicWrite(job), resume, f"{resume}, or {cancel}")


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    del snapshot
    assert isinstance(operation, TopicJob)
    yield "topic", operation.topic
    yield "records staged", str(operation.rows) if operation.state != "planned" else ""
    yield "consumer group", operation.group


def with_earlier_writes(actions: Sequence[Action], snapshot: Snapshot) -> tuple[Action, ...]:
    """The actions, with the jobs of interrupted runs of the same statement in place of writes to topics."""
    return tuple(found for action in actions for found in _with_earlier(action, snapshot))


def _with_earlier(action: Action, snapshot: Snapshot) -> Iterator[Action]:
    once = action.once if isinstance(action, WriteTable) else None
    for known in snapshot.jobs if once is not None else ():
        job = known.operation
        if not isinstance(job, TopicJob) or job.has_ended or known.is_running or not known.is_recent:
            continue
        if once is None or job.fingerprint != once.fingerprint:
            continue
        if job.state != "planned":
            yield ResumeTopicWrite(job, is_rerun=True)
            return
        yield CancelTopicWrite(job)
    yield action
