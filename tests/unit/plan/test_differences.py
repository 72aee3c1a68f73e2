"""docs/hive-differences.md is the table of hivedruid/plan/differences.py."""

from __future__ import annotations

from pathlib import Path

from hivedruid.plan.differences import DOCUMENTED, LIMITS, page

PAGE = Path(__file__).parents[3] / "docs" / "hive-differences.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "regenerate it: python -m hivedruid.plan.differences > docs/hive-differences.md"
    )


def test_every_row_is_whole_and_stands_once() -> None:
    rows = [*LIMITS, *DOCUMENTED]
    assert all(all(cell.strip() for cell in row) for row in rows)
    assert len({row.construct for row in rows}) == len(rows)
