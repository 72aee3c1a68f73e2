"""hivedruid is killed -9 at every moment of an ingestion of staged rows, or of the publishing of segments that Spark
built, and the job is resumed or cancelled.

Rows are neither lost nor duplicated, and nothing is left of the job. (In between Druid may have loaded some of its
segments, each of one day.) The moments before, in which rows are staged, are in tests/unit/spark/test_jobs_killed.py;
what only one way of writing does is in test_native_jobs.py and test_segment_jobs.py.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients.overlord import TASK
from hivedruid.errors import SemanticError
from tests.support import killed
from tests.support.job_homes import clone, run, unfinished
from tests.support.lives import Life, Stage, Values, at_every_moment
from tests.support.publish import locked
from tests.support.staged import DAY, NEW_YEAR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster

SUBMIT = f"POST {TASK}"
SENT = {"native": SUBMIT, "segments": "POST /druid/indexer/v1/action"}
"""The moment in which Druid has been asked to publish the rows."""
FEWEST = {"native": 8, "segments": 12}
"""The moments of the shortest job."""


@pytest.fixture(scope="module", params=["native", pytest.param("segments", marks=pytest.mark.spark)])
def stage(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("staged"), cluster, way=request.param)
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

    assert at_every_moment(is_killed) >= FEWEST[stage.way], "no job has so few moments"


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

    assert at_every_moment(is_killed) >= FEWEST[stage.way], "no job has so few moments"


def test_statements_are_rerun(stage: Stage, tmp_path: Path) -> None:
    """Their rows are staged: they are not computed again, and are written once."""
    life = Life(stage, tmp_path)
    life.token = stage.tokens[0]  # the texts have it
    expected: Values = []
    for of, moment in ((stage.first, SENT[stage.way]), (stage.more, "move published"), (stage.other, "move verified")):
        home = clone(of.home, tmp_path / moment.replace("/", "_"))
        assert life.killed(home, moment).killed
        again = killed.run(home, stage.conf, of.statement)
        assert again.error == ""
        assert "stage" not in again.effects
        expected = of.made_of(expected)
        with life.session(home) as session:
            life.check(session, home, expected)
            assert [job["state"] for job in run(session, "SHOW JOBS")] == ["cleaned"]


def test_cancel_ends_the_job_of_another_session(stage: Stage, tmp_path: Path) -> None:
    """That session reports it, and nothing of the job is left. It waits for a lock, and so has published nothing."""
    life = Life(stage, tmp_path)
    home = life.home(stage.first)
    with (
        life.session(home) as session,
        closing(stage.cluster.druid()) as druid,
        locked(druid, f"default.t_{life.token}", (NEW_YEAR, NEW_YEAR + DAY)),
    ):
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
