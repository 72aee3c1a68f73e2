"""The driver: it starts with what the machine has, says so when it cannot, and comes back when it is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import pytest

from hivedruid.catalog.types import INT
from hivedruid.errors import SparkError
from hivedruid.plan.physical import SparkJob
from hivedruid.spark import session
from tests.unit.spark.conftest import Home, columns, iceberg_table, job

pytestmark = pytest.mark.spark

SCRIPT = """
import sys
from pathlib import Path
from time import monotonic
from hivedruid.errors import HiveDruidError
from hivedruid.plan.physical import SparkJob
from hivedruid.spark.jobs import SparkRunner

home, sql, *settings = sys.argv[1:]
runner = SparkRunner(Path(home), dict(pair.split("=", 1) for pair in settings), None, lambda text: None, print)
assert "pyspark" not in sys.modules
try:
    print(list(runner.rows(SparkJob(sql, (), ()))))
except HiveDruidError as error:
    print(type(error).__name__, error.message, error.hint, sep=" | ")
"""


def slow_job() -> SparkJob:
    return job("SELECT id, sha2(repeat(CAST(id AS STRING), 100), 512) FROM range(0, 100000000, 1, 2000)")


def run(home: Path, *settings: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, str(home), "SELECT 1", *settings],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


def test_nothing_on_stderr(tmp_path: Path) -> None:
    """And the process ends by itself, with no JVM left behind."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    done = run(home, TMPDIR=str(temporary))
    assert (done.stdout, done.stderr) == ("[(1,)]\n", "")
    assert (home / "logs" / "spark.log").stat().st_size > 0
    assert [path.name for path in home.iterdir()] == ["logs"]
    assert list(temporary.iterdir()) == []


def test_another_sparks_home_is_ignored(tmp_path: Path) -> None:
    assert run(tmp_path, SPARK_HOME="/nowhere").stdout == "[(1,)]\n"


def test_no_java(tmp_path: Path) -> None:
    done = run(tmp_path, JAVA_HOME="/nowhere")
    assert done.stdout.startswith("ConnectError | JAVA_HOME is /nowhere, but there is no bin/java in it | install")


def test_java_that_does_not_start(tmp_path: Path) -> None:
    done = run(tmp_path, "spark.driver.extraJavaOptions=-XX:MaxMetaspaceSize=lots")
    assert done.stdout.startswith(
        "SparkError | Spark does not start: Improperly specified VM option 'MaxMetaspaceSize=lots' | Spark's log is"
    )
    assert done.stderr == ""


def test_master_that_is_none(tmp_path: Path) -> None:
    done = run(tmp_path, "spark.master=nonsense")
    assert done.stdout.startswith("SparkError | Spark does not start: Master must either be")
    assert done.stdout.count("\n") == 1


def test_killed_driver(home: Home) -> None:
    """The job that was running fails; the next one starts a driver anew."""
    home.query("SELECT 1")
    assert session._driver is not None
    driver = session._driver.gateway.proc
    rows = home.runner.rows(slow_job())
    next(rows)
    driver.kill()
    driver.wait()
    with pytest.raises(SparkError, match="ended unexpectedly"):
        list(rows)
    assert home.query("SELECT 1") == [(1,)]


def test_interrupt_cancels_the_job(home: Home) -> None:
    handler = signal.getsignal(signal.SIGINT)
    home.query("SELECT 1")
    assert signal.getsignal(signal.SIGINT) is handler
    rows = home.runner.rows(slow_job())
    next(rows)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(rows)
    timer.join()
    assert home.query("SELECT 1") == [(1,)]
    deadline = monotonic() + 60
    while session.status() is not None:  # the scheduler takes a moment to forget the cancelled stage
        assert monotonic() < deadline


def test_driver_without_iceberg_is_started_anew(home: Home) -> None:
    home.query("SELECT 1")
    assert session._driver is not None
    session._driver.iceberg = False  # as if its jar had not been in the cache
    former = session._driver.gateway.proc
    table = iceberg_table(columns(a=INT))
    home.write("SELECT 1", table)
    assert former.poll() is not None
    assert home.query("SELECT * FROM t", table) == [(1,)]
