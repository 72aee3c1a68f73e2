"""Publishes segments that were not written by Druid: in one transaction of the overlord, under a lock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.clients.overlord import ACTION, Overlord
from hivedruid.clients.segments import interval as interval_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.segments.writing.segment import Written

MOST_SECONDS = 300.0


def publish(
    druid: DruidCluster, data_source: str, span: tuple[int, int], write: Callable[[Path], Sequence[Written]]
) -> None:
    """Replace the rows of an interval by the segments that `write` writes into `<folder>/<number>`; returns when
    the rows can be queried."""
    interval = interval_of(span)
    with locked(druid, data_source, span) as (task, version):
        folder = _deep_storage(druid) / data_source / interval.replace("/", "_") / version
        folder.mkdir(parents=True)
        written = write(folder)
        segments = [
            {
                "dataSource": data_source, "interval": interval, "version": version,
                "loadSpec": {"type": "local", "path": str(folder / str(number))},
                "dimensions": ",".join(each.dimensions), "metrics": ",".join(each.metrics),
                "shardSpec": {"type": "numbered", "partitionNum": number, "partitions": len(written)},
                "binaryVersion": 9, "size": each.size,
                "identifier": f"{data_source}_{interval.replace('/', '_')}_{version}{f'_{number}' if number else ''}",
            }
            for number, each in enumerate(written)
        ]  # fmt: skip
        done = _act(druid, task, {"type": "segmentTransactionalInsert", "segments": segments})
        assert done["result"]["success"], done
        _act(druid, task, {"type": "lockRelease", "interval": interval})
    rows = sum(each.rows for each in written)
    query = {
        "queryType": "timeseries", "dataSource": data_source, "intervals": [interval], "granularity": "all",
        "aggregations": [{"type": "count", "name": "rows"}],
    }  # fmt: skip
    _until(lambda: answer(druid, query) == [{"timestamp": interval.split("/")[0], "result": {"rows": rows}}])


def answer(druid: DruidCluster, query: dict[str, Any]) -> Any:
    """The response of a native query; without the query's own context."""
    import json

    return json.loads(b"".join(druid.client.query({**query, "context": {"queryId": uuid4().hex, "useCache": False}})))


@contextmanager
def locked(druid: DruidCluster, data_source: str, span: tuple[int, int]) -> Iterator[tuple[dict[str, Any], str]]:
    """A task that holds a lock of an interval, and the version of the lock: inside the block no other task writes."""
    lock = {"type": "lockTryAcquire", "lockType": "EXCLUSIVE", "interval": interval_of(span)}
    with _task(druid, data_source) as task:
        yield task, _until(lambda: _act(druid, task, lock).get("result"))["version"]


@contextmanager
def _task(druid: DruidCluster, data_source: str) -> Iterator[dict[str, Any]]:
    """A task that does nothing: the overlord grants locks to active tasks only."""
    task = {
        "type": "noop", "id": f"noop_{uuid4().hex}", "dataSource": data_source, "runTime": 600_000,
        "context": {"priority": 75},
    }  # fmt: skip
    overlord = Overlord(druid.client)
    overlord.submit(task)
    try:
        yield task
    finally:
        overlord.kill(str(task["id"]))


def _act(druid: DruidCluster, task: dict[str, Any], action: dict[str, Any]) -> dict[str, Any]:
    return druid.client.post("overlord", ACTION, dict[str, Any], {"task": task, "action": action})


def _deep_storage(druid: DruidCluster) -> Path:
    """The folder of deep storage, as the coordinator is configured."""
    properties = druid.client.get("coordinator", "/status/properties", dict[str, str])
    return Path(properties["druid.storage.storageDirectory"])


def _until(check: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + MOST_SECONDS
    while not (found := check()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return found
