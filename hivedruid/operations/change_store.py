"""The changes of ingestions in the catalog."""

from __future__ import annotations

from collections.abc import Callable

from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.store import Catalog
from hivedruid.operations.changes import ChangeNotes, IngestionJob
from hivedruid.operations.store import Operations


class Changes:
    """The changes of ingestions, recorded together with the ingestions themselves. Each method is one transaction.

    Raises ExecutionError if the catalog cannot be written.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._operations = Operations(catalog)
        self._ingestions = Ingestions(catalog)

    def unfinished(self) -> dict[str, IngestionJob]:
        """The last unfinished change by table_id."""
        found: dict[str, IngestionJob] = {}
        for job in self._operations.unfinished():
            if isinstance(job, IngestionJob):
                found.setdefault(job.table_id, job)
        return found

    def begin(self, job: IngestionJob) -> IngestionJob:
        """Record the change before the first request, so that an interruption is noticed."""
        with self._catalog.transaction():
            self._ingestions.begin(job.table_id)
            self._operations.begin([job])
            return self._operations.current(job)

    def resume(self, job: IngestionJob, change: ChangeNotes) -> IngestionJob:
        """Record that a rerun of its statement continues an interrupted change."""
        return self._operations.move(job, job.state, change=change, error="")

    def note(self, job: IngestionJob, state: str, change: ChangeNotes) -> IngestionJob:
        return self._operations.move(job, state, change=change)

    def finish(
        self,
        table_id: str,
        *,
        started: bool,
        error: str = "",
        runs_elsewhere: Callable[[IngestionJob], bool] = lambda _: False,
    ) -> None:
        """Record the completed change, after the last request.

        Earlier changes that were interrupted are completed with it, but not those that run in other sessions. `error`:
        why none of them can be completed.
        """
        with self._catalog.transaction():
            self._ingestions.finish(table_id, started=started)
            for job in self._unfinished_of(table_id):
                if not runs_elsewhere(job):
                    self._operations.move(job, "cancelled" if error else "done", error=error)

    def fail(self, job: IngestionJob, reason: str) -> None:
        """Record why the change is not complete: rerunning the statement completes it."""
        self._operations.move(job, job.state, error=reason)

    def refuse(self, job: IngestionJob, reason: str) -> None:
        """Record that Druid refused the change. Earlier changes that were interrupted remain."""
        self._operations.move(job, "cancelled", error=reason)

    def roll_back(self, table_id: str, version: int, job: IngestionJob | None) -> None:
        """Discard the specs after `version`.

        `job` begins in the same transaction, unless an interrupted rollback is continued.
        """
        with self._catalog.transaction():
            self._ingestions.roll_back(table_id, version)
            interrupted = self.unfinished().get(table_id)
            if job is not None and not (interrupted is not None and interrupted.change.rolls_back):
                self.begin(job)

    def _unfinished_of(self, table_id: str) -> list[IngestionJob]:
        unfinished = self._operations.unfinished()
        return [job for job in unfinished if isinstance(job, IngestionJob) and job.table_id == table_id]
