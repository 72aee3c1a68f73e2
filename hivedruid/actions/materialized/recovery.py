"""What becomes of an interrupted build of a view in a managed table: it is run again, or forgotten. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.actions.materialized.model import ForgetBuild
from hivedruid.actions.recovery import Recovery, Refusal
from hivedruid.actions.snapshot import Snapshot
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.views import ManagedViewJob


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, ManagedViewJob)
    if job.has_ended:
        return Recovery.of_ended(job)
    if known.is_running:
        return Recovery.of_running(job)
    cancel = f"CANCEL JOB '{job.id}'"
    rebuild = f"ALTER MATERIALIZED VIEW {job.full_name} REBUILD"
    next_ = f"rerun {'the statement' if job.creates else rebuild}, or {cancel}"
    refused = Refusal(f"job {job.id} cannot be resumed: it builds a materialized view", next_)
    return Recovery(refused, ForgetBuild(job), cancel if job.creates else rebuild, next_)


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    del operation, snapshot
    yield from ()
