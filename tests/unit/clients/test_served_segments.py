"""The segments that Spark queries: their rows, and the servers that may get queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.clients.address import DruidAddress
from hivedruid.clients.analyses import Analyses
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.segments import Segments
from hivedruid.clients.served_segments import counted, may_receive_secrets
from hivedruid.clients.wire import SegmentAnalysis
from hivedruid.engine.segments import Segment
from hivedruid.responses.queries import DruidAccess
from tests.unit.clients.conftest import Answer, Serve

if TYPE_CHECKING:
    import pytest

TIMELINE = b"""[{"interval": "2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.000Z", "version": "v1", "partitionNumber": 2,
 "size": 7, "locations": [{"host": "a:8083", "hostAndTlsPort": "a:8283", "type": "historical"},
 {"host": "b:8083", "hostAndTlsPort": null, "type": "historical"}]}]"""


def address(broker: str, **given: str) -> DruidAddress:
    return DruidAddress(broker, broker, broker, broker, **given)  # type: ignore[arg-type]


def test_servers_of_a_segment(serve: Serve) -> None:
    served = serve(lambda _: Answer(TIMELINE))
    segments = Segments(DruidClient(address(served.url)), "t")
    assert [s.servers for s in segments.visible()] == [("http://a:8083", "http://b:8083")]
    secure = Segments(DruidClient(address("https://broker:1")), "t")
    assert [s.servers for s in secure.of_timeline(TIMELINE.decode())] == [("https://a:8283",)]


def test_rows_by_their_analysis_or_their_share_of_the_bytes() -> None:
    first, second, growing = (Segment("t", n, n + 1, "v1", 0, size=size) for n, size in ((0, 30), (1, 10), (2, 0)))
    analysis = SegmentAnalysis(second.id, {}, 7)
    whole = Analyses([SegmentAnalysis("merged", {}, 80)], {second.id: analysis})
    assert list(counted([first, second, growing], whole)) == [(first, 60), (second, 7), (growing, None)]
    assert list(counted([first], Analyses([]))) == [(first, None)]


def test_servers_that_may_receive_secrets() -> None:
    here, there = "http://127.0.0.1:8083", "http://10.0.0.7:8083"
    local = address("http://localhost:8082", token="env:T")
    assert may_receive_secrets(local, here)
    assert not may_receive_secrets(local, there)
    assert may_receive_secrets(address("http://localhost:8082"), there)
    assert may_receive_secrets(address("https://broker:8282", token="env:T"), "https://10.0.0.7:8283")
    assert may_receive_secrets(address("http://broker:8082", username="u", password="env:P"), there)


def test_the_access_of_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVED_SECRET", "sesame")
    bearer = DruidClient(address("https://broker:1", token="env:SERVED_SECRET")).access()
    given = {"username": "u", "password": "env:SERVED_SECRET", "ca_file": "/ca"}
    basic = DruidClient(address("https://broker:1", **given)).access()
    assert bearer == DruidAccess("Bearer sesame")
    assert basic == DruidAccess("Basic dTpzZXNhbWU=", ca_file="/ca")
    assert DruidClient(address("https://broker:1")).access() == DruidAccess()
