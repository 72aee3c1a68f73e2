"""What is known of all ingestions at one moment, and the rows of SHOW INGESTIONS, SHOW TASKS and SHOW TASK. Pure.

An `Overview` is read by `clients.observe`. Which tasks run is taken from the overlord's list of tasks: a supervisor learns
of its own some 20 s later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil
from typing import Any

from hivedruid.catalog.ingestions import LastSpec
from hivedruid.catalog.properties import is_fed
from hivedruid.catalog.table import Table
from hivedruid.ingestion.compare import Difference
from hivedruid.ingestion.model import (
    RowCounts,
    Slots,
    Supervisor,
    SupervisorStatus,
    Task,
    TopicOffsets,
    UnparseableRecord,
)
from hivedruid.ingestion.supervisor import OWNER_ID, replicas, task_groups
from hivedruid.redaction import redact
from hivedruid.settings import PERIOD, seconds

STREAMS = ("kafka", "kinesis", "rabbit")
"""Types of supervisors that read a stream; others compact or materialize."""
SLOWEST = 0.01
"""Rows per second below which nothing is read: the average of the last minute only comes near 0."""

MISSED_FETCHES = 3
"""Of the supervisor's looks at Kafka (offsetFetchPeriod, 30 s by default), after which what it says of the lag is too old."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Unreachable:
    """A service that did not answer, why, the next step, and whom that concerns."""

    service: str
    message: str
    hint: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Ingestion:
    """A table that is fed from a stream, its supervisor, or both.

    `tasks` are the supervisor's, newest first, ended ones among them. `status` and `counts` are there where its tasks run
    and could be asked. `started` and `pending` are the catalog's: whether it should run, and the verb that was interrupted;
    `again` is the statement that finishes it, where that is more than the verb; `last` the spec
    that was sent last.
    `differences`: where the supervisor runs something else than the table says. `offsets` are Kafka's of the topic;
    `topic_problem` is why there are none.
    """

    table: Table | None = None
    supervisor: Supervisor | None = None
    tasks: tuple[Task, ...] = ()
    status: SupervisorStatus | None = None
    counts: RowCounts | None = None
    parse_errors: tuple[UnparseableRecord, ...] = ()
    started: bool = False
    pending: str = ""
    again: str = ""
    last: LastSpec | None = None
    differences: tuple[Difference, ...] = ()
    offsets: TopicOffsets | None = None
    topic_problem: str = ""

    @property
    def name(self) -> str:
        """The table's, else the supervisor's id."""
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
        """The tasks that run, those that only publish what they have read left out."""
        publishing = {task.id for task in self.status.publishing} if self.status is not None else set()
        return tuple(task for task in self.tasks if task.state == "RUNNING" and task.id not in publishing)

    @property
    def waiting(self) -> tuple[Task, ...]:
        return tuple(task for task in self.tasks if task.state in ("WAITING", "PENDING"))

    @property
    def wanted(self) -> int:
        """The tasks that the supervisor keeps: never more in a replica than there are partitions, once these are known."""
        if self.supervisor is None or self.supervisor.suspended or self.state in ("IDLE", "STOPPING"):
            return 0
        io = self.supervisor.io_config
        return replicas(io) * task_groups(io, self.status.partitions if self.status is not None else None)

    @property
    def lag(self) -> int | None:
        """Records that were not read yet. None: not known, as until a supervisor has asked its tasks how far they are."""
        return self.status.total_lag if self.status is not None and self.status.latest_offsets else None

    @property
    def seconds_behind(self) -> int | None:
        """How long the tasks need for what is left, at the speed of the last minute. None: not known, or nothing is read."""
        if self.lag is None or self.lag == 0:
            return self.lag
        speed = self.counts.per_second if self.counts is not None else 0.0
        return ceil(self.lag / speed) if speed > SLOWEST else None

    @property
    def since(self) -> datetime | None:
        """Since when those of its tasks that run do."""
        return min((when for task in self.running if (when := moment(task.created))), default=None)

    @property
    def last_error(self) -> tuple[str, str] | None:
        """When and what: the newest of what the supervisor tells and of its tasks that failed."""
        told = [(error.timestamp, error.message) for error in (self.status.errors if self.status is not None else ())]
        failed = [(task.created, task.error) for task in self.tasks if task.has_failed and task.error]
        return max([*told, *failed], default=None)


@dataclass(frozen=True)
class Overview:
    """All ingestions as of `now`, as seen by `home` (the tag in its supervisors' context). `tasks` are all of Druid's, `unavailable` the segments of each data source not loaded yet.

    `slots` is None where the workers were not asked for. `has_supervisors`: the overlord has told of them.
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
    """One of Druid's moments; None where it is none."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def told(one: Ingestion, status: SupervisorStatus | None, counts: RowCounts | None, now: datetime) -> Ingestion:
    """With what its supervisor has told; its lag is forgotten where it has not reached Kafka for some time."""
    if status is not None and one.supervisor is not None:
        period = str(one.supervisor.tuning_config.get("offsetFetchPeriod") or "")
        patience = MISSED_FETCHES * max(30.0, seconds(period) if PERIOD.fullmatch(period) else 0.0)
        looked = moment(status.offsets_updated)
        if looked is not None and (now - looked).total_seconds() > patience:
            status = replace(status, total_lag=None, lag={}, latest_offsets={})
    return replace(one, status=status, counts=counts)


def match(tables: Iterable[Table], supervisors: Iterable[Supervisor], tasks: Iterable[Task]) -> tuple[Ingestion, ...]:
    """Every fed table with its supervisor, and the supervisors that have none, by name.

    Where several tables stand for one data source, the supervisor is that of the table which started it, else of the first.
    A table that is not fed itself gives its name to a supervisor that feeds its data source.
    """
    rest = {s.data_source: s for s in supervisors if s.type in STREAMS}
    started_by = {s.context.get(OWNER_ID): s.data_source for s in rest.values()}
    by_source: dict[str, list[Task]] = {}
    for task in tasks:
        by_source.setdefault(task.data_source, []).append(task)
    found: list[Ingestion] = []
    druid_tables = sorted((t for t in tables if t.kind == "druid"), key=lambda t: t.full_name)
    for table in sorted(druid_tables, key=lambda t: (t.table_id not in started_by, not is_fed(t.properties))):
        supervisor = rest.pop(table.data_source, None)
        if supervisor is not None or is_fed(table.properties):
            found.append(Ingestion(table, supervisor, _tasks_of(supervisor, by_source)))
    found += [Ingestion(None, supervisor, _tasks_of(supervisor, by_source)) for supervisor in rest.values()]
    return tuple(sorted(found, key=lambda one: one.name))


def _tasks_of(supervisor: Supervisor | None, by_source: Mapping[str, list[Task]]) -> tuple[Task, ...]:
    if supervisor is None:
        return ()
    kind = f"index_{supervisor.type}"
    return tuple(task for task in by_source.get(supervisor.data_source, ()) if task.type == kind)


# --- rows --------------------------------------------------------------------------------------------------------


def ingestion_row(one: Ingestion) -> Row:
    """table, topic, state, detailed_state, tasks, lag, seconds_behind, rows_per_second, unparseable, last_error, since."""
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
        None if counts is None else counts.unparseable,
        None if error is None else redact(f"{error[0]}: {error[1]}"),
        one.since,
    )


def task_row(task: Task, table: str, now: datetime) -> Row:
    """id, type, table, state, created, duration (in seconds; until now for one that runs), location, error."""
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
    """SHOW TASK: names and values; a line for each record that could not be parsed, and for each of the end of the log."""
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
            ("rows unparseable", str(counts.unparseable)),
            ("rows with errors", str(counts.processed_with_error)),
            ("rows thrown away", str(counts.thrown_away)),
        ]
        rows += [("parse error", parse_error_text(error)) for error in errors]
    return (*rows, *_log_rows(task, log))


def parse_error_text(error: UnparseableRecord) -> str:
    return redact(
        f"{error.details}: {error.input}" if error.input and error.input not in error.details else error.details
    )


def _log_rows(task: Task, log: str) -> list[tuple[str, str]]:
    if log:
        return [("log", redact(line)) for line in log.splitlines()]
    where = f" at {task.location}" if task.location else ""
    return [("log", f"not available: tasks of an indexer write to the log of the indexer{where}")]
