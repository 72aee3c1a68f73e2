"""The operating system processes of a local cluster: start, stop, memory, ports, logs."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from hivedruid.errors import ExecutionError
from hivedruid.local.java import java_command
from hivedruid.local.state import HOST, Started, arguments_file, folder, runs, start_ticks

PORTS = range(20000, 32000)
"""Below the ephemeral ports, one of which an outgoing connection could use while the cluster is down."""

# A shell starts it and exits, so that the process is detached from this session and does not become a zombie.
_DETACHED = 'log=$1; shift; exec "$@" </dev/null >"$log" 2>&1 & echo $!'


def start(home: Path, name: str) -> Started:
    """Start a configured service, detached from this process and its terminal. Raises ExecutionError."""
    log = log_file(home, name)
    if log.exists():
        log.replace(previous_log(log))
    command = [str(java_command()), f"@{arguments_file(home, name)}"]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}  # Java derives the encoding of file names from it
    for key in ("CLASSPATH", "JDK_JAVA_OPTIONS", "KAFKA_OPTS"):
        environment.pop(key, None)
    pid = detached(command, log, cwd=folder(home), environment=environment)
    ticks = start_ticks(pid)
    if ticks is None:
        raise ExecutionError(f"{name} exited immediately after it was started: {last_words(log)}", hint=see_log(name))
    return Started(pid, ticks, time.time())


def detached(
    command: Sequence[str], log: Path, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> int:
    """Start a process that is detached from this process and its terminal; returns its id."""
    done = subprocess.run(
        ["/bin/sh", "-c", _DETACHED, "sh", str(log), *command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        check=True,
    )
    return int(done.stdout)


def stop(home: Path, processes: Sequence[tuple[str, Started]], patience: float) -> None:
    """Stop these services in parallel; those still running after `patience` seconds are killed."""
    left = list(processes)
    for sent, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 10.0)):
        for name, process in left:
            if runs(home, name, process):
                _send(process.pid, sent)
        deadline = time.monotonic() + seconds
        while (left := [(n, p) for n, p in left if runs(home, n, p)]) and time.monotonic() < deadline:
            time.sleep(0.05)


def _send(pid: int, sent: signal.Signals) -> None:
    try:
        os.kill(pid, sent)
    except ProcessLookupError:  # it exited between the check and the signal
        return


def resident_bytes(pid: int) -> int | None:
    """The resident memory of a process."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def available_bytes() -> int:
    """The available memory of the machine, or of the container if that is less."""
    text = Path("/proc/meminfo").read_text(encoding="utf-8")
    match = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    machine = int(match[1]) * 1024 if match else 1 << 62
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8").strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return machine
    return machine if limit == "max" else min(machine, int(limit) - used)


def is_free(port: int) -> bool:
    """Whether the port is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: a port in TIME_WAIT counts as free
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_port(preferred: int | None, taken: Collection[int]) -> int:
    """`preferred` if it is free, otherwise another free port that is not among `taken`."""
    if preferred is not None and preferred not in taken and is_free(preferred):
        return preferred
    for port in random.sample(PORTS, 1000):
        if port not in taken and is_free(port):
            return port
    raise ExecutionError(f"no free port between {PORTS.start} and {PORTS.stop} on {HOST}")


def log_file(home: Path, name: str) -> Path:
    return folder(home) / "logs" / f"{name}.log"


def previous_log(log: Path) -> Path:
    """The path of the previous run's log."""
    return log.with_name(f"{log.name}.1")


def see_log(name: str) -> str:
    return f"see `hivedruid local logs {name}`"


def last_words(log: Path) -> str:
    """The line of a log that best explains why its process exited: the innermost cause, or the last error, or the last
    line."""
    text = end_of(log)
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not re.match(r"at \S+\(|\.\.\. \d+ more|Picked up ", line)]
    for pattern in (r"Caused by: ", r"\b\w*(Exception|Error)\b", r"\b(ERROR|FATAL)\b"):
        matches = [line for line in lines if re.search(pattern, line)]
        if matches:
            return matches[-1][:300]
    return lines[-1][:300] if lines else "no output"


def end_of(log: Path) -> str:
    """The last 200 kB of a log; empty if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 200_000))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def tail(log: Path, *, follow: bool) -> Iterator[str]:
    """The text of a log; with `follow` also later text, endlessly and across restarts of its process."""
    while True:
        with log.open(encoding="utf-8", errors="replace") as file:
            while True:
                if text := file.read(1 << 16):
                    yield text
                elif not follow:
                    return
                elif _is_replaced(log, file.fileno()):
                    break
                else:
                    time.sleep(0.1)


def _is_replaced(log: Path, descriptor: int) -> bool:
    """Whether `log` was replaced by another file. In between it may not exist for a moment."""
    try:
        return log.stat().st_ino != os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
