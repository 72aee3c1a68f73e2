"""hivedruid is killed -9 at every moment of COMPACT … AND WAIT; its tasks are found again, and awaited or stopped."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.errors import SemanticError
from tests.integration.test_compaction import Tables
from tests.support import killed
from tests.support.ingestion import IngestionHome, Row, until

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

SUBMIT = "POST /druid/indexer/v1/task"


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path, cluster.services)
    yield made
    made.close()


class Life:
    """A table with small segments of several days, which is compacted again and again."""

    def __init__(self, home: IngestionHome) -> None:
        self.home = home
        tables = Tables(home)
        self.name = tables.create("id string", druid_rollup="false", druid_segment_granularity="DAY")
        rows: list[Row] = [{"time": f"2024-01-0{day}T00:00:00Z", "id": str(day)} for day in (1, 5)]
        for _ in range(2):
            tables.append(self.name, rows, ["id"], segmentGranularity="HOUR")
        self.rows = self.read()

    def read(self) -> list[str]:
        return sorted(map(str, self.home.run(f"SELECT `__time`, id FROM {self.name}")))

    def jobs(self) -> list[Row]:
        """The unfinished ones."""
        jobs = self.home.run(f"SHOW JOBS FOR {self.name}")
        return [job for job in jobs if job["state"] not in ("done", "failed", "cancelled")]

    def kill(self, moment: int | str) -> killed.Outcome:
        text = f"ALTER TABLE {self.name} COMPACT 'major' AND WAIT"
        outcome = killed.run(self.home.folder, self.home.conf, text, moment)
        assert not outcome.error, outcome
        assert self.read() == self.rows, outcome
        return outcome

    def resume(self, job: Row) -> None:
        if job["state"] == "planned":
            with pytest.raises(SemanticError, match="no task was submitted"):
                self.home.run(f"RESUME JOB '{job['id']}'")
            self.home.run(f"CANCEL JOB '{job['id']}'")
        else:
            self.home.run(f"RESUME JOB '{job['id']}'")

    def check(self) -> None:
        """Nothing is left unfinished, here or in Druid."""
        assert self.jobs() == []
        until(lambda: all(row["state"] in ("SUCCESS", "FAILED") for row in self.tasks()), "the end of all tasks")
        assert self.read() == self.rows

    def tasks(self) -> list[Row]:
        return [row for row in self.home.run(f"SHOW COMPACTIONS FOR {self.name}") if row["task"]]


def test_at_every_moment(home: IngestionHome) -> None:
    life = Life(home)
    for moment in count(1):
        outcome = life.kill(moment)
        if not outcome.killed:
            break
        is_over = "move done" in outcome.effects
        assert len(life.jobs()) == int("begin" in outcome.effects and not is_over), outcome
        submitted = outcome.effects.count(SUBMIT)
        for job in life.jobs():
            assert (job["statement"], job["running"]) == ("COMPACT", "interrupted")
            if submitted == 0 and job["state"] == "submitted":
                continue  # whether Druid has the first task is the next test
            if moment % 2:
                life.resume(job)
            else:
                home.run(f"CANCEL JOB '{job['id']}'")
        for job in life.jobs():
            home.run(f"CANCEL JOB '{job['id']}'")
        life.check()
    assert moment > 6, "no statement has so few moments"
    assert life.tasks()


def test_before_the_first_task_and_between_tasks(home: IngestionHome) -> None:
    life = Life(home)
    outcome = life.kill("move submitted")
    assert SUBMIT not in outcome.effects
    (job,) = life.jobs()
    with pytest.raises(Exception, match="Druid has no task of job"):
        home.run(f"RESUME JOB '{job['id']}'")
    life.check()
    assert life.kill(SUBMIT).effects.count(SUBMIT) == 1
    (job,) = life.jobs()
    (problem,) = [row for row in home.run("SHOW PROBLEMS") if row["problem"] == "job interrupted"]
    assert problem["repair"] == f"RESUME JOB '{job['id']}';"
    home.run(problem["repair"])
    assert home.notes[-2] == f"default.{life.name} was compacted; its rows before and after were not compared"
    assert home.notes[-1].startswith("1 of 2 tasks were not submitted: rerun ALTER TABLE")
    life.check()
    assert [row["state"] for row in life.tasks()] == ["SUCCESS"]
