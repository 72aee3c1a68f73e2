"""Independent requests side by side, over a bounded number of connections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

THREADS = 8
"""The maximum number of concurrent connections to Druid, and to Kafka clusters."""
PAUSE = 0.1
"""Seconds between attempts to interrupt requests."""

_Asked = TypeVar("_Asked")


class Interruptible(Protocol):
    def interrupt(self) -> None:
        """End the native query that another thread is waiting for."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Interruptible)


class SideBySide(Generic[C]):
    """Up to `most` clients, made when needed and kept until `close`. Only `interrupt` is thread-safe."""

    def __init__(self, make: Callable[[], C], most: int = THREADS) -> None:
        self._make = make
        self._most = most
        self._made: list[C] = []

    def close(self) -> None:
        for client in self._made:
            client.close()

    def interrupt(self) -> None:
        """End the native queries that threads are waiting for."""
        for client in tuple(self._made):
            client.interrupt()

    @property
    def one(self) -> C:
        """A client for requests one after the other."""
        return self._clients(1)[0]

    def each(self, asked: Sequence[Callable[[C], _Asked]]) -> list[_Asked]:
        """The results in order. A client is used by one thread at a time. The first error, or Ctrl-C, ends the other
        queries."""
        if len(asked) == 0:
            return []

        clients: SimpleQueue[C] = SimpleQueue()
        count = min(self._most, len(asked))
        for client in self._clients(count):
            clients.put(client)

        def run(ask: Callable[[C], _Asked]) -> _Asked:
            client = clients.get()
            try:
                return ask(client)
            finally:
                clients.put(client)

        with ThreadPoolExecutor(count) as pool:
            running = [pool.submit(run, ask) for ask in asked]
            try:
                return [future.result() for future in running]
            except BaseException:
                self._end(running)
                raise

    def _end(self, running: Sequence[Future[_Asked]]) -> None:
        """Cancel what has not begun, and interrupt the rest until it has ended: a thread may be between two queries."""
        for future in running:
            future.cancel()
        while wait(running, timeout=PAUSE).not_done:
            self.interrupt()

    def _clients(self, count: int) -> list[C]:
        while len(self._made) < count:
            self._made.append(self._make())
        return self._made[:count]
