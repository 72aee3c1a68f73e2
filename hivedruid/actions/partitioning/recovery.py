"""What becomes of an interrupted move of files into partitions: it is completed. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.actions.partitioning.model import CompleteMoves
from hivedruid.actions.recovery import Recovery, Refusal
from hivedruid.actions.snapshot import Snapshot
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.partitions import PartitionJob


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, PartitionJob)
    if job.has_ended:
        return Recovery.of_ended(job)
    if known.is_running:
        return Recovery.of_running(job)
    resume = f"RESUME JOB '{job.id}'"
    refused = Refusal(f"job {job.id} cannot be cancelled: some of its files may be moved", resume)
    return Recovery(CompleteMoves(job), refused, resume, resume)


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    del snapshot
    assert isinstance(operation, PartitionJob)
    yield "partitions", str(len(operation.moves))
