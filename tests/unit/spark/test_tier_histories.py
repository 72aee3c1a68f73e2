"""Random histories of tiered tables on the embedded store, which `make soak` continues for an hour; see
`tests/support/tier_histories.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tier_histories import history

STEPS = 4


@pytest.mark.parametrize("seed", range(12))
def test_each_answer_is_that_of_duckdb(seed: int, tmp_path: Path) -> None:
    with history(seed, tmp_path / "home") as made:
        for _ in range(STEPS):
            made.step()
