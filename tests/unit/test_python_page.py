"""The examples of docs/python.md return what the page shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import embedded_tables

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
ROWS = [{"__time": n * 3_600_000, "page": page, "added": n} for n, page in ((1, "Hive"), (3, "Druid"), (5, "Hive"))]


def test_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    embedded_tables.create(tmp_path / "home", "wiki", rows=ROWS)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("".join(blocks), {}, "docs/python.md", str(PAGE), 0)
    printed: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=printed.append, clear_globs=False)
    test.globs["connection"].close()
    test.globs["engine"].dispose()
    assert printed == []
    assert runner.summarize(verbose=False).attempted > 10
