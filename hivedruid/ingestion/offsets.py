"""The effect of RESET: the new offset of each partition, and the number of lost and repeated records."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from hivedruid.ingestion.model import FeedOffsets, Offsets, Partition, SupervisorStatus, partition_of
from hivedruid.lazy_dataclass import dataclass

_MISSING = re.compile(
    r"sequenceNumber \[(?P<offset>\d+)\] is no longer available for partition \[(?P<partition>[^\]]*)\]"
)
"""The message of SeekableStreamSupervisor for an offset before the first one in Kafka."""


@dataclass(frozen=True)
class Move:
    """The change of a partition's offset from `before` (None: unknown) to `after`, and its effect in records.

    `lost` and `repeated` are None if `before` is unknown. `deleted` counts records that Kafka's retention deleted
    before they were read.
    """

    partition: Partition
    before: int | None
    after: int
    lost: int | None
    repeated: int | None
    deleted: int = 0

    @property
    def is_harmless(self) -> bool:
        return self.lost == 0 and self.repeated == 0 and self.deleted == 0


def names_expired_offset(message: str) -> bool:
    """Whether it is a supervisor's message about an offset that Kafka no longer has."""
    return _MISSING.search(message) is not None


def next_offsets(status: SupervisorStatus | None) -> dict[Partition, int]:
    """The next offset of each partition: from the tasks, or the one at which the supervisor fails to start."""
    if status is None:
        return {}
    tasks = (*status.publishing, *status.active)
    missing = (_MISSING.search(error.message) for error in status.errors) if not tasks else ()
    found = ((partition_of(match["partition"]), int(match["offset"])) for match in missing if match is not None)
    offsets = {partition: offset for partition, offset in found if partition is not None}
    for task in tasks:
        for partition, offset in {**task.starting_offsets, **task.current_offsets}.items():
            offsets[partition] = max(offset, offsets.get(partition, 0))
    return offsets


def with_lag(status: SupervisorStatus, latest: Offsets, updated: str) -> SupervisorStatus:
    """The status with the lag as of `updated`, by partition the records between its tasks' offsets and the end offsets.

    It is unchanged if no task reads one of the partitions.
    """
    following = next_offsets(status)
    if not latest or latest.keys() - following.keys():
        return status
    lag = {partition: max(0, end - following[partition]) for partition, end in latest.items()}
    return replace(status, latest_offsets=latest, lag=lag, total_lag=sum(lag.values()), offsets_updated=updated)


def moves(before: Offsets, after: Offsets, feed: FeedOffsets | None) -> tuple[Move, ...]:
    """The moves by partition. Records that Kafka has already deleted count neither as lost nor as repeated."""
    return tuple(_move(p, before.get(p), offset, feed) for p, offset in sorted(after.items()))


def _move(partition: Partition, before: int | None, after: int, feed: FeedOffsets | None) -> Move:
    if before is None:
        return Move(partition, None, after, None, None)
    earliest = feed.earliest.get(partition, 0) if feed else 0
    low, high = max(before, earliest), max(after, earliest)
    return Move(
        partition,
        before,
        after,
        lost=max(0, high - low),
        repeated=max(0, low - high),
        deleted=max(0, earliest - before),
    )


def summary(planned: Iterable[Move]) -> str:
    """`12 records are lost, 3 are read again`, or that it is unknown."""
    listed = tuple(planned)
    if any(move.before is None for move in listed):
        return "the current offsets are unknown: records may be lost or read again"
    lost, repeated = sum(m.lost or 0 for m in listed), sum(m.repeated or 0 for m in listed)
    text = f"{lost} {_records(lost)} lost, {repeated} {_records(repeated)} read again"
    if not lost and not repeated:
        text = "no records are lost or read again"
    deleted = sum(move.deleted for move in listed)
    if deleted:
        text += f"; Kafka deleted {deleted} {'record' if deleted == 1 else 'records'} before they were read"
    return text


def _records(count: int) -> str:
    return "record is" if count == 1 else "records are"
