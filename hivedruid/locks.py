"""File locks below the home folder. The operating system drops them when a process dies, however it dies."""

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
"""Seconds between two touches of a file whose process lives."""


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold a lock together with others; waits for who holds it alone."""
    with _opened(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def exclusive(path: Path, *, patience: float = 0.0) -> Iterator[bool]:
    """Try to hold a lock alone, for `patience` seconds; gives False where anybody else has it."""
    end = monotonic() + patience
    with _opened(path) as descriptor:
        while not (alone := _is_locked(descriptor)) and monotonic() < end:
            sleep(0.05)
        yield alone


@contextmanager
def touched(path: Path) -> Iterator[None]:
    """While this goes on the file is never older than BEAT: when it was touched last tells when its process died."""
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
    """Whether somebody holds a lock alone; those who look do not see each other."""
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
