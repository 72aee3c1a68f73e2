"""The processes that `hivedruid local` has started for a home (`local/state.json`), and whether they still run.

A process is identified by its id, its start time (field 22 of /proc/<pid>/stat), and the name of its arguments file on
its command line. So an id that was reused by another program is never mistaken for a service.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from pathlib import Path

from hivedruid.catalog.places import IN_HOME
from hivedruid.engine.kinds import kind_of
from hivedruid.lazy_dataclass import dataclass

HOST = "127.0.0.1"
"""The address of all services; they are not secured, and so must not be reachable from outside."""


@dataclass(frozen=True)
class LocalServices:
    """The addresses of the services of a local cluster; "" if one does not run. `kafka` is host:port, others are
    URLs."""

    broker: str
    coordinator: str
    overlord: str
    kafka: str


@dataclass(frozen=True)
class Started:
    """A started process: its id, and its start time in clock ticks since boot and in seconds since 1970."""

    pid: int
    ticks: int
    since: float


@dataclass(frozen=True)
class ClusterState:
    """All of state.json. `ports` are kept while a cluster is down, so that it restarts with the same ports."""

    heap: str = ""
    ports: Mapping[str, int] = field(default_factory=dict)
    processes: Mapping[str, Started] = field(default_factory=dict)


def folder(home: Path) -> Path:
    """The folder of a home's cluster."""
    return home.expanduser().resolve() / "local"


def arguments_file(home: Path, name: str) -> Path:
    """The file with a service's Java arguments; it is started by `java @file`, and identified by it."""
    return folder(home) / "conf" / name / "java.args"


def read_state(home: Path) -> ClusterState:
    """The recorded state; an empty one if the file is missing or damaged."""
    try:
        content = json.loads((folder(home) / "state.json").read_text(encoding="utf-8"))
        ports = {str(name): int(port) for name, port in content["ports"].items()}
        processes = {str(name): Started(**process) for name, process in content["processes"].items() if name in ports}
        return ClusterState(str(content["heap"]), ports, processes)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ClusterState()


def write_state(home: Path, state: ClusterState) -> None:
    """Replace the recorded state atomically. Raises OSError."""
    path = folder(home) / "state.json"
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
    unfinished.replace(path)


def cluster_id(home: Path) -> str:
    """The id of the cluster's data, which changes with `down --clean`; "" if it was never started."""
    try:
        return (folder(home) / "id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def place_of(url: str, home: Path) -> str:
    """The Druid at a druid.url, as recorded by `catalog/places.py`; "" for a local cluster without an id."""
    url = url.rstrip("/")
    if kind_of(url).is_in_home:
        return IN_HOME
    services = running(home)
    if url != "local" and (services is None or services.broker != url):
        return url
    name = cluster_id(home)
    return f"the local cluster {name} of this home" if name else ""


def keep_cluster_id(home: Path) -> None:
    """Assign an id to the data of a cluster, unless it has one. Raises OSError."""
    if not cluster_id(home):
        (folder(home) / "id").write_text(os.urandom(6).hex() + "\n", encoding="ascii")


def start_ticks(pid: int) -> int | None:
    """The start time of a process, in clock ticks since boot; None if it no longer runs.

    A zombie does not run, unless its other threads are still ending: they hold its ports until then.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()  # the preceding name may contain blanks and parentheses
    except OSError:
        return None
    is_gone = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
    return None if is_gone else int(fields[19])


def runs(home: Path, name: str, process: Started | None) -> bool:
    """Whether exactly this process still runs."""
    return process is not None and start_ticks(process.pid) == process.ticks and _is_service(process.pid, home, name)


def strays(home: Path, state: ClusterState, names: tuple[str, ...]) -> Iterator[tuple[str, Started]]:
    """Processes of this home that are not in `state`: their launcher was killed before it recorded them."""
    known = {process.pid for name, process in state.processes.items() if runs(home, name, process)}
    for pid in (int(entry) for entry in os.listdir("/proc") if entry.isdigit()):  # noqa: PTH208
        for name in names:
            if pid not in known and _is_service(pid, home, name) and (ticks := start_ticks(pid)) is not None:
                yield name, Started(pid, ticks, 0.0)


def running(home: Path) -> LocalServices | None:
    """The running services of a home, or None if none runs. Reads three files, and makes no requests."""
    state = read_state(home)
    up = {name for name, process in state.processes.items() if runs(home, name, process)}

    def url(name: str) -> str:
        return f"http://{HOST}:{state.ports[name]}" if name in up else ""

    if not up & {"broker", "coordinator", "kafka"}:
        return None
    kafka = f"{HOST}:{state.ports['kafka']}" if "kafka" in up else ""
    return LocalServices(url("broker"), url("coordinator"), url("coordinator"), kafka)


def down(home: Path) -> dict[str, str]:
    """The addresses, host:port, of the services of a home's cluster that do not run; empty if it has none."""
    state = read_state(home)
    return {
        name: f"{HOST}:{port}" for name, port in state.ports.items() if not runs(home, name, state.processes.get(name))
    }


def _is_service(pid: int, home: Path, name: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            arguments = file.read().split(b"\0")
    except OSError:
        return False
    return b"@" + os.fsencode(arguments_file(home, name)) in arguments
