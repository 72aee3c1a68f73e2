"""Notes of modules that are used without a session, such as a long wait for a lock. The command line prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_receiver: Callable[[str], object] | None = None


@contextmanager
def received_by(receiver: Callable[[str], object]) -> Iterator[None]:
    """Pass the notes of this process to `receiver` inside the block."""
    global _receiver  # noqa: PLW0603 - a process has one standard error
    former, _receiver = _receiver, receiver
    try:
        yield
    finally:
        _receiver = former


def note(text: str) -> None:
    """Pass a note to the receiver, if there is one."""
    if _receiver is not None:
        _receiver(text)
