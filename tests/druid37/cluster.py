"""A Druid 37 in the place of the local cluster, for `make druid37-cluster TOOL=folder`.

TOOL has a program `druid37-cluster`, which is not part of the project. `up FOLDER --as-local HOME --port PORT` starts Druid's
processes, and records them in HOME as `hivedruid local up` does; `down FOLDER` stops them. There is no Kafka, and
no SQL.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hivedruid.local.services import data
from hivedruid.local.state import HOST, LocalServices, running

VARIABLE = "HIVEDRUID_TEST_DRUID37"
"""The folder of the program, if the tests run on its Druid."""
FORMAT = "HIVEDRUID_TEST_SEGMENT_FORMAT"
"""10, if its tasks write segments of version 10."""
PORTS = 8
"""The number of ports of a cluster, in a row."""


@contextmanager
def running_druid37(tool: str, home: Path) -> Iterator[Callable[[], LocalServices]]:
    """A function that starts the services that do not run, with their data below `home`; they are stopped at the
    end."""
    program, folder = str(Path(tool) / "druid37-cluster"), str(home / "druid37")
    command = [program, "up", folder, "--as-local", str(home), "--port", str(_free_ports())]
    command += ["--set", f"druid.storage.storageDirectory={data(home, 'segments')}"]  # as `hivedruid local`
    if os.environ.get(FORMAT) == "10":
        command += ["--set", "indexer:druid.indexer.task.buildV10=true"]

    def start() -> LocalServices:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return _services(home)

    home.mkdir(parents=True, exist_ok=True)
    try:
        yield start
    finally:
        subprocess.run([program, "down", folder], check=True)


@contextmanager
def adopted_druid37(home: str) -> Iterator[Callable[[], LocalServices]]:
    """A function that returns the services of another process, which are not stopped."""
    yield lambda: _services(Path(home))


def _services(home: Path) -> LocalServices:
    services = running(home)
    assert services is not None, f"no running processes are recorded in {home}"
    return services


def _free_ports() -> int:
    """The first of the ports of a cluster; each process of a parallel run has a range of its own."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    candidates = range(20000 + 1000 * process, 21000 + 1000 * process, PORTS)
    return next(first for first in candidates if all(map(_is_free, range(first, first + PORTS))))


def _is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex((HOST, port)) != 0
