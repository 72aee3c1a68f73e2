"""Statements that show ingestion, tasks, problems and offsets, and stop tasks."""

from __future__ import annotations

from typing import ClassVar

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName


@dataclass(frozen=True)
class ShowIngestions(Statement):
    """SHOW INGESTIONS [LIKE 'pattern']; the pattern matches table names."""

    like: str | None = None


@dataclass(frozen=True)
class ShowTasks(Statement):
    """SHOW TASKS [FOR table] [WHERE STATE = 'state']; `state` is in upper case."""

    name: TableName | None = None
    state: str | None = None
    state_span: Span | None = None


@dataclass(frozen=True)
class ShowTask(Statement):
    """SHOW TASK 'id'."""

    task: str
    span: Span | None = None


@dataclass(frozen=True)
class ShowProblems(Statement):
    """SHOW PROBLEMS."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams", "own snapshots"})


@dataclass(frozen=True)
class ShowOffsets(Statement):
    """SHOW OFFSETS [FOR] table."""

    name: TableName


@dataclass(frozen=True)
class ShowTopics(Statement):
    """SHOW TOPICS [LIKE 'pattern']."""

    like: str | None = None


@dataclass(frozen=True)
class ShowDataSources(Statement):
    """SHOW DATA SOURCES [LIKE 'pattern']."""

    like: str | None = None


@dataclass(frozen=True)
class KillTask(Statement):
    """KILL TASK 'id'."""

    task: str
    span: Span | None = None


WatchingStatement = (
    ShowIngestions | ShowTasks | ShowTask | ShowProblems | ShowOffsets | ShowTopics | ShowDataSources | KillTask
)
