"""Writes that change both parts of a tiered table are killed at every other moment, on the embedded store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tier_histories import history
from tests.support.tier_writes import WRITES, begin, killed_at

FEWEST = {"delete": 4, "update": 2}
"""The moments of a write; others have at least 6."""


@pytest.mark.parametrize("write", WRITES)
def test_killed_at_any_moment(write: str, tmp_path: Path) -> None:
    with history(0, tmp_path / "home") as made:
        written = begin(made)
        moment = 1 + [*WRITES].index(write) % 2
        while killed_at(written, write, moment, ("RESUME", "CANCEL")[moment // 2 % 2]):
            written.check()
            moment += 2
        assert moment > FEWEST.get(write, 6)
        states = {row["state"] for row in made.run("VERIFY TABLE t")}
        assert states <= {"ok"}
