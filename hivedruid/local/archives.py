"""Class-data archives: the loaded classes of a class path in one file, from which a JVM starts in half the CPU time.

A JVM that starts without an archive writes one when it exits. Archives are stored in the cache folder. The JVM checks
that an archive was made by its own build from the same jars, and starts without it otherwise. Its content is code,
which the JVM does not check: an archive that another user could have written is not used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import time

from hivedruid.defaults import cache_folder
from hivedruid.local.java import version_text
from hivedruid.private import private_folder

KEPT = 5
"""The number of archives that are kept: the most recently used ones, of 60 to 200 MB each."""
SPACE = 600_000_000
"""The free bytes that writing an archive requires."""
ABANDONED = 3600.0
"""Seconds after which an incomplete archive belongs to a process that was killed."""

_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
"""How a JVM ends that crashes, as it may with a damaged archive."""
_REFUSAL = "Error occurred during"  # … initialization of VM, … CDS dumping
_NORMAL = (0, 128 + signal.SIGTERM)


def archive_path(java: Path, class_path: str) -> Path | None:
    """The archive of a JVM and class path; its name changes with the version of Java and the names, sizes and times of
    the jars. None if the class path contains a folder of classes, which the JVM does not archive.
    """
    key = hashlib.sha256(f"{java.resolve()}\n{version_text(java)}\n{class_path}\n".encode())
    for entry in _entries(class_path):
        try:
            status = entry.stat()
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            return None
        key.update(f"{entry}\n{status.st_size}\n{status.st_mtime_ns}\n".encode())
    return cache_folder() / "archives" / f"{key.hexdigest()[:32]}.jsa"


def _entries(class_path: str) -> Iterator[Path]:
    for entry in filter(None, class_path.split(os.pathsep)):
        yield from sorted(Path(entry[:-1]).glob("*.[jJ][aA][rR]")) if Path(entry).name == "*" else [Path(entry)]


class Archive:
    """The archive for one run of a JVM: used if it exists, otherwise written at its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.part = path.with_suffix(f".{os.getpid()}.part")
        """The file to write."""
        self.used = False

    def options(self) -> list[str]:
        """The options for the JVM; none if an archive cannot be written."""
        options = reading(self._path)
        self.used = bool(options)
        if self.used:
            return options
        return [f"-XX:ArchiveClassesAtExit={self.part}", *_QUIET] if can_be_written(self._path) else []

    def prevented_start(self, returncode: int, output: str) -> bool:
        """Whether the JVM, which exited, may start without these options: it crashed, or it refused to write an archive
        (with a debugging agent, with -Xshare:off, without the archive of the JDK itself …).
        """
        return self._has_crashed(returncode) or _REFUSAL in output

    def _has_crashed(self, returncode: int) -> bool:
        return self.used and -returncode in _CRASHES

    def finish(self, returncode: int, *, complete: bool = True) -> None:
        """After the exit of the JVM: keep the archive that it wrote if it ended normally and the archive is `complete`,
        and remove one with which it crashed.
        """
        with suppress(OSError):
            if self._has_crashed(returncode):
                self._path.unlink()
            elif returncode in _NORMAL and complete:
                self.part.chmod(0o600)
                self.part.replace(self._path)
                _remove_old(self._path.parent)
        with suppress(OSError):
            self.part.unlink()


_QUIET = ("-Xshare:auto", "-Xlog:cds*=off", "-Xlog:class+path*=off")
"""No warning about classes that cannot be archived, or an archive that does not fit."""


def reading(archive: Path) -> list[str]:
    """The options for a JVM that uses the archive; none if it is not usable."""
    if not is_usable(archive):
        return []
    with suppress(OSError):
        os.utime(archive)
    return [f"-XX:SharedArchiveFile={archive}", *_QUIET]


def can_be_written(archive: Path) -> bool:
    """Whether the archive's folder has enough space, and is not accessible to others; creates the folder."""
    folder = archive.parent
    try:
        private_folder(folder)
        return _is_guarded(folder) and shutil.disk_usage(folder).free >= SPACE
    except OSError:
        return False


def is_usable(archive: Path) -> bool:
    """Whether the archive exists and only this user could have written it or replaced it."""
    try:
        status = archive.lstat()
        trusted = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
        return trusted and _is_guarded(archive.parent)
    except OSError:
        return False


def _is_guarded(folder: Path) -> bool:
    """Whether no other user but root can replace files of this user in the folder, or the folder itself."""
    states = [path.stat() for path in (folder, *folder.absolute().parents)]
    return all(
        state.st_uid in (0, os.geteuid()) and (not state.st_mode & 0o022 or state.st_mode & stat.S_ISVTX)
        for state in states
    )


def _remove_old(folder: Path) -> None:
    archives = sorted(folder.glob("*.jsa"), key=lambda archive: archive.stat().st_mtime)
    unfinished = (*folder.glob("*.part"), *folder.glob("*.classes"))
    abandoned = [file for file in unfinished if file.stat().st_mtime < time() - ABANDONED]
    for file in (*archives[:-KEPT], *abandoned):
        file.unlink(missing_ok=True)
