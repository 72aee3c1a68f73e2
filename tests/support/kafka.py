"""Topics of a real Kafka that tests create, fill and delete."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from tests.support.streams import until


def kafka_python() -> Any:
    """The module; below Python 3.13 it reads its resources in a deprecated way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import kafka
        import kafka.admin
    return kafka


class Topics:
    """Creates topics with unique names; `config` is kafka-python's, for a Kafka with authentication."""

    def __init__(self, bootstrap: str, **config: Any) -> None:
        self.bootstrap = bootstrap
        self.admin = kafka_python().admin.KafkaAdminClient(bootstrap_servers=bootstrap, **config)
        self.producer = kafka_python().KafkaProducer(bootstrap_servers=bootstrap, **config)
        self.made: list[str] = []

    def new(
        self,
        records: Iterable[bytes | dict[str, Any]] = (),
        *,
        partitions: int = 1,
        name: str = "t",
        configs: Mapping[str, str] | None = None,
        replicas: Sequence[int] = (),
        batch_bytes: int | None = None,
    ) -> str:
        """A new topic with these records, which are sent to its partitions in turn. `replicas` are the ids of brokers,
        the leader first. The smaller the batches of records are, the more requests a reader needs."""
        topic = f"{name}_{uuid4().hex[:12]}"
        options: dict[str, Any] = {"configs": configs or {}}
        if replicas:
            options["assignments"] = {partition: list(replicas) for partition in range(partitions)}
        else:
            options["num_partitions"] = partitions
        self.admin.create_topics({topic: options}, wait_for_metadata=True)
        self.made.append(topic)
        if replicas:
            until(lambda: self.leaders(topic) == {replicas[0]}, "the leader of a new topic")
        producer = self.producer
        if batch_bytes is not None:
            producer = kafka_python().KafkaProducer(bootstrap_servers=self.bootstrap, batch_size=batch_bytes)
        for number, record in enumerate(records):
            producer.send(topic, _value(record), partition=number % partitions)
        producer.flush()
        if producer is not self.producer:
            producer.close()
        return topic

    def leaders(self, topic: str) -> set[int]:
        """The ids of the brokers that lead its partitions."""
        (found,) = self.admin.describe_topics([topic])
        return {partition["leader_id"] for partition in found["partitions"]}

    def recreate(self, topic: str, partitions: int) -> None:
        """Delete a topic, and create an empty one with its name."""
        self.admin.delete_topics([topic])
        until(lambda: topic not in self.admin.list_topics(), "the end of the topic")
        self.admin.create_topics({topic: {"num_partitions": partitions}}, wait_for_metadata=True)

    def send(
        self, topic: str, record: bytes | dict[str, Any], *, partition: int = 0, millis: int | None = None
    ) -> None:
        """Produce one record, JSON unless it is bytes; `millis` is its time. It is stored after `producer.flush()`."""
        self.producer.send(topic, _value(record), partition=partition, timestamp_ms=millis)

    def values(self, topic: str) -> list[bytes | None]:
        """The values of the records of a topic with one partition, in order."""
        kafka = kafka_python()
        consumer = kafka.KafkaConsumer(bootstrap_servers=self.bootstrap, consumer_timeout_ms=10_000)
        try:
            place = kafka.TopicPartition(topic, 0)
            consumer.assign([place])
            end = consumer.end_offsets([place])[place]
            consumer.seek_to_beginning(place)
            found: list[bytes | None] = []
            while consumer.position(place) < end:
                found += [record.value for records in consumer.poll(1000).values() for record in records]
            return found
        finally:
            consumer.close()

    def close(self) -> None:
        self.producer.close()
        if self.made:
            until(self._is_deleted, "a connection to the controller")
        self.admin.close()

    def _is_deleted(self) -> bool:
        """Delete the topics; False if the client of a broker that has just been restarted is not connected yet."""
        try:
            self.admin.delete_topics(self.made, raise_errors=False)
        except kafka_python().errors.NodeNotReadyError:
            return False
        return True


def _value(record: bytes | dict[str, Any]) -> bytes:
    return record if isinstance(record, bytes) else json.dumps(record).encode()


@contextmanager
def topics_of(bootstrap: str, **config: Any) -> Iterator[Topics]:
    made = Topics(bootstrap, **config)
    try:
        yield made
    finally:
        made.close()
