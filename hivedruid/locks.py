"""File locks below the home folder. The operating system drops them when a process dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from hivedruid.errors import ExecutionError


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


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ExecutionError(f"cannot open the lock file {path}: {error}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
