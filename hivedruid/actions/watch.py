"""SHOW INGESTIONS, SHOW TASKS, SHOW TASK, SHOW PROBLEMS and KILL TASK: what they come down to, and how they are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.actions import show_jobs
from hivedruid.actions.gather_jobs import gather_jobs
from hivedruid.actions.model import Action
from hivedruid.actions.show import matches
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.properties import is_fed
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP_LTZ
from hivedruid.clients import observe
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.overlord import Overlord, task_path, tasks_path
from hivedruid.clients.segments import wait_until
from hivedruid.errors import DruidError, SemanticError, Span, UnsupportedError
from hivedruid.ingestion import overview as o
from hivedruid.ingestion.model import Task
from hivedruid.ingestion.problems import COLUMNS, Problem, problems
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements import ingestion as s
from hivedruid.plan.literals import zone_of
from hivedruid.results import Result, ResultColumn

if TYPE_CHECKING:
    from hivedruid.actions.execute import Services

_WORDS: dict[type[Statement], str] = {
    s.ShowIngestions: "SHOW INGESTIONS", s.ShowTasks: "SHOW TASKS", s.ShowTask: "SHOW TASK",
    s.ShowProblems: "SHOW PROBLEMS", s.KillTask: "KILL TASK",
}  # fmt: skip
Shown = s.ShowIngestions | s.ShowTasks | s.ShowTask | s.ShowProblems

LOG_TAIL = 8000
"""Characters of the end of a task's log that SHOW TASK asks for."""
LOG_LINES = 40
AFTERWARDS = "a running supervisor begins another task, which reads again from the offsets published last"
PATIENCE = 60.0
"""Seconds that a task may need to end."""
INGESTION_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "topic": STRING, "state": STRING, "detailed_state": STRING, "tasks": STRING, "lag": BIGINT,
        "seconds_behind": BIGINT, "rows_per_second": DOUBLE, "unparseable": BIGINT, "last_error": STRING,
        "since": TIMESTAMP_LTZ,
    }.items()
)  # fmt: skip
TASK_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "id": STRING, "type": STRING, "table": STRING, "state": STRING, "created": TIMESTAMP_LTZ, "duration": DOUBLE,
        "location": STRING, "error": STRING,
    }.items()
)  # fmt: skip
DETAIL_COLUMNS = (ResultColumn("name", STRING), ResultColumn("value", STRING))
PROBLEM_COLUMNS = tuple(ResultColumn(name, STRING) for name in COLUMNS)


@dataclass(frozen=True)
class Watch(Action):
    """Answer with what Druid and Kafka say at this moment. `table` is that of SHOW TASKS FOR; `settings` are the session's."""

    statement: Shown
    table: Table | None = None
    settings: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class ShutDownTask(Action):
    """End a task. Where a supervisor wants it, another one begins."""

    task: str
    span: Span | None = None


def build(statement: Statement, snapshot: Snapshot) -> tuple[Action, ...]:
    """Raises UnsupportedError on the embedded store, SemanticError for a table that has no tasks."""
    require_cluster(snapshot.settings, _WORDS[type(statement)])
    if isinstance(statement, s.KillTask):
        return (ShutDownTask(statement.task, statement.span),)
    assert isinstance(statement, Shown)
    table = None
    if isinstance(statement, s.ShowTasks) and statement.name is not None:
        from hivedruid.actions.lookup import find_table

        table = find_table(statement.name, snapshot)
        if table.kind != "druid":
            raise SemanticError(f"{table.full_name} is not a Druid table: it has no tasks", span=statement.name.span)
    return (Watch(statement, table, snapshot.settings),)


def require_cluster(settings: Mapping[str, str], what: str) -> None:
    """Raises UnsupportedError on the embedded store."""
    if settings["druid.url"] == "embedded:":
        raise UnsupportedError(
            f"{what} is not possible: the embedded store does not ingest from Kafka and runs no tasks",
            hint="this needs a Druid cluster: SET druid.url to its router, or run hivedruid local up",
        )


# --- EXPLAIN -----------------------------------------------------------------------------------------------------


def describe(action: Action) -> tuple[str, list[tuple[str, Any]]]:
    """The operator and its fields, for `explain_ddl`: the requests, and what each is made for."""
    if isinstance(action, ShutDownTask):
        status = f"GET {task_path(action.task, 'status')}"
        requests = {status: "until it has ended", f"POST {task_path(action.task, 'shutdown')}": "once"}
        return "Kill Task Operator", [("task", action.task), ("effect", AFTERWARDS), ("requests", requests)]
    assert isinstance(action, Watch)
    statement = action.statement
    if isinstance(statement, s.ShowTask):
        parts = {"status": "state", "reports": "rows and parse errors", "log": "end of the log"}
        requests = {f"GET {task_path(statement.task, part)}": what for part, what in parts.items()}
        return "Show Task Operator", [("task", statement.task), ("requests", requests)]
    if isinstance(statement, s.ShowTasks):
        name = action.table.full_name if action.table is not None else None
        requests = {f"GET {_tasks_path(action)}": "all tasks"}
        return "Show Tasks Operator", [("table", name), ("state", statement.state), ("requests", requests)]
    if isinstance(statement, s.ShowIngestions):
        return "Show Ingestions Operator", [("like", statement.like), ("requests", observe.REQUESTS)]
    return "Show Problems Operator", [("requests", {**observe.REQUESTS, **observe.REQUESTS_FOR_PROBLEMS})]


def _tasks_path(action: Watch) -> str:
    assert isinstance(action.statement, s.ShowTasks)
    state = action.statement.state
    return tasks_path(action.table.data_source if action.table is not None else None, _ASKED[state] if state else None)


_ASKED = {
    "RUNNING": "running", "WAITING": "waiting", "PENDING": "pending", "SUCCESS": "complete", "FAILED": "complete",
}  # fmt: skip
"""What Druid calls a task's state in a question, by what it calls it in the answer."""


# --- doing it ----------------------------------------------------------------------------------------------------


def execute(action: Action, services: Services) -> Result | None:
    cluster = services.druid()
    assert isinstance(cluster, DruidCluster)
    if isinstance(action, ShutDownTask):
        _shut_down(action, cluster)
        return None
    assert isinstance(action, Watch)
    return _WATCHERS[type(action.statement)](action, cluster, services)


def known(catalog: Catalog, home: Path) -> observe.Known:
    """What the home knows of its tables and their ingestions."""
    from hivedruid.actions.gather_ingestion import home_name
    from hivedruid.catalog.ingestions import Ingestions

    tables = tuple(table for database in catalog.databases() for table in catalog.tables(database))
    return observe.Known(tables, Ingestions(catalog).all(), home_name(home))


def with_differences(seen: o.Overview, settings: Mapping[str, str]) -> o.Overview:
    """Where a table's own supervisor runs something else than a START would send now."""
    from hivedruid.druid.supervisor import supervisor_spec
    from hivedruid.ingestion.compare import changes
    from hivedruid.ingestion.supervisor import owner_of

    def compared(one: o.Ingestion) -> o.Ingestion:
        if one.table is None or one.supervisor is None or not is_fed(one.table.properties):
            return one
        if owner_of(one.supervisor.spec) not in (None, one.table.table_id):
            return one
        wanted = supervisor_spec(one.table, settings)
        return replace(one, differences=changes(wanted, one.supervisor.spec, one.last))

    return replace(seen, ingestions=tuple(map(compared, seen.ingestions)))


def _ingestions(action: Watch, cluster: DruidCluster, services: Services) -> Result:
    assert isinstance(action.statement, s.ShowIngestions)
    like = action.statement.like
    with observe.Observer(cluster.address) as observer:
        seen = observer.ingestions(known(services.catalog, services.home))
    return ingestion_result((one for one in seen.ingestions if like is None or is_like(one, like)), services.zone())


def ingestion_result(ingestions: Iterable[o.Ingestion], zone: str) -> Result:
    return Result(INGESTION_COLUMNS, zoned(map(o.ingestion_row, ingestions), zone))


def is_like(one: o.Ingestion, pattern: str) -> bool:
    """Whether LIKE chooses it: by the table's name, with or without its database, or the supervisor's id."""
    names = {one.name, one.table.name if one.table is not None else one.name}
    return any(matches(pattern, name) for name in names)


def _problems(action: Watch, cluster: DruidCluster, services: Services) -> Result:
    with observe.Observer(cluster.address) as observer:
        seen = observer.everything(known(services.catalog, services.home))
    jobs = gather_jobs(services.catalog, services.home, action.settings, every=False)
    found = (*problems(with_differences(seen, action.settings)), *show_jobs.problems(jobs))
    return Result(PROBLEM_COLUMNS, problem_rows(found))


def problem_rows(found: Iterable[Problem]) -> list[tuple[str, ...]]:
    return [tuple(getattr(problem, name) for name in COLUMNS) for problem in found]


def _tasks(action: Watch, cluster: DruidCluster, services: Services) -> Result:
    assert isinstance(action.statement, s.ShowTasks)
    state = action.statement.state
    source = action.table.data_source if action.table is not None else None
    found = Overlord(cluster.client).tasks(source, _ASKED[state] if state else None)
    names = table_names(services.catalog)
    if action.table is not None:
        names[action.table.data_source] = action.table.full_name
    now = datetime.now(UTC)
    rows = (_row(task, names, now) for task in found if state in (None, task.state))
    return Result(TASK_COLUMNS, zoned(rows, services.zone()))


def _row(task: Task, names: Mapping[str, str], now: datetime) -> o.Row:
    return o.task_row(task, names.get(task.data_source, task.data_source), now)


def _task(action: Watch, cluster: DruidCluster, services: Services) -> Result:
    assert isinstance(action.statement, s.ShowTask)
    overlord = Overlord(cluster.client)
    task = _found(overlord, action.statement.task, action.statement.span)
    report, log = overlord.report(task.id), overlord.log(task.id, LOG_TAIL)
    name = table_names(services.catalog).get(task.data_source, task.data_source)
    tail = "\n".join(log.splitlines()[-LOG_LINES:])
    return Result(DETAIL_COLUMNS, o.task_details(task, name, datetime.now(UTC), report, tail))


def _found(overlord: Overlord, task_id: str, span: Span | None) -> Task:
    task = overlord.task(task_id)
    if task is None:
        raise DruidError(f"Druid has no task '{task_id}'", span=span, hint="SHOW TASKS lists the ids")
    return task


def _shut_down(action: ShutDownTask, cluster: DruidCluster) -> None:
    """Returns when the task has ended; one that has ended already stays as it is."""
    overlord = Overlord(cluster.client)
    task = _found(overlord, action.task, action.span)
    if task.is_complete:
        cluster.note(f"task {task.id} has ended already: {task.state}")
        return
    overlord.kill(task.id)

    def has_ended() -> bool:
        now = overlord.task(task.id)
        return now is None or now.is_complete

    cluster.progress(f"Druid: ending task {task.id}")
    try:
        if not wait_until(has_ended, PATIENCE):
            raise DruidError(
                f"task {task.id} has not ended after {PATIENCE:g} s", hint="look at the logs of its worker"
            )
    finally:
        cluster.progress("")
    running = overlord.spec(task.data_source) if task.type.removeprefix("index_") in o.STREAMS else None
    if running is not None and not running.get("suspended"):
        cluster.note(f"{task.data_source}: {AFTERWARDS}")


def table_names(catalog: Catalog) -> dict[str, str]:
    """Table by data source; of several the one that is fed, then the first by name."""
    tables = [table for database in catalog.databases() for table in catalog.tables(database) if table.kind == "druid"]
    found: dict[str, str] = {}
    for table in sorted(tables, key=lambda t: (not is_fed(t.properties), t.full_name)):
        found.setdefault(table.data_source, table.full_name)
    return found


def zoned(rows: Iterable[o.Row], zone: str) -> Iterator[o.Row]:
    session = zone_of(zone)
    for row in rows:
        yield tuple(value.astimezone(session) if isinstance(value, datetime) else value for value in row)


_WATCHERS: dict[type[Statement], Callable[[Watch, DruidCluster, Services], Result]] = {
    s.ShowIngestions: _ingestions,
    s.ShowTasks: _tasks,
    s.ShowTask: _task,
    s.ShowProblems: _problems,
}
