"""What becomes of an interrupted change of an ingestion: rerunning its statement completes it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.actions.recovery import Recovery, Refusal
from hivedruid.actions.snapshot import Snapshot
from hivedruid.operations.changes import IngestionJob
from hivedruid.operations.operation import KnownOperation, Operation


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, IngestionJob)
    if job.has_ended:
        return Recovery.of_ended(job)
    rerun = f"rerun {job.rerun or 'the ALTER TABLE statement'}"
    next_ = "wait for it to finish" if known.is_running else rerun
    what = "it changes an ingestion, and Druid may already have made a part of the change"
    return Recovery(
        Refusal(f"job {job.id} cannot be resumed: it changes an ingestion", f"{rerun}, which completes it"),
        Refusal(f"job {job.id} cannot be cancelled: {what}", next_ if known.is_running else f"{rerun} to complete it"),
        job.rerun or "-- rerun ALTER TABLE",
        next_,
    )


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    del snapshot
    assert isinstance(operation, IngestionJob)
    change = operation.change
    yield "state before", change.was
    yield "target", change.target
    for partition, offset in (change.offsets or {}).items():
        yield "offset", f"{partition}:{offset}"
