"""Streams while Kafka, the disk and other writers fail or interfere: every record once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.errors import SparkError
from hivedruid.local.cluster import LocalCluster
from tests.support.kafka import kafka_python, topics_of
from tests.support.small_disk import small_disk
from tests.support.streams import Home, in_spark, stream_home, until

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark


@pytest.fixture
def home(tmp_path: Path, topics: Topics) -> Iterator[Home]:
    with stream_home(tmp_path / "home", topics) as made:
        yield made


def test_transactions(home: Home) -> None:
    """Committed records once, aborted ones never; records after an open transaction wait for its end."""
    home.create()
    producer = kafka_python().KafkaProducer(
        bootstrap_servers=home.topics.bootstrap, transactional_id=home.topic, transaction_timeout_ms=900_000
    )
    try:
        producer.init_transactions()
        for number, end in enumerate(
            (producer.commit_transaction, producer.abort_transaction, producer.commit_transaction)
        ):
            producer.begin_transaction()
            for each in range(4):
                producer.send(home.topic, b'{"id": %d, "n": 0}' % (10 * number + each), partition=each % 2)
            producer.flush()
            if number == 2:
                home.run("RUN STREAM s")
                assert home.run("SELECT id FROM t ORDER BY id") == [{"id": each} for each in range(4)]
            end()
        home.run("RUN STREAM s")
    finally:
        producer.close()
    assert home.run("SELECT id FROM t ORDER BY id") == [{"id": each} for each in (0, 1, 2, 3, 20, 21, 22, 23)]
    assert home.stream()["lag"] == 0


def test_a_full_disk(home: Home) -> None:
    """The batch fails, and is read again when there is space."""
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    home.send(20_000)
    with small_disk({}, home.path, 4096), pytest.raises(SparkError, match="disk is full"):
        home.run("RUN STREAM s")
    assert home.counts()[0] == 10
    home.run("RUN STREAM s")
    assert home.counts() == home.expected


def test_changes_of_others_while_it_runs(home: Home) -> None:
    """UPDATE and DELETE of another tool, another column, and compactions: its batches are read again, once."""
    home.create(max_records_per_batch="40")
    home.run("START STREAM s")
    for number in range(3):
        home.send(100)
        in_spark(home, f"UPDATE {{t}} SET n = -1 WHERE id = {100 * number - 1}")
        home.send(100)
        in_spark(home, f"DELETE FROM {{t}} WHERE id < 0 AND n = {number}")
        home.run("ALTER TABLE t COMPACT 'minor' AND WAIT")
    in_spark(home, "ALTER TABLE {t} ADD COLUMNS (extra string)")
    home.send(100)
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    home.run("STOP STREAM s")


@pytest.mark.kafka
def test_a_broker_that_is_killed(tmp_path: Path) -> None:
    """The stream reports the error, and continues when Kafka is back."""
    local = LocalCluster(tmp_path / "kafka", heap="small")
    try:
        with topics_of(local.up(druid=False).kafka) as topics, stream_home(tmp_path / "home", topics) as home:
            home.create(max_records_per_batch="300")
            home.run("START STREAM s")
            home.send(1000)
            kill(local)
            until(lambda: bool(home.stream_record().status.error), "an error")
            local.up(druid=False)
            home.run("WAIT STREAM s")
            assert home.counts() == home.expected
            home.run("STOP STREAM s")
            topics.made.clear()  # they end with their Kafka
    finally:
        local.down(clean=True)


def kill(local: LocalCluster) -> None:
    (process,) = (each.pid for each in local.status() if each.name == "kafka")
    assert process is not None
    os.kill(process, signal.SIGKILL)


def test_a_clock_that_is_set_back(home: Home) -> None:
    """A lease of the future has ended: its manager does not renew it."""
    home.send(10)
    home.create()
    record = home.stream_record()
    home.streams.lease(record.stream, "elsewhere:1:0", 4e9, 10.0)
    home.run("START STREAM s")
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    home.run("STOP STREAM s")
