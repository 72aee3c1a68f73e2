"""What becomes of an interrupted ARCHIVE TABLE: its rows are moved again, or the job is completed. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.actions.recovery import Recovery
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.tiering.model import CancelArchive, ResumeArchive
from hivedruid.operations.archives import ArchiveJob
from hivedruid.operations.operation import KnownOperation, Operation


def recovery(known: KnownOperation[Operation]) -> Recovery:
    job = known.operation
    assert isinstance(job, ArchiveJob)
    if job.has_ended:
        return Recovery.of_ended(job)
    if known.is_running:
        return Recovery.of_running(job)
    cancel, resume = f"CANCEL JOB '{job.id}'", f"RESUME JOB '{job.id}'"
    return Recovery(ResumeArchive(job), CancelArchive(job), resume, f"{resume}, or {cancel}")


def details(operation: Operation, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    del snapshot
    assert isinstance(operation, ArchiveJob)
    if operation.holding:
        yield "data source", operation.holding["data_source"]
        yield "lock task", operation.holding["task"]
        yield "segments", str(len(operation.holding["segments"]))
    yield "rows", str(operation.rows or "")
