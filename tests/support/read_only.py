"""Folders on disks that are read-only or small, for a process of its own: real mounts, in a namespace of users. And
folders without permissions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
_SMALL = 'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'


def on_read_only_disk(folder: Path, code: str) -> str:
    """The output of Python code in a process for which a folder is on a read-only disk."""
    return _run(_READ_ONLY, folder, code)


def on_small_disk(folder: Path, size: str, code: str) -> str:
    """The output of Python code in a process for which a folder is an empty disk of this size."""
    return _run(_SMALL.format(size=size), folder, code)


def without_privileges(folder: Path, code: str) -> str:
    """The output of Python code in a process of this user to whom the permissions of files apply, even if it is root,
    with the path of a folder as its argument."""
    command = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if os.geteuid() == 0 else []
    return _output([*command, sys.executable, "-c", code, str(folder)])


def _run(mount: str, folder: Path, code: str) -> str:
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(folder)]
    return _output([*command, sys.executable, "-c", code, str(folder)])


def _output(command: list[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
