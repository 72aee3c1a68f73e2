"""The actions that look at what ingests, what runs and what is wrong, and end tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.errors import Span


@dataclass(frozen=True)
class ListIngestions(Action):
    """Answer with the ingestions that Druid runs and the tables that are fed; `like` is a pattern for their names."""

    like: str | None = None


@dataclass(frozen=True)
class ListTasks(Action):
    """Answer with Druid's tasks: those of a table, and those in a state, where these are given."""

    table: Table | None = None
    state: str | None = None


@dataclass(frozen=True)
class DescribeTask(Action):
    """Answer with what Druid knows of one task."""

    task: str
    span: Span | None = None


@dataclass(frozen=True)
class ListProblems(Action):
    """Answer with what is wrong, compared with what the session's `settings` would make of each table."""

    settings: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class ShutDownTask(Action):
    """End a task. Where a supervisor wants it, another one begins."""

    task: str
    span: Span | None = None


WatchingAction = ListIngestions | ListTasks | DescribeTask | ListProblems | ShutDownTask
