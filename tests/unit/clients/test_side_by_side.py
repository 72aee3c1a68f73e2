"""Requests that are sent side by side to a real HTTP server."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Event

import pytest

from hivedruid.clients.address import DruidAddress
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.side_by_side import SideBySide
from hivedruid.errors import DruidError
from tests.unit.clients.conftest import Answer, Asked, Serve

PATIENCE = 60
"""Seconds until a test fails that would wait forever."""


def side_by_side(url: str, most: int = 8) -> SideBySide[DruidClient]:
    return SideBySide(lambda: DruidClient(DruidAddress(url, url, url, url)), most)


def query(name: str) -> Callable[[DruidClient], bytes]:
    return lambda client: b"".join(client.query({"context": {"queryId": name}}))


def test_requests_are_sent_at_the_same_time_and_answered_in_order(serve: Serve) -> None:
    meeting = Barrier(3)

    def respond(asked: Asked) -> Answer:
        meeting.wait(PATIENCE)
        return Answer(asked.path.encode())

    clients = side_by_side(serve(respond).url)
    asks = [lambda client, n=n: client.text("broker", f"/{n}") for n in range(3)]
    assert clients.each(asks) == ["/0", "/1", "/2"]
    clients.close()


def test_no_more_than_the_given_number_at_a_time(serve: Serve) -> None:
    served = serve(lambda asked: Answer(asked.path.encode()))
    clients = side_by_side(served.url, most=2)
    used: set[DruidClient] = set()

    def ask(client: DruidClient) -> str:
        used.add(client)
        return client.text("broker", "/x")

    assert clients.each([ask] * 9) == ["/x"] * 9
    assert len(used) <= 2
    assert clients.each([]) == []


@pytest.mark.parametrize("error", [DruidError, KeyboardInterrupt])
def test_an_error_ends_the_other_queries(serve: Serve, error: type[BaseException]) -> None:
    begun, cancelled = Event(), Event()

    def respond(asked: Asked) -> Answer:
        if asked.method == "DELETE":
            cancelled.set()
            return Answer(b"")
        begun.set()
        assert cancelled.wait(PATIENCE)
        return Answer(b'{"error": "Query cancelled"}', 500)

    def fail(client: DruidClient) -> bytes:
        assert begun.wait(PATIENCE)
        raise error("x")

    served = serve(respond)
    with pytest.raises(error):
        side_by_side(served.url, most=2).each([fail, query("long")])
    assert served.paths() == ["POST /druid/v2", "DELETE /druid/v2/long"]
