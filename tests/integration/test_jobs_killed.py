"""hivedruid is killed -9 at every moment of an ingestion of staged rows into a cluster, and the job is resumed, or
cancelled.

Rows are neither lost nor duplicated, and nothing is left of the job. (In between Druid may have loaded some of its
segments, each of one day.) The moments before, in which rows are staged, are in tests/unit/spark/test_jobs_killed.py.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients.overlord import TASK
from hivedruid.errors import ExecutionError, SemanticError
from tests.support import killed
from tests.support.job_homes import clone, run, unfinished
from tests.support.lives import AT_ONCE, Life, Stage, Values, lives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster

SUBMIT = f"POST {TASK}"


@pytest.fixture(scope="module")
def stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("staged"), cluster)
    yield made
    made.end()


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
