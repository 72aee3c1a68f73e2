"""Superset requires SQLAlchemy 1.4: the dialect works with it, as `test_superset_calls.py` does with SQLAlchemy 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINNED = ROOT / "tests" / "support" / "sqlalchemy14.txt"


def test_the_calls_of_superset_with_sqlalchemy_14(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--require-hashes", "--target", str(tmp_path), "--requirement", str(PINNED)], check=True)
    code = "import sqlalchemy; assert sqlalchemy.__version__.startswith('1.4.'); import pytest, sys; sys.exit(pytest.main())"
    ran = subprocess.run(
        [sys.executable, "-c", code, "tests/unit/test_superset_calls.py", "-p", "no:xdist", "-p", "no:cacheprovider"],
        env={**os.environ, "SQLALCHEMY_SILENCE_UBER_WARNING": "1", "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
