"""What `hivedruid local` has started below a home: `local/state.json`, and whether it still runs.

A process is known by three things: its number, the moment of its start (field 22 of /proc/<pid>/stat), and the name of
its arguments file on its command line. A number that another program got meanwhile is therefore never taken for ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

HOST = "127.0.0.1"
"""Where everything listens; nothing here is protected, so nothing is reachable from outside."""


@dataclass(frozen=True)
class LocalServices:
    """Where the services of a local cluster answer; "" where one does not run. `kafka` is host:port, others are URLs."""

    broker: str
    coordinator: str
    overlord: str
    kafka: str


@dataclass(frozen=True)
class Started:
    """A process that was started: its number, its start in clock ticks since boot, and that in seconds since 1970."""

    pid: int
    ticks: int
    since: float


@dataclass(frozen=True)
class ClusterState:
    """All of state.json. `ports` are kept while a cluster is down, so that it comes back where it was."""

    heap: str = ""
    ports: Mapping[str, int] = field(default_factory=dict)
    processes: Mapping[str, Started] = field(default_factory=dict)


def folder(home: Path) -> Path:
    """Where a home keeps its cluster."""
    return home.expanduser().resolve() / "local"


def arguments_file(home: Path, name: str) -> Path:
    """The file with a service's Java arguments; `java @file` is how it is started, and known again."""
    return folder(home) / "conf" / name / "java.args"


def read_state(home: Path) -> ClusterState:
    """What was written last; nothing of it where the file is missing or damaged."""
    try:
        content = json.loads((folder(home) / "state.json").read_text(encoding="utf-8"))
        ports = {str(name): int(port) for name, port in content["ports"].items()}
        processes = {str(name): Started(**process) for name, process in content["processes"].items() if name in ports}
        return ClusterState(str(content["heap"]), ports, processes)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ClusterState()


def write_state(home: Path, state: ClusterState) -> None:
    """Put `state` in place of the one before, whole or not at all. Raises OSError."""
    path = folder(home) / "state.json"
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
    unfinished.replace(path)


def cluster_id(home: Path) -> str:
    """What tells this cluster's data from that of one before, which was cleaned; "" where none was ever started."""
    try:
        return (folder(home) / "id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def keep_cluster_id(home: Path) -> None:
    """Give the data of a cluster an id, where it has none yet. Raises OSError."""
    if not cluster_id(home):
        (folder(home) / "id").write_text(os.urandom(6).hex() + "\n", encoding="ascii")


def start_ticks(pid: int) -> int | None:
    """When a process was started, in clock ticks since boot; None where it does not run any more.

    A zombie does not, save one whose other threads are still ending: they hold its ports until then.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()  # the name before it may hold blanks and parentheses
    except OSError:
        return None
    is_gone = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
    return None if is_gone else int(fields[19])


def runs(home: Path, name: str, process: Started | None) -> bool:
    """Whether this very process is still there."""
    return process is not None and start_ticks(process.pid) == process.ticks and _is_service(process.pid, home, name)


def strays(home: Path, state: ClusterState, names: tuple[str, ...]) -> Iterator[tuple[str, Started]]:
    """Processes of this home that `state` does not know: those of a launcher that was killed before it wrote it."""
    known = {process.pid for name, process in state.processes.items() if runs(home, name, process)}
    for pid in (int(entry) for entry in os.listdir("/proc") if entry.isdigit()):  # noqa: PTH208
        for name in names:
            if pid not in known and _is_service(pid, home, name) and (ticks := start_ticks(pid)) is not None:
                yield name, Started(pid, ticks, 0.0)


def running(home: Path) -> LocalServices | None:
    """The services of a home that run now, or None where none does. Reads three files; asks nobody."""
    state = read_state(home)
    up = {name for name, process in state.processes.items() if runs(home, name, process)}

    def url(name: str) -> str:
        return f"http://{HOST}:{state.ports[name]}" if name in up else ""

    if not up & {"broker", "coordinator", "kafka"}:
        return None
    kafka = f"{HOST}:{state.ports['kafka']}" if "kafka" in up else ""
    return LocalServices(url("broker"), url("coordinator"), url("coordinator"), kafka)


def _is_service(pid: int, home: Path, name: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            arguments = file.read().split(b"\0")
    except OSError:
        return False
    return b"@" + os.fsencode(arguments_file(home, name)) in arguments
