"""A part of SQLAlchemy's dialect suite; `make soak` runs all of it (`python -m tests.dialect`)."""

from __future__ import annotations

import re

from tests.dialect.__main__ import run

CLASSES = (
    "HasTableTest", "TableDDLTest", "ComponentReflectionTestExtra", "InsertBehaviorTest", "FetchLimitOffsetTest",
    "CTETest", "TrueDivTest", "BitwiseTest", "LikeFunctionsTest",
)  # fmt: skip


def test_the_suite() -> None:
    done = run("-k", " or ".join(CLASSES))
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}
    assert done.returncode == 0, done.stdout
    assert counts["passed"] > 80
