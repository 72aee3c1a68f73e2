"""Files and folders of a home are its owner's alone, whatever the umask: they hold rows, statements and addresses."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_FOLDERS = ("local", "locks", "logs", "scratch", "segments", "spark", "staging", "tmp", "warehouse")
_FILES = ("catalog.sqlite", "defaults.json", "history")


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing; only the new one itself is closed to others."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Make an empty file, if it is not there, that only its owner can read."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def private_home(home: Path) -> None:
    """Make a home folder; one that was made with an older version, or a copy of one, is closed to others.

    A folder that holds anything else, too, stays as open as it is: only what is in it of a home is closed.
    """
    private_folder(home)
    with os.scandir(home) as entries:
        found = list(entries)
    strange = False
    for entry in found:
        if entry.name in _FOLDERS or entry.name.startswith(_FILES):
            _close(entry)
        else:
            strange = True
    if not strange:
        _close(home)


def _close(path: os.DirEntry[str] | Path) -> None:
    """Take from others what they may do, if that is ours to decide."""
    status = path.stat(follow_symlinks=False)
    if status.st_mode & 0o077 and not stat.S_ISLNK(status.st_mode) and status.st_uid == os.getuid():
        Path(path).chmod(stat.S_IMODE(status.st_mode) & 0o700)
