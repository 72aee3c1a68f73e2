"""hivedruid is killed -9 at every moment of an ingestion of staged rows into a cluster, and the job is resumed, or
cancelled.

Rows are neither lost nor duplicated, and nothing is left of the job. (In between Druid may have loaded some of its
segments, each of one day.) The moments before, in which rows are staged, are in tests/unit/spark/test_jobs_killed.py.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from hivedruid.clients.overlord import TASK
from hivedruid.errors import ExecutionError, SemanticError
from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import clone, conf_of, create, leftovers, numbers, run, staged, unfinished, values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster

AT_ONCE = 4
"""Concurrent runs: each of them needs one of Druid's four task slots."""
Values = list[int]
SUBMIT = f"POST {TASK}"


@dataclass(frozen=True)
class Staged:
    """A home with a job whose rows are staged, the statement that it is of, and the numbers that it makes of others."""

    home: Path
    statement: str
    made_of: Callable[[Values], Values]


class Stage:
    """The homes, all with a table t_<token>, which every life calls otherwise."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.cluster = cluster
        self.conf = conf_of(cluster.services)
        self.tokens = [uuid4().hex[:12]]
        empty = create(folder / "empty", self.conf, f"t_{self.tokens[0]}")
        self.first = self._staged(empty, "INSERT INTO {t} " + values(0, 1, 2), lambda _: [0, 1, 2])
        self.more = self._staged(empty, "INSERT INTO {t} " + values(3, 4), lambda old: [*old, 3, 4])
        self.other = self._staged(empty, "INSERT OVERWRITE TABLE {t} " + values(5, 6), lambda _: [5, 6])
        created = (
            "CREATE EXTERNAL TABLE c_{t} STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS SELECT * FROM "
        )
        self.created = self._staged(empty, f"{created} ({values(0, 1, 2)}) AS v(`__time`, n)", lambda _: [0, 1, 2])

    def _staged(self, empty: Path, statement: str, made_of: Callable[[Values], Values]) -> Staged:
        text = statement.format(t=f"t_{self.tokens[0]}")
        home = clone(empty, empty.with_name(f"staged-{uuid4().hex[:6]}"))
        return Staged(staged(home, self.conf, text), text, made_of)

    def end(self) -> None:
        if self.cluster.is_adopted:
            druid = self.cluster.druid()
            for name in druid.data_sources():
                if any(token in name for token in self.tokens):
                    druid.drop(name)
            druid.close()


@pytest.fixture(scope="module")
def stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("staged"), cluster)
    yield made
    made.end()


class Life:
    """A table of its own, and jobs that write to it one after the other."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.folder = folder
        self.token = uuid4().hex[:12]
        stage.tokens.append(self.token)

    def home(self, of: Staged) -> Path:
        home = self.folder / f"{self.token}-{uuid4().hex[:6]}"
        return clone(of.home, home, rename=(self.stage.tokens[0], self.token))

    def session(self, home: Path) -> Session:
        return Session(home, hiveconf=self.stage.conf)

    def rows(self, session: Session, table: str = "t") -> Values:
        return numbers(session, f"{table}_{self.token}")

    def killed(self, home: Path, moment: int | str) -> killed.Outcome:
        with self.session(home) as session:
            (job,) = unfinished(session)
        outcome = killed.run(home, self.stage.conf, f"RESUME JOB '{job['id']}'", moment)
        assert not outcome.error, outcome
        return outcome

    def write(self, of: Staged, moment: int | str, old: Values, *, cancel: bool = False) -> bool:
        """A job that is killed, and then resumed or cancelled; whether it was killed."""
        home = self.home(of)
        new = of.made_of(old)
        outcome = self.killed(home, moment)
        with self.session(home) as session:
            assert Counter(self.rows(session)) <= Counter(old) | Counter(new), outcome
            expected = new
            for job in unfinished(session):
                if cancel and job["state"] != "verified":
                    expected = old
                    self.cancel(home, str(job["id"]), moment)
                else:
                    run(session, f"RESUME JOB '{job['id']}'")
            self.check(session, home, expected)
        return outcome.killed

    def cancel(self, home: Path, job_id: str, moment: int | str) -> None:
        """Cancel a job, which is killed, too, and done again."""
        statement = f"CANCEL JOB '{job_id}'"
        if killed.run(home, self.stage.conf, statement, moment).killed:
            with self.session(home) as session:
                if unfinished(session):
                    run(session, statement)

    def check(self, session: Session, home: Path, expected: Values, table: str = "t") -> None:
        assert unfinished(session) == []
        assert leftovers(home) == []
        assert self.rows(session, table) == expected


def lives(is_killed: Callable[[int], bool]) -> int:
    """Run a life for every moment until one says that all moments are behind; how many moments there are, or a few
    less."""
    moments = count(1)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while all([*pool.map(lambda _: is_killed(next(moments)), range(AT_ONCE))]):
            pass
    return next(moments) - AT_ONCE


def test_insert_and_overwrite(stage: Stage, tmp_path: Path) -> None:
    def is_killed(moment: int) -> bool:
        life = Life(stage, tmp_path)
        inserted = life.write(stage.first, moment, [])
        cancelled = life.write(stage.more, moment, [0, 1, 2], cancel=True)
        with life.session(life.home(stage.more)) as session:
            now = life.rows(session)
        overwritten = life.write(stage.other, moment, now)
        return inserted or cancelled or overwritten

    assert lives(is_killed) >= 8, "no job has so few moments"


def test_cancel_while_segments_are_being_loaded(stage: Stage, tmp_path: Path) -> None:
    """A historical that was told to load a segment goes on with that, and shows its rows, after the segment is taken
    back."""

    def later(_: int) -> list[Values]:
        life = Life(stage, tmp_path)
        home = life.home(stage.first)
        assert life.killed(home, "move published").killed
        with life.session(home) as session:
            (job,) = unfinished(session)
            run(session, f"CANCEL JOB '{job['id']}'")
            end = monotonic() + 2.0
            seen = []
            while monotonic() < end:
                seen.append(life.rows(session))
        return seen

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for seen in pool.map(later, range(4 * AT_ONCE)):
            assert seen == [[]] * len(seen)


def test_create_table_as(stage: Stage, tmp_path: Path) -> None:
    def is_killed(moment: int) -> bool:
        life = Life(stage, tmp_path)
        home = life.home(stage.created)
        outcome = life.killed(home, moment)
        with life.session(home) as session:
            if f"c_t_{life.token}" in session.table_names():  # it comes with its rows
                assert life.rows(session, "c_t") == [0, 1, 2]
            for job in unfinished(session):
                run(session, f"RESUME JOB '{job['id']}'")
            life.check(session, home, [0, 1, 2], "c_t")
        return outcome.killed

    assert lives(is_killed) >= 8, "no job has so few moments"


def test_statements_are_said_again(stage: Stage, tmp_path: Path) -> None:
    """Their rows are in Druid's hands: they are not computed again, and do not come twice."""
    life = Life(stage, tmp_path)
    life.token = stage.tokens[0]  # the texts have it
    expected: Values = []
    for of, moment in ((stage.first, SUBMIT), (stage.more, "move published"), (stage.other, "move verified")):
        home = clone(of.home, tmp_path / moment.replace("/", "_"))
        assert life.killed(home, moment).killed
        again = killed.run(home, stage.conf, of.statement)
        assert again.error == ""
        assert "stage" not in again.effects
        expected = of.made_of(expected)
        with life.session(home) as session:
            life.check(session, home, expected)
            assert [job["state"] for job in run(session, "SHOW JOBS")] == ["cleaned"]


def test_a_task_that_fails_is_submitted_again(stage: Stage, tmp_path: Path) -> None:
    """Druid's machines do not see the staged files; later they do."""
    life = Life(stage, tmp_path)
    home = life.home(stage.first)
    with life.session(home) as session:
        (job,) = unfinished(session)
        resume = f"RESUME JOB '{job['id']}'"
        hidden = shutil.move(home / "staging" / job["id"], tmp_path / "hidden")
        with pytest.raises(ExecutionError):
            run(session, resume)
        (failed,) = unfinished(session)
        assert (failed["state"], failed["running"]) == ("staged", "no")
        assert failed["error"]
        problems = [row for row in run(session, "SHOW PROBLEMS") if row["subject"] == job["table"]]
        assert [(row["problem"], row["repair"]) for row in problems] == [("job failed", resume)]
        shutil.move(hidden, home / "staging" / job["id"])
        run(session, resume)
        life.check(session, home, [0, 1, 2])


def test_cancel_ends_the_job_of_another_session(stage: Stage, tmp_path: Path) -> None:
    """It is told so, and nothing of the job is left."""
    life = Life(stage, tmp_path)
    home = life.home(stage.first)
    with life.session(home) as session:
        (job,) = unfinished(session)
        running = killed.begin(home, stage.conf, f"RESUME JOB '{job['id']}'")
        assert running.wait_for(SUBMIT)
        with pytest.raises(SemanticError, match="is running in another session"):
            run(session, f"RESUME JOB '{job['id']}'")
        run(session, f"CANCEL JOB '{job['id']}'")
        outcome = running.outcome()
        assert (outcome.killed, outcome.error != "") == (False, True)
        life.check(session, home, [])
        assert [row["state"] for row in run(session, "SHOW JOBS")] == ["cancelled"]
