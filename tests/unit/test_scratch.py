"""Folders for one statement's files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hivedruid.scratch import fresh_folder


def test_folders_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    (tmp_path / f"{process.pid}-dead" / "inner").mkdir(parents=True)
    (tmp_path / f"{os.getpid()}-ours").mkdir()
    (tmp_path / "something else").mkdir()
    fresh_folder(tmp_path)
    assert (tmp_path / f"{process.pid}-dead").exists()
    process.communicate()
    folder = fresh_folder(tmp_path)
    assert folder.parent == tmp_path
    assert not folder.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([f"{os.getpid()}-ours", "something else"])
