"""Folders for one statement's files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hivedruid.scratch import fresh_folder, scratch_folder


def test_folders_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    scratch = scratch_folder(tmp_path)
    (scratch / f"{process.pid}-dead" / "inner").mkdir(parents=True)
    (scratch / f"{os.getpid()}-ours").mkdir()
    (scratch / "something else").mkdir()
    fresh_folder(tmp_path)
    assert (scratch / f"{process.pid}-dead").exists()
    process.communicate()
    folder = fresh_folder(tmp_path)
    assert folder.parent == scratch
    assert not folder.exists()
    assert sorted(p.name for p in scratch.iterdir()) == sorted([f"{os.getpid()}-ours", "something else"])
