"""The client of Druid's overlord: supervisors, tasks and workers, as values of `ingestion.model`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, TypeVar

from hivedruid.clients import wire
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.failures import AnswerError, first_line
from hivedruid.clients.fitting import convert_exactly, trim
from hivedruid.druid.paths import path_of
from hivedruid.errors import DruidError
from hivedruid.ingestion.model import (
    Partition,
    ReadingTask,
    RowCounts,
    Supervisor,
    SupervisorError,
    SupervisorStatus,
    Task,
    UnparseableRecord,
    Worker,
    partition_of,
)
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_path

T = TypeVar("T")

BASE = "/druid/indexer/v1"
TASK = f"{BASE}/task"
LOCKS = f"{BASE}/activeLocks"
ACTION = f"{BASE}/action"
MOST_TASKS = 1000
"""The maximum number of completed tasks per request."""


class Overlord:
    """All methods raise DruidError or ConnectError."""

    def __init__(self, client: DruidClient) -> None:
        self.client = client

    def supervisors(self) -> tuple[Supervisor, ...]:
        """Every supervisor with its spec, by id; one request. One that is just ending is listed without a state, and
        skipped."""
        path = f"{SUPERVISOR}?full"
        found = self.client.get("overlord", path, list[wire.Supervisor])
        return tuple(sorted((_supervisor(item) for item in found if item.state), key=lambda s: s.id))

    def spec(self, supervisor: str) -> Mapping[str, Any] | None:
        """The running spec, with Druid's defaults; None if there is no supervisor."""
        path = supervisor_path(supervisor)
        found = self.client.get("overlord", path, wire.JsonObject, missing=None)
        if found is not None:
            self._check_spec(path, found)
        return found

    def _check_spec(self, path: str, spec: Mapping[str, Any]) -> None:
        """Check that the parts of a spec that are read have their types; it is submitted again, so none is left out."""
        try:
            convert_exactly(spec, wire.SupervisorSpec)
        except ValueError as error:
            raise self.client.unexpected("GET", "overlord", path, json.dumps(spec), str(error)) from None

    def status(self, supervisor: str) -> SupervisorStatus | None:
        path = supervisor_path(supervisor, "status")
        found = self.client.get("overlord", path, wire.SupervisorStatus, missing=None)
        return None if found is None else _status(found.payload)

    def counts(self, supervisor: str) -> RowCounts | None:
        """The row counts of the running tasks, which the overlord queries; None if it returns tasks without counts."""
        path = supervisor_path(supervisor, "stats")
        groups = self.client.get("overlord", path, dict[str, dict[str, wire.RowStats]], missing=None) or {}
        return _counts({task_id: stats for tasks in groups.values() for task_id, stats in tasks.items()})

    def parse_errors(self, supervisor: str) -> tuple[UnparseableRecord, ...]:
        """The records that the running tasks could not parse, newest first, as many as each task saves."""
        path = supervisor_path(supervisor, "parseErrors")
        return tuple(map(_parse_error, self.client.get("overlord", path, list[wire.ParseExceptionReport], missing=())))

    def submitted(self, supervisor: str) -> str:
        """The time at which the present spec was submitted, also by a resumption; empty if it is not known."""
        path = supervisor_path(supervisor, "history")
        versions = self.client.get("overlord", path, list[wire.SupervisorVersion], missing=())
        return max((each.version for each in versions), default="")

    def tasks(
        self, data_source: str | None = None, state: str | None = None, most: int = MOST_TASKS
    ) -> tuple[Task, ...]:
        """Tasks, newest first; of the completed ones the newest `most`. `state` is running, waiting, pending or
        complete."""
        found = self.client.get("overlord", tasks_path(data_source, state, most), list[wire.Task])
        return tuple(sorted(_each_once(map(_task, found)), key=lambda t: t.created, reverse=True))

    def task(self, task_id: str) -> Task | None:
        found = self.client.get("overlord", task_path(task_id, "status"), wire.TaskStatus, missing=None)
        return None if found is None else _task(found.status)

    def log(self, task_id: str, characters: int) -> str:
        """The end of a task's log; empty if there is none: tasks of an indexer write to the indexer's log."""
        return self.client.text("overlord", f"{task_path(task_id, 'log')}?offset=-{characters}").strip()

    def report(self, task_id: str) -> tuple[RowCounts, tuple[UnparseableRecord, ...]] | None:
        """The row counts and parse errors of a running or completed task; None if it has no report with counts."""
        payload = self.ingestion_report(task_id)
        counts = _counts({task_id: payload.row_stats or wire.RowStats()}) if payload is not None else None
        if payload is None or counts is None:
            return None
        errors = (payload.unparseable_events or {}).get("buildSegments") or ()
        return counts, tuple(map(_parse_error, errors))

    def reports(self, task_id: str) -> dict[str, wire.Report]:
        """The reports of a task by name; empty if it has none."""
        found = self.client.get("overlord", task_path(task_id, "reports"), wire.Reports, missing=None) or {}
        return {name: report for name, report in found.items() if isinstance(report, wire.Report)}

    def ingestion_report(self, task_id: str) -> wire.IngestionPayload | None:
        found = self.reports(task_id).get(wire.INGESTION)
        return None if found is None else found.payload

    def has_begun(self, task_id: str) -> bool | None:
        """Whether a running task reads records, according to its live report; None without a report. Before that Druid
        cannot pause it: it kills a task that it has to pause in state STARTING."""
        try:
            payload = self.ingestion_report(task_id)
        except AnswerError:
            raise
        except DruidError:  # the overlord passes on what the task's process answers before the task has a report
            return None
        if payload is None or payload.ingestion_state is None:
            return None
        return payload.ingestion_state != "NOT_STARTED"

    def left_off(self, task: Task) -> dict[Partition, int]:
        """The end offset of each partition of a successful task; of a failed task, its start offset.

        A task counts its records: the parsed ones by partition, the unparseable ones only in total. So the result is
        slightly too low for a topic with gaps (transactions, compaction), and for several partitions with unparseable
        records.
        """
        found = self.client.get("overlord", task_path(task.id), wire.TaskDefinition, missing=None)
        io = found.payload.io_config if found is not None else None
        start = io.start_sequence_numbers if io is not None else None
        began = _offsets(start.partition_sequence_number_map if start is not None else None)
        if task.state != "SUCCESS":
            return began
        payload = self.ingestion_report(task.id) or wire.IngestionPayload()
        taken = _offsets(payload.records_processed)
        if len(began) == 1:
            stats = (payload.row_stats or wire.RowStats()).counts
            read = sum(
                rows_in(stats, name) for name in ("processed", "processedWithError", "thrownAway", "unparseable")
            )
            taken = {partition: max(read, taken.get(partition, 0)) for partition in began}
        return {partition: offset + taken.get(partition, 0) for partition, offset in began.items()}

    def workers(self) -> tuple[Worker, ...]:
        found = self.client.get("overlord", f"{BASE}/workers", list[wire.Worker])
        return tuple(Worker(item.worker.host, item.worker.capacity, item.curr_capacity_used) for item in found)

    def submit(self, task: Mapping[str, Any], *, repeatable: bool = True) -> None:
        """Submit a task."""
        self.client.post("overlord", TASK, wire.TaskId, task, repeatable=repeatable)

    def locks(self, data_source: str) -> list[wire.TaskLock]:
        """The locks that tasks hold on a data source."""
        policy = [{"datasource": data_source, "priority": 0}]
        found = self.client.post("overlord", LOCKS, wire.ActiveLocks, policy)
        return found.datasource_to_locks.get(data_source, [])

    def release_lock(self, data_source: str, lock: wire.TaskLock) -> None:
        """Release a lock for its task, as the task itself does before it ends (LockReleaseAction)."""
        task = {"type": "noop", "id": lock.group_id, "groupId": lock.group_id, "dataSource": data_source}
        action = {"type": "lockRelease", "interval": lock.interval.text}
        self.act(task, action, wire.Acknowledgement)

    def act(self, task: Mapping[str, Any], action: Mapping[str, Any], shape: type[T], *, repeatable: bool = True) -> T:
        """Perform an action for a task, as the task itself would (OverlordResource.doAction)."""
        return self.client.post("overlord", ACTION, shape, {"task": task, "action": action}, repeatable=repeatable)

    def kill(self, task_id: str) -> None:
        self.client.post("overlord", task_path(task_id, "shutdown"), wire.TaskId)


def tasks_path(data_source: str | None = None, state: str | None = None, most: int = MOST_TASKS) -> str:
    return path_of(f"{BASE}/tasks", datasource=data_source, state=state, max=str(most))


def task_path(task_id: str, part: str = "") -> str:
    """The path of a task's definition, or of a part of it: status, reports, log, …"""
    return path_of(f"{TASK}/{{}}/{part}" if part else f"{TASK}/{{}}", task_id)


def _supervisor(item: wire.Supervisor) -> Supervisor:
    spec = trim(item.spec or {}, wire.SupervisorSpec)
    state = item.state if isinstance(item.state, str) else json.dumps(item.state)
    return Supervisor(
        item.id, state, item.detailed_state or "", item.healthy is not False, bool(spec.get("suspended")),
        spec["type"] if isinstance(spec.get("type"), str) else "", spec,
    )  # fmt: skip


def _status(report: wire.SupervisorReport) -> SupervisorStatus:
    errors = (
        SupervisorError(e.timestamp or "", first_line(e.message or e.exception_class or ""))
        for e in report.recent_errors or ()
    )
    return SupervisorStatus(
        state=report.state,
        detailed_state=report.detailed_state or report.state,
        suspended=report.suspended,
        healthy=report.healthy is not False,
        partitions=report.partitions,
        active=tuple(map(_reading_task, report.active_tasks or ())),
        publishing=tuple(map(_reading_task, report.publishing_tasks or ())),
        latest_offsets=_offsets(report.latest_offsets),
        lag=_offsets(report.minimum_lag),
        total_lag=report.aggregate_lag,
        offsets_updated=report.offsets_last_updated,
        errors=tuple(errors),
    )


def _reading_task(item: wire.ReadingTask) -> ReadingTask:
    return ReadingTask(
        item.id, _offsets(item.starting_offsets), _offsets(item.current_offsets), item.start_time,
        item.remaining_seconds,
    )  # fmt: skip


def _offsets(found: Mapping[str, int | None] | None) -> dict[Partition, int]:
    pairs = ((partition_of(name), value) for name, value in (found or {}).items())
    return {partition: value for partition, value in pairs if partition is not None and value is not None}


def rows_in(counts: wire.Counts, name: str) -> int:
    return int(number_in(counts, name))


def number_in(counts: wire.Counts, name: str) -> float:
    """0 for what is not a number."""
    value = counts.get(name)
    return value if isinstance(value, int | float) and isfinite(value) else 0.0


def _counts(tasks: Mapping[str, wire.RowStats]) -> RowCounts | None:
    """None for tasks none of which has counts."""
    if tasks and not any(stats.counts for stats in tasks.values()):
        return None
    totals: dict[str, int] = {}
    bad: dict[str, int] = {}
    reasons: dict[str, int] = {}
    per_second = 0.0
    for task_id, stats in tasks.items():
        rows = stats.counts
        for name in rows:
            totals[name] = totals.get(name, 0) + rows_in(rows, name)
        given = rows.get("thrownAwayByReason")
        by_reason: wire.Counts = given if isinstance(given, dict) else {}
        for reason in by_reason:
            reasons[reason] = reasons.get(reason, 0) + rows_in(by_reason, reason)
        bad[task_id] = rows_in(rows, "unparseable") + rows_in(rows, "processedWithError")
        averages = (stats.moving_averages.build_segments if stats.moving_averages is not None else None) or {}
        per_second += number_in(averages.get("1m", {}), "processed")
    worst = max(bad, key=lambda task_id: bad[task_id], default="")
    return RowCounts(
        totals.get("processed", 0), totals.get("unparseable", 0), totals.get("processedWithError", 0),
        totals.get("thrownAway", 0), per_second, worst if bad.get(worst) else "", reasons,
    )  # fmt: skip


def _parse_error(item: wire.ParseExceptionReport) -> UnparseableRecord:
    return UnparseableRecord(
        str(item.input or ""), "; ".join(item.details or ()), item.error_type == "processedWithError",
        item.time_of_exception_millis or 0,
    )  # fmt: skip


def _each_once(tasks: Iterable[Task]) -> Iterable[Task]:
    """The overlord reads running and completed tasks one after the other: a task that ends meanwhile is in both."""
    found: dict[str, Task] = {}
    for task in tasks:
        if task.id not in found or task.is_complete:
            found[task.id] = task
    return found.values()


def _task(item: wire.Task) -> Task:
    """A task of the list or of its own status; RUNNING is refined by the runner's status."""
    state, runner = item.status_code or item.status or "", item.runner_status_code
    location = item.location or wire.TaskLocation()
    port = location.tls_port if (location.tls_port or -1) > 0 else location.port
    return Task(
        id=item.id,
        type=item.type or "",
        data_source=item.data_source or "",
        state=runner if state == "RUNNING" and runner in ("PENDING", "WAITING") else state,
        created=item.created_time or "",
        duration=-1 if item.duration is None else item.duration,
        location=f"{location.host}:{port}" if location.host and port is not None else location.host or "",
        error=first_line(item.error_msg or ""),
        group=item.group_id or "",
    )
