"""The records of a batch."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.catalog.streams import Stream
from hivedruid.errors import KafkaError, RejectLimitError
from hivedruid.streams import properties


def end_offsets(start: Mapping[int, int], latest: Mapping[int, int], limit: int) -> dict[int, int]:
    """The end of a batch from `start`: at most `limit` records, in proportion to the lag of the partitions, at least
    one of each that has any. The ends are those of the largest lags first, so that no partition waits for ever."""
    lags = {partition: end - start.get(partition, 0) for partition, end in latest.items()}
    total = sum(lags.values())
    if total <= limit:
        return dict(latest)
    ends = dict(start)
    left = limit
    for partition, lag in sorted(lags.items(), key=lambda item: (-item[1], item[0])):
        if lag <= 0 or left <= 0:
            continue
        share = min(left, max(1, limit * lag // total))
        ends[partition] = start.get(partition, 0) + share
        left -= share
    return ends


def with_new_partitions(
    start: Mapping[int, int], earliest: Mapping[int, int], latest: Mapping[int, int]
) -> dict[int, int]:
    """The start of a batch: partitions that were added to the topic are read from their first record."""
    return {partition: start.get(partition, earliest.get(partition, 0)) for partition in sorted(latest)}


def check_available(
    topic: str, start: Mapping[int, int], earliest: Mapping[int, int], latest: Mapping[int, int]
) -> None:
    """Raise KafkaError if records that the stream has not read are gone: they were deleted before it read them, or the
    topic has other records than before."""
    for partition, offset in sorted(start.items()):
        first, end = earliest.get(partition, 0), latest.get(partition)
        if end is None:
            raise KafkaError(f"topic {topic} has no partition {partition} any more")
        if offset < first:
            raise KafkaError(
                f"Kafka deleted {first - offset} records of partition {partition} of topic {topic} before they were"
                f" read: the next offset is {offset}, the first available one {first}",
                hint="RESET STREAM … TO EARLIEST continues with those that are left",
            )
        if offset > end:
            raise KafkaError(
                f"partition {partition} of topic {topic} ends at offset {end}, before the next offset, {offset}",
                hint="RESET STREAM … TO EARLIEST reads the topic again, TO LATEST continues with new records",
            )


def check_rejects(stream: Stream, records: int, count: int, first: str) -> None:
    """Raise RejectLimitError if a batch has more malformed records than its limit."""
    limit = properties.reject_limit(stream.properties, records)
    if limit is None or count <= limit.most:
        return
    of_share = f" of {max(records, properties.LEAST_BATCH):,} records" if limit.key == properties.MAX_SHARE else ""
    raise RejectLimitError(
        f"{count:,} of {records:,} records of the batch are malformed, more than '{limit.key}' = '{limit.text}'"
        f"{of_share} allows: the first is in {first}",
        hint=f"ALTER STREAM {stream.full_name} SET PROPERTIES ('{limit.key}' = '…') with a higher limit continues",
    )
