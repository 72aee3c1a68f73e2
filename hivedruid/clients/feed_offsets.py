"""The offsets of the topic that a supervisor reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.ingestion.feed import feed_of
from hivedruid.ingestion.model import Offsets, TopicOffsets


def feed_offsets(spec: Mapping[str, Any], moment: int | None = None) -> tuple[TopicOffsets | None, Offsets | None]:
    """The offsets of the topic of a supervisor's spec, and those of its first records at or after a moment in
    milliseconds; None for a topicPattern. Raises KafkaError, ConnectError."""
    from hivedruid.clients.kafka import Kafka

    feed = feed_of(spec)
    if feed.is_pattern:
        return None, None
    with Kafka(feed.bootstrap, dict(feed.properties)) as kafka:
        found = kafka.offsets_of(feed.topic)
        return found, None if moment is None else kafka.offsets_at(feed.topic, moment)
