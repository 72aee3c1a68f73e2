"""No Python file has more than 500 lines: a longer one is split by concept (CONTRIBUTING.md)."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = 500


def test_no_file_is_too_long() -> None:
    files = [path for folder in ("hivedruid", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    lines = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in files}
    assert len(lines) > 500
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
