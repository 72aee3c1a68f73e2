"""The sample data, as published."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from hivedruid.local.samples import WIKITICKER_SIZE, wikiticker


def test_wikiticker() -> None:
    path = wikiticker()
    with path.open(encoding="utf-8") as lines:
        edits = [json.loads(line) for line in lines]
    assert len(edits) == 39_244
    assert sum(edit["added"] for edit in edits) == 9_385_573
    assert edits[0]["time"] == "2015-09-12T00:46:58.771Z"
    assert path.stat().st_size == WIKITICKER_SIZE


def test_half_a_file_is_written_anew(fresh_cache: Path) -> None:
    path = wikiticker()
    os.truncate(path, 1000)
    assert wikiticker() == path
    assert path.stat().st_size == WIKITICKER_SIZE
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_command() -> None:
    command = [sys.executable, "-m", "hivedruid.local.samples"]
    done = subprocess.run([*command, "wikiticker"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{wikiticker()}\n"
    done = subprocess.run([*command, "wikitickr"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: there is no sample 'wikitickr'\nhint: known: wikiticker\n")
