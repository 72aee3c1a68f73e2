"""The manager of streams as statements see it: whether one runs, starting one in the background, and stopping it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep

from hivedruid import locks, processes
from hivedruid.catalog.named_locks import named_locks
from hivedruid.catalog.opening import is_shared
from hivedruid.catalog.store import Catalog
from hivedruid.configuration import variable
from hivedruid.errors import ExecutionError
from hivedruid.private import private_folder
from hivedruid.settings import AT_START

LOCK = "manager"
"""The lock of the catalog that the first of all managers holds if several homes share the catalog."""
STOPPING = 120.0
"""Seconds to wait for a manager that stops: it completes the running batches first."""
_PAUSE = 0.1

# A shell starts it and exits, so that the process is detached from this session and does not become a zombie.
_DETACHED = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 &'


def lock_file(home: Path) -> Path:
    """Held by the manager that runs the streams; another one stands by."""
    return home / "locks" / "streams"


def log_file(home: Path) -> Path:
    """The output of a manager that a statement started."""
    return home / "logs" / "streams.log"


def is_running(home: Path, catalog: Catalog | None = None) -> bool:
    """Whether a manager of this home runs, or one of another home with the same catalog."""
    if locks.is_held(lock_file(home)):
        return True
    return catalog is not None and is_shared(catalog) and named_locks(home, catalog).is_held(LOCK)


def take(lock: locks.Lock) -> bool:
    """Take the lock file, and write the id of this process into it; whether it was free."""
    if not lock.take():
        return False
    os.ftruncate(lock.fileno(), 0)
    os.pwrite(lock.fileno(), str(os.getpid()).encode("ascii"), 0)
    return True


def stop(home: Path) -> bool:
    """Stop the manager after its running batches, and wait until it has ended; whether one was running.

    Raises ExecutionError if it does not end, or is not a process of this machine.
    """
    if not is_running(home):
        return False
    text = lock_file(home).read_text(encoding="ascii")
    process, end = int(text or 0), monotonic() + STOPPING
    if not process or not processes.is_running(process):
        raise ExecutionError("the manager of streams runs on another machine, or in another container")
    os.kill(process, signal.SIGTERM)
    while processes.is_running(process):
        if monotonic() > end:
            raise ExecutionError(
                f"timed out after {STOPPING:.0f} s waiting until the manager of streams, process {process}, ends"
            )
        sleep(_PAUSE)
    return True


def start(home: Path, catalog: Catalog, settings: Mapping[str, str]) -> bool:
    """Start a manager in the background, unless one runs; whether it was started. It uses the same catalog."""
    if is_running(home, catalog):
        return False
    private_folder(log_file(home).parent)
    command = [sys.executable, "-m", "hivedruid", "streams", "run", "--home", str(home), "--until-idle"]
    subprocess.run(
        ["/bin/sh", "-c", _DETACHED, "sh", str(log_file(home)), *command],
        cwd="/",
        env={**os.environ, **{variable(key): settings[key] for key in AT_START if settings.get(key)}},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        check=True,
    )
    return True
