"""The newest records of a topic, from which columns are derived."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from hivedruid.catalog.properties import consumer_properties
from hivedruid.clients.kafka import Kafka, kafka_python
from hivedruid.clients.kafka_security import client_config
from hivedruid.errors import ConnectError, KafkaError

MOST = 1000
"""The maximum number of records."""
PATIENCE = 30.0
"""Seconds to wait for the records."""


def sample_of(properties: Mapping[str, str]) -> tuple[bytes, ...]:
    """The sample for a Kafka table with these properties."""
    return sample(properties["kafka.bootstrap.servers"], properties["kafka.topic"], consumer_properties(properties))


def sample(brokers: str, topic: str, properties: Mapping[str, str]) -> tuple[bytes, ...]:
    """The values of the newest committed records of each partition, without tombstones; about the same number of each
    partition, oldest first. Raises KafkaError, ConnectError."""
    with Kafka(brokers, properties) as kafka:
        found = kafka.offsets_of(topic)
    share = max(1, MOST // max(1, len(found.latest)))
    python = kafka_python()
    starts = {
        python.TopicPartition(topic, number): max(found.earliest[number], end - share)
        for number, end in found.latest.items()
    }
    ends = {place: found.latest[place.partition] for place, start in starts.items()}
    wanted = [place for place, start in starts.items() if start < ends[place]]
    values: list[bytes] = []
    consumer = python.KafkaConsumer(
        bootstrap_servers=brokers, isolation_level="read_committed", enable_auto_commit=False,
        auto_offset_reset="earliest", **client_config(properties),
    )  # fmt: skip
    limit = monotonic() + PATIENCE
    try:
        consumer.assign(wanted)
        for place in wanted:
            consumer.seek(place, starts[place])
        while any(consumer.position(place) < ends[place] for place in wanted):
            if monotonic() > limit:
                raise ConnectError(f"timed out after {PATIENCE:g} s waiting for records of topic '{topic}'")
            for place, records in consumer.poll(timeout_ms=500).items():
                values += (each.value for each in records if each.value is not None and each.offset < ends[place])
    except python.errors.KafkaError as error:
        raise KafkaError(f"records of topic '{topic}' cannot be read: {error}") from error
    finally:
        consumer.close()
    return tuple(values)
