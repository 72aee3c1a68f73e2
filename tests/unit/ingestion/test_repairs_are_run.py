"""A test on the real services makes each problem, runs the repair that SHOW PROBLEMS prints, and sees it gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from hivedruid.ingestion.problem_kinds import LOOKS, NAMES

TESTS = Path(__file__).parents[2]
OF_SOAK = TESTS / "support" / "slow_ingestions.py"
"""The problems that need minutes of reading: `make soak` makes them."""
SLOW = {"lag", "growing lag", "reading stalled"}


def test_every_repair_is_run() -> None:
    paths = sorted((TESTS / "integration").glob("test_*.py"))
    ended, shown = (set(_calls(method, *paths)) for method in ("repaired", "shown"))
    slow_ended, slow_shown = (set(_calls(method, OF_SOAK)) for method in ("repaired", "shown"))
    assert slow_ended | slow_shown == SLOW
    assert ended | shown == NAMES - SLOW
    assert shown | slow_shown <= LOOKS
    assert not (ended | slow_ended) & LOOKS


def _calls(method: str, *paths: Path) -> Iterator[str]:
    """The problems that the tests on real services name in calls of this method."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
                problem = node.args[1]
                assert isinstance(problem, ast.Constant), f"{path.name}:{node.lineno} names its problem"
                yield str(problem.value)
