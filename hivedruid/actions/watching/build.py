"""The actions of SHOW INGESTIONS, TASKS, TASK, PROBLEMS, OFFSETS, TOPICS and DATA SOURCES, and KILL TASK. Pure."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.lookup import find_table
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.watching.model import (
    DescribeTask,
    ListDataSources,
    ListIngestions,
    ListOffsets,
    ListProblems,
    ListTasks,
    ListTopics,
    ShutDownTask,
)
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import KafkaIngestion, Tasks
from hivedruid.engine.kinds import session_kind
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements import watching as s


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """Raises UnsupportedError on the embedded store, SemanticError for a table that has no tasks."""
    del note
    assert isinstance(statement, s.WatchingStatement)
    return StatementPlan((_action(statement, snapshot),))


def _action(statement: s.WatchingStatement, snapshot: Snapshot) -> Action:
    kind = session_kind(snapshot.settings)
    match statement:
        case s.ShowIngestions():
            kind.check("SHOW INGESTIONS is not supported", Tasks, KafkaIngestion)
            return ListIngestions(statement.like)
        case s.ShowTasks():
            kind.check("SHOW TASKS is not supported", Tasks)
            return ListTasks(_druid_table(statement.name, snapshot), statement.state)
        case s.ShowTask():
            kind.check("SHOW TASK is not supported", Tasks)
            return DescribeTask(statement.task, statement.span)
        case s.ShowProblems():
            from hivedruid.actions.streaming.watch import watched

            return ListProblems(snapshot.settings, watched(snapshot))
        case s.ShowOffsets():
            table = find_table(statement.name, snapshot)
            table.check("list offsets", statement.name.span)
            return ListOffsets(table)
        case s.ShowTopics():
            return ListTopics(statement.like, snapshot.settings.get("hivedruid.kafka.bootstrap.servers", ""))
        case s.ShowDataSources():
            return ListDataSources(statement.like, asks=not kind.is_in_home)
        case s.KillTask():
            kind.check("KILL TASK is not supported", Tasks)
            return ShutDownTask(statement.task, statement.span)
        case _:
            assert_never(statement)


def _druid_table(name: TableName | None, snapshot: Snapshot) -> Table | None:
    if name is None:
        return None
    table = find_table(name, snapshot)
    table.check("list tasks", name.span)
    return table
