"""Threads that share a session take turns, and one can cancel the work of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, RLock
from time import monotonic

from hivedruid.errors import CancelledError, HiveDruidError

PAUSE = 0.1
"""Seconds between two attempts to interrupt: what has not begun to wait cannot be interrupted."""


class Work:
    """A statement, from its start to its last row."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def check(self) -> None:
        if self.is_cancelled:
            raise CancelledError("the statement was cancelled")


class Turns:
    """Gives one thread at a time the session. `interrupt` ends what the session is waiting for."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self.lock = RLock()
        self._interrupt = interrupt
        self._changed = Condition()
        self._current: Work | None = None

    @contextmanager
    def of(self, work: Work, check: Callable[[], None]) -> Iterator[None]:
        """A turn, in which errors of cancelled work become CancelledError."""
        with self.lock:
            check()
            work.check()
            former = self._become(work)
            try:
                yield
            except Exception as error:
                if work.is_cancelled and not isinstance(error, CancelledError):
                    raise CancelledError("the statement was cancelled") from error
                if isinstance(error, HiveDruidError):
                    _explain(error)
                raise
            finally:
                self._become(former)

    def cancel(self, work: Work | None, timeout: float) -> bool:
        """Cancel this work, or the current one: interrupt it until its turn is over. Returns whether it is, after at
        most `timeout` seconds."""
        deadline = monotonic() + timeout
        with self._changed:
            work = work or self._current
            if work is None:
                return True
            work.is_cancelled = True
            while self._current is work:
                if monotonic() > deadline:
                    return False
                self._interrupt()
                self._changed.wait(PAUSE)
        return True

    def _become(self, work: Work | None) -> Work | None:
        with self._changed:
            former, self._current = self._current, work
            self._changed.notify_all()
            return former


def _explain(error: HiveDruidError) -> None:
    """Add position and hint to the text of an error, which tracebacks show."""
    if error.args != (error.message,):
        return
    lines = [error.message]
    if error.span is not None:
        where = f"{error.span.file}, line {error.span.line}" if error.span.file else f"line {error.span.line}"
        lines.append(f"{where}, column {error.span.column}: {error.span.source_line.strip()}")
    if error.hint:
        lines.append(f"hint: {error.hint}")
    error.args = ("\n".join(lines),)
