"""Unusual statements end with an error of ours, and nothing is printed: `make soak` generates more of them."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.fuzz import ROOT

STATEMENTS = 400
"""In each of the examples."""


@settings(max_examples=2, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 30))
def test_only_errors_of_ours(seed: int) -> None:
    command = [sys.executable, "-m", "tests.support.fuzz", str(seed), str(STATEMENTS)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr, run.returncode) == ("", "", 0), seed
