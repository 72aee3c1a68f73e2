"""The state of ingestions in Druid and Kafka, as values: read by `clients`, evaluated by the rest of this package.

An offset is that of the next record to read. Timestamps are ISO 8601 text, as in Druid.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Any

from hivedruid.ingestion.supervisor import spec_part
from hivedruid.lazy_dataclass import dataclass

STREAMS = ("kafka", "kinesis", "rabbit")
"""Types of supervisors that read a stream; others compact or materialize."""


@dataclass(frozen=True, order=True)
class TopicPartition:
    """A partition of one of several topics, which a supervisor with a topicPattern reads; Druid's key of it is its
    text."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}:{self.number}"


Partition = int | TopicPartition
"""The number of a partition, or with a topicPattern also its topic. The partitions of a supervisor are all of one
kind."""
Offsets = Mapping[Partition, int]
"""Partition → offset, or number of records."""

_OF_TOPIC = re.compile(r"partition=(?P<number>\d+)(?:, topic='(?P<topic>.*)', multiTopicPartition=(?P<several>\w+))?")
"""The text of a partition in reports and messages of Druid (KafkaTopicPartition.toString)."""


def partition_of(text: str) -> Partition | None:
    """The partition in a key or message of Druid, `0`, `topic:0` or a KafkaTopicPartition; None for other text."""
    if found := _OF_TOPIC.search(text):
        number = int(found["number"])
        return TopicPartition(found["topic"], number) if found["several"] == "true" else number
    topic, separator, digits = text.rpartition(":")
    if not digits.isdecimal():
        return None
    return TopicPartition(topic, int(digits)) if separator else int(digits)


def offset_list(offsets: Offsets) -> str:
    """`0:500, 1:480`, or with several topics `a:0:500, b:0:480`."""
    return ", ".join(f"{partition}:{offset}" for partition, offset in sorted(offsets.items()))


@dataclass(frozen=True)
class Supervisor:
    """A supervisor in the overlord's list. `spec` is the running spec with Druid's defaults: never show it unredacted.

    `state` is PENDING, RUNNING, IDLE, SUSPENDED, STOPPING, UNHEALTHY_SUPERVISOR or UNHEALTHY_TASKS; `detailed_state`
    says more (CONNECTING_TO_STREAM, CREATING_TASKS, LOST_CONTACT_WITH_STREAM, …: SeekableStreamSupervisorStateManager).
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
    """A task in its supervisor's status; the offsets are empty until the supervisor has fetched them."""

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
    """The status of a supervisor. Its offsets are as of `offsets_updated`, usually at most 30 s ago.

    A supervisor discovers its tasks some time after they start: until then `active` is empty.
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
    """The row counts of the running tasks, and the moving average of the last minute in rows per second.

    `worst` is the task with the most unparseable records, if any. `thrown_by_reason` has those that were thrown away,
    by Druid's names of the reasons; empty before Druid 36.
    """

    processed: int = 0
    unparseable: int = 0
    processed_with_error: int = 0
    thrown_away: int = 0
    per_second: float = 0.0
    worst: str = ""
    thrown_by_reason: Mapping[str, int] = field(default_factory=dict)

    @property
    def parse_errors(self) -> int:
        """The records that could not be parsed, in whole or in part."""
        return self.unparseable + self.processed_with_error

    @property
    def read(self) -> int:
        """All records that were read."""
        return self.kept + self.unparseable + self.thrown_away

    @property
    def kept(self) -> int:
        """The rows that were kept, with or without a value that could not be parsed."""
        return self.processed + self.processed_with_error


@dataclass(frozen=True)
class Task:
    """A task of the overlord. `state` is WAITING, PENDING, RUNNING, SUCCESS or FAILED; `duration` is in ms, -1 while it
    runs. `group` is the group of its locks."""

    id: str
    type: str
    data_source: str
    state: str
    created: str
    duration: int = -1
    location: str = ""
    error: str = ""
    group: str = ""

    @property
    def supervisor(self) -> str:
        """The id of the supervisor of a task that reads a stream: its group is `index_kafka_<id>`."""
        prefix = f"{self.type}_"
        return self.group.removeprefix(prefix) if self.group.startswith(prefix) else self.data_source

    @property
    def is_complete(self) -> bool:
        return self.state in ("SUCCESS", "FAILED")

    @property
    def has_failed(self) -> bool:
        """Whether it failed on its own: Druid also marks tasks that were stopped as failed."""
        return self.state == "FAILED" and _STOP_REQUESTED.search(self.error) is None


@dataclass(frozen=True)
class EndedTask:
    """A completed task, its row counts, and the records that it saved because it could not parse them."""

    task: Task
    counts: RowCounts
    errors: tuple[UnparseableRecord, ...]


_STOP_REQUESTED = re.compile(
    r"shutdown request from user|graceful shutdown|hasn't been assigned|while reset|succeeded in the (same )?task"
    r" ?group",
    re.IGNORECASE,
)
"""The reasons of OverlordResource and SeekableStreamSupervisor for stopping healthy tasks."""


@dataclass(frozen=True)
class Worker:
    """A middle manager or indexer: its task slots, and how many are in use."""

    host: str
    capacity: int
    used: int


@dataclass(frozen=True)
class Slots:
    """Task slots. `needed`: by the change, in addition to the running tasks."""

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
    """The offsets of a topic in Kafka: from `earliest` to `latest`, exclusive. `topic_id` differs when the topic was
    deleted and created again."""

    topic: str
    earliest: Mapping[int, int]
    latest: Mapping[int, int]
    topic_id: str = ""

    @property
    def records(self) -> int:
        """The number of offsets; those of control records and of compacted records have no record."""
        return sum(self.latest.values()) - sum(self.earliest.values())


@dataclass(frozen=True)
class FeedOffsets:
    """The offsets in Kafka of all partitions that a supervisor can read: from `earliest` to `latest`, exclusive. `name`
    is the topic, or the pattern of topics."""

    name: str
    earliest: Offsets
    latest: Offsets

    @property
    def is_unwritten(self) -> bool:
        """Whether no record was ever written to the topics; retention does not set offsets back to 0."""
        return not any(self.latest.values())

    @classmethod
    def of_topic(cls, topic: TopicOffsets) -> FeedOffsets:
        return cls(topic.topic, dict(topic.earliest.items()), dict(topic.latest.items()))

    @classmethod
    def of_pattern(cls, pattern: str, topics: Iterable[TopicOffsets]) -> FeedOffsets:
        listed = tuple(topics)
        return cls(
            pattern,
            {TopicPartition(topic.topic, p): offset for topic in listed for p, offset in topic.earliest.items()},
            {TopicPartition(topic.topic, p): offset for topic in listed for p, offset in topic.latest.items()},
        )


@dataclass(frozen=True)
class TopicDetails:
    """A topic in Kafka: `replicas` of each partition, the bytes of the largest replica of each partition, and the
    values of its configuration by name. What the user may not read is empty."""

    offsets: TopicOffsets
    replicas: int
    sizes: Mapping[int, int]
    configuration: Mapping[str, str]


@dataclass(frozen=True)
class UnparseableRecord:
    """A record that could not be parsed, as saved by the task, and when, in milliseconds since 1970. `is_kept`: only
    some of its values could not be parsed."""

    input: str
    details: str
    is_kept: bool = False
    millis: int = 0


@dataclass(frozen=True)
class UnparsedValues:
    """Numeric dimensions with values that running tasks could not parse since they started, and may have in memory.

    `persisted_from` is the time, in milliseconds since 1970, from which on the next record makes a task write those in
    memory to disk; None if the tasks do not save the records.
    """

    fields: frozenset[str]
    persisted_from: int | None = None
