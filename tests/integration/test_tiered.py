"""Tiered tables on a real Druid: ARCHIVE TABLE is killed -9, and no answer changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import conf_of
from tests.support.tier_histories import History, history

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark

FEWEST = 8
"""The moments of an archive job."""


@pytest.fixture
def made(cluster: Cluster, tmp_path: Path) -> Iterator[History]:
    with history(1, tmp_path / "home", conf_of(cluster.services)) as made:
        yield made


def test_killed_at_any_moment(made: History) -> None:
    """Every other moment. Afterwards the job is resumed, cancelled, or the statement is rerun, in turn."""
    moment = -1
    while True:
        moment += 2
        made.insert()
        outcome = killed.run(made.path, made.conf, "ARCHIVE TABLE t", moment)
        assert not outcome.error, outcome
        made.steps.append(f"killed at {moment}: {outcome.effects[-1:]}")
        made.check()
        if not outcome.killed:
            break
        for job in made.unfinished():
            made.run(("ARCHIVE TABLE t", f"RESUME JOB '{job.id}'", f"CANCEL JOB '{job.id}'")[moment // 2 % 3])
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
