"""hivedruid is killed -9 at every moment in which it publishes segments that Spark built, and the job is resumed, or
cancelled: Druid has the old or the new rows, and deep storage has no files of cancelled jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.errors import SemanticError
from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import clone, create, numbers, run, unfinished, values
from tests.support.lives import Life, Stage, Values, lives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark
ACTION = "POST /druid/indexer/v1/action"


@pytest.fixture(scope="module")
def stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("staged"), cluster, way="segments")
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

    assert lives(is_killed) >= 12, "no job has so few moments"


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

    assert lives(is_killed) >= 12, "no job has so few moments"


def test_statements_are_said_again(stage: Stage, tmp_path: Path) -> None:
    """Their segments are built, and are not built or published again."""
    life = Life(stage, tmp_path)
    life.token = stage.tokens[0]  # the texts have it
    expected: Values = []
    for of, moment in ((stage.first, ACTION), (stage.more, "move published"), (stage.other, "move verified")):
        home = clone(of.home, tmp_path / moment.replace("/", "_"))
        assert life.killed(home, moment).killed
        again = killed.run(home, stage.conf, of.statement)
        assert again.error == ""
        assert "stage" not in again.effects
        expected = of.made_of(expected)
        with life.session(home) as session:
            life.check(session, home, expected)


def test_cancel_ends_the_job_of_another_session(stage: Stage, tmp_path: Path) -> None:
    """Its segments are not published after that."""
    life = Life(stage, tmp_path)
    home = life.home(stage.first)
    with life.session(home) as session:
        (job,) = unfinished(session)
        running = killed.begin(home, stage.conf, f"RESUME JOB '{job['id']}'")
        assert running.wait_for("POST /druid/indexer/v1/task")
        with pytest.raises(SemanticError, match="is running in another session"):
            run(session, f"RESUME JOB '{job['id']}'")
        run(session, f"CANCEL JOB '{job['id']}'")
        outcome = running.outcome()
        assert (outcome.killed, outcome.error != "") == (False, True)
        life.check(session, home, [])
        assert [row["state"] for row in run(session, "SHOW JOBS")] == ["cancelled"]


@pytest.mark.parametrize("moment", ["move planned", "stage"])
def test_while_spark_builds(stage: Stage, tmp_path: Path, moment: str) -> None:
    """The statement runs again from the beginning, and what was built before is deleted."""
    table = f"default.{stage.tokens[0]}_{moment.split(maxsplit=1)[0]}"
    home = create(tmp_path / "home", stage.conf, table.removeprefix("default."))
    text = f"INSERT INTO {table} {values(0, 1, 2)}"
    assert killed.run(home, stage.conf, text, moment).killed
    assert len([*stage.deep_storage.glob(f"{table}/hivedruid-*")]) == (moment == "stage")
    assert killed.run(home, stage.conf, text).error == ""
    with Session(home, hiveconf=stage.conf) as session:
        assert numbers(session, table) == [0, 1, 2]
        assert sorted(str(job["state"]) for job in run(session, "SHOW JOBS")) == ["cancelled", "cleaned"]
        assert len([*stage.deep_storage.glob(f"{table}/hivedruid-*")]) == 1


def test_a_cancelled_job_is_purged(stage: Stage, tmp_path: Path) -> None:
    """Druid still lists its segments as unused, but their files are deleted."""
    life = Life(stage, tmp_path)
    home = life.home(stage.first)
    assert life.killed(home, "move published").killed
    with life.session(home) as session:
        (job,) = unfinished(session)
        run(session, f"CANCEL JOB '{job['id']}'")
        life.check(session, home, [])
        run(session, f"DROP TABLE t_{life.token} PURGE")
