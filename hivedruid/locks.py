"""File locks between processes.

They use flock: the operating system releases a lock when the last process that holds it ends for any reason. Locks are
polled, so that Ctrl-C always works. `Lock` is the lock itself; the functions are for lock files below a home folder.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

from hivedruid.errors import ExecutionError
from hivedruid.private import private_folder

BEAT = 30.0
"""Seconds between touches of a file by its live process."""
POLL = 0.05
"""Seconds between two attempts to take a lock."""


class Lock:
    """An open lock file, or folder; closing it releases the lock. Methods raise OSError."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """A file that does not exist is created, readable by its owner only, unless `create` is false."""
        to_file = os.O_RDWR | (os.O_CREAT if create else 0)
        flags = os.O_RDONLY | os.O_DIRECTORY if path.is_dir() else to_file
        self._descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)

    def take(self, *, shared: bool = False) -> bool:
        """Take the lock exclusively or shared without waiting; whether it was free."""
        try:
            fcntl.flock(self._descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait(
        self, *, shared: bool = False, patience: float | None = None, on_wait: Callable[[], object] | None = None
    ) -> bool:
        """Take the lock as soon as it is free; False if it is still held after `patience` seconds (no limit by
        default).

        `on_wait` is called once if the lock is not free.
        """
        begun = monotonic()
        while not self.take(shared=shared):
            if patience is not None and monotonic() - begun >= patience:
                return False
            if on_wait is not None:
                on_wait()
                on_wait = None
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
    return ExecutionError(f"cannot open the lock file {path}: {error}")


@contextmanager
def heartbeat(path: Path) -> Iterator[None]:
    """Touch the file at least every BEAT seconds inside the block: its modification time is about the time at which its
    process died.
    """
    done = Event()

    def beat() -> None:
        while not done.wait(BEAT):
            with suppress(OSError):
                os.utime(path)

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
