"""The broker that leads the partitions of a topic is killed: another one takes over, and the answer is complete."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from hivedruid.actions.writing import topics as topic_writes
from hivedruid.clients import kafka, transactions
from hivedruid.clients.records import Record
from hivedruid.clients.transactions import Transaction
from hivedruid.errors import KafkaError
from hivedruid.session import Session
from tests.support.ingestion import until
from tests.support.job_homes import run
from tests.support.kafka_faults import BATCH, Fault, create, total
from tests.support.streams import stream_home
from tests.support.two_brokers import DIES, STAYS, TwoBrokers, two_brokers

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

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
    topic = brokers.new_topic(({"n": n} for n in range(MANY)), partitions=2, batch_bytes=BATCH)
    name = create(session, brokers.bootstrap, topic)
    assert total(session, name) == ALL
    fault.end()
    until(lambda: brokers.topics.leaders(topic) == {STAYS}, "the other broker leads the topic")
    assert total(session, name) == ALL  # a statement that begins without the broker


@pytest.mark.parametrize("semantic", ["AT_LEAST_ONCE", "EXACTLY_ONCE"])
def test_during_a_write(brokers: TwoBrokers, session: Session, fault: Fault, semantic: str) -> None:
    """The producer sends records again, and the new leader ignores those that it has."""
    given = brokers.topics.new([{"n": n} for n in range(MANY)], replicas=[STAYS], batch_bytes=BATCH)
    source = create(session, brokers.bootstrap, given)
    target = create(session, brokers.bootstrap, brokers.new_topic(partitions=2), **{"kafka.write.semantic": semantic})
    run(session, f"INSERT INTO {target} (n) SELECT n FROM {source}")
    fault.end()
    assert total(session, target) == ALL
    assert brokers.topics.leaders(target) == {STAYS}


def test_during_a_stream(brokers: TwoBrokers, tmp_path: Path) -> None:
    """No record is lost or added twice, and the stream reads on."""
    topic = brokers.new_topic(partitions=2)
    with stream_home(tmp_path / "home", brokers.topics, topic=topic, bootstrap=brokers.bootstrap) as home:
        home.create(max_records_per_batch="100")
        home.run("START STREAM s")
        home.send(1000)
        until(lambda: home.counts()[0] > 0, "the first batch")
        brokers.kill()
        home.send(1000)
        assert brokers.topics.leaders(topic) == {STAYS}
        home.run("WAIT STREAM s")
        assert home.counts() == home.expected
        home.run("STOP STREAM s")


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


def test_a_commit_waits_until_its_records_are_visible(brokers: TwoBrokers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kafka confirms a commit before it has written the markers that make the records visible: here, while the leader
    of the topic does not run, and the other broker coordinates the transaction."""
    topic = brokers.topics.new(replicas=[DIES])
    target = {"kafka.topic": topic, "kafka.bootstrap.servers": brokers.bootstrap}
    with closing(Transaction(target, f"{topic}_writer")) as transaction, ThreadPoolExecutor(1) as pool:
        transaction.write([Record(b"{}", None, None, None)])
        confirm, confirmed = transaction._producer.commit_transaction, Event()

        def commit_transaction() -> None:
            brokers.pause()
            confirm()
            confirmed.set()

        monkeypatch.setattr(transaction._producer, "commit_transaction", commit_transaction)
        commit = pool.submit(transaction.commit)
        try:
            assert confirmed.wait(60)
            with pytest.raises(TimeoutError):
                commit.result(timeout=1)
        finally:
            brokers.resume()
        commit.result()
    with kafka.Kafka(brokers.bootstrap, {}) as client:
        assert client.offsets_of(topic).latest == {0: 2}, "a record and its marker"


@pytest.mark.parametrize("moment", ["_transaction", "write", "commit"])
def test_the_coordinator_of_a_transaction_is_lost(
    brokers: TwoBrokers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The transaction is tried again. (kafka-python's producer drops a request if it cannot reach the coordinator, and
    waits for the response, for commits without a limit.)"""
    brokers.coordinate_by_both()
    monkeypatch.setattr(transactions, "END", 5.0)
    limits = {"max.block.ms": "10000", "request.timeout.ms": "5000", "delivery.timeout.ms": "6000"}
    options = {f"kafka.producer.{key}": value for key, value in limits.items()}
    topic = brokers.topics.new(replicas=[STAYS])
    target = topic_writes if moment == "_transaction" else Transaction
    step, kills = getattr(target, moment), iter([brokers.kill])

    def after_the_kill(*given: object) -> object:
        for kill in kills:
            kill()
        return step(*given)

    monkeypatch.setattr(target, moment, after_the_kill)
    with Session(tmp_path / "home", hiveconf={"druid.url": "embedded:"}) as session:
        name = create(session, brokers.bootstrap, topic, **options, **{"kafka.write.semantic": "EXACTLY_ONCE"})
        run(session, f"INSERT INTO {name} (n) VALUES (1), (2)")
        assert total(session, name) == (2, 2, 3)
        (job,) = run(session, "SHOW JOBS")
        assert job["state"] == "done"
