"""RESET in numbers: where each partition goes on, and how many records are lost or repeated by that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hivedruid.ingestion.model import Offsets, TopicOffsets


@dataclass(frozen=True)
class Move:
    """One partition's offset, `before` (None: not known) and `after`; the records that Kafka has of it between the two.

    `lost` and `repeated` are None where `before` is not known.
    """

    partition: int
    before: int | None
    after: int
    lost: int | None
    repeated: int | None


def moves(before: Offsets, after: Offsets, topic: TopicOffsets | None) -> tuple[Move, ...]:
    """Partition by partition. What Kafka has deleted already is neither lost by the move nor read again."""
    return tuple(_move(p, before.get(p), offset, topic) for p, offset in sorted(after.items()))


def _move(partition: int, before: int | None, after: int, topic: TopicOffsets | None) -> Move:
    if before is None:
        return Move(partition, None, after, None, None)
    earliest = topic.earliest.get(partition, 0) if topic else 0
    low, high = max(before, earliest), max(after, earliest)
    return Move(partition, before, after, lost=max(0, high - low), repeated=max(0, low - high))


def summary(planned: Iterable[Move]) -> str:
    """`12 records are lost, 3 are read again`, or that it is not known."""
    listed = tuple(planned)
    if any(move.before is None for move in listed):
        return "what was read so far is not known: records may be lost or read again"
    lost, repeated = sum(m.lost or 0 for m in listed), sum(m.repeated or 0 for m in listed)
    if not lost and not repeated:
        return "no record is lost, none is read again"
    return f"{lost} {_records(lost)} lost, {repeated} {_records(repeated)} read again"


def _records(count: int) -> str:
    return "record is" if count == 1 else "records are"
