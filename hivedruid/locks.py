"""File locks below the home folder. The operating system releases them when a process ends for any reason."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

from hivedruid.errors import ExecutionError
from hivedruid.private import private_folder

BEAT = 30.0
"""Seconds between touches of a file by its live process."""


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold a shared lock; waits for an exclusive holder."""
    with _opened(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def exclusive(path: Path, *, patience: float = 0.0) -> Iterator[bool]:
    """Try to take an exclusive lock for up to `patience` seconds; yields False if it is held by another process."""
    end = monotonic() + patience
    with _opened(path) as descriptor:
        while not (alone := _is_locked(descriptor)) and monotonic() < end:
            sleep(0.05)
        yield alone


@contextmanager
def touched(path: Path) -> Iterator[None]:
    """Touch the file at least every BEAT seconds inside the block: its time of modification tells when its process
    died."""
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


def is_held(path: Path) -> bool:
    """Whether a process holds the lock exclusively; concurrent checks do not affect each other."""
    if not path.exists():
        return False
    with _opened(path) as descriptor:
        return not _is_locked(descriptor, fcntl.LOCK_SH)


def _is_locked(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        private_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ExecutionError(f"cannot open the lock file {path}: {error}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
