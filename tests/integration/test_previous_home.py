"""A home folder that an earlier version left behind (tests/homes): its ingestions, on a cluster that runs none of
them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients import wire
from hivedruid.clients.failures import MissingError
from hivedruid.ingestion.supervisor import supervisor_path
from hivedruid.session import Session
from tests.support.ingestion import until
from tests.support.job_homes import conf_of
from tests.support.previous_home import answers, run, unpacked

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

CHANGED = ("starting", "stopping", "resetting", "rolling_back")


@pytest.fixture
def session(cluster: Cluster, druid: DruidCluster) -> Iterator[Session]:
    conf = {**conf_of(cluster.services), "hivedruid.kafka.check": "off"}
    with unpacked() as home, Session(home, hiveconf=conf, confirm=lambda _: True) as opened:
        sources = [opened.catalog.get("default", name).data_source for name in CHANGED]
        yield opened
    for source in sources:
        with suppress(MissingError):
            druid.client.post("overlord", supervisor_path(source, "terminate"), wire.SupervisorId)
    for source in set(sources) & set(druid.data_sources()):
        druid.drop(source)


def problems(session: Session) -> dict[tuple[str, str], str]:
    """Repairs by subject and problem."""
    return {(row[0], row[1]): row[4] for row in run(session, "SHOW PROBLEMS")}


def test_problems_of_the_home(session: Session) -> None:
    """Every interrupted change and job is listed, with the statement that ends it."""
    found = problems(session)
    assert {subject: repair for (subject, problem), repair in found.items() if problem == "interrupted"} == {
        "default.resetting": "RESET INGESTION default.resetting TO EARLIEST;",
        "default.rolling_back": "START INGESTION default.rolling_back;",
        "default.starting": "START INGESTION default.starting;",
        "default.stopping": "STOP INGESTION default.stopping;",
    }
    assert {subject for subject, problem in found if problem == "not running"} == {
        "default.altered", "default.running", "default.suspended",
    }  # fmt: skip
    jobs = [row for row in answers()["SHOW JOBS"] if row[4] == "interrupted"]
    assert {subject for subject, problem in found if problem == "job interrupted"} == {row[2] for row in jobs}


def test_ingestions_continue(session: Session, cluster: Cluster, topics: Topics, task_slot: None) -> None:
    """Statements end what was interrupted; a stored spec is the one that ROLLBACK returns to."""
    explained = [row[0].strip() for row in run(session, "EXPLAIN ALTER TABLE altered ROLLBACK INGESTION")]
    assert "unset properties: druid.kafka.ingestion.taskDuration" in explained
    topic = session.catalog.get("default", "starting").properties["kafka.topic"]
    topics.admin.create_topics({topic: {"num_partitions": 1}}, wait_for_metadata=True)
    topics.made.append(topic)
    for number in range(3):
        topics.send(topic, {"time": "2024-01-01T00:00:00Z", "id": str(number)})
    topics.producer.flush()
    place = f"'kafka.bootstrap.servers' = '{cluster.services.kafka}'"
    run(session, "STOP INGESTION stopping")
    run(session, f"ALTER TABLE starting SET TBLPROPERTIES ({place})")
    run(session, "START INGESTION starting; WAIT INGESTION starting")
    until(lambda: run(session, "SELECT count(*) FROM starting") == [[3]], "the records of the topic")
    run(session, "STOP INGESTION starting")
    assert not {("default.starting", "interrupted"), ("default.stopping", "interrupted")} & problems(session).keys()
