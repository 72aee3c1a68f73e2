"""The offsets of running Kafka tasks, from the tasks themselves.

A supervisor fetches those of its tasks for the first time 15 s after it has started (INITIAL_GET_OFFSET_DELAY_MILLIS of
Druid's SeekableStreamSupervisor), and then every offsetFetchPeriod.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import requests

from hivedruid.druid.paths import path_of
from hivedruid.ingestion.model import Offsets, SupervisorStatus, Task

_PATH = "/druid/worker/v1/chat/{}/offsets/current"
_TIMEOUT = (1.0, 5.0)
"""Seconds to connect to the process of a task, which may be out of reach from this machine, and to wait for it."""


def with_task_offsets(status: SupervisorStatus, running: Iterable[Task]) -> SupervisorStatus:
    """The status, with the offsets of running tasks that their supervisor has not fetched yet.

    A task that requires credentials is left as it is: none are sent to it. No more tasks are asked after one that
    cannot be reached.
    """
    missing = {task.id for task in status.active if not task.current_offsets}
    found: dict[str, Offsets] = {}
    for task in running:
        if task.id in missing and task.location:
            offsets = _asked(task)
            if offsets is None:
                break
            found[task.id] = offsets
    active = (replace(each, current_offsets=found.get(each.id) or each.current_offsets) for each in status.active)
    return replace(status, active=tuple(active))


def _asked(task: Task) -> Offsets | None:
    """The next offset of each partition; empty if the task does not return them, None if it cannot be reached."""
    try:
        with requests.Session() as session:
            session.trust_env = False  # neither a proxy nor credentials of the environment
            url = f"http://{task.location}{path_of(_PATH, task.id)}"
            response = session.get(url, timeout=_TIMEOUT, allow_redirects=False)
            found = response.json() if response.ok else None
    except requests.JSONDecodeError:
        return {}
    except (requests.RequestException, ValueError):
        return None
    pairs = found.items() if isinstance(found, dict) else ()
    return {int(key): value for key, value in pairs if key.isdecimal() and type(value) is int}
