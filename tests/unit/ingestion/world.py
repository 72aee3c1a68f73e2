"""Handmade states of ingestions in Druid and Kafka, shared by the tests of this folder."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hivedruid import parser
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING, TIMESTAMP
from hivedruid.ingestion.model import FeedOffsets, ReadingTask, RowCounts, Supervisor, SupervisorStatus, Task
from hivedruid.ingestion.overview import Ingestion, Overview
from hivedruid.ingestion.problem_kinds import NAMES
from hivedruid.ingestion.problems import problems
from hivedruid.ingestion.repairs import Problem
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_TABLE
from hivedruid.script import split

NOW = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)
HOME = "me@here:/home"


def ago(**units: float) -> str:
    return (NOW - timedelta(**units)).isoformat()


def table(name: str = "wiki", **properties: str) -> Table:
    """A table that ingests from the topic `edits`; keys of properties have `_` for `.`."""
    given = {"kafka.topic": "edits", "kafka.bootstrap.servers": "kafka:9092"}
    given |= {key.replace("_", "."): value for key, value in properties.items()}
    columns = (Column("__time", TIMESTAMP), Column("page", STRING))
    return Table("default", name, "druid", columns, True, properties=given, table_id=f"id-{name}")


def supervisor(of: Table | str = "default.wiki", state: str = "RUNNING", **io: Any) -> Supervisor:
    """The context of a supervisor of a table of this home; with only a name it has no owner."""
    source, context = (of, {}) if isinstance(of, str) else (of.data_source, {
        OWNER_TABLE: of.full_name, OWNER_ID: of.table_id, OWNER_HOME: HOME,
    })  # fmt: skip
    spec = {
        "type": "kafka",
        "context": context,
        "spec": {
            "dataSchema": {"dataSource": source},
            "ioConfig": {"topic": "edits", "consumerProperties": {"bootstrap.servers": "kafka:9092"}, **io},
        },
    }
    suspended = state == "SUSPENDED"
    return Supervisor(source, state, state, True, suspended, "kafka", {**spec, "suspended": suspended})


def task(number: int = 1, state: str = "RUNNING", source: str = "default.wiki", **given: Any) -> Task:
    return Task(
        f"index_kafka_{source}_{number}", "index_kafka", source, state, given.pop("created", ago(minutes=5)), **given
    )


def running(**changes: Any) -> Ingestion:
    """The table `wiki`, whose two tasks have read everything."""
    wiki = table()
    status = SupervisorStatus(
        "RUNNING", "RUNNING", suspended=False, healthy=True, partitions=2,
        active=(ReadingTask(task(1).id, {0: 0}, {0: 100}), ReadingTask(task(2).id, {1: 0}, {1: 90})),
        latest_offsets={0: 100, 1: 90}, lag={0: 0, 1: 0}, total_lag=0, offsets_updated=ago(seconds=20),
    )  # fmt: skip
    one = Ingestion(
        wiki, supervisor(wiki, taskCount=2), (task(2), task(1)), status, RowCounts(190, per_second=10.0),
        started=True, offsets=FeedOffsets("edits", {0: 0, 1: 0}, {0: 100, 1: 90}),
    )  # fmt: skip
    return replace(one, **changes)


def with_status(one: Ingestion, **changes: Any) -> Ingestion:
    assert one.status is not None
    return replace(one, status=replace(one.status, **changes))


def look(*ingestions: Ingestion, **given: Any) -> tuple[Problem, ...]:
    """The problems; every repair is a statement that can be parsed, or a comment."""
    tasks = tuple(task for one in ingestions for task in one.tasks)
    found = problems(Overview(NOW, HOME, ingestions, **{"tasks": tasks, **given}))
    for problem in found:
        assert problem.problem in NAMES
        assert problem.repair.startswith("-- ") or [parser.parse(each) for each in split(problem.repair)]
    return found


def only(*ingestions: Ingestion, **given: Any) -> Problem:
    (problem,) = look(*ingestions, **given)
    return problem
