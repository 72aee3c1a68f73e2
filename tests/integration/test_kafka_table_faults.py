"""Faults of Kafka while statements read and write Kafka tables: the answer is complete, or an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivedruid.errors import HiveDruidError, KafkaError
from hivedruid.local.cluster import LocalCluster
from hivedruid.session import Session
from tests.support.job_homes import run
from tests.support.kafka import Topics, kafka_python, topics_of
from tests.support.kafka_faults import BATCH, Fault, create, total

pytestmark = pytest.mark.spark

MANY = 20_000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """A Kafka of this module, whose broker tests restart; its address does not change."""
    local = LocalCluster(tmp_path_factory.mktemp("broker"), heap="small")
    try:
        local.up(druid=False)
        yield local
    finally:
        local.down(clean=True)


@pytest.fixture
def topics(broker: LocalCluster) -> Iterator[Topics]:
    """With clients of their own for each test: those of a broker that was restarted wait before they connect again."""
    with topics_of(broker.up(druid=False).kafka) as made:
        yield made


MakeSession = Callable[[Fault], Session]


@pytest.fixture
def make_session(tmp_path: Path) -> Iterator[MakeSession]:
    made: list[Session] = []

    def make(fault: Fault) -> Session:
        made.append(Session(tmp_path / "home", hiveconf={"druid.url": "embedded:"}, progress=fault.on_progress))
        return made[-1]

    yield make
    for session in made:
        session.close()


def restarted(broker: LocalCluster) -> None:
    broker.down()
    broker.up(druid=False)


ALL = (MANY, MANY, MANY * (MANY - 1) // 2)


def test_a_broker_that_is_restarted_during_a_read(
    broker: LocalCluster, topics: Topics, make_session: MakeSession
) -> None:
    fault = Fault(lambda: restarted(broker))
    session = make_session(fault)
    name = create(
        session, topics.bootstrap, topics.new([{"n": n} for n in range(MANY)], partitions=2, batch_bytes=BATCH)
    )
    try:
        assert total(session, name) == ALL
    finally:
        fault.end()


@pytest.mark.parametrize("semantic", ["AT_LEAST_ONCE", "EXACTLY_ONCE"])
def test_a_broker_that_is_restarted_during_a_write(
    broker: LocalCluster, topics: Topics, make_session: MakeSession, semantic: str
) -> None:
    fault = Fault(lambda: restarted(broker))
    session = make_session(fault)
    source = create(session, topics.bootstrap, topics.new([{"n": n} for n in range(MANY)], batch_bytes=BATCH))
    target = create(session, topics.bootstrap, topics.new(partitions=2), **{"kafka.write.semantic": semantic})
    try:
        run(session, f"INSERT INTO {target} (n) SELECT n FROM {source}")
    finally:
        fault.end()
    count, distinct, _ = total(session, target)
    assert distinct == MANY
    assert count == MANY or semantic == "AT_LEAST_ONCE"


def test_a_partition_that_is_added_is_not_read(topics: Topics, make_session: MakeSession) -> None:
    """An answer has the partitions that the topic had when the statement began."""
    topic = topics.new([{"n": n} for n in range(MANY)])

    def add() -> None:
        topics.admin.create_partitions({topic: kafka_python().admin.NewPartitions(total_count=3)})
        with kafka_python().KafkaProducer(bootstrap_servers=topics.bootstrap) as producer:  # that knows the partition
            producer.send(topic, b'{"n": 0}', partition=2).get(timeout=30)

    session = make_session(Fault(lambda: None))
    name = create(session, topics.bootstrap, topic)
    session.on_plan = lambda _: add()
    assert total(session, name) == ALL
    session.on_plan = None
    assert total(session, name)[0] == MANY + 1


def test_a_topic_that_is_created_again(topics: Topics, make_session: MakeSession) -> None:
    """The offsets of the statement exist, and are those of other records. (With fewer records Spark waits for the others
    for two minutes, before the same error.)"""
    records = MANY + 1
    topic = topics.new([{"n": n} for n in range(MANY)])

    def again() -> None:
        topics.admin.delete_topics([topic])
        topics.admin.create_topics({topic: {"num_partitions": 1}}, wait_for_metadata=True)
        with kafka_python().KafkaProducer(bootstrap_servers=topics.bootstrap) as producer:  # of the new topic
            sent = [producer.send(topic, b'{"n": -1}', partition=0) for _ in range(records)]
            for each in sent:
                each.get(timeout=30)

    session = make_session(Fault(lambda: None))
    name = create(session, topics.bootstrap, topic)
    session.on_plan = lambda _: again()
    with pytest.raises(HiveDruidError, match=rf"topic '{topic}' was deleted and created again") as error:
        total(session, name)
    assert isinstance(error.value, KafkaError)
    session.on_plan = None
    assert total(session, name)[0] == records
