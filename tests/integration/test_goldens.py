"""The `.q` scripts, and the script of the README, on a cluster: the same results as from the embedded store."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.local.samples import wikiticker
from hivedruid.qtest.runner import run_script
from tests.support.cluster_scripts import of_clusters

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
SCRIPTS = of_clusters(sorted((ROOT / "tests" / "q").glob("*.q")))
EXAMPLE = ROOT / "examples" / "wikiticker.q"
SQL = [sys.executable, "-m", "hivedruid", "sql"]


def _without_figures(text: str) -> str:
    """Without the estimates of EXPLAIN EXTENDED, and without who computes the rows of a write and builds segments: only a
    cluster knows the number of a column's values without ANALYZE, and leaves segments to Spark."""
    text = re.sub(r"(?m)^Figures:\n(?:  .*\n)+", "", text)
    text = re.sub(r"(?m)^ +Stage-1\n +(?:Spark Operator|Local Evaluation)\n(?:.*\n)*?(?=Stage-0\n)", "", text)
    return re.sub(r"(?m)^ *segments: built by .*\n", "", text)


def settings(cluster: Cluster) -> dict[str, str]:
    return {"druid.url": cluster.services.broker, "druid.coordinator.url": cluster.services.coordinator}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_golden(script: Path, cluster: Cluster, tmp_path: Path) -> None:
    outcome = run_script(script, scratch=tmp_path, settings=settings(cluster))
    assert outcome.bugs == ()
    assert outcome.diff == ""


def test_the_example_prints_the_same_on_both_engines(cluster: Cluster, tmp_path: Path) -> None:
    sample = wikiticker(None)
    subprocess.run(
        [*SQL, "--home", str(cluster.home), "-e", "DROP TABLE IF EXISTS edits; DROP TABLE IF EXISTS druid_wiki"],
        check=True,
    )
    printed = {}
    for name, home, druid in (("embedded", tmp_path, "embedded:"), ("cluster", cluster.home, "local")):
        command = [*SQL, "--home", str(home), "--druid", druid, "--hivevar", f"wikiticker={sample}", "-f", str(EXAMPLE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr
        printed[name] = _without_figures(done.stdout)
    assert printed["embedded"] == printed["cluster"]
