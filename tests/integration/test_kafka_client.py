"""Topics and offsets of the real Kafka."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.errors import ConnectError, KafkaError
from hivedruid.ingestion.model import TopicOffsets

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.kafka


@pytest.fixture
def kafka(cluster: Cluster) -> Iterator[Kafka]:
    with Kafka(cluster.services.kafka, {}) as made:
        yield made


def test_offsets_of_many_topics_at_once(kafka: Kafka, topics: Topics) -> None:
    one, two, empty = topics.new([b"x"] * 5), topics.new([b"x"] * 7, partitions=3), topics.new()
    one_id, two_id, empty_id = map(kafka.topic_id, (one, two, empty))
    assert len({one_id, two_id, empty_id}) == 3
    assert kafka.offsets([two, one, empty, one]) == {
        one: TopicOffsets(one, {0: 0}, {0: 5}, topic_id=one_id),
        two: TopicOffsets(two, {0: 0, 1: 0, 2: 0}, {0: 3, 1: 2, 2: 2}, topic_id=two_id),
        empty: TopicOffsets(empty, {0: 0}, {0: 0}, topic_id=empty_id),
    }


def test_deleted_records(kafka: Kafka, topics: Topics) -> None:
    from kafka import TopicPartition

    topic = topics.new([b"x"] * 5)
    topics.admin.delete_records({TopicPartition(topic, 0): 3})
    assert kafka.offsets([topic])[topic] == TopicOffsets(topic, {0: 3}, {0: 5}, topic_id=kafka.topic_id(topic))
    assert kafka.offsets_at(topic, 0) == {0: 3}


def test_a_topic_that_is_not_there_is_told_and_not_made(kafka: Kafka, topics: Topics) -> None:
    there = topics.new()
    found = kafka.offsets([f"{there}_not", "not a name", there])
    assert isinstance(found[there], TopicOffsets)
    for name in (f"{there}_not", "not a name"):
        problem = found[name]
        assert isinstance(problem, KafkaError)
        assert problem.message == f"topic '{name}' does not exist in Kafka at {kafka.bootstrap}"
    with pytest.raises(KafkaError, match="does not exist in Kafka"):
        kafka.offsets_at(f"{there}_not", 0)
    assert f"{there}_not" not in kafka.topics()


def test_offsets_at_a_moment(kafka: Kafka, topics: Topics) -> None:
    topic = topics.new(partitions=3)
    for number in range(10):
        topics.send(topic, b"x", partition=number % 2, millis=1_000_000 + number * 1000)
    topics.producer.flush()
    assert kafka.offsets_at(topic, 0) == {0: 0, 1: 0, 2: 0}
    assert kafka.offsets_at(topic, 1_004_000) == {0: 2, 1: 2, 2: 0}
    assert kafka.offsets_at(topic, 1_004_001) == {0: 3, 1: 2, 2: 0}
    assert kafka.offsets_at(topic, 1_009_000) == {0: 5, 1: 4, 2: 0}
    assert kafka.offsets_at(topic, 2_000_000) == {0: 5, 1: 5, 2: 0}


def test_records_of_an_open_transaction_are_not_there_yet(kafka: Kafka, topics: Topics) -> None:
    """Druid's consumer reads committed records (KafkaConsumerConfigs)."""
    from kafka import KafkaProducer

    topic = topics.new([b"x"])
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap, transactional_id=topic)
    try:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"y").get(60)
        seen = {}
        for level in ("read_committed", "read_uncommitted"):
            with Kafka(kafka.bootstrap, {"isolation.level": level}) as other:
                offsets = other.offsets([topic])[topic]
                assert isinstance(offsets, TopicOffsets)
                seen[level] = offsets.latest
        assert seen == {"read_committed": {0: 1}, "read_uncommitted": {0: 2}}
        producer.abort_transaction()
    finally:
        producer.close()


def test_topics_by_a_pattern(kafka: Kafka, topics: Topics) -> None:
    first, second = sorted(topics.new(name=name) for name in ("edits_a", "edits_b"))
    end = second.rpartition("_")[2]
    assert kafka.topics(f"edits_b_{end}") == (second,)
    assert set(kafka.topics("edits_[ab]_.*")) >= {first, second}
    assert kafka.topics("edits") == ()
    assert set(kafka.topics()) >= {first, second}
    with pytest.raises(KafkaError, match="is not a valid regular expression"):
        kafka.topics("edits[")


def test_the_first_broker_that_answers_is_asked(kafka: Kafka, topics: Topics) -> None:
    topic = topics.new()
    with Kafka(f"127.0.0.1:1, {kafka.bootstrap}", {}) as other:
        assert isinstance(other.offsets([topic])[topic], TopicOffsets)


def test_no_tls_there(kafka: Kafka) -> None:
    other = Kafka(kafka.bootstrap, {"security.protocol": "SSL"})
    with other, pytest.raises(ConnectError, match="it does not support TLS, which security"):
        other.topics()


def test_nothing_is_left_running(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    with Kafka(cluster.services.kafka, {}) as kafka:
        kafka.topics()
        assert set(threading.enumerate()) > before
    assert set(threading.enumerate()) <= before
    monkeypatch.setattr("hivedruid.clients.kafka.CONNECT_TIMEOUT", 1.0)
    web = Kafka(cluster.services.broker.removeprefix("http://"), {})
    with web, pytest.raises(ConnectError, match=r"does not respond to PLAINTEXT|is not a Kafka broker"):
        web.topics()
    assert set(threading.enumerate()) <= before
