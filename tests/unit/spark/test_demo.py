"""`hivedruid demo`, as an installation runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_demo_loads_and_queries_the_sample(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hivedruid", "demo", "--no-prompt", "--home", str(tmp_path / "home")]
    first = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "| 39244 |" in first.stdout
    assert "-> one native query: timeseries over default.wiki" in first.stderr
    assert f"hivedruid --home {tmp_path / 'home'}" in first.stderr  # or with python -m
    again = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert again.stdout == first.stdout
