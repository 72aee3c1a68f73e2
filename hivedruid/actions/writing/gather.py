"""Read the operations that SHOW JOBS lists, or that matter to a statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from hivedruid.catalog.store import Catalog
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.owner import is_running, lock_path
from hivedruid.operations.store import Operations
from hivedruid.setting_types import seconds


def gather_jobs(
    catalog: Catalog, home: Path, settings: Mapping[str, str], *, every: bool
) -> tuple[KnownOperation[Operation], ...]:
    """Newest first: `every` job, or the unfinished ones and the other jobs of their statements."""
    store = Operations(catalog)
    if every:
        jobs: tuple[Operation, ...] = store.all()
    else:
        statements = dict.fromkeys(job.statement_id for job in store.unfinished())
        jobs = tuple(job for statement in statements for job in store.of_statement(statement))
    unfinished = {job.statement_id for job in jobs if not job.has_ended}
    running = {statement: is_running(home, statement) for statement in unfinished}
    window = seconds(settings["hivedruid.job.repeat.within"])
    latest = {statement: _latest(home, statement, jobs) for statement in unfinished}
    now = datetime.now(UTC).timestamp()
    return tuple(
        KnownOperation(
            job,
            is_running=running.get(job.statement_id, False),
            is_recent=now - latest.get(job.statement_id, 0.0) <= window,
        )
        for job in jobs
    )


def _latest(home: Path, statement: str, jobs: Iterable[Operation]) -> float:
    """When a process last worked on the jobs of a statement, in seconds since the epoch."""
    changed = max(datetime.fromisoformat(job.changed).timestamp() for job in jobs if job.statement_id == statement)
    try:
        return max(changed, lock_path(home, statement).stat().st_mtime)
    except OSError:
        return changed
