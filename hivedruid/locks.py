"""File locks between processes.

They use flock: the operating system releases a lock when the last process that holds it ends for any reason. Everyone
who may read a file can lock it, so lock files belong into folders that only their owner can access. Locks are polled,
so that Ctrl-C always works; a long wait is reported with its holder. `Lock` is the lock itself; the functions are for
lock files below a home folder.
"""

from __future__ import annotations

import fcntl
import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EPERM, EROFS
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Literal

from hivedruid import notices
from hivedruid.errors import ExecutionError
from hivedruid.private import private_folder

BEAT = 30.0
"""Seconds between touches of a file by its live process."""
POLL = 0.05
"""Seconds between two attempts to take a lock."""
LONG = 2.0
"""Seconds of waiting after which a note names the lock and its holder."""
UNKNOWN = "another process"
"""The holder of a lock that the operating system does not list."""


class Lock:
    """An open lock file; closing it releases the lock. Methods raise OSError."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """A file that does not exist is created unless `create` is false. Only its owner can open it, so that no other
        user can hold the lock. Without `create` the file is opened for reading, which closing does not report as a
        change.
        """
        self._path = path
        self._descriptor = os.open(path, os.O_CLOEXEC | (os.O_RDWR | os.O_CREAT if create else os.O_RDONLY), 0o600)
        status = os.fstat(self._descriptor)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            os.fchmod(self._descriptor, 0o600)

    def take(self, *, shared: bool = False) -> bool:
        """Take the lock exclusively or shared without waiting; whether it was free."""
        try:
            fcntl.flock(self._descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait(
        self,
        *,
        shared: bool = False,
        patience: float | None = None,
        on_wait: Callable[[], object] | None = None,
        give_up: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Take the lock as soon as it is free; False if it is still held after `patience` seconds (no limit by
        default), or when `give_up` returns true.

        `on_wait` is called once if the lock is not free.
        """
        begun, noted = monotonic(), False
        while not self.take(shared=shared):
            waited = monotonic() - begun
            if (patience is not None and waited >= patience) or give_up():
                return False
            if on_wait is not None:
                on_wait()
                on_wait = None
            if waited >= LONG and not noted:
                noted = True
                notices.note(f"waiting for the lock {self._path}, held by {holder(os.fstat(self._descriptor))}")
            sleep(POLL)
        return True

    def fileno(self) -> int:
        """The descriptor: a process that inherits it holds the lock, too."""
        return self._descriptor

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def holder(status: os.stat_result, kind: Literal["FLOCK", "POSIX"] = "FLOCK", byte: int = 0) -> str:
    """The first process in Linux's list of locks that holds a lock of this file from that byte on."""
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        listed = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
        process = next(words[4] for words in listed if (words[1], *words[5:7]) == (kind, place, str(byte)))
        command = Path(f"/proc/{process}/comm").read_text(encoding="utf-8", errors="replace").strip()
        user = Path(f"/proc/{process}").stat().st_uid
    except (OSError, StopIteration, IndexError):
        return UNKNOWN
    try:
        name = pwd.getpwuid(user).pw_name
    except KeyError:
        name = str(user)
    return f"process {process} ({command}) of user {name}"


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold a shared lock; waits for an exclusive holder. Raises ExecutionError."""
    with _opened(path) as lock:
        lock.wait(shared=True)
        yield


@contextmanager
def exclusive(path: Path, *, patience: float = 0.0) -> Iterator[bool]:
    """Try to take an exclusive lock for up to `patience` seconds; yields False if another process holds it."""
    with _opened(path) as lock:
        yield lock.wait(patience=patience)


def is_held(path: Path) -> bool:
    """Whether a process holds the lock exclusively; concurrent checks do not affect each other. Creates no file."""
    try:
        with Lock(path, create=False) as lock:
            return not lock.take(shared=True)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _cannot_open(path, error) from error


def _opened(path: Path) -> Lock:
    try:
        private_folder(path.parent)
        return Lock(path)
    except OSError as error:
        raise _cannot_open(path, error) from error


def _cannot_open(path: Path, error: OSError) -> ExecutionError:
    hint = "choose a folder that you may write to with --home" if error.errno in (EROFS, EACCES, EPERM) else None
    return ExecutionError(f"cannot open the lock file {path}: {error}", hint=hint)


@contextmanager
def heartbeat(path: Path) -> Iterator[None]:
    """Touch the file at least every BEAT seconds inside the block: its modification time is about the time at which its
    process died.
    """

    def touch() -> None:
        with suppress(OSError):
            os.utime(path)

    with beating(touch):
        yield


@contextmanager
def beating(beat: Callable[[], None]) -> Iterator[None]:
    """Call `beat` every BEAT seconds inside the block, in a thread of its own."""
    done = Event()

    def run() -> None:
        while not done.wait(BEAT):
            beat()

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
