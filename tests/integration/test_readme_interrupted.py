"""The command in README's "A real Druid" is interrupted and rerun. It is resumed, and stores each row once."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.store import Catalog
from hivedruid.local.samples import wikiticker
from hivedruid.operations.loads import LoadJob
from hivedruid.operations.operation import Operation
from hivedruid.operations.store import Operations
from tests.integration.test_goldens import ROOT, SQL

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark

SECONDS = 900
INTERRUPTED = (130, -signal.SIGINT, 0)
"""Exit codes, 130 for a shell in the first two cases. CPython ends by the signal, or loses it if it arrives during some
imports."""
LONG_AGO = ("--hiveconf", "hivedruid.job.repeat.within=PT0S")
"""A setting that makes each interruption a long time ago."""


class Command:
    """The README's command with other table names."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.wiki, self.edits = (f"{name}_{uuid4().hex[:12]}" for name in ("wiki", "edits"))
        self.home = cluster.home
        self._script = folder / "quickstart.q"
        text = (ROOT / "examples" / "quickstart.q").read_text(encoding="utf-8")
        text = re.sub(r"(TABLE IF NOT EXISTS|FROM) edits\b", rf"\1 {self.edits}", text)
        text = re.sub(r"(TABLE IF NOT EXISTS|FROM) wiki\b", rf"\1 {self.wiki}", text)
        self._script.write_text(text, encoding="utf-8")
        self._log = folder / "stderr"

    def _line(self, *options: str) -> list[str]:
        sample = f"wikiticker={wikiticker()}"
        where = ("--home", str(self.home), "--druid", "local")
        return [*SQL, "-v", *where, "-f", str(self._script), "--hivevar", sample, *options]

    def interrupt(self, is_time: Callable[[], bool], by: signal.Signals) -> int:
        """Run it until the condition holds; returns the exit code."""
        with (
            self._log.open("wb") as log,
            subprocess.Popen(self._line(), stdout=subprocess.DEVNULL, stderr=log) as process,
        ):
            deadline = monotonic() + SECONDS
            while not is_time() and process.poll() is None:
                assert monotonic() < deadline
                sleep(0.005)
            process.send_signal(by)
            return process.wait(SECONDS)

    def again(self, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self._line(*options), capture_output=True, text=True, check=False, timeout=SECONDS)

    def has_shown_a_statement(self) -> bool:
        return "CREATE EXTERNAL TABLE" in self.log()

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def has_reached(self, state: str) -> bool:
        """Whether its job is in that state, or a later one."""
        states = list(LoadJob.transitions)
        return any(states.index(job.state) >= states.index(state) for job in self.jobs())

    def jobs(self) -> list[Operation]:
        connection = open_database(self.home)
        try:
            return [job for job in Operations(Catalog(connection)).all() if job.table == self.wiki]
        finally:
            connection.close()

    def drop(self) -> None:
        tables = f"DROP TABLE IF EXISTS {self.wiki}; DROP TABLE IF EXISTS {self.edits}"
        subprocess.run([*SQL, "--home", str(self.home), "--druid", "local", "-e", tables], check=True, timeout=SECONDS)


@pytest.fixture
def command(cluster: Cluster, tmp_path: Path) -> Iterator[Command]:
    made = Command(cluster, tmp_path)
    yield made
    made.drop()


def check(command: Command, done: subprocess.CompletedProcess[str]) -> None:
    """The first result counts every row once, and no job is unfinished."""
    assert done.returncode == 0, done.stderr
    assert "already exist" not in done.stderr
    (edits,) = re.findall(r"\A\+-+.*\n\| +edits .*\n\+-+.*\n\| +(\d+) ", done.stdout)
    assert edits == "39244"
    assert all(job.has_ended for job in command.jobs())


def test_interrupted_before_the_tables_are_created(command: Command) -> None:
    assert command.interrupt(command.has_shown_a_statement, signal.SIGINT) in INTERRUPTED, command.log()
    check(command, command.again())


@pytest.mark.parametrize("state", ["planned", "submitted"])
def test_interrupted_while_the_rows_are_written(command: Command, state: str) -> None:
    assert command.interrupt(lambda: command.has_reached(state), signal.SIGINT) in INTERRUPTED, command.log()
    check(command, command.again())


def test_killed_long_ago(command: Command) -> None:
    """A table is created once: the submitted job is not followed by a second one."""
    assert command.interrupt(lambda: command.has_reached("submitted"), signal.SIGKILL) == -signal.SIGKILL
    done = command.again(*LONG_AGO)
    check(command, done)
    (job,) = command.jobs()
    assert f"note: resuming job {job.id}" in done.stderr
