"""Faults and endurance of a Spark elsewhere: a standalone cluster of two workers, or a Connect server on it.

    python -m tests.support.spark_faults [--mode connect|standalone] [--statements 200] [--only PART...]

stream       A SELECT of 2 million rows: the memory of the client.
statements   Many statements of one session: threads, open files, memory and temporary views of the driver do not grow.
interrupt    Ctrl-C of a query: seconds until the client has ended and the cluster runs no task.
worker       A worker is killed in each phase of CREATE TABLE … AS: the rows are complete, or there is no table.
restart      The Connect server is restarted between two statements of a session, and within one.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep

from hivedruid.errors import ConnectError, HiveDruidError
from hivedruid.session import Session
from hivedruid.spark import server
from hivedruid.spark import session as session_module
from tests.support.job_homes import run
from tests.support.spark_elsewhere import MODES, OWN, start_connect, start_master, start_worker
from tests.support.spark_processes import TOKEN, Processes

ROWS = 2_000_000
SLOW = "SELECT a.n AS n FROM {0} a JOIN {0} b ON a.n % 40 = b.n % 40 WHERE a.n * b.n % 7 = 3"
LIMIT = 300
GROWTH = {"threads": 10, "open files": 40, "MB": 150, "temporary views": 0}
"""The most that the driver may have more after all statements than after half of them."""


@dataclass
class Cluster:
    """A cluster, and what is needed to use it and to break it."""

    processes: Processes
    mode: str
    master: str
    connect: str = ""

    @property
    def settings(self) -> dict[str, str]:
        if self.mode == "standalone":
            return {**OWN, "spark.master": self.master}
        return {"spark.remote": self.connect, "spark.remote.token": "env:SPARK_TOKEN"}


def cluster(processes: Processes, mode: str) -> Cluster:
    master, _ = start_master(processes)
    for number in (1, 2):
        start_worker(processes, master, number)
    made = Cluster(processes, mode, master)
    if mode == "connect":
        made.connect = start_connect(processes, master)
    return made


def open_session(found: Cluster, home: Path) -> Session:
    return Session(home, hiveconf={"druid.url": "embedded:", **found.settings})


def command(found: Cluster, home: Path, *arguments: str) -> list[str]:
    settings = [f"--hiveconf={key}={value}" for key, value in {"druid.url": "embedded:", **found.settings}.items()]
    return [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), *settings, *arguments]


def fill(session: Session, name: str, rows: int) -> None:
    if run(session, f"SHOW TABLES LIKE '{name}'"):
        return
    numbers = ", ".join(f"({number})" for number in range(1000))
    run(session, f"CREATE TABLE thousand AS SELECT col1 AS n FROM (VALUES {numbers}) v")
    run(
        session,
        f"CREATE TABLE {name} AS SELECT a.n + 1000 * b.n + 1000000 * c.n AS n, concat('row ', a.n) AS t"
        f" FROM thousand a CROSS JOIN thousand b CROSS JOIN thousand c WHERE c.n < {max(1, rows // 1_000_000)}",
    )


def fill_alone(found: Cluster, home: Path) -> None:
    """Fill the table, and leave all cores of the cluster to another process."""
    with closing(open_session(found, home)) as session:
        fill(session, "big", ROWS)
    session_module.release_all()
    session_module.stop_private()


def stream(found: Cluster, home: Path) -> str:
    fill_alone(found, home)
    query = command(found, home, "--format", "csv", "-e", "SELECT n, t FROM big")
    begun = monotonic()
    with subprocess.Popen(query, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        most, lines = 0, 0
        for lines, _ in enumerate(process.stdout, 1):
            if lines % 100_000 == 0:
                most = max(most, _megabytes(process.pid))
        code = process.wait(LIMIT)
    assert (code, lines) == (0, ROWS + 1), (code, lines)
    return f"{ROWS:,} rows in {monotonic() - begun:.0f} s; the client used at most {most} MB"


def statements(found: Cluster, home: Path, number: int) -> str:
    with closing(open_session(found, home)) as session:
        run(session, "CREATE TABLE t (n INT)")
        before: dict[str, int] = {}

        def used() -> dict[str, int]:
            tables = session_module.session(session.settings, home).catalog.listTables()
            return {**_used(_driver(found)), "temporary views": sum(table.isTemporary for table in tables)}

        def grown() -> dict[str, int]:
            return {name: much - before[name] for name, much in used().items()}

        for place in range(number):
            run(
                session,
                f"INSERT INTO t VALUES ({place})" if place % 10 == 0 else "SELECT n, count(*) FROM t GROUP BY n",
            )
            if place == number // 2:
                before = used()
        # idle threads of Spark's pools end after a minute
        wait_for(lambda: all(much <= GROWTH[name] for name, much in grown().items()), "less growth")
        changes = ", ".join(f"{much:+} {name}" for name, much in grown().items())
    return f"{number} statements: {changes} after the first half"


def interrupt(found: Cluster, home: Path) -> str:
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background processes ignore it, and their children
    fill_alone(found, home)
    process = subprocess.Popen(command(found, home, "-e", f"SELECT count(*) FROM ({SLOW.format('big')}) v"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    wait_for(lambda: _is_busy(found), "a running task")
    process.send_signal(signal.SIGINT)
    begun = monotonic()
    process.communicate(timeout=LIMIT)
    ended = monotonic() - begun
    wait_for(lambda: not _is_busy(found), "the end of all tasks")
    return (
        f"the client ended after {ended:.1f} s, the tasks after {monotonic() - begun:.1f} s (exit {process.returncode})"
    )


def worker(found: Cluster, home: Path) -> str:
    seen = []
    rows = 1_000_000
    number, name = 2, "worker2"
    for phase, pause in (("before it starts", 0.0), ("while it reads", 1.0), ("while it writes", 4.0), ("late", 8.0)):
        with closing(open_session(found, home)) as session:
            fill(session, "big", ROWS)
            run(session, "DROP TABLE IF EXISTS copy")
            run(session, "SELECT max(length(t)) FROM big")  # the driver has started
            pid = found.processes.named[name].pid
            process = subprocess.Popen([sys.executable, "-c", KILL, str(pid), str(pause)])
            error = _copied(session, rows)
            assert not error or not run(session, "SHOW TABLES LIKE 'copy'"), error
            seen.append(f"{phase}: {f'{error}, no table' if error else 'complete'}")
            process.wait()
        name = f"worker{(number := number + 1)}"
        start_worker(found.processes, found.master, number)
    return "; ".join(seen)


def _copied(session: Session, rows: int) -> str:
    """The error of CREATE TABLE … AS; empty if it has succeeded with all rows."""
    try:
        run(session, f"CREATE TABLE copy AS SELECT DISTINCT n, t FROM big WHERE n < {rows}")
    except HiveDruidError as error:
        return error.message
    (row,) = run(session, "SELECT count(*) AS a, count(DISTINCT n) AS b FROM copy")
    assert row == {"a": rows, "b": rows}, row
    return ""


KILL = """
import os, signal, sys, time
time.sleep(float(sys.argv[2]))
children = open(f"/proc/{sys.argv[1]}/task/{sys.argv[1]}/children").read().split()
for pid in [sys.argv[1], *children]:
    os.kill(int(pid), signal.SIGKILL)
"""


def restart(found: Cluster, home: Path) -> str:
    if found.mode != "connect":
        return "only with a Connect server"
    with closing(open_session(found, home)) as session:
        fill(session, "big", ROWS)
        run(session, "CREATE TABLE kept AS SELECT 1 AS n")
        _restart(found)
        between = _after_restart(session)
        killer = subprocess.Popen([sys.executable, "-c", KILL, str(found.processes.named["connect"].pid), "3"])
        try:
            run(session, f"CREATE TABLE half AS {SLOW.format('big')}")
            message = "no error"
        except HiveDruidError as error:
            message = error.message
        killer.wait()
        _restart(found)
        _after_restart(session)
        assert not run(session, "SHOW TABLES LIKE 'half'")
    return f"between: {between}; within: {message}; continued after it"


def _after_restart(session: Session) -> str:
    """The first statement reports the restart, or continues; the second one continues."""
    try:
        assert run(session, "SELECT n FROM kept") == [{"n": 1}]
    except ConnectError as error:
        assert run(session, "SELECT n FROM kept") == [{"n": 1}]
        return error.message
    return "continued"


# --- processes ----------------------------------------------------------------------------------------------------


def _restart(found: Cluster) -> None:
    """Start the Connect server again, on its port."""
    process = found.processes.named["connect"]
    process.kill()
    process.wait()
    found.connect = start_connect(found.processes, found.master, found.connect.rpartition(":")[2])


def _driver(found: Cluster) -> int:
    """The driver's process: that of the Connect server, or one that hivedruid has started for its own process."""
    if found.mode == "connect":
        return found.processes.named["connect"].pid
    known = server.find(session_module._private_folder())
    assert known is not None
    return known.jvm


def _executors(found: Cluster) -> list[int]:
    workers = {process.pid for name, process in found.processes.named.items() if name.startswith("worker")}
    return [pid for pid in _java() if "CoarseGrainedExecutorBackend" in _arguments(pid) and _parent(pid) in workers]


def _java() -> Iterator[int]:
    return (
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and "java" in _arguments(int(path.name))
    )


def _arguments(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _parent(pid: int) -> int:
    try:
        return _status(pid, "PPid")
    except OSError:
        return 0


def _megabytes(pid: int) -> int:
    return _status(pid, "VmRSS") // 1024


def _used(pid: int) -> dict[str, int]:
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return {"threads": _status(pid, "Threads"), "open files": files, "MB": _megabytes(pid)}


def _seconds(pids: Sequence[int]) -> float:
    """The CPU time of processes."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _is_busy(found: Cluster) -> bool:
    """Whether the executors use more than half a core."""
    before = _seconds(_executors(found))
    sleep(1)
    return _seconds(_executors(found)) - before > 0.5


def wait_for(condition: Callable[[], bool], wanted: str) -> None:
    end = monotonic() + LIMIT
    while not condition():
        sleep(0.2)
        assert monotonic() < end, f"not seen in {LIMIT} s: {wanted}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=MODES, default=MODES[0])
    parser.add_argument("--statements", type=int, default=200)
    parser.add_argument("--only", nargs="+", help="some of the parts")
    given = parser.parse_args()
    os.environ["SPARK_TOKEN"] = TOKEN
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the servers are stopped then, too
    parts: dict[str, Callable[[Cluster, Path], str]] = {
        "stream": stream, "statements": partial(statements, number=given.statements), "interrupt": interrupt,
        "worker": worker, "restart": restart,
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="hivedruid-faults-") as folder, Processes(Path(folder)) as processes:
        found = cluster(processes, given.mode)
        failed = 0
        for name in given.only or parts:
            try:
                seen = parts[name](found, Path(folder) / "home")
            except (HiveDruidError, AssertionError):
                failed += 1
                seen = f"FAILED\n{traceback.format_exc()}"
            print(f"{given.mode} {name}: {seen}", flush=True)
        session_module.release_all()
        session_module.stop_private()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
