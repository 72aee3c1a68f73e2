"""Druid's overlord: supervisors, tasks and workers, as values of `ingestion.model`, and what can be asked of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from hivedruid.clients.druid import DruidClient
from hivedruid.clients.failures import first_line
from hivedruid.ingestion.model import (
    ParseError,
    ReadingTask,
    RowCounts,
    Supervisor,
    SupervisorError,
    SupervisorStatus,
    Task,
    Worker,
)
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_path

BASE = "/druid/indexer/v1"
MOST_TASKS = 1000
"""Completed tasks that are asked for at a time."""


class Overlord:
    """All methods raise DruidError or ConnectError."""

    def __init__(self, client: DruidClient) -> None:
        self.client = client

    def supervisors(self) -> tuple[Supervisor, ...]:
        """Every supervisor with its spec, by id; one request. One that ends just then is listed without its state, and left out."""
        found = [item for item in self.client.get("overlord", f"{SUPERVISOR}?full") if "state" in item]
        return tuple(sorted(map(_supervisor, found), key=lambda s: s.id))

    def spec(self, data_source: str) -> Mapping[str, Any] | None:
        """What runs, with Druid's defaults filled in; None where no supervisor does."""
        found = self.client.get("overlord", supervisor_path(data_source), missing="")
        return found if isinstance(found, dict) else None

    def status(self, data_source: str) -> SupervisorStatus | None:
        found = self.client.get("overlord", supervisor_path(data_source, "status"), missing="")
        return _status(found["payload"]) if isinstance(found, dict) else None

    def counts(self, data_source: str) -> RowCounts:
        """Rows of the tasks that run now: the overlord asks each of them."""
        found = self.client.get("overlord", supervisor_path(data_source, "stats"), missing="")
        return _counts(found if isinstance(found, dict) else {})

    def parse_errors(self, data_source: str) -> tuple[ParseError, ...]:
        """The records that the tasks which run now could not parse, newest first: as many as each of them keeps."""
        found = self.client.get("overlord", supervisor_path(data_source, "parseErrors"), missing="")
        return tuple(map(_parse_error, found)) if isinstance(found, list) else ()

    def tasks(
        self, data_source: str | None = None, state: str | None = None, most: int = MOST_TASKS
    ) -> tuple[Task, ...]:
        """Tasks, newest first; of the completed ones the newest `most`. `state` is running, waiting, pending or complete."""
        found = self.client.get("overlord", tasks_path(data_source, state, most))
        return tuple(sorted(map(_task, found), key=lambda t: t.created, reverse=True))

    def task(self, task_id: str) -> Task | None:
        found = self.client.get("overlord", task_path(task_id, "status"), missing="")
        return _task(found["status"]) if isinstance(found, dict) else None

    def log(self, task_id: str, characters: int) -> str:
        """The end of a task's log; empty where there is none: an indexer's tasks write into the indexer's own."""
        return str(
            self.client.get("overlord", f"{task_path(task_id, 'log')}?offset=-{characters}", missing=" ")
        ).strip()

    def report(self, task_id: str) -> tuple[RowCounts, tuple[ParseError, ...]] | None:
        """What a task says of its rows, while it runs and afterwards; None where it left no report."""
        found = self.client.get("overlord", task_path(task_id, "reports"), missing="")
        payload = found.get("ingestionStatsAndErrors", {}).get("payload") if isinstance(found, dict) else None
        if not isinstance(payload, dict):
            return None
        errors = (payload.get("unparseableEvents") or {}).get("buildSegments") or ()
        stats = payload.get("rowStats") or {}
        live = stats if "totals" in stats else {"totals": stats}
        return _counts({"": {task_id: live}}), tuple(map(_parse_error, errors))

    def left_off(self, task: Task) -> dict[int, int]:
        """Where each partition was read to by a task that has ended, and its records kept; of one that failed, where it began.

        A task counts the records that it takes: by partition those it kept, in all those that it could not parse, too. So in
        a topic with gaps (transactions, compaction), and for several partitions with records that cannot be parsed, it is
        a little less.
        """
        found = self.client.get("overlord", f"{BASE}/task/{quote(task.id, safe='')}", missing="")
        io = found["payload"].get("ioConfig") or {} if isinstance(found, dict) else {}
        began = _offsets((io.get("startSequenceNumbers") or {}).get("partitionSequenceNumberMap"))
        if task.state != "SUCCESS":
            return began
        report = self.client.get("overlord", task_path(task.id, "reports"), missing="")
        payload = report["ingestionStatsAndErrors"]["payload"] if isinstance(report, dict) else {}
        taken = {_partition(key): int(count) for key, count in (payload.get("recordsProcessed") or {}).items()}
        if len(began) == 1:
            stats = (payload.get("rowStats") or {}).get("buildSegments") or {}
            counts = (stats.get(name, 0) for name in ("processed", "processedWithError", "thrownAway", "unparseable"))
            taken = {partition: max(sum(map(int, counts)), taken.get(partition, 0)) for partition in began}
        return {partition: offset + taken.get(partition, 0) for partition, offset in began.items()}

    def workers(self) -> tuple[Worker, ...]:
        found = self.client.get("overlord", f"{BASE}/workers")
        return tuple(
            Worker(item["worker"]["host"], int(item["worker"]["capacity"]), int(item["currCapacityUsed"]))
            for item in found
        )

    def kill(self, task_id: str) -> None:
        self.client.post("overlord", task_path(task_id, "shutdown"))


def tasks_path(data_source: str | None = None, state: str | None = None, most: int = MOST_TASKS) -> str:
    given = {"datasource": data_source, "state": state, "max": str(most)}
    return f"{BASE}/tasks?{urlencode({key: value for key, value in given.items() if value is not None})}"


def task_path(task_id: str, part: str) -> str:
    return f"{BASE}/task/{quote(task_id, safe='')}/{part}"


def _supervisor(item: Mapping[str, Any]) -> Supervisor:
    spec = item.get("spec") or {}
    return Supervisor(
        item["id"], item["state"], item["detailedState"], bool(item["healthy"]), bool(spec.get("suspended")),
        str(spec.get("type") or ""), spec,
    )  # fmt: skip


def _status(payload: Mapping[str, Any]) -> SupervisorStatus:
    errors = (
        SupervisorError(
            str(e.get("timestamp") or ""), first_line(str(e.get("message") or e.get("exceptionClass") or ""))
        )
        for e in payload.get("recentErrors") or ()
    )
    return SupervisorStatus(
        state=payload["state"],
        detailed_state=payload["detailedState"],
        suspended=bool(payload["suspended"]),
        healthy=bool(payload["healthy"]),
        partitions=payload.get("partitions"),
        active=tuple(map(_reading_task, payload.get("activeTasks") or ())),
        publishing=tuple(map(_reading_task, payload.get("publishingTasks") or ())),
        latest_offsets=_offsets(payload.get("latestOffsets")),
        lag=_offsets(payload.get("minimumLag")),
        total_lag=payload.get("aggregateLag"),
        offsets_updated=payload.get("offsetsLastUpdated"),
        errors=tuple(errors),
    )


def _reading_task(item: Mapping[str, Any]) -> ReadingTask:
    return ReadingTask(
        item["id"], _offsets(item.get("startingOffsets")), _offsets(item.get("currentOffsets")),
        item.get("startTime"), item.get("remainingSeconds"),
    )  # fmt: skip


def _offsets(found: Mapping[str, Any] | None) -> dict[int, int]:
    """Of several topics (topicPattern) a partition is `topic:number`: only the number is kept, which is then no key."""
    pairs = ((str(name).rpartition(":")[2], value) for name, value in (found or {}).items())
    return {int(name): int(value) for name, value in pairs if name.isdecimal() and value is not None}


def _partition(key: str) -> int:
    """`KafkaTopicPartition{partition=0, topic='null', …}`, or the number alone."""
    found = re.search(r"partition=(\d+)", key)
    return int(found[1]) if found else int(key)


def _counts(groups: Mapping[str, Mapping[str, Any]]) -> RowCounts:
    totals: dict[str, int] = {}
    bad: dict[str, int] = {}
    per_second = 0.0
    for tasks in groups.values():
        for task_id, stats in tasks.items():
            rows = (stats.get("totals") or {}).get("buildSegments") or {}
            for name, value in rows.items():
                totals[name] = totals.get(name, 0) + int(value)
            bad[task_id] = int(rows.get("unparseable") or 0) + int(rows.get("processedWithError") or 0)
            averages = (stats.get("movingAverages") or {}).get("buildSegments") or {}
            per_second += float((averages.get("1m") or {}).get("processed") or 0)
    worst = max(bad, key=lambda task_id: bad[task_id], default="")
    return RowCounts(
        totals.get("processed", 0), totals.get("unparseable", 0), totals.get("processedWithError", 0),
        totals.get("thrownAway", 0), per_second, worst if bad.get(worst) else "",
    )  # fmt: skip


def _parse_error(item: Mapping[str, Any]) -> ParseError:
    details: Iterable[Any] = item.get("details") or ()
    return ParseError(
        str(item.get("input") or ""), "; ".join(map(str, details)), int(item.get("timeOfExceptionMillis") or 0)
    )


def _task(item: Mapping[str, Any]) -> Task:
    """A task of the list or of its own status; RUNNING is split by what the runner says."""
    state = str(item.get("statusCode") or item.get("status"))
    runner = item.get("runnerStatusCode")
    location = item.get("location") or {}
    host, port = (
        location.get("host"),
        location.get("tlsPort") if (location.get("tlsPort") or -1) > 0 else location.get("port"),
    )
    return Task(
        id=item["id"],
        type=str(item.get("type") or ""),
        data_source=str(item.get("dataSource") or ""),
        state=str(runner) if state == "RUNNING" and runner in ("PENDING", "WAITING") else state,
        created=str(item.get("createdTime") or ""),
        duration=int(item["duration"]) if item.get("duration") is not None else -1,
        location=f"{host}:{port}" if host else "",
        error=first_line(str(item.get("errorMsg") or "")),
    )
