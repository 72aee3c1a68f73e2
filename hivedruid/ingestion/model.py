"""What Druid and Kafka say of ingestions, as values: read by `clients`, judged by the rest of this package.

Partitions are numbers; an offset is that of the next record to be read. Moments are ISO 8601 texts as Druid gives them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from hivedruid.ingestion.supervisor import spec_part

Offsets = Mapping[int, int]
"""Partition → offset, or number of records."""


@dataclass(frozen=True)
class Supervisor:
    """One of the overlord's list. `spec` is what runs, Druid's defaults filled in: never shown unredacted.

    `state` is PENDING, RUNNING, IDLE, SUSPENDED, STOPPING, UNHEALTHY_SUPERVISOR or UNHEALTHY_TASKS; `detailed_state` says
    more (CONNECTING_TO_STREAM, CREATING_TASKS, LOST_CONTACT_WITH_STREAM, …: SeekableStreamSupervisorStateManager).
    """

    id: str
    state: str
    detailed_state: str
    healthy: bool
    suspended: bool
    type: str
    spec: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @property
    def data_source(self) -> str:
        return str(spec_part(self.spec, "dataSchema").get("dataSource") or self.id)

    @property
    def topic(self) -> str:
        io = self.io_config
        return str(io.get("topic") or io.get("topicPattern") or io.get("stream") or "")

    @property
    def io_config(self) -> Mapping[str, Any]:
        return spec_part(self.spec, "ioConfig")

    @property
    def tuning_config(self) -> Mapping[str, Any]:
        return spec_part(self.spec, "tuningConfig")

    @property
    def context(self) -> Mapping[str, Any]:
        return self.spec.get("context") or {}


@dataclass(frozen=True)
class ReadingTask:
    """A task as its supervisor's status shows it; offsets are empty until the task was asked for them."""

    id: str
    starting_offsets: Offsets = field(default_factory=dict)
    current_offsets: Offsets = field(default_factory=dict)
    start_time: str | None = None
    remaining_seconds: int | None = None


@dataclass(frozen=True)
class SupervisorError:
    """One of a supervisor's `recentErrors`."""

    timestamp: str
    message: str


@dataclass(frozen=True)
class SupervisorStatus:
    """A supervisor's own report. Its offsets are those of `offsets_updated`, some 30 s old at most.

    A supervisor learns of its tasks some time after they run: until then `active` is empty.
    """

    state: str
    detailed_state: str
    suspended: bool
    healthy: bool
    partitions: int | None = None
    active: tuple[ReadingTask, ...] = ()
    publishing: tuple[ReadingTask, ...] = ()
    latest_offsets: Offsets = field(default_factory=dict)
    lag: Offsets = field(default_factory=dict)
    total_lag: int | None = None
    offsets_updated: str | None = None
    errors: tuple[SupervisorError, ...] = ()


@dataclass(frozen=True)
class RowCounts:
    """Rows of the tasks that run now, and the moving average of the last minute in rows per second.

    `worst` is the task that could not parse the most, if there is one.
    """

    processed: int = 0
    unparseable: int = 0
    processed_with_error: int = 0
    thrown_away: int = 0
    per_second: float = 0.0
    worst: str = ""


@dataclass(frozen=True)
class Task:
    """A task of the overlord. `state` is WAITING, PENDING, RUNNING, SUCCESS or FAILED; `duration` is in ms, -1 while it runs."""

    id: str
    type: str
    data_source: str
    state: str
    created: str
    duration: int = -1
    location: str = ""
    error: str = ""

    @property
    def is_complete(self) -> bool:
        return self.state in ("SUCCESS", "FAILED")

    @property
    def has_failed(self) -> bool:
        """By itself: a task that was told to end counts for Druid as failed, too."""
        return self.state == "FAILED" and _TOLD_TO_END.search(self.error) is None


_TOLD_TO_END = re.compile(
    r"shutdown request from user|graceful shutdown|hasn't been assigned|while reset|succeeded in the (same )?task ?group",
    re.IGNORECASE,
)
"""The reasons of OverlordResource and SeekableStreamSupervisor for ending tasks that did nothing wrong."""


@dataclass(frozen=True)
class Worker:
    """A middle manager or indexer: how many tasks it takes, and how many it has."""

    host: str
    capacity: int
    used: int


@dataclass(frozen=True)
class Slots:
    """Room for tasks. `needed` by what is asked for, beyond what runs already."""

    capacity: int
    used: int
    needed: int = 0

    @classmethod
    def of(cls, workers: Collection[Worker], needed: int = 0) -> Slots:
        """Those of all workers."""
        return cls(sum(worker.capacity for worker in workers), sum(worker.used for worker in workers), needed)

    @property
    def free(self) -> int:
        return max(0, self.capacity - self.used)


@dataclass(frozen=True)
class TopicOffsets:
    """The records that Kafka has of a topic: from `earliest` up to, without, `latest`."""

    topic: str
    earliest: Offsets
    latest: Offsets


@dataclass(frozen=True)
class UnparseableRecord:
    """A record that could not be parsed, as the task kept it."""

    input: str
    details: str
