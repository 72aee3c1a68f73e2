"""Tiered tables on a real Druid: ARCHIVE TABLE is killed -9, and no answer changes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import conf_of, run
from tests.support.lives import moments
from tests.support.segments import stored
from tests.support.tier_clusters import ClusterHistory, OnCluster
from tests.support.tier_histories import DAYS, FIRST, History, history

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

FEWEST = 8
"""The moments of an archive job."""


@pytest.fixture
def made(cluster: Cluster, tmp_path: Path) -> Iterator[History]:
    with history(1, tmp_path / "home", conf_of(cluster.services)) as made:
        yield made


@pytest.fixture
def ingesting(cluster: Cluster, topics: Topics, tmp_path: Path) -> Iterator[ClusterHistory]:
    with OnCluster(cluster.services, topics).history(2, tmp_path / "home") as made:
        yield made


def test_killed_at_any_moment(made: History) -> None:
    """Afterwards the job is resumed, cancelled, or the statement is rerun, in turn."""
    for turn, moment in enumerate(moments()):
        made.insert("hot")
        outcome = killed.run(made.path, made.conf, "ARCHIVE TABLE t", moment)
        assert not outcome.error, outcome
        made.steps.append(f"killed at {moment}: {outcome.effects[-1:]}")
        made.check()
        if not outcome.killed:
            break
        for job in made.unfinished():
            made.run(("ARCHIVE TABLE t", f"RESUME JOB '{job.id}'", f"CANCEL JOB '{job.id}'")[turn % 3])
        assert made.unfinished() == []
        made.check()
    assert moment > FEWEST


def test_a_history(made: History) -> None:
    """Queries while another process archives, late rows, compaction of both parts."""
    for step in (made.query_meanwhile, made.insert, made.archive_within_query, made.compact_hot, made.compact_cold):
        step()
        made.check()
    made.archive()
    made.check()
    with Session(made.path, hiveconf=made.conf) as other:  # nothing depends on the session that archived
        assert other.catalog.get("default", "t").is_written


@pytest.mark.parametrize("is_gone", [False, True])
def test_rows_are_read_from_segment_files(made: History, cluster: Cluster, is_gone: bool) -> None:
    """If a file is gone, a note tells it, and the rows are read with queries."""
    made.insert("hot")
    with closing(cluster.druid()) as druid:
        folders = stored(druid, made.data_source)
    if is_gone:
        shutil.rmtree(folders[0])
    notes: list[str] = []
    conf = {**made.conf, "hivedruid.druid.read": "segments"}
    with Session(made.path, hiveconf=conf, note=notes.append) as session:
        run(session, "ARCHIVE TABLE t UP TO '2026-02-01'")
    assert [note.endswith("; reading the rows with queries") for note in notes] == [True] * is_gone
    assert {row["state"] for row in made.run("VERIFY TABLE t")} == {"ok"}
    made.check()


def test_kafka_and_rewrites_by_druid(ingesting: ClusterHistory) -> None:
    """Events of all days, those of archived days included; segments that Druid compacts or reindexes, and drops."""
    made = ingesting
    for step in (made.send, made.publish, made.archive_all, made.send, made.archive_all, made.publish, made.rewrite):
        step()
        made.check()
    made.send()
    made.publish()
    made.drop_day()
    made.check()
    made.archive_all()
    made.check()


def test_data_sources_and_retention(ingesting: ClusterHistory) -> None:
    """The retention rules of a cluster, and the problem that they make."""
    made = ingesting
    made.run("INSERT INTO t VALUES ('2026-01-06 00:00:00', 'a', 100)")
    made.archive_all()

    def shown() -> tuple[Any, ...]:
        (row,) = made.run(f"SHOW DATA SOURCES LIKE '{made.data_source}'")
        return row["tables"], row["retention"], row["archived"]

    archived = f"up to {(FIRST + timedelta(days=DAYS)).isoformat()}.000Z"
    assert shown() == ("default.t", "load forever", archived)
    problem = "rows dropped before they are archived"
    assert problem not in {row["problem"] for row in made.run("SHOW PROBLEMS")}
    made.set_rules({"type": "loadByPeriod", "period": "P10D"}, {"type": "dropForever"})
    assert shown() == ("default.t", "load P10D, drop forever, load forever, load forever", archived)
    (row,) = [row for row in made.run("SHOW PROBLEMS") if row["problem"] == problem]
    assert row["subject"] == "default.t"
    assert "drop forever" in row["evidence"]
    made.set_rules()
    assert problem not in {row["problem"] for row in made.run("SHOW PROBLEMS")}
