"""Writes that change both parts of a tiered table are killed at some of their moments, on the embedded store."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from hivedruid.errors import ExecutionError
from tests.support import killed
from tests.support.lives import moments
from tests.support.tier_histories import history
from tests.support.tier_writes import OLD_DAY, OTHER_DAY, WRITES, begin, killed_at

FEWEST = {"delete": 4, "update": 2}
"""The moments of a write; others have at least 6."""


@pytest.mark.parametrize("write", WRITES)
def test_killed_at_any_moment(write: str, tmp_path: Path) -> None:
    with history(0, tmp_path / "home") as made:
        written = begin(made)
        for verb, moment in zip(cycle(("RESUME", "CANCEL")), moments(), strict=False):
            if not killed_at(written, write, moment, verb):
                break
            written.check()
        assert moment > FEWEST.get(write, 6)
        states = {row["state"] for row in made.run("VERIFY TABLE t")}
        assert states <= {"ok"}


def test_rows_of_an_undecided_job_cannot_be_deleted(tmp_path: Path) -> None:
    with history(0, tmp_path / "home") as made:
        written = begin(made)
        moment, state = 0, "planned"
        while state == "planned":
            moment += 1
            assert killed.run(made.path, made.conf, f"UNARCHIVE TABLE t FROM '{OTHER_DAY}'", moment).killed
            state = next((job.state for job in made.unfinished()), "planned")
            if state == "planned":
                for job in made.unfinished():
                    made.run(f"CANCEL JOB '{job.id}'")
        (job,) = made.unfinished()
        deletion = f"DELETE FROM t WHERE `__time` >= '{OTHER_DAY}' AND `__time` < '2026-01-05'"
        with pytest.raises(ExecutionError, match=job.id) as caught:
            made.run(deletion)
        assert f"RESUME JOB '{job.id}'" in (caught.value.hint or "")
        made.run(f"DELETE FROM t WHERE `__time` < '{OTHER_DAY}'")  # it has no rows of these times
        written.days[OLD_DAY] = set()
        written.check()
        made.run(f"RESUME JOB '{job.id}'")
        made.run("ARCHIVE TABLE t UP TO '2026-01-05'")
        made.run(deletion)
        written.days[OTHER_DAY] = set()
        written.check()
        assert {row["state"] for row in made.run("VERIFY TABLE t")} <= {"ok"}


def test_an_overwrite_before_anything_was_archived(tmp_path: Path) -> None:
    """A job that archives was cancelled before it wrote the first rows of the cold part."""
    with history(0, tmp_path / "home") as made:
        made.insert("hot")
        assert killed.run(made.path, made.conf, "ARCHIVE TABLE t", "move planned").killed
        for job in made.unfinished():
            made.run(f"CANCEL JOB '{job.id}'")
        made.overwrite()
        made.check()
        assert {row["state"] for row in made.run("VERIFY TABLE t")} <= {"ok"}
