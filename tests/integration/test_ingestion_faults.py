"""Faults during ingestion: each record is still counted once, or its loss was announced.

While a fault lasts, SHOW PROBLEMS lists it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.errors import DruidError
from tests.support import killed
from tests.support.ingestion import Feed, IngestionHome, Row, until
from tests.support.kafka import kafka_python

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path / "home", cluster.services)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def other(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    """Another home with the same Druid."""
    made = IngestionHome(tmp_path / "other", cluster.services)
    try:
        yield made
    finally:
        made.close()


def test_malformed_records(home: IngestionHome, topics: Topics) -> None:
    """Every 20th of 2,000: known while the tasks run, and when they have ended."""
    feed = Feed(topics, 2)
    for n in range(100):
        feed.send(19)
        topics.send(feed.topic, b"bad{%d" % n, partition=n % 2)
    topics.producer.flush()
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    home.expect(name, feed.expected)
    row = until(lambda: found if (found := home.ingestion(name))["parse_errors"] == 100 else None)
    assert row["state"] == "RUNNING"

    def all_are_counted() -> Row | None:
        found = home.problems(name).get("parse errors")
        return found if found and found["evidence"] == "100 of 2000 record(s) read by the running tasks" else None

    problem = until(all_are_counted, "2000 records in the reports of the tasks")
    shown = [(row["name"], row["value"]) for row in home.run(problem["repair"])]
    assert ("rows unparseable", "100") in shown
    assert any(key == "parse error" and "bad{" in value for key, value in shown)
    home.run(f"HANDOFF INGESTION {name}")

    def have_ended() -> Row | None:
        found = home.problems(name).get("parse errors")
        return found if found and found["evidence"].endswith("; 100 of 2000 by the last 1 task(s) that ended") else None

    problem = until(have_ended, "reports of the tasks that have ended")
    assert "bad{" in problem["cause"]
    assert ("parse errors", "100") in [(row["name"], row["value"]) for row in home.run(problem["repair"])]
    home.stop(name, feed.expected)
    assert "parse errors" not in home.problems(name)


def test_a_partition_is_added(home: IngestionHome, topics: Topics) -> None:
    """Its records are read from the first on, also by an ingestion that began at the end of the topic."""
    for use_earliest in ("true", "false"):
        feed = Feed(topics)
        name = home.create(feed.topic, useEarliestOffset=use_earliest)
        home.run(f"START INGESTION {name}")
        feed.send(20)
        home.expect(name, feed.expected)
        topics.admin.create_partitions({feed.topic: 2})  # Druid reads it by itself two minutes later
        feed.partitions = 2
        topics.producer.close()
        topics.producer = kafka_python().KafkaProducer(bootstrap_servers=topics.bootstrap)  # one that has heard of it
        feed.send(40)
        until(lambda name=name: (status := home.overlord.status(name)) is not None and status.partitions == 2)  # type: ignore[misc]
        problem = home.repaired(name, "partitions not read yet")
        assert problem["evidence"] == "partition 1: 20 record(s)"
        home.expect(name, feed.expected)
        home.stop(name, feed.expected)


def test_two_at_once_in_one_home(home: IngestionHome, topics: Topics, tmp_path: Path) -> None:
    """Both have seen that nothing is running before either of them starts it."""
    feed = Feed(topics)
    feed.send(100)
    name = home.create(feed.topic)
    outcomes = at_once(tmp_path / "go", (home, name), (home, name))
    assert [outcome.error for outcome in outcomes] == ["", ""]
    home.expect(name, feed.expected)
    home.settle(name, "tasks failing")  # Druid may have one with the replaced spec
    until(lambda: home.ingestion(name)["tasks"] == "1/1", "one task")
    home.stop(name, feed.expected)


def test_two_at_once_in_two_homes(home: IngestionHome, other: IngestionHome, topics: Topics, tmp_path: Path) -> None:
    """Two tables over one data source: one of them owns it, the other one reports the owner and changes nothing."""
    feed = Feed(topics)
    feed.send(100)
    name = home.create(feed.topic)
    its_name = other.create(feed.topic, data_source=name)
    outcomes = at_once(tmp_path / "go", (home, name), (other, its_name))
    (told,) = [outcome.error for outcome in outcomes if outcome.error]
    order = ((home, name), (other, its_name)) if outcomes[1].error else ((other, its_name), (home, name))
    (winner, table), (loser, its_table) = order
    assert told.startswith(f"the supervisor {name} belongs to table default.{table} of ")
    assert told.endswith(f":{winner.folder}")
    winner.expect(table, feed.expected)
    winner.settle(table, "tasks failing")  # Druid may have one with the replaced spec
    loser.settle(its_table, "tasks failing", "owned by another table")
    assert loser.problem(its_table, "owned by another table")["cause"].startswith(
        f"it was started by table default.{table} of "
    )
    for verb in ("START", "STOP", "SUSPEND", "RESUME"):
        with pytest.raises(DruidError, match="belongs to table"):
            loser.run(f"{verb} INGESTION {its_table}")
    until(lambda: winner.ingestion(table)["tasks"] == "1/1", "one task")
    winner.stop(table, feed.expected)
    loser.run(f"START INGESTION {its_table}")  # it is free now, and continues from the last offsets
    feed.send(10)
    loser.expect(its_table, feed.expected)
    loser.run(f"STOP INGESTION {its_table}")


def at_once(go: Path, *tables: tuple[IngestionHome, str]) -> list[killed.Outcome]:
    """START of each of these; none of them sends anything to Druid before all are ready to."""
    processes = [killed.begin(home.folder, home.conf, f"START INGESTION {name}", hold=go) for home, name in tables]
    try:
        for process in processes:
            process.wait_for("held")
    finally:
        go.touch()
        outcomes = [process.outcome() for process in processes]
    return outcomes


def test_what_was_read_last_is_neither_lost_nor_read_again(home: IngestionHome, topics: Topics) -> None:
    """RESET TO LATEST uses the final positions of the tasks that it stopped, not the ones reported before."""
    feed = Feed(topics, 2)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    feed.send(50)
    home.expect(name, feed.expected)
    tasks = home.tasks(name)
    home.run(f"RESET INGESTION {name} TO LATEST")
    if not home.has_failed(name, tasks):
        assert home.notes[-1].endswith("; no records are lost or read again")
        feed.send(10)
        home.expect(name, feed.expected)
        home.stop(name, feed.expected)
    else:  # it skips what was read, after a confirmation
        assert home.asked
