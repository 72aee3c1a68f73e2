"""The actions that list ingestions, tasks, problems and offsets, and stop tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import KafkaIngestion, SegmentLists
from hivedruid.engine.kinds import session_kind
from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.streams.overview import WatchedStream


@dataclass(frozen=True)
class ListIngestions(Action):
    """Return the ingestions that run in Druid and the tables that ingest from Kafka; `like` is a pattern for their
    names."""

    like: str | None = None


@dataclass(frozen=True)
class ListTasks(Action):
    """Return Druid's tasks, optionally those of a table or in a state."""

    table: Table | None = None
    state: str | None = None


@dataclass(frozen=True)
class DescribeTask(Action):
    """Return the details of one task."""

    task: str
    span: Span | None = None


@dataclass(frozen=True)
class ListProblems(Action):
    """Return the current problems of ingestions, if the engine has them, of jobs and of streams. Specs are compared
    with those that the session's `settings` would produce."""

    settings: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    streams: tuple[WatchedStream, ...] = field(default=(), hash=False, repr=False)

    @property
    def has_ingestions(self) -> bool:
        return session_kind(self.settings).has(KafkaIngestion)


@dataclass(frozen=True)
class ListOffsets(Action):
    """Return the offsets of the partitions of a Kafka table's topic."""

    table: Table


@dataclass(frozen=True)
class ListTopics(Action):
    """Return the topics of Kafka at `brokers`; if they are empty, of all brokers that tables name."""

    like: str | None = None
    brokers: str = ""


@dataclass(frozen=True)
class ShutDownTask(Action):
    """Stop a task. A running supervisor starts another one."""

    task: str
    span: Span | None = None


@dataclass(frozen=True)
class ListDataSources(Action):
    """Return the data sources of the session's engine; `asks`: they are requested from a cluster."""

    like: str | None = None
    asks: bool = True

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (SegmentLists,)


WatchingAction = (
    ListIngestions | ListTasks | DescribeTask | ListProblems | ListOffsets | ListTopics | ListDataSources | ShutDownTask
)
