"""A test on the real services makes each problem, runs the repair that SHOW PROBLEMS prints, and sees it gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from hivedruid.ingestion.problem_kinds import LOOKS, NAMES

INTEGRATION = Path(__file__).parents[2] / "integration"
MADE_BY_HAND = {
    "lag": "counts from two minutes of reading on, if more than five minutes of it are left",
    "growing lag": "the repair of `lag`",
    "reading stalled": "counts from two minutes on in which tasks read nothing, although there are records",
}
"""Problems that only unit tests make, and why."""


def test_every_repair_is_run() -> None:
    ended, shown = set(_calls("repaired")), set(_calls("shown"))
    assert ended | shown | MADE_BY_HAND.keys() == NAMES
    assert shown <= LOOKS
    assert not ended & LOOKS
    assert not (ended | shown) & MADE_BY_HAND.keys(), "these are made by hand no more"


def _calls(method: str) -> Iterator[str]:
    """The problems that the tests on real services name in calls of this method."""
    for path in INTEGRATION.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
                problem = node.args[1]
                assert isinstance(problem, ast.Constant), f"{path.name}:{node.lineno} names its problem"
                yield str(problem.value)
