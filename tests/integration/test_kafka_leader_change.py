"""The broker that leads the partitions of a topic is killed: another one takes over, and the answer is complete."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.clients import kafka
from hivedruid.errors import KafkaError
from hivedruid.session import Session
from tests.support.job_homes import run
from tests.support.kafka_faults import Fault, create, total
from tests.support.two_brokers import DIES, STAYS, TwoBrokers, two_brokers

pytestmark = pytest.mark.spark

MANY = 20_000
ALL = (MANY, MANY, MANY * (MANY - 1) // 2)


@pytest.fixture(scope="module")
def module_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoBrokers]:
    with two_brokers(tmp_path_factory.mktemp("brokers")) as made:
        yield made


@pytest.fixture
def brokers(module_brokers: TwoBrokers) -> TwoBrokers:
    """Both brokers run."""
    module_brokers.start()
    return module_brokers


@pytest.fixture
def fault(brokers: TwoBrokers) -> Fault:
    return Fault(brokers.kill)


@pytest.fixture
def session(fault: Fault, tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home", hiveconf={"druid.url": "embedded:"}, progress=fault.on_progress) as made:
        yield made


def test_during_a_read(brokers: TwoBrokers, session: Session, fault: Fault) -> None:
    topic = brokers.new_topic(({"n": n} for n in range(MANY)), partitions=2)
    name = create(session, brokers.bootstrap, topic)
    assert total(session, name) == ALL
    fault.end()
    assert brokers.leaders(topic) == {STAYS}
    assert total(session, name) == ALL  # a statement that begins without the broker


@pytest.mark.parametrize("semantic", ["AT_LEAST_ONCE", "EXACTLY_ONCE"])
def test_during_a_write(brokers: TwoBrokers, session: Session, fault: Fault, semantic: str) -> None:
    """The producer sends records again, and the new leader ignores those that it has."""
    given = brokers.topics.new([{"n": n} for n in range(MANY)], replicas=[STAYS])
    source = create(session, brokers.bootstrap, given)
    target = create(session, brokers.bootstrap, brokers.new_topic(partitions=2), **{"kafka.write.semantic": semantic})
    run(session, f"INSERT INTO {target} (n) SELECT n FROM {source}")
    fault.end()
    assert total(session, target) == ALL
    assert brokers.leaders(target) == {STAYS}


def test_before_the_change(brokers: TwoBrokers, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker is dead, and Kafka has not noticed it yet. A topic without another replica is an error."""
    name = create(session, brokers.bootstrap, brokers.new_topic([{"n": 1}]))
    alone = create(session, brokers.bootstrap, brokers.topics.new([{"n": 1}], replicas=[DIES]))
    brokers.kill()
    run(session, f"INSERT INTO {name} (n) VALUES (2)")
    assert total(session, name) == (2, 2, 3)
    (described,) = run(session, f"SHOW OFFSETS {name}")
    assert described["latest"] == 2
    monkeypatch.setattr(kafka, "LEADER_CHANGE", 1.0)
    with pytest.raises(KafkaError, match=f"topic '{alone}' has no leader for partition 0"):
        total(session, alone)
