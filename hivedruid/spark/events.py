"""The events that a keeper waits for, from Linux: the end of a process, and changes of folders (pidfd, inotify)."""

from __future__ import annotations

import ctypes
import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

POLL = 0.2
"""Seconds between two checks on systems without these events, and from an event to the second check."""

# linux/inotify.h
_CLOSE_WRITE, _MOVED_TO, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x8, 0x80, 0x200, 0x400, 0x800
_NONBLOCK, _CLOEXEC = os.O_NONBLOCK, getattr(os, "O_CLOEXEC", 0)


class Events:
    """Waits for the end of a child process, for data or the end of `pipe`, and for changes of folders: a file is closed
    after writing (also by the death of its process), moved into the folder, or removed.
    """

    def __init__(self, process: int, folders: Sequence[Path], pipe: int | None = None) -> None:
        self._poll = select.poll()
        self._open: list[int] = []
        self._changes = -1
        self._pending = False
        if pipe is not None:
            self._poll.register(pipe, select.POLLIN)
        with suppress(OSError, AttributeError):
            self._changes = _watch(folders)
            self._poll.register(self._changes, select.POLLIN)
            self._open.append(self._changes)
            self._open.append(os.pidfd_open(process))
            self._poll.register(self._open[-1], select.POLLIN)
        self._complete = len(self._open) == 2

    def wait(self, seconds: float) -> bool:
        """Wait for the next event, for at most these seconds; returns whether there was one.

        Linux reports that a file is closed just before it releases the file's lock: the wait after an event is short.
        """
        limit = min(seconds, POLL) if self._pending or not self._complete else seconds
        self._pending = bool(self._poll.poll(max(0.0, limit) * 1000))
        with suppress(OSError):
            os.read(self._changes, 65536)
        return self._pending

    def close(self) -> None:
        for descriptor in self._open:
            os.close(descriptor)


def _watch(folders: Sequence[Path]) -> int:
    """An inotify descriptor. Raises OSError, and AttributeError on systems other than Linux."""
    if sys.platform != "linux":
        raise OSError("no inotify")
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.inotify_init1(_NONBLOCK | _CLOEXEC))
    for folder in folders:
        mask = _CLOSE_WRITE | _MOVED_TO | _DELETE | _DELETE_SELF | _MOVE_SELF
        if descriptor < 0 or libc.inotify_add_watch(descriptor, os.fsencode(folder), mask) < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
    return descriptor
