"""The manager of streams as statements see it: whether one runs, and starting one in the background."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hivedruid import locks
from hivedruid.private import private_folder

# A shell starts it and exits, so that the process is detached from this session and does not become a zombie.
_DETACHED = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 &'


def lock_file(home: Path) -> Path:
    """Held by the manager that runs the streams; another one stands by."""
    return home / "locks" / "streams"


def log_file(home: Path) -> Path:
    """The output of a manager that a statement started."""
    return home / "logs" / "streams.log"


def is_running(home: Path) -> bool:
    return locks.is_held(lock_file(home))


def start(home: Path) -> bool:
    """Start a manager in the background, unless one runs; whether it was started."""
    if is_running(home):
        return False
    private_folder(log_file(home).parent)
    command = [sys.executable, "-m", "hivedruid", "streams", "run", "--home", str(home), "--until-idle"]
    subprocess.run(
        ["/bin/sh", "-c", _DETACHED, "sh", str(log_file(home)), *command],
        cwd="/",
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        check=True,
    )
    return True
