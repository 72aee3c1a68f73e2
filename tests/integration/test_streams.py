"""Streams from a real Kafka into Iceberg tables: every record once, whatever the manager, Spark or other writers do."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from hivedruid.actions.streaming import manager as background
from hivedruid.catalog.database import FILE_NAME
from hivedruid.catalog.streams import Streams
from hivedruid.errors import (
    CommitConflictError,
    ExecutionError,
    HiveDruidError,
    KafkaError,
    SemanticError,
    UnsupportedError,
)
from hivedruid.manager.turns import Turns
from hivedruid.manager.worker import Worker
from hivedruid.session import Session
from hivedruid.spark import server
from tests.support.job_homes import run
from tests.support.kafka import kafka_python, topics_of
from tests.support.stream_kills import kill_at_random
from tests.support.streams import CONF, LONG, Home, commit_before, expire, in_spark, stream_home, until

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark


@pytest.fixture
def home(tmp_path: Path, topics: Topics) -> Iterator[Home]:
    with stream_home(tmp_path / "home", topics) as made:
        yield made


# --- batches in a session ----------------------------------------------------------------------------------------


def test_a_batch_at_a_time(home: Home) -> None:
    home.send(100)
    home.create()
    home.run("RUN STREAM s LIMIT 30")
    assert home.counts()[0] == 30
    home.run("RUN STREAM s")
    assert home.counts() == home.expected
    home.run("RUN STREAM s")
    batches = home.run("SHOW BATCHES s")
    assert [(row["batch"], row["records"], row["rows"]) for row in batches] == [(2, 70, 70), (1, 30, 30), (0, 0, 0)]
    assert (home.stream()["lag"], home.stream()["rows"], home.stream()["state"]) == (0, 100, "stopped")
    home.send(1)
    assert home.stream()["lag"] == 1


def test_records_that_the_query_drops_are_read_once_and_make_no_snapshot(home: Home) -> None:
    home.send(20)
    home.create("WHERE n = 42")
    home.run("RUN STREAM s")
    assert [row["batch"] for row in home.run("SHOW BATCHES s")] == [0]
    assert (home.stream()["lag"], home.counts()[0]) == (0, 0)
    (before,) = home.run("EXPLAIN RUN STREAM s")
    assert before == {"Explain": "nothing to do"}


def test_a_stream_begins_where_its_property_says(home: Home) -> None:
    home.send(10)
    home.create(start="latest")
    home.send(4)
    home.run("RUN STREAM s")
    assert home.counts() == (4, 4, 10 + 11 + 12 + 13)
    home.run("DROP STREAM s WITH TABLE")
    home.create(start="0:3, 1:5")
    home.run("RUN STREAM s")
    assert home.counts()[0] == 14 - 3 - 5


def test_reset_moves_the_offsets(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    home.run("RESET STREAM s TO OFFSETS (0:3, 1:5)")
    home.run("RUN STREAM s")
    assert home.counts() == (12, 10, sum(range(10)) + 6 + 8)
    home.send(4)
    home.run("RESET STREAM s TO LATEST")
    home.run("RUN STREAM s")
    assert home.counts()[0] == 12


def test_a_reset_that_is_not_confirmed_changes_nothing(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    with (
        Session(home.path, hiveconf=CONF) as asked,
        pytest.raises(ExecutionError, match="10 records will be read agai"),
    ):
        run(asked, "RESET STREAM s TO EARLIEST")
    home.run("RUN STREAM s")
    assert home.counts() == home.expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT count(*) AS n FROM r", "aggregates rows"),
        ("SELECT DISTINCT id FROM r", "aggregates rows"),
        ("SELECT id FROM r ORDER BY id", "sorts or limits rows"),
        ("SELECT id FROM r UNION ALL SELECT id FROM r", "combines queries"),
        ("SELECT a.id FROM r a JOIN r b ON a.id = b.id", "joins tables"),
        ("SELECT row_number() OVER (ORDER BY id) AS k FROM r", "window function"),
        ("SELECT id FROM r WHERE id IN (SELECT n FROM r)", "subquery"),
    ],
)
def test_a_query_must_make_a_row_of_a_record(home: Home, query: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message) as error:
        home.run(f"CREATE STREAM s FROM r INTO t AS {query}")
    assert error.value.span is not None


def test_tables_of_a_stream_stay(home: Home) -> None:
    home.create()
    for statement in ("DROP TABLE r", "DROP TABLE t", "TRUNCATE TABLE t", "ALTER TABLE t RENAME TO u"):
        with pytest.raises(SemanticError, match=r"stream default\.s uses it"):
            home.run(statement)
    home.run("DROP STREAM s")
    home.run("DROP TABLE t")


def test_statements_that_do_not_fit(home: Home) -> None:
    for statement, message in (
        ("CREATE STREAM s FROM r INTO t WITH PROPERTIES ('triger' = 'PT1S') AS SELECT id FROM r", "unknown property"),
        ("CREATE STREAM s FROM r INTO t WITH PROPERTIES ('trigger' = '1') AS SELECT id FROM r", "not a valid trigger"),
        ("CREATE STREAM s FROM r INTO t WITH PROPERTIES ('start' = '7:1') AS SELECT id FROM r", "no partition 7"),
        ("CREATE STREAM s FROM r INTO r AS SELECT id FROM r", "managed table"),
        ("START STREAM s", "Stream not found s"),
        ("SHOW BATCHES s", "Stream not found s"),
    ):
        with pytest.raises(HiveDruidError, match=message) as error:
            home.run(statement)
        assert error.value.span is not None, statement


# --- the truth is in the table -----------------------------------------------------------------------------------


def test_of_two_writers_one_commits(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other session commits the same records between the plan of a batch and its commit."""
    home.send(10)
    home.create()
    commit_before(home, monkeypatch)
    with pytest.raises(CommitConflictError):
        home.run("RUN STREAM s")
    assert home.counts() == home.expected
    home.send(5)
    home.run("RUN STREAM s")
    assert home.counts() == home.expected


def test_other_writers_of_the_table(home: Home) -> None:
    """Their rows stay, and the stream continues: an INSERT, and a compaction, before and after batches."""
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    home.run("INSERT INTO t VALUES (1000, 0, 9, 0)")
    home.send(10)
    home.run("RUN STREAM s")
    home.run("ALTER TABLE t COMPACT 'major' AND WAIT")
    home.send(10)
    home.run("RUN STREAM s")
    assert home.counts() == (31, 31, sum(range(30)) + 1000)


def test_offsets_that_have_expired(home: Home) -> None:
    """The catalog's copy is used as long as no commit is in doubt; in doubt, the stream does not begin anew."""
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    home.run("INSERT INTO t VALUES (1000, 0, 9, 0)")
    expire(home)
    assert home.run("SHOW BATCHES s") == []
    home.send(10)
    home.run("RUN STREAM s")
    assert home.counts() == (21, 21, sum(range(20)) + 1000)
    home.run("INSERT INTO t VALUES (1001, 0, 9, 1)")
    expire(home)
    with Session(home.path, hiveconf=CONF) as session:
        (record,) = Streams(session.catalog).all()
        Streams(session.catalog).begin_batch(record.stream, record.position.batch + 1)
    with pytest.raises(ExecutionError, match="it is not known whether batch 3 was committed"):
        home.run("RUN STREAM s")
    home.run("RESET STREAM s TO OFFSETS (0:10, 1:10)")
    home.send(2)
    home.run("RUN STREAM s")
    assert home.counts()[0] == 24


def test_a_table_that_lost_its_batches(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    first = home.run("SHOW BATCHES s")[-1]["snapshot"]
    in_spark(home, f"CALL hivedruid.system.rollback_to_snapshot({{id}}, {first})")
    with pytest.raises(ExecutionError, match="rolled back to batch 0, after batch 1") as error:
        home.run("RUN STREAM s")
    assert "RESET STREAM" in (error.value.hint or "")
    home.run("ROLLBACK STREAM s TO BATCH 0")
    home.run("RUN STREAM s")
    assert home.counts() == home.expected


def test_topics_that_change(home: Home) -> None:
    """An added partition is read from its start; a topic that was created again is an error."""
    home.send(10)
    home.create()
    home.run("RUN STREAM s")
    home.topics.admin.create_partitions({home.topic: 3})
    until(lambda: len(home.run("SHOW OFFSETS r")) == 3, "the partition")
    with topics_of(home.topics.bootstrap) as fresh:  # the other producer remembers the partitions
        fresh.send(home.topic, {"id": 100, "n": 0}, partition=2)
        fresh.producer.flush()
    home.run("RUN STREAM s")
    assert home.counts()[0] == 11
    home.topics.admin.delete_topics([home.topic])
    until(lambda: home.topic not in home.topics.admin.list_topics(), "the deletion")
    home.topics.admin.create_topics({home.topic: {"num_partitions": 3}}, wait_for_metadata=True)
    with pytest.raises(KafkaError, match="deleted and created again"):
        home.run("RUN STREAM s")


def test_records_that_kafka_has_deleted(home: Home) -> None:
    home.send(10)
    home.create()
    kafka = home.topics.admin
    kafka.delete_records({kafka_python().TopicPartition(home.topic, 0): 3})
    until(lambda: home.run("SHOW OFFSETS r")[0]["earliest"] == 3, "the deletion")
    with pytest.raises(KafkaError, match="Kafka deleted 3 records of partition 0"):
        home.run("RUN STREAM s")


# --- the manager -------------------------------------------------------------------------------------------------


def test_the_life_of_a_stream(home: Home) -> None:
    """START starts a manager in the background, which follows the other statements."""
    home.send(50)
    home.create(max_records_per_batch="20")
    home.run("START STREAM s")
    assert background.is_running(home.path)
    home.run("START STREAM s")
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    assert home.stream()["state"] == "running"
    home.run("PAUSE STREAM s")
    home.send(10)
    assert (home.stream()["state"], home.stream()["lag"]) == ("paused", 10)
    with pytest.raises(SemanticError, match="is paused"):
        home.run("WAIT STREAM s")
    home.run("RESUME STREAM s")
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    with pytest.raises(SemanticError, match="while it is running"):
        home.run("RESET STREAM s TO EARLIEST")
    home.run("STOP STREAM s")
    assert home.stream()["state"] == "stopped"
    with pytest.raises(SemanticError, match="stopped, not paused"):
        home.run("RESUME STREAM s")
    home.run("DROP STREAM s KEEP TABLE")
    assert home.run("SHOW STREAMS") == []
    assert home.counts() == home.expected


def hang(manager: subprocess.Popen[bytes], home: Home) -> None:
    """Stop a manager, but not within a transaction of the catalog, which no other process could change then."""
    while True:
        manager.send_signal(signal.SIGSTOP)
        with (
            closing(sqlite3.connect(home.path / FILE_NAME, timeout=0.5)) as catalog,
            suppress(sqlite3.OperationalError),
        ):
            catalog.execute("BEGIN IMMEDIATE")
            return
        manager.send_signal(signal.SIGCONT)


def test_a_second_manager_takes_over(home: Home) -> None:
    """From one that is killed, and from one that hangs and comes back."""
    home.send(10)
    home.create()
    first = home.manage()
    until(lambda: background.is_running(home.path), "the manager")
    home.run("START STREAM s")
    home.run("WAIT STREAM s")
    home.manage()
    first.kill()
    home.send(10)
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    third = home.manage()
    hang(home.managers[1], home)
    home.send(10)
    home.run("WAIT STREAM s")
    home.managers[1].send_signal(signal.SIGCONT)
    home.send(10)
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    home.run("STOP STREAM s")
    third.send_signal(signal.SIGTERM)
    assert third.wait(LONG) == 0


def test_managers_share_the_streams(home: Home) -> None:
    home.create()
    home.run("CREATE STREAM other FROM r INTO u WITH PROPERTIES ('trigger' = 'PT0.2S') AS SELECT id FROM r")
    for _ in range(2):
        home.manage("--max-streams", "1")
    until(lambda: background.is_running(home.path), "a manager")
    home.run("START STREAM s")
    home.run("START STREAM other")
    assert len({record.manager for record in home.streams.all()}) == 2
    home.send(10)
    home.run("WAIT STREAM s")
    home.run("WAIT STREAM other")
    assert home.counts() == home.expected
    assert home.run("SELECT count(*) AS a, sum(id) AS b FROM u") == [{"a": 10, "b": 45}]
    home.run("STOP STREAM s")
    home.run("STOP STREAM other")


def test_two_managers_that_run_the_same_stream(home: Home) -> None:
    """Whatever their leases say, each batch is committed by one of them; conflicts are counted."""
    home.create(max_records_per_batch="10")
    home.manage()
    until(lambda: background.is_running(home.path), "the manager")
    home.run("START STREAM s")
    other = Worker(home.path, home.stream_record().stream, lambda _: None, Turns())

    def is_contested() -> bool:
        if home.stream()["lag"] == 0:
            home.send(20)
        return home.stream_record().status.conflicts >= 1

    try:
        until(is_contested, "a conflict")
    finally:
        other.stop()
        assert other.join(LONG)
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    home.run("STOP STREAM s")


def test_a_manager_survives_spark(home: Home) -> None:
    home.send(10)
    home.create()
    home.run("START STREAM s")
    home.run("WAIT STREAM s")
    known = server.find(server.shared_home(home.path))
    assert known is not None
    os.kill(known.jvm, signal.SIGKILL)
    home.send(10)
    home.run("WAIT STREAM s")
    assert home.counts() == home.expected
    home.run("STOP STREAM s")


def test_kills_at_random_moments(home: Home) -> None:
    """Of the manager and of Spark, as many as fit into the time; `make soak` does it for an hour."""
    kill_at_random(home, Random("1"), kills=5, seconds=45.0, records=1000)
