"""Read what is known of the jobs that write to Druid."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from hivedruid.actions.run_jobs import is_running
from hivedruid.catalog.store import Catalog
from hivedruid.jobs.job import Job, Jobs, KnownJob
from hivedruid.settings import seconds


def gather_jobs(catalog: Catalog, home: Path, settings: Mapping[str, str], *, every: bool) -> tuple[KnownJob, ...]:
    """Newest first: all of them, or those that have not ended and the others of their statements."""
    store = Jobs(catalog)
    if every:
        jobs: tuple[Job, ...] = store.all()
    else:
        statements = dict.fromkeys(job.statement_id for job in store.unfinished())
        jobs = tuple(job for statement in statements for job in store.of_statement(statement))
    running = {job.statement_id: is_running(home, job.statement_id) for job in jobs if not job.has_ended}
    window = seconds(settings["hivedruid.job.repeat.within"])
    now = datetime.now(UTC)
    return tuple(
        KnownJob(
            job,
            is_running=running.get(job.statement_id, False),
            is_recent=(now - datetime.fromisoformat(job.changed)).total_seconds() <= window,
        )
        for job in jobs
    )
