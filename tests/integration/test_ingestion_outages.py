"""Outages of Kafka, the overlord and the indexer during ingestion, on a separate cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pytest

from hivedruid.clients.overlord import TASK
from hivedruid.errors import DruidError
from hivedruid.local.cluster import LocalCluster
from hivedruid.segments.writing.segment import Dimension, SegmentSpec, write_segment
from hivedruid.session import Session
from tests.support import job_homes, killed
from tests.support.ingestion import Feed, IngestionHome, Row, until
from tests.support.kafka import topics_of
from tests.support.proxy import proxy
from tests.support.publish import publish
from tests.support.staged import DAY, NEW_YEAR

if TYPE_CHECKING:
    from hivedruid.ingestion.model import Task
    from tests.support.kafka import Topics


pytestmark = pytest.mark.local

TASKS_THAT_MAY_FAIL = 5


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
        made.made.clear()  # they are removed with the cluster, and the client may not have reconnected to Kafka yet


@pytest.fixture
def home(local: LocalCluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(local.home, local.up())
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
    """The rows of SHOW PROBLEMS about an unreachable service."""
    return until(
        lambda: next(
            (row for row in home.run("SHOW PROBLEMS") if (row["subject"], row["problem"]) == (service, "unreachable")),
            None,
        ),
        f"{service} unreachable",
    )


def over(home: IngestionHome, name: str) -> None:
    """SHOW PROBLEMS no longer lists the fault. A task that failed because of it is listed for some minutes."""
    until(
        lambda: not {row["problem"] for row in home.run("SHOW PROBLEMS")} & {"unreachable", "interrupted"}, "recovery"
    )
    home.settle(name, "tasks failing")


def test_kafka_goes_and_comes_back(local: LocalCluster, home: IngestionHome, topics: Topics) -> None:
    feed = Feed(topics, 2)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    feed.send(100)
    home.expect(name, feed.expected)
    kill(local, "kafka", signal.SIGTERM)
    problem = home.repaired(f"Kafka at {home.services.kafka}", "unreachable")
    assert problem["evidence"] == f"read by default.{name}"
    assert problem["repair"] == f"-- $ hivedruid local up --home {local.home}"
    assert local.up().kafka == home.services.kafka
    feed.send(100)
    home.expect(name, feed.expected)
    over(home, name)
    home.stop(name, feed.expected)


def test_workers_and_historicals_go_and_are_started(local: LocalCluster, home: IngestionHome, topics: Topics) -> None:
    """The task that ran has failed once; no task has just handed off the segments, which would still be loading."""
    feed = Feed(topics)
    feed.send(10)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    home.expect(name, feed.expected)
    published = f"{name}_published"
    home.sources[published] = published
    span = (NEW_YEAR, NEW_YEAR + DAY)
    rows = pa.table({"__time": pa.array([NEW_YEAR], pa.int64()), "n": pa.array([1], pa.int64())})
    spec = SegmentSpec(span, (Dimension("n", "LONG"),))
    publish(home.druid, published, span, lambda place: [write_segment(rows, spec, place / "0")])
    kill(local, "historical", signal.SIGKILL)
    repairs = [home.repaired(published, "segments unavailable")["repair"]]
    kill(local, "indexer", signal.SIGKILL)
    repairs.append(home.repaired("Druid", "no workers")["repair"])
    assert repairs == [f"-- $ hivedruid local up --home {local.home}"] * 2
    shown = [(row["name"], row["value"]) for row in home.shown(name, "tasks failing")]
    assert ("state", "FAILED") in shown
    home.expect(name, feed.expected)
    home.stop(name, feed.expected)


@pytest.mark.parametrize("at", ["request", "answer"])
def test_the_overlord_dies_before_it_answers(local: LocalCluster, home: IngestionHome, topics: Topics, at: str) -> None:
    """The overlord has received the request and executed it, or not."""
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
            assert "interrupted" not in home.problems(name)  # the statement waits for the overlord
            local.up()
        finally:
            outcome = process.outcome()
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
            outcome = process.outcome()
    assert (outcome.killed, outcome.error) == (False, "")
    assert (home.ingestion(name)["state"], home.tasks(name)) == ("STOPPED", [])
    home.run(f"START INGESTION {name}")  # records that could not be published, if any, are read again
    home.expect(name, feed.expected)
    home.stop(name, feed.expected)


# --- jobs that write rows which are staged -----------------------------------------------------------------------


@dataclass(frozen=True)
class Staged:
    """A home with a job whose rows 0, 1, 2 are staged, its settings, and the statement that resumes the job."""

    home: Path
    conf: dict[str, str]
    table: str
    resume: str


@pytest.fixture
def staged(local: LocalCluster, tmp_path: Path) -> Iterator[Staged]:
    conf = job_homes.conf_of(local.up())
    table = f"t_{uuid4().hex[:12]}"
    home = job_homes.create(tmp_path / "staged", conf, table)
    job_homes.staged(home, conf, f"INSERT INTO {table} {job_homes.values(0, 1, 2)}")
    with Session(home, hiveconf=conf) as session:
        (job,) = job_homes.unfinished(session)
        made = Staged(home, conf, table, f"RESUME JOB '{job['id']}'")
        yield made
        local.up()
        resume(session, made.resume)  # it has reported why it could not continue
        assert job_homes.numbers(session, table) == [0, 1, 2]
        assert job_homes.leftovers(home) == []


def resume(session: Session, statement: str) -> None:
    """Resume the job until it has succeeded."""
    errors: list[DruidError] = []
    while job_homes.unfinished(session):
        try:
            job_homes.run(session, statement)
        except DruidError as error:
            errors.append(error)
            assert len(errors) < TASKS_THAT_MAY_FAIL, errors


@pytest.mark.parametrize("at", ["request", "answer"])
def test_the_overlord_dies_when_it_is_given_a_task(local: LocalCluster, staged: Staged, at: str) -> None:
    """The overlord has received the task, or not: the job continues, or can be resumed, and its rows are stored
    once."""
    dead = Event()

    def ends(what: str, method: str, path: str) -> bool:
        if (what, method, path) != (at, "POST", TASK) or dead.is_set():
            return False
        kill(local, "coordinator", signal.SIGKILL)
        dead.set()
        return True

    with proxy(staged.conf["druid.overlord.url"], ends) as url:
        process = killed.begin(staged.home, {**staged.conf, "druid.overlord.url": url}, staged.resume)
        try:
            until(dead.is_set)
            local.up()
        finally:
            outcome = process.outcome()
    assert not outcome.killed


@pytest.mark.parametrize("service", ["indexer", "coordinator"])
def test_a_service_dies_while_a_task_runs(
    local: LocalCluster, home: IngestionHome, staged: Staged, service: str
) -> None:
    """The work of a task is lost with its worker; an overlord finds the task again."""
    process = running(home, staged)
    try:
        kill(local, service, signal.SIGKILL)
        local.up()
    finally:
        outcome = process.outcome()
    assert not outcome.killed


def running(home: IngestionHome, staged: Staged) -> killed.Running:
    """The statement that resumes the job, once its task runs or has succeeded.

    A task that is given to a worker which has just restarted may fail before it runs, or be given up: the statement
    reports that, and is repeated."""
    ended: dict[str, Task] = {}
    while len(ended) < TASKS_THAT_MAY_FAIL:
        process = killed.begin(staged.home, staged.conf, staged.resume)
        try:
            assert process.wait_for(f"POST {TASK}"), process.outcome()
            task = begun(home, staged.table, process, ended)
        except BaseException:
            process.kill()
            raise
        if task.state in ("RUNNING", "SUCCESS"):
            return process
        ended[task.id] = task
        assert process.outcome().error, ended
    raise AssertionError(f"each task ended before it ran: {ended}")


def begun(home: IngestionHome, table: str, statement: killed.Running, known: Mapping[str, Task]) -> Task:
    """A task of that table other than the known ones that runs or has ended, or any if the statement has ended."""

    def look() -> Task | None:
        is_over = not statement.process.is_alive()
        tasks = [task for task in home.overlord.tasks(f"default.{table}") if task.id not in known]
        return next((task for task in tasks if is_over or task.state not in ("WAITING", "PENDING")), None)

    return until(look, f"a task that runs, after {known}")
