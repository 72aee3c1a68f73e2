"""Write the lines of a file to a Kafka topic: for sample data, not for bulk loading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hivedruid.errors import KafkaError

TIMEOUT = 60.0
"""Seconds to wait for Kafka to accept a record."""
REPORT_EVERY = 10_000


def produce_lines(path: Path, bootstrap: str, topic: str, *, partitions: int, progress: Callable[[str], None]) -> int:
    """Create the topic, and write each line of the file as a record; returns the number of records.

    Raises KafkaError if the topic already exists, so that nothing is written twice, or if Kafka refuses, and
    ConnectError if it cannot be reached.
    """
    from hivedruid.clients.kafka import Kafka, kafka_python

    with Kafka(bootstrap, {}) as known:
        if topic in known.topics():
            raise KafkaError(f"topic '{topic}' already exists in Kafka at {bootstrap}", hint="choose another name")
    kafka = kafka_python()
    try:
        admin = kafka.admin.KafkaAdminClient(bootstrap_servers=bootstrap)
        try:
            admin.create_topics([kafka.admin.NewTopic(topic, partitions, 1)])
        finally:
            admin.close()
        with (
            kafka.KafkaProducer(bootstrap_servers=bootstrap, linger_ms=20, acks="all") as producer,
            path.open("rb") as lines,
        ):
            futures = []
            for number, line in enumerate(lines):
                futures.append(producer.send(topic, line.rstrip(b"\n"), partition=number % partitions))
                if number % REPORT_EVERY == 0:
                    progress(f"Kafka: {number} records in {topic}")
            for future in futures:
                future.get(TIMEOUT)
            return len(futures)
    except kafka.errors.KafkaError as error:
        raise KafkaError(f"Kafka at {bootstrap} refused the request: {error}") from error
    finally:
        progress("")
