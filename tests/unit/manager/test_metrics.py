"""The metrics of streams: their text, and the server of a home whose services do not respond."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hivedruid import defaults
from hivedruid.catalog.streams import Position, Stream, StreamRecord, Streams, StreamStatus
from hivedruid.errors import ExecutionError, UsageError
from hivedruid.ingestion.model import RowCounts, Supervisor, SupervisorStatus, TopicOffsets
from hivedruid.ingestion.overview import Ingestion
from hivedruid.manager.exposition import Family, families, rendered
from hivedruid.manager.metrics import listening, serving
from hivedruid.session import Session
from hivedruid.streams.overview import StreamOverview, WatchedStream
from tests.support.metrics import get, scraped

NOW = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)
STREAM = Stream("abc", "default", "s", "default.r", "default.t", "SELECT id FROM r", "default")
STATUS = StreamStatus(
    records=1000, rows=990, rejects=10, restarts=2, conflicts=1, seconds=1.25, newest="2026-01-15T10:29:58.500+00:00"
)
RECORD = replace(
    StreamRecord(STREAM, "running", Position(3, {0: 10}, "id"), manager="here:1:a", beat=NOW.timestamp()), status=STATUS
)


def test_streams() -> None:
    one = WatchedStream(RECORD, RECORD.position, offsets=TopicOffsets("edits", {0: 0}, {0: 15}))
    text = rendered(families(StreamOverview(NOW, (one,)), (), {"kafka:b:9092": True, "druid": False}))
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        'hivedruid_up{service="druid"} 0',
        'hivedruid_up{service="kafka:b:9092"} 1',
        'hivedruid_stream_lag_records{stream="default.s"} 5',
        'hivedruid_stream_records_total{stream="default.s"} 1000',
        'hivedruid_stream_rows_total{stream="default.s"} 990',
        'hivedruid_stream_rejects_total{stream="default.s"} 10',
        'hivedruid_stream_restarts_total{stream="default.s"} 2',
        'hivedruid_stream_conflicts_total{stream="default.s"} 1',
        'hivedruid_stream_batch{stream="default.s"} 3',
        'hivedruid_stream_last_batch_seconds{stream="default.s"} 1.250',
        'hivedruid_stream_newest_row_timestamp_seconds{stream="default.s"} 1768472998.500',
        'hivedruid_stream_state{stream="default.s",state="running"} 1',
        'hivedruid_stream_desired_running{stream="default.s"} 1',
    ]
    assert "# HELP hivedruid_stream_rows_total Rows added since the stream was created.\n" in text
    assert "# TYPE hivedruid_stream_rows_total counter\n" in text


def test_what_is_not_known_has_no_sample() -> None:
    fresh = WatchedStream(replace(RECORD, status=StreamStatus()), RECORD.position)
    text = rendered(families(StreamOverview(NOW, (fresh,)), (), {}))
    assert "lag_records" not in text
    assert "newest_row" not in text


def test_ingestions() -> None:
    running = Ingestion(
        supervisor=Supervisor("edits", "RUNNING", "RUNNING", healthy=True, suspended=False, type="kafka"),
        status=SupervisorStatus(
            "RUNNING", "RUNNING", suspended=False, healthy=True, latest_offsets={0: 9}, total_lag=4
        ),
        counts=RowCounts(unparseable=3, per_second=12.5),
    )
    text = rendered(families(StreamOverview(NOW), (running,), {}))
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        'hivedruid_ingestion_lag_records{table="edits"} 4',
        'hivedruid_ingestion_rows_per_second{table="edits"} 12.500',
        'hivedruid_ingestion_unparseable_records{table="edits"} 3',
        'hivedruid_ingestion_tasks_running{table="edits"} 0',
        'hivedruid_ingestion_tasks_wanted{table="edits"} 1',
        'hivedruid_ingestion_state{table="edits",state="RUNNING"} 1',
    ]


def test_labels_are_escaped() -> None:
    assert '{a="x\\"\\\\\\ny"} 1\n' in rendered([Family("f", "gauge", "F.", [({"a": 'x"\\\ny'}, 1.0)])])


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":9400", ("127.0.0.1", 9400)),
        ("host.org:1", ("host.org", 1)),
        ("[::1]:80", ("::1", 80)),
        ("9400", ("127.0.0.1", 9400)),
    ],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert listening(text) == address


@pytest.mark.parametrize("text", ["", "host", ":", ":x", ":65536"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not \[HOST\]:PORT"):
        listening(text)


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that accepts connections, and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_services_that_do_not_respond(tmp_path: Path, silent: str) -> None:
    """One Kafka hangs, another one refuses connections, and so does Druid."""
    kafka = "STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = 'x', 'kafka.bootstrap.servers'"
    with Session(tmp_path, hiveconf={"hivedruid.kafka.check": "off"}) as session:
        for table, brokers in (("r", silent), ("gone", "127.0.0.1:1")):
            for statement in session.statements(f"CREATE EXTERNAL TABLE {table} (id int) {kafka} = '{brokers}')"):
                session.execute(statement)
        for number, source in enumerate(("default.r", "default.gone", "default.dropped")):
            stream = replace(STREAM, id=str(number), name=f"s{number}", source=source)
            Streams(session.catalog).add(stream, RECORD.position)
    with serving(tmp_path, "127.0.0.1", 0) as url:
        status, kind, text = get(url)
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert get(url.removesuffix("metrics"))[0] == 404
        port = urlsplit(url).port or 0
        message = f"cannot listen on 127.0.0.1:{port}: address already in use"
        with pytest.raises(ExecutionError, match=message), serving(tmp_path, "127.0.0.1", port):
            pass
    assert f'hivedruid_up{{service="kafka:{silent}"}} 0\n' in text
    assert 'hivedruid_up{service="kafka:127.0.0.1:1"} 0\n' in text
    assert "lag_records" not in text
    assert text.count("hivedruid_stream_batch{") == 3
    assert 'hivedruid_stream_state{stream="default.s2",state="stopped"} 1\n' in text


def test_a_druid_that_is_away_and_a_home_that_is_gone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Session(home):
        defaults.write(home, {"druid.url": "http://127.0.0.1:1"})
    with serving(home, "127.0.0.1", 0) as url:
        assert scraped(url) == {'hivedruid_up{service="catalog"}': 1, 'hivedruid_up{service="druid"}': 0}
    with serving(tmp_path / "none", "127.0.0.1", 0) as url:
        assert scraped(url) == {'hivedruid_up{service="catalog"}': 0}
    assert not (tmp_path / "none").exists()
