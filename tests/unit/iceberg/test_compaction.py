"""When automatic compaction merges files."""

from __future__ import annotations

import pytest

from hivedruid.iceberg.compaction import MANY, TOO_MANY, is_worthwhile
from hivedruid.iceberg.files import TableFile, TableFiles

TARGET = 1_000_000


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1000] * (MANY - 1), False),
        ([1000] * MANY, True),
        ([TARGET] * MANY, False),
        ([1000] * MANY + [500_000], False),
        ([30_000] * MANY + [500_000], True),
        ([1000] * TOO_MANY + [500_000], True),
    ],
    ids=["few", "many", "large", "mostly one file", "more than that file", "too many"],
)
def test_when_it_is_worthwhile(sizes: list[int], expected: bool) -> None:
    files = TableFiles(tuple(TableFile(f"{number}.orc", 1, size) for number, size in enumerate(sizes)))
    assert is_worthwhile(files, TARGET) == expected
