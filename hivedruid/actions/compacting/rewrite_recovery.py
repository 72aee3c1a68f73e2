"""What becomes of an interrupted COMPACT of a managed table: it is run again, or forgotten. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.actions.compacting.model import ForgetRewrite, ResumeRewrite
from hivedruid.actions.recovery import Recovery
from hivedruid.actions.snapshot import Snapshot
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.rewrites import RewriteJob


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, RewriteJob)
    if job.has_ended:
        return Recovery.of_ended(job)
    if known.is_running:
        return Recovery.of_running(job)
    cancel, resume = f"CANCEL JOB '{job.id}'", f"RESUME JOB '{job.id}'"
    return Recovery(ResumeRewrite(job), ForgetRewrite(job), resume, f"{resume}, or {cancel}")


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    del snapshot
    assert isinstance(operation, RewriteJob)
    yield "type", operation.type
    if operation.state == "done":
        yield "files rewritten", str(operation.files)
        yield "bytes rewritten", str(operation.bytes)
        yield "files written", str(operation.written)
