"""Jobs whose rows a task of Druid ingests: its failures, and what historicals do when a job is cancelled."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from hivedruid.errors import ExecutionError
from tests.support.job_homes import run, unfinished
from tests.support.lives import AT_ONCE, Life, Stage, Values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cluster import Cluster


@pytest.fixture(scope="module")
def stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("staged"), cluster)
    yield made
    made.end()


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
        assert [(row["problem"], row["repair"]) for row in problems] == [("job failed", f"{resume};")]
        shutil.move(hidden, home / "staging" / job["id"])
        run(session, resume)
        life.check(session, home, [0, 1, 2])
