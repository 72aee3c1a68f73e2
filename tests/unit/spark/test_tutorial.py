"""The blocks of docs/tutorial.md print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[3] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_tutorial(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    for text in (text for kind, text in blocks if kind == "sh"):
        subprocess.run(["/bin/sh", "-c", text], cwd=tmp_path, check=True)
    (tmp_path / "tutorial.q").write_text("".join(text for kind, text in blocks if kind == "sql"), encoding="utf-8")
    command = [sys.executable, "-m", "hivedruid", "--home", "home"]
    elsewhere = {**os.environ, "TZ": "US/Pacific"}  # no timestamp of the page depends on the zone
    run = [*command, "sql", "-f", "tutorial.q"]
    done = subprocess.run(run, cwd=tmp_path, env=elsewhere, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(text for kind, text in blocks if not kind)
