"""A snapshot of all ingestions, and the rows of SHOW INGESTIONS, SHOW TASKS and SHOW TASK. Pure.

An `Overview` is read by `clients.observe`. The running tasks are taken from the overlord's list of tasks, because a
supervisor discovers its tasks about 20 s later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field, replace
from datetime import datetime
from math import ceil
from typing import Any

from hivedruid.catalog.ingestions import IngestionRecord, LastSpec
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.store import DruidTable
from hivedruid.catalog.table import Table
from hivedruid.ingestion.compare import Difference
from hivedruid.ingestion.model import (
    STREAMS,
    EndedTask,
    FeedOffsets,
    Offsets,
    RowCounts,
    Slots,
    Supervisor,
    SupervisorStatus,
    Task,
    UnparseableRecord,
)
from hivedruid.ingestion.supervisor import OWNER_ID, replicas, supervisor_id, task_groups
from hivedruid.ingestion.times import UnlikelyTimes
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.changes import IngestionJob
from hivedruid.redaction import redact
from hivedruid.setting_types import PERIOD, seconds

SLOWEST = 0.01
"""Rows per second below which reading counts as stalled: the moving average only approaches 0."""

MISSED_FETCHES = 3
"""The number of missed offset fetches (offsetFetchPeriod, 30 s by default) after which the reported lag is outdated."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Known:
    """The facts of the home: its tables that ingest, their ingestion records and unfinished changes by table_id, its
    name in supervisors, and all its Druid tables. `changing`: the table_ids of the changes that a process runs now.
    """

    tables: tuple[Table, ...] = ()
    records: Mapping[str, IngestionRecord] = field(default_factory=dict)
    home: str = ""
    unfinished: Mapping[str, IngestionJob] = field(default_factory=dict)
    druid_tables: Sequence[DruidTable] = ()
    changing: Set[str] = frozenset()


@dataclass(frozen=True)
class Unreachable:
    """A service that did not respond: the reason, the next step, and who is affected."""

    service: str
    message: str
    hint: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Ingestion:
    """A table that ingests from Kafka, its supervisor, or both.

    `tasks` are the supervisor's, newest first, including ended ones. `status` and `counts` are known if its tasks run
    and could be queried. `started`, `pending`, `is_changing`, `rerun` and `last` are from the catalog: whether it
    should run, the verb that has not completed, whether a process runs it now, the statement that completes it if it is
    more than the verb, and the last submitted spec.
    `differences`: between the supervisor's spec and the table's. `offsets` are those of its topics in Kafka;
    `topic_problem` is why they could not be read. `similar` is a topic with records, of a similar name, if the own
    topic does not exist or has none. `left_off` are the end offsets of its last tasks, if no task runs because an
    offset has expired; `unlikely` are the rows of its data source with unlikely times, if its tasks run. `ended` are
    its newest tasks that have ended with the present spec, if they had parse errors.
    """

    table: Table | None = None
    supervisor: Supervisor | None = None
    tasks: tuple[Task, ...] = ()
    status: SupervisorStatus | None = None
    counts: RowCounts | None = None
    parse_errors: tuple[UnparseableRecord, ...] = ()
    started: bool = False
    pending: str = ""
    is_changing: bool = False
    rerun: str = ""
    last: LastSpec | None = None
    differences: tuple[Difference, ...] = ()
    offsets: FeedOffsets | None = None
    topic_problem: str = ""
    similar: str = ""
    left_off: Offsets = field(default_factory=dict)
    unlikely: UnlikelyTimes | None = None
    ended: tuple[EndedTask, ...] = ()

    @property
    def name(self) -> str:
        """The table's name; without a table, the supervisor's id."""
        if self.table is not None:
            return self.table.full_name
        return self.supervisor.id if self.supervisor is not None else ""

    @property
    def data_source(self) -> str:
        if self.supervisor is not None:
            return self.supervisor.data_source
        return self.table.data_source if self.table is not None else ""

    @property
    def topic(self) -> str:
        if self.supervisor is not None:
            return self.supervisor.topic
        properties = self.table.properties if self.table is not None else {}
        return properties.get("kafka.topic") or properties.get("druid.kafka.ingestion.topicPattern", "")

    @property
    def state(self) -> str:
        return self.supervisor.state if self.supervisor is not None else "STOPPED"

    @property
    def detailed_state(self) -> str | None:
        return self.supervisor.detailed_state if self.supervisor is not None else None

    @property
    def running(self) -> tuple[Task, ...]:
        """The running tasks, except those that are publishing."""
        publishing = {task.id for task in self.status.publishing} if self.status is not None else set()
        return tuple(task for task in self.tasks if task.state == "RUNNING" and task.id not in publishing)

    @property
    def waiting(self) -> tuple[Task, ...]:
        return tuple(task for task in self.tasks if task.state in ("WAITING", "PENDING"))

    @property
    def wanted(self) -> int:
        """The number of tasks that the supervisor should run: per replica at most the number of partitions, once
        known."""
        if self.supervisor is None or self.supervisor.suspended or self.state in ("IDLE", "STOPPING"):
            return 0
        io = self.supervisor.io_config
        return replicas(io) * task_groups(io, self.status.partitions if self.status is not None else None)

    @property
    def lag(self) -> int | None:
        """The number of unread records. None: unknown, for example until the supervisor has fetched the tasks'
        offsets."""
        return self.status.total_lag if self.status is not None and self.status.latest_offsets else None

    @property
    def seconds_behind(self) -> int | None:
        """The time needed to read the rest at the speed of the last minute. None: unknown, or reading is stalled."""
        if self.lag is None or self.lag == 0:
            return self.lag
        speed = self.counts.per_second if self.counts is not None else 0.0
        return ceil(self.lag / speed) if speed > SLOWEST else None

    @property
    def since(self) -> datetime | None:
        """The start time of the oldest running task."""
        return min((when for task in self.running if (when := moment(task.created))), default=None)

    @property
    def last_error(self) -> tuple[str, str] | None:
        """Time and message of the newest error of the supervisor and of its failed tasks."""
        reported = [
            (error.timestamp, error.message) for error in (self.status.errors if self.status is not None else ())
        ]
        failed = [(task.created, task.error) for task in self.tasks if task.has_failed and task.error]
        return max([*reported, *failed], default=None)


@dataclass(frozen=True)
class Overview:
    """All ingestions as of `now`, as seen by `home` (the tag in its supervisors' context).

    `tasks` are all tasks of Druid, `unavailable` the number of segments per data source that are not loaded yet.
    `slots` is None if the workers were not read. `has_supervisors`: the overlord returned its supervisors.
    """

    now: datetime
    home: str = ""
    ingestions: tuple[Ingestion, ...] = ()
    tasks: tuple[Task, ...] = ()
    slots: Slots | None = None
    unavailable: Mapping[str, int] = field(default_factory=dict)
    unreachable: tuple[Unreachable, ...] = ()
    has_supervisors: bool = True


def moment(text: str | None) -> datetime | None:
    """Parse a timestamp of Druid; None if it is invalid."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time if time.tzinfo is not None else None


def with_supervisor_status(
    one: Ingestion, status: SupervisorStatus | None, counts: RowCounts | None, now: datetime
) -> Ingestion:
    """Add the supervisor's status; its lag is dropped if the supervisor has not reached Kafka for some time."""
    if status is not None and one.supervisor is not None:
        period = str(one.supervisor.tuning_config.get("offsetFetchPeriod") or "")
        patience = MISSED_FETCHES * max(30.0, seconds(period) if PERIOD.fullmatch(period) else 0.0)
        looked = moment(status.offsets_updated)
        if looked is not None and (now - looked).total_seconds() > patience:
            status = replace(status, total_lag=None, lag={}, latest_offsets={})
    return replace(one, status=status, counts=counts)


def match(
    tables: Iterable[Table],
    supervisors: Iterable[Supervisor],
    tasks: Iterable[Task],
    druid_tables: Iterable[DruidTable] = (),
) -> tuple[Ingestion, ...]:
    """Every table that ingests from Kafka with its supervisor, and the supervisors without a table, by name.

    If several tables have the same supervisor, it belongs to the one that started it, otherwise to the first. A
    supervisor that feeds the data source of a table without a feed is listed under that table, which may be one of
    `druid_tables`; a second one of a data source, which another home or program started, is listed by its id.
    """
    rest = {s.id: s for s in supervisors if s.type in STREAMS or not s.type}
    started_by = {s.context.get(OWNER_ID) for s in rest.values()}
    by_supervisor: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        by_supervisor.setdefault((task.type, task.supervisor), []).append(task)
    ingestions: list[Ingestion] = []
    by_name = sorted((t for t in tables if t.kind == "druid"), key=lambda t: t.full_name)
    for table in sorted(by_name, key=lambda t: (t.table_id not in started_by, not has_ingestion(t.properties))):
        supervisor = rest.pop(supervisor_id(table), None)
        if supervisor is not None or has_ingestion(table.properties):
            ingestions.append(Ingestion(table, supervisor, _tasks_of(supervisor, by_supervisor)))
    fed = {one.data_source for one in ingestions}
    unfed = {t.data_source: t for t in reversed(list(druid_tables)) if t.data_source not in fed}
    for supervisor in rest.values():
        unfed_table = unfed.pop(supervisor.data_source, None)
        table_of = unfed_table.without_columns() if unfed_table is not None else None
        ingestions.append(Ingestion(table_of, supervisor, _tasks_of(supervisor, by_supervisor)))
    return tuple(sorted(ingestions, key=lambda one: one.name))


def _tasks_of(supervisor: Supervisor | None, by_supervisor: Mapping[tuple[str, str], list[Task]]) -> tuple[Task, ...]:
    return tuple(by_supervisor.get((f"index_{supervisor.type}", supervisor.id), ())) if supervisor is not None else ()


# --- rows --------------------------------------------------------------------------------------------------------


def ingestion_row(one: Ingestion) -> Row:
    """table, topic, state, detailed_state, tasks, lag, seconds_behind, rows_per_second, parse_errors, last_error,
    since."""
    counts = one.counts
    error = one.last_error
    return (
        one.name,
        one.topic,
        one.state,
        one.detailed_state,
        f"{len(one.running)}/{one.wanted}",
        one.lag,
        one.seconds_behind,
        None if counts is None else round(counts.per_second, 2),
        None if counts is None else counts.parse_errors,
        None if error is None else redact(f"{error[0]}: {error[1]}"),
        one.since,
    )


def task_row(task: Task, table: str, now: datetime) -> Row:
    """id, type, table, state, created, duration (in seconds; so far for a running task), location, error."""
    created = moment(task.created)
    duration = task.duration / 1000 if task.duration >= 0 else None
    if duration is None and task.state == "RUNNING" and created is not None:
        duration = max(0.0, round((now - created).total_seconds(), 1))
    return (
        task.id, task.type, table, task.state, created, duration, task.location or None, redact(task.error) or None
    )  # fmt: skip


def task_details(
    task: Task, table: str, now: datetime, report: tuple[RowCounts, tuple[UnparseableRecord, ...]] | None, log: str
) -> tuple[tuple[str, str], ...]:
    """SHOW TASK: names and values, with one row for each unparseable record and each line of the end of the log."""
    names = ("id", "type", "table", "state", "created", "duration", "location", "error")
    row = task_row(task, table, now)
    shown: dict[str, Any] = {**dict(zip(names, row, strict=True)), "created": task.created}
    if shown["duration"] is not None:
        shown["duration"] = f"{shown['duration']} s"
    rows = [(name, str(value)) for name, value in shown.items() if value is not None]
    if report is None:
        rows.append(("rows", "no report available"))
    else:
        counts, errors = report
        rows += [
            ("rows processed", str(counts.processed)),
            ("parse errors", str(counts.parse_errors)),
            ("rows unparseable", str(counts.unparseable)),
            ("rows with errors", str(counts.processed_with_error)),
            ("rows thrown away", str(counts.thrown_away)),
        ]
        rows += [("parse error", parse_error_text(error)) for error in errors]
    return (*rows, *_log_rows(task, log))


def parse_error_groups(errors: Iterable[UnparseableRecord]) -> tuple[tuple[UnparseableRecord, int], ...]:
    """An example of each message, without the values in it, and the number of errors with that message; the most
    frequent first."""
    groups: dict[str, list[UnparseableRecord]] = {}
    for error in errors:
        message = error.details.replace(error.input, "") if error.input else error.details
        groups.setdefault(_VALUES.sub("[]", message), []).append(error)
    return tuple((group[0], len(group)) for group in sorted(groups.values(), key=len, reverse=True))


_VALUES = re.compile(r"(?<!field)(?<!dimension )\[.*?\]", re.DOTALL)
"""Values in Druid's messages of parse errors; the names of fields and dimensions are in brackets, too."""


def parse_error_text(error: UnparseableRecord) -> str:
    return redact(
        f"{error.details}: {error.input}" if error.input and error.input not in error.details else error.details
    )


def _log_rows(task: Task, log: str) -> list[tuple[str, str]]:
    if log:
        return [("log", redact(line)) for line in log.splitlines()]
    where = f" at {task.location}" if task.location else ""
    text = f"not available: tasks of an indexer write to the log of the indexer{where}"
    return [("log", text), ("log", "that of a local cluster: hivedruid local logs indexer")]
