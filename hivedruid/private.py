"""Files and folders of a home are accessible only to the owner, regardless of the umask: they contain rows, statements
and addresses."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from hivedruid import notices

_FOLDERS = ("external", "local", "locks", "logs", "scratch", "segments", "spark", "staging", "tmp", "warehouse")
_FILES = ("catalog.sqlite", "defaults.json", "history", "iceberg.sqlite", "init.sql")


def is_read_only(home: Path) -> bool:
    """Whether a home can be read, but not be changed by this process: its disk, its folder or its catalog is
    read-only."""
    catalog = home / "catalog.sqlite"
    can_write = os.access(home, os.W_OK) and (os.access(catalog, os.W_OK) or not os.access(catalog, os.F_OK))
    return not can_write and os.access(home, os.R_OK | os.X_OK) and home.is_dir()


def private_folder(folder: Path) -> None:
    """Create a folder and missing parents; only the folder itself is made private."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Create an empty private file if it does not exist. One that exists is not opened: closing it would end the locks
    that SQLite holds on it in this process (https://sqlite.org/howtocorrupt.html, 2.2)."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def private_home(home: Path) -> None:
    """Create a private home folder; an existing home, or a copy of one, is made private, with a note. A folder that
    also contains other files keeps its mode: only the home's own files are made private.
    """
    private_folder(home)
    with os.scandir(home) as entries:
        names = list(entries)
    own = [entry for entry in names if entry.name in _FOLDERS or entry.name.startswith(_FILES)]
    closed = [entry.path for entry in own if _close(entry)]
    if len(own) == len(names) and _close(home) and own:
        closed = [str(home)]
    if closed:
        notices.note(f"other users could access {', '.join(sorted(closed))}; now only its owner can")


def _close(path: os.DirEntry[str] | Path) -> bool:
    """Remove the permissions of others, if this process may change them; returns whether it did."""
    try:
        status = path.stat(follow_symlinks=False)
        if not status.st_mode & 0o077 or stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid():
            return False
        Path(path).chmod(stat.S_IMODE(status.st_mode) & 0o700)
    except FileNotFoundError:  # SQLite removes its log when the last process closes the catalog
        return False
    return True
