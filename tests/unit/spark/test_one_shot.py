"""A whole process that inserts: only its result on stdout, nothing on stderr."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_a_quiet_insert_says_nothing(tmp_path: Path) -> None:
    script = (
        "CREATE EXTERNAL TABLE t (`__time` timestamp, n int) STORED BY 'druid';"
        "INSERT INTO t VALUES ('2020-01-01', 1);"
        "SELECT n FROM t;"
    )
    command = [sys.executable, "-m", "hivedruid", "sql", "-q", "--home", str(tmp_path), "--format", "csv", "-e", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "n\n1\n", "")
