"""Locks that Druid leaks of a task that is shut down while it allocates a segment: they are released."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from hivedruid.clients import task_spec
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.segments import wait_until
from hivedruid.clients.tasks import IngestionTask
from tests.support.ingestion import PATIENCE
from tests.support.loads import MakeLoad
from tests.support.staged import NewDataSource

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

SECONDS = 20
"""How long tasks are shut down; one in some dozens leaks a lock."""


def test_a_task_that_was_shut_down_leaves_no_lock(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    name, overlord = new_data_source("t"), Overlord(druid.client)
    end, count = monotonic() + SECONDS, 0
    while monotonic() < end or count < 3:
        load = load_of(name, {0: 1})
        task = IngestionTask(druid, load.task, name, 1)
        task.submit(task_spec.completed(load, ()))
        assert wait_until(lambda task=task: bool((found := task.status()) and found.location), PATIENCE)  # type: ignore[misc]
        task.shut_down()
        count += 1
        # a lock may also be added after the shutdown has returned
        assert wait_until(lambda task=task: not overlord.locks(name) or not task.shut_down(), PATIENCE), f"task {count}"  # type: ignore[misc]
