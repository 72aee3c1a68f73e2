"""The tasks of a Druid cluster, as its overlord lists and reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.clients.overlord import Overlord
from hivedruid.engine.capabilities import Tasks

if TYPE_CHECKING:
    from hivedruid.clients.druid import DruidClient
    from hivedruid.ingestion.model import RowCounts, Task, UnparseableRecord


class TaskReader(Tasks):
    """Reads tasks over the connections of one client; stopping them is left to the cluster."""

    client: DruidClient

    def tasks(self, data_source: str | None = None, state: str | None = None) -> tuple[Task, ...]:
        """Tasks, newest first."""
        return Overlord(self.client).tasks(data_source, state)

    def task(self, task_id: str) -> Task | None:
        """One task; None if it does not exist."""
        return Overlord(self.client).task(task_id)

    def task_report(self, task_id: str) -> tuple[RowCounts, tuple[UnparseableRecord, ...]] | None:
        """See `Tasks.task_report`."""
        return Overlord(self.client).report(task_id)

    def task_log(self, task_id: str, characters: int) -> str:
        """The end of a task's log."""
        return Overlord(self.client).log(task_id, characters)
