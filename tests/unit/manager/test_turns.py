"""Streams get their turns one after the other."""

from __future__ import annotations

from itertools import pairwise
from threading import Event, Thread

from hivedruid.manager.turns import Turns
from tests.support.streams import until

LIMIT = 60.0
"""Seconds to wait for a thread."""


class Stream:
    """A thread that takes turns, each of which lasts until `let_go`."""

    def __init__(self, turns: Turns) -> None:
        self.begun, self.let_go, self.given_up, self.had_turn = Event(), Event(), Event(), False
        self._turns = turns
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with self._turns.turn(self.given_up.is_set) as self.had_turn:
            if self.had_turn:
                self.begun.set()
                self.let_go.wait(LIMIT)

    def end(self) -> None:
        self.let_go.set()
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()


def test_turns_are_given_in_the_order_of_the_requests() -> None:
    turns = Turns(at_once=1, longest=LIMIT)
    streams = []
    for number in range(5):
        streams.append(Stream(turns))
        until(lambda number=number: len(turns._waiting) == number, "the line")  # type: ignore[misc]
    for running, following in pairwise(streams):
        assert running.begun.wait(LIMIT)
        assert not following.begun.is_set()
        running.end()
    streams[-1].end()


def test_some_turns_at_once() -> None:
    turns = Turns(at_once=2, longest=LIMIT)
    first, second = Stream(turns), Stream(turns)
    assert first.begun.wait(LIMIT)
    assert second.begun.wait(LIMIT)
    third = Stream(turns)
    until(lambda: len(turns._waiting) == 1, "the line")
    assert not third.begun.is_set()
    for stream in (first, second, third):
        stream.end()


def test_a_long_batch_does_not_keep_others_waiting() -> None:
    turns = Turns(at_once=1, longest=0.3)
    long = Stream(turns)
    assert long.begun.wait(LIMIT)
    other = Stream(turns)
    assert other.begun.wait(LIMIT)
    other.end()
    long.end()


def test_a_stream_that_is_stopped_leaves_the_line() -> None:
    turns = Turns(at_once=1, longest=LIMIT)
    running = Stream(turns)
    assert running.begun.wait(LIMIT)
    stopped = Stream(turns)
    stopped.given_up.set()
    stopped.end()
    assert not stopped.had_turn
    running.end()
    following = Stream(turns)
    assert following.begun.wait(LIMIT)
    following.end()
