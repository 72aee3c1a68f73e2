"""What is known of streams at one moment, and their states. Pure: it is read by `actions/streaming/watch.py`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from time import time

from hivedruid.catalog.streams import Position, StreamRecord
from hivedruid.ingestion.feed import Feed
from hivedruid.ingestion.model import TopicOffsets
from hivedruid.ingestion.overview import Unreachable
from hivedruid.lazy_dataclass import dataclass
from hivedruid.streams.position import start_of

ALIVE = 10.0
"""Seconds without a report after which the manager of a stream counts as dead."""


def is_run(record: StreamRecord, now: float | None = None) -> bool:
    """Whether a manager runs the stream."""
    return bool(record.manager) and abs((now or time()) - record.beat) < ALIVE


def state(record: StreamRecord, now: float | None = None) -> str:
    """`running`, `paused`, `stopped`; `failing` if the last batch failed and is retried; `waiting` if no manager runs
    the stream although it should be running; `stopping` if one still does."""
    if record.desired != "running":
        return "stopping" if is_run(record, now) else record.desired
    if not is_run(record, now):
        return "waiting"
    return "failing" if record.status.error else "running"


def lag(offsets: Mapping[int, int], latest: Mapping[int, int]) -> int:
    """The number of records that are not read yet."""
    return sum(max(0, end - offsets.get(partition, 0)) for partition, end in latest.items())


def moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def age(record: StreamRecord, now: datetime) -> int | None:
    """Seconds since the newest record that is read was written; None if no record was read."""
    newest = moment(record.status.newest)
    return None if newest is None else max(0, int((now - newest).total_seconds()))


@dataclass(frozen=True)
class ManagerId:
    """The id of a manager: its host and process, and whether `--max-streams` lets others share the streams. `token`
    distinguishes it from another process of that number."""

    host: str
    process: int
    token: str
    is_sharing: bool = False

    def __str__(self) -> str:
        return f"{self.host}:{self.process}:{self.token}{'+' if self.is_sharing else ''}"

    @classmethod
    def of(cls, text: str) -> ManagerId | None:
        """None for another text."""
        rest, _, token = text.rpartition(":")
        host, _, process = rest.rpartition(":")
        if not host or not process.isdigit():
            return None
        return cls(host, int(process), token.removesuffix("+"), token.endswith("+"))


@dataclass(frozen=True)
class WatchedStream:
    """A stream, and what its tables and its topic are now.

    `position` is that in the table, `position_problem` why it is not known; `rolled_back_to` is the last batch of a
    table that was rolled back. `misfit` says why the rows of the query do not fit the table, `missing` are the columns
    that the table lacks, as SQL, and `advice` what else repairs that. `feed` is the source's, None if the source does
    not exist, and `rejects` the table of its malformed records. `offsets` are the topic's; `topic_problem` is why they
    could not be read, `has_no_topic` whether the topic does not exist.
    """

    record: StreamRecord
    position: Position
    position_problem: str = ""
    rolled_back_to: int | None = None
    misfit: str = ""
    missing: tuple[str, ...] = ()
    advice: str = ""
    feed: Feed | None = None
    rejects: str = ""
    offsets: TopicOffsets | None = None
    topic_problem: str = ""
    has_no_topic: bool = False

    @property
    def name(self) -> str:
        return self.record.stream.full_name

    @property
    def start(self) -> Mapping[int, int]:
        """The offsets at which the next batch begins."""
        return start_of(self.record, self.position)

    @property
    def lag(self) -> int | None:
        """None: unknown, because Kafka did not respond."""
        return None if self.offsets is None else lag(self.start, self.offsets.latest)


@dataclass(frozen=True)
class StreamOverview:
    """All streams at one moment. `is_managed`: the process of a manager is running."""

    now: datetime
    streams: tuple[WatchedStream, ...] = ()
    unreachable: tuple[Unreachable, ...] = ()
    is_managed: bool = True
