"""Turns of the streams that share the processors of this machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from time import monotonic

AT_ONCE = (os.cpu_count() or 1) + 1
"""The number of batches at a time: one more than processors, since a batch also waits for Kafka and for files."""
LONGEST = 10.0
"""Seconds after which a turn is given to another stream, beside the batch: it is a large one, or waits for Kafka."""
_PAUSE = 0.2
"""Seconds between two looks for turns that last too long, or are not wanted any more."""


class Turns:
    """Gives turns in the order in which they are requested. So each stream has as many batches as the others, and the
    processors work on few of them at a time."""

    def __init__(self, at_once: int = AT_ONCE, longest: float = LONGEST) -> None:
        self._at_once = at_once
        self._longest = longest
        self._changed = Condition()
        self._waiting: deque[object] = deque()
        self._running: dict[object, float] = {}

    @contextmanager
    def turn(self, is_given_up: Callable[[], bool]) -> Iterator[bool]:
        """Wait for a turn, which lasts until the end of the block; whether there is one: False if it is given up."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            while not is_given_up() and not (self._waiting[0] is ticket and self._is_free()):
                self._changed.wait(_PAUSE)
            self._waiting.remove(ticket)
            has_turn = not is_given_up()
            if has_turn:
                self._running[ticket] = monotonic()
            self._changed.notify_all()
        try:
            yield has_turn
        finally:
            with self._changed:
                self._running.pop(ticket, None)
                self._changed.notify_all()

    def _is_free(self) -> bool:
        now = monotonic()
        return sum(now - begun < self._longest for begun in self._running.values()) < self._at_once
