"""Jobs whose segments Spark builds: what a killed or cancelled job leaves in deep storage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import create, numbers, run, unfinished, values
from tests.support.lives import Life, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("staged"), cluster, way="segments")
    yield made
    made.end()


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
