"""List ingestions, tasks, problems, offsets and topics, and stop tasks."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.utility.show import matches
from hivedruid.actions.watching.model import (
    DescribeTask,
    ListDataSources,
    ListIngestions,
    ListOffsets,
    ListProblems,
    ListTasks,
    ListTopics,
    ShutDownTask,
    WatchingAction,
)
from hivedruid.actions.writing import show as show_jobs
from hivedruid.actions.writing.gather import gather_jobs
from hivedruid.catalog.places import Places
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.types import BIGINT, DOUBLE, INT, STRING, TIMESTAMP_LTZ
from hivedruid.clients.overlord import tasks_path
from hivedruid.engine.capabilities import KafkaIngestion, Tasks
from hivedruid.errors import DruidError, Span
from hivedruid.ingestion import overview as o
from hivedruid.ingestion.model import Task
from hivedruid.ingestion.problems import problems
from hivedruid.ingestion.repairs import COLUMNS, Problem, local_start, pasted, with_check
from hivedruid.local.state import down
from hivedruid.operations.change_store import Changes
from hivedruid.plan.literals import rows_in_zone
from hivedruid.results import Result, ResultColumn
from hivedruid.streams.problems import problems as stream_problems

LOG_TAIL = 8000
"""Characters that SHOW TASK reads from the end of a task's log."""
LOG_LINES = 40
AFTERWARDS = "a running supervisor starts another task, which reads again from the last published offsets"
PATIENCE = 60.0
"""Seconds to wait for a task to stop."""
INGESTION_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "topic": STRING, "state": STRING, "detailed_state": STRING, "tasks": STRING, "lag": BIGINT,
        "seconds_behind": BIGINT, "rows_per_second": DOUBLE, "parse_errors": BIGINT, "last_error": STRING,
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
OFFSET_COLUMNS = (
    ResultColumn("partition", INT),
    *(ResultColumn(name, BIGINT) for name in ("earliest", "latest", "records")),
)
DETAIL_COLUMNS = (ResultColumn("name", STRING), ResultColumn("value", STRING))
PROBLEM_COLUMNS = tuple(ResultColumn(name, STRING) for name in COLUMNS)
_ASKED = {
    "RUNNING": "running", "WAITING": "waiting", "PENDING": "pending", "SUCCESS": "complete", "FAILED": "complete",
}  # fmt: skip
"""The name of a task's state in Druid's requests, by its name in the responses."""


def run(action: Action, services: Services) -> Result | None:
    assert isinstance(action, WatchingAction)
    match action:
        case ListIngestions():
            return _ingestions(action, services)
        case ListTasks():
            return _tasks(action, services)
        case DescribeTask():
            return _task(action, services)
        case ListOffsets():
            return _offsets(action)
        case ListTopics():
            from hivedruid.actions.watching.topics import list_topics

            return list_topics(action, services)
        case ListDataSources():
            from hivedruid.actions.watching.data_sources import list_data_sources

            return list_data_sources(action, services)
        case ListProblems():
            return _problems(action, services)
        case ShutDownTask():
            _shut_down(action, services)
            return None
        case _:
            assert_never(action)


def tasks_request(action: ListTasks) -> str:
    """The path of the one request that SHOW TASKS makes."""
    source = action.table.data_source if action.table is not None else None
    return tasks_path(source, _ASKED[action.state] if action.state else None)


def known(catalog: Catalog, home: Path) -> o.Known:
    """The home's tables that ingest, their ingestions, and the names of its Druid tables."""
    from hivedruid.catalog.ingestions import Ingestions
    from hivedruid.catalog.opening import catalog_name
    from hivedruid.operations.owner import is_running

    records, unfinished = Ingestions(catalog).all(), Changes(catalog).unfinished()
    name = catalog_name(home, catalog)
    changing = {key for key, job in unfinished.items() if is_running(home, catalog, job.statement_id)}
    return o.Known(catalog.ingesting_tables(), records, name, unfinished, tuple(catalog.druid_tables()), changing)


def with_differences(seen: o.Overview, settings: Mapping[str, str]) -> o.Overview:
    """Add the differences between each table's running supervisor and the spec that START would submit."""
    from hivedruid.druid.supervisor import supervisor_spec
    from hivedruid.ingestion.compare import changes
    from hivedruid.ingestion.supervisor import owner_of

    def compared(one: o.Ingestion) -> o.Ingestion:
        if one.table is None or one.supervisor is None or not has_ingestion(one.table.properties):
            return one
        if owner_of(one.supervisor.spec) not in (None, one.table.table_id):
            return one
        wanted = supervisor_spec(one.table, settings)
        return replace(one, differences=changes(wanted, one.supervisor.spec, one.last))

    return replace(seen, ingestions=tuple(map(compared, seen.ingestions)))


def _ingestions(action: ListIngestions, services: Services) -> Result:
    like = action.like
    seen = services.engine(KafkaIngestion).ingestions(known(services.catalog, services.home))
    return ingestion_result((one for one in seen.ingestions if like is None or is_like(one, like)), services.zone())


def ingestion_result(ingestions: Iterable[o.Ingestion], zone: str) -> Result:
    return Result(INGESTION_COLUMNS, rows_in_zone(map(o.ingestion_row, ingestions), zone))


def is_like(one: o.Ingestion, pattern: str) -> bool:
    """Whether LIKE chooses it: by the table's name, with or without its database, or the supervisor's id."""
    names = {one.name, one.table.name if one.table is not None else one.name}
    return any(matches(pattern, name) for name in names)


def _problems(action: ListProblems, services: Services) -> Result:
    from hivedruid.actions.streaming.watch import overview, with_topics
    from hivedruid.actions.tiering.problems import problems as tier_problems
    from hivedruid.actions.tiering.watch import watched_tiers

    listed: tuple[Problem, ...] = ()
    if action.has_ingestions:
        seen = services.engine(KafkaIngestion).ingestions_with_causes(known(services.catalog, services.home))
        listed = problems(with_differences(seen, action.settings))
    jobs = gather_jobs(services.catalog, services.home, action.settings, every=False)
    of_streams = stream_problems(with_topics(overview(action.streams, services.home, services.catalog)))
    of_tiers = tier_problems(watched_tiers(services))
    listed = (*with_streams(listed, of_streams), *show_jobs.problems(jobs), *of_tiers, *_elsewhere(services))
    return Result(PROBLEM_COLUMNS, problem_rows(with_repairs_to_run(listed, services.home)))


def with_repairs_to_run(listed: tuple[Problem, ...], home: Path) -> tuple[Problem, ...]:
    """The problems with repairs as they are run: the command line for those that services of the home's local cluster
    cause, or another Kafka, and statements with `;`."""
    stopped, command = (down(home) if listed else {}), start_command(home)
    check = f"hivedruid doctor --home {shlex.quote(str(home))}"
    return tuple(pasted(with_check(local_start(each, stopped, command), check)) for each in listed)


def start_command(home: Path) -> str:
    """The command line that starts the services of a home's local cluster which do not run."""
    return f"hivedruid local up --home {shlex.quote(str(home))}"


def with_streams(listed: Iterable[Problem], of_streams: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems of ingestions and those of streams. A service is listed once."""
    first = tuple(listed)
    known = {(each.subject, each.problem) for each in first}
    return (*first, *(each for each in of_streams if (each.subject, each.problem) not in known))


def _elsewhere(services: Services) -> Iterator[Problem]:
    """The tables whose rows were written to another Druid."""
    here, places = services.place(), Places(services.catalog).all()
    for data_source, name in sorted(table_names(services.catalog).items()) if here else ():
        if places.get(data_source, here) != here:
            cause = f"its rows were written to {places[data_source]}"
            yield Problem(name, "rows in another Druid", cause, f"this session reads {here}", "SET druid.url")


def problem_rows(listed: Iterable[Problem]) -> list[tuple[str, ...]]:
    return [tuple(getattr(each, name) for name in COLUMNS) for each in listed]


def _tasks(action: ListTasks, services: Services) -> Result:
    state = action.state
    source = action.table.data_source if action.table is not None else None
    tasks = services.engine(Tasks).tasks(source, _ASKED[state] if state else None)
    names = table_names(services.catalog)
    if action.table is not None:
        names[action.table.data_source] = action.table.full_name
    now = datetime.now(UTC)
    rows = (_row(task, names, now) for task in tasks if state in (None, task.state))
    return Result(TASK_COLUMNS, rows_in_zone(rows, services.zone()))


def _row(task: Task, names: Mapping[str, str], now: datetime) -> o.Row:
    return o.task_row(task, names.get(task.data_source, task.data_source), now)


def _offsets(action: ListOffsets) -> Result:
    """`records` counts offsets; those of control records and of compacted records have no record."""
    from hivedruid.clients.topics import topic_state

    state = topic_state(action.table, ())
    rows = ((p, state.earliest[p], latest, latest - state.earliest[p]) for p, latest in sorted(state.latest.items()))
    return Result(OFFSET_COLUMNS, iter(rows))


def _task(action: DescribeTask, services: Services) -> Result:
    engine = services.engine(Tasks)
    task = _found(engine, action.task, action.span)
    report, log = engine.task_report(task.id), engine.task_log(task.id, LOG_TAIL)
    name = table_names(services.catalog).get(task.data_source, task.data_source)
    tail = "\n".join(log.splitlines()[-LOG_LINES:])
    return Result(DETAIL_COLUMNS, o.task_details(task, name, datetime.now(UTC), report, tail))


def _found(engine: Tasks, task_id: str, span: Span | None) -> Task:
    task = engine.task(task_id)
    if task is None:
        raise DruidError(f"task '{task_id}' does not exist", span=span, hint="SHOW TASKS lists the ids")
    return task


def _shut_down(action: ShutDownTask, services: Services) -> None:
    """Returns when the task has stopped; a task that has already ended is left unchanged."""
    engine = services.engine(Tasks)
    task = _found(engine, action.task, action.span)
    if task.is_complete:
        services.note(f"task {task.id} has already ended: {task.state}")
    elif engine.stop_task(task, PATIENCE):
        services.note(f"{task.data_source}: {AFTERWARDS}")


def table_names(catalog: Catalog) -> dict[str, str]:
    """Table by data source; of several tables the one that ingests from Kafka, then the first by name."""
    names: dict[str, str] = {}
    for ingesting in catalog.ingesting_tables():
        if has_ingestion(ingesting.properties):
            names.setdefault(ingesting.data_source, ingesting.full_name)
    for table in catalog.druid_tables():
        names.setdefault(table.data_source, table.full_name)
    return names
