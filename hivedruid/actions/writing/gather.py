"""Read the operations that SHOW JOBS lists, or that matter to a statement."""

from __future__ import annotations

from collections.abc import Mapping
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
    jobs = store.all() if every else store.of_unfinished_statements()
    latest: dict[str, float] = {}
    for job in jobs:
        changed = datetime.fromisoformat(job.changed).timestamp()
        latest[job.statement_id] = max(changed, latest.get(job.statement_id, changed))
    unfinished = {job.statement_id for job in jobs if not job.has_ended}
    running = {statement for statement in unfinished if is_running(home, statement)}
    window = seconds(settings["hivedruid.job.repeat.within"])
    now = datetime.now(UTC).timestamp()
    recent = {one for one in unfinished if now - max(latest[one], _touched(home, one)) <= window}
    return tuple(
        KnownOperation(job, is_running=job.statement_id in running, is_recent=job.statement_id in recent)
        for job in jobs
    )


def _touched(home: Path, statement: str) -> float:
    """When a process last touched the lock file of a statement, in seconds since the epoch; 0 without one."""
    try:
        return lock_path(home, statement).stat().st_mtime
    except OSError:
        return 0.0
