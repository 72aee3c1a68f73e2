"""Kafka and the overlord go away while records are ingested, and come back. A cluster of its own, which it may break."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from hivedruid.local.cluster import LocalCluster
from tests.support import killed
from tests.support.ingestion import Feed, IngestionHome, Row, until
from tests.support.kafka import topics_of
from tests.support.proxy import proxy

if TYPE_CHECKING:
    from tests.support.kafka import Topics


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    made = LocalCluster(tmp_path_factory.mktemp("outages"), heap="small")
    try:
        made.up()
        yield made
    finally:
        made.down(clean=True)


@pytest.fixture
def topics(local: LocalCluster) -> Iterator[Topics]:
    with topics_of(local.up().kafka) as made:
        yield made
        made.made.clear()  # they go with the cluster, and the client may not have found Kafka again yet


@pytest.fixture
def home(local: LocalCluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path / "home", local.up())
    try:
        yield made
    finally:
        local.up()
        made.close()


def kill(local: LocalCluster, name: str, how: signal.Signals) -> None:
    (pid,) = (row.pid for row in local.status() if row.name == name)
    assert pid is not None
    os.kill(pid, how)
    until(lambda: any(row.name == name and row.state == "dead" for row in local.status()), f"the end of {name}")


def unreachable(home: IngestionHome, service: str) -> Row:
    """What SHOW PROBLEMS says of a service that is away."""
    return until(
        lambda: next(
            (row for row in home.run("SHOW PROBLEMS") if (row["subject"], row["problem"]) == (service, "unreachable")),
            None,
        ),
        f"{service} unreachable",
    )


def over(home: IngestionHome, name: str) -> None:
    """SHOW PROBLEMS names the fault no more. Of a task that it has cost there is word for some minutes yet."""
    until(
        lambda: not {row["problem"] for row in home.run("SHOW PROBLEMS")} & {"unreachable", "interrupted"}, "recovery"
    )
    assert set(home.problems(name)) <= {"tasks fail"}


def test_kafka_goes_and_comes_back(local: LocalCluster, home: IngestionHome, topics: Topics) -> None:
    feed = Feed(topics, 2)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    feed.send(100)
    home.expect(name, feed.expected)
    kill(local, "kafka", signal.SIGTERM)
    assert unreachable(home, f"Kafka at {home.services.kafka}")["evidence"] == f"read by default.{name}"
    assert local.up().kafka == home.services.kafka
    feed.send(100)
    home.expect(name, feed.expected)
    over(home, name)
    home.stop(name, feed.expected)


@pytest.mark.parametrize("at", ["request", "answer"])
def test_the_overlord_dies_before_it_answers(local: LocalCluster, home: IngestionHome, topics: Topics, at: str) -> None:
    """It has got the request, and done what it asks for, or not."""
    dead = Event()

    def ends(what: str, method: str, path: str) -> bool:
        if (what, method, path) != (at, "POST", killed.SUPERVISOR) or dead.is_set():
            return False
        kill(local, "coordinator", signal.SIGKILL)
        dead.set()
        return True

    feed = Feed(topics)
    feed.send(100)
    name = home.create(feed.topic)
    with proxy(home.services.overlord, ends) as url:
        process = killed.begin(home.folder, {**home.conf, "druid.overlord.url": url}, f"START INGESTION {name}")
        try:
            until(dead.is_set)
            assert unreachable(home, "Druid's overlord")
            assert home.problems(name)["interrupted"]["repair"] == f"START INGESTION default.{name}"
            local.up()
        finally:
            outcome = killed.outcome(process)
    assert (outcome.killed, outcome.error) == (False, "")
    assert home.ingestion(name)["state"] == "RUNNING"
    feed.send(100)
    home.expect(name, feed.expected)
    over(home, name)
    home.stop(name, feed.expected)


def test_the_overlord_goes_while_a_statement_waits(local: LocalCluster, home: IngestionHome, topics: Topics) -> None:
    """STOP has suspended the supervisor, and waits for its tasks."""
    feed = Feed(topics)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    feed.send(100)
    home.expect(name, feed.expected)
    dead = Event()

    def ends(what: str, method: str, path: str) -> bool:
        if not path.endswith("/suspend") or what != "answer" or dead.is_set():
            return False
        kill(local, "coordinator", signal.SIGKILL)
        dead.set()
        return True

    with proxy(home.services.overlord, ends) as url:
        process = killed.begin(home.folder, {**home.conf, "druid.overlord.url": url}, f"STOP INGESTION {name}")
        try:
            until(dead.is_set)
            local.up()
        finally:
            outcome = killed.outcome(process)
    assert (outcome.killed, outcome.error) == (False, "")
    assert (home.ingestion(name)["state"], home.tasks(name)) == ("STOPPED", [])
    home.run(f"START INGESTION {name}")  # what could not be published, if anything, is read again
    home.expect(name, feed.expected)
    home.stop(name, feed.expected)
