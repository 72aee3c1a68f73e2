"""The offsets of running Kafka tasks, from the tasks themselves.

A supervisor fetches those of its tasks for the first time 15 s after it has started (INITIAL_GET_OFFSET_DELAY_MILLIS of
Druid's SeekableStreamSupervisor), and then every offsetFetchPeriod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import requests

from hivedruid import instants
from hivedruid.clients.feed_offsets import feed_offsets
from hivedruid.clients.guarded import Bounds, parse_json, session
from hivedruid.druid.paths import path_of
from hivedruid.errors import ConnectError, KafkaError
from hivedruid.ingestion.model import Offsets, SupervisorStatus, Task, partition_of
from hivedruid.ingestion.offsets import with_lag

TASK_OFFSETS = "/druid/worker/v1/chat/{}/offsets/current"
"""Of the process that runs a task."""
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


def with_first_lag(status: SupervisorStatus, running: Iterable[Task], spec: Mapping[str, Any]) -> SupervisorStatus:
    """The status, with the lag of a supervisor that has not fetched offsets yet.

    It is unchanged if a task does not return its offsets, or if Kafka cannot be queried from this machine.
    """
    if status.latest_offsets or not status.active:
        return status
    known = with_task_offsets(status, running)
    if not all(task.current_offsets for task in known.active):
        return status
    return with_lag(known, _end_offsets(spec), instants.now())


def _end_offsets(spec: Mapping[str, Any]) -> Offsets:
    """Those of the topics; empty if they are not known."""
    try:
        found, _ = feed_offsets(spec)
    except (ConnectError, KafkaError):
        return {}
    return found.latest


def _asked(task: Task) -> Offsets | None:
    """The next offset of each partition; empty if the task does not return them, None if it cannot be reached."""
    try:
        with session(Bounds(_TIMEOUT[1])) as asking:
            asking.trust_env = False  # neither a proxy nor credentials of the environment
            url = f"http://{task.location}{path_of(TASK_OFFSETS, task.id)}"
            response = asking.get(url, timeout=_TIMEOUT)
    except requests.RequestException:
        return None
    try:
        found = parse_json(response.content) if response.ok else None
    except ValueError:
        return {}
    pairs = ((partition_of(key), value) for key, value in found.items()) if isinstance(found, dict) else ()
    return {partition: value for partition, value in pairs if partition is not None and type(value) is int}
