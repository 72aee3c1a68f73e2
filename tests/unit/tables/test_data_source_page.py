"""docs/data-sources.md has the table of the kinds of columns that the tests create."""

from __future__ import annotations

from pathlib import Path

from tests.support.data_sources import KINDS, table

PAGE = Path(__file__).parents[3] / "docs" / "data-sources.md"


def test_the_page_has_the_table() -> None:
    assert len(KINDS) >= 40
    assert PAGE.read_text(encoding="utf-8").rstrip().endswith(table())
