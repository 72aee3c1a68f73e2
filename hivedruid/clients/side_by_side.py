"""Independent requests side by side, over a bounded number of connections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

THREADS = 8
"""The maximum number of concurrent connections to Druid, and to Kafka clusters."""

_Asked = TypeVar("_Asked")


class Closeable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closeable)


class SideBySide(Generic[C]):
    """Up to THREADS clients, made when needed and kept until `close`. Not thread-safe itself."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._made: list[C] = []

    def close(self) -> None:
        for client in self._made:
            client.close()

    @property
    def one(self) -> C:
        """A client for requests one after the other."""
        return self._clients(1)[0]

    def each(self, asked: Sequence[Callable[[C], _Asked]]) -> list[_Asked]:
        """The results in order. A client is used by one thread at a time."""
        if len(asked) == 0:
            return []

        clients: SimpleQueue[C] = SimpleQueue()
        count = min(THREADS, len(asked))
        for client in self._clients(count):
            clients.put(client)

        def run(ask: Callable[[C], _Asked]) -> _Asked:
            client = clients.get()
            try:
                return ask(client)
            finally:
                clients.put(client)

        pool = ThreadPoolExecutor(count)
        try:
            return list(pool.map(run, asked))
        finally:  # an interrupt does not wait for pending requests
            pool.shutdown(cancel_futures=True)

    def _clients(self, count: int) -> list[C]:
        while len(self._made) < count:
            self._made.append(self._make())
        return self._made[:count]
