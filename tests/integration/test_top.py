"""`hivedruid top` and the metrics with a real Druid, which becomes unreachable while they run."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from hivedruid import defaults
from hivedruid.clients import wire
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_path
from hivedruid.manager.metrics import serving
from hivedruid.session import Session
from tests.support.ingestion import until
from tests.support.metrics import scraped
from tests.support.prompt import end_process
from tests.support.top import Terminal

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

SUPERVISED = "watched_by_top"


class Relay:
    """A port that forwards to another one, until it is closed."""

    def __init__(self, url: str) -> None:
        self._target = (urlsplit(url).hostname or "", urlsplit(url).port or 0)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def cut(self) -> None:
        """Close all connections, and accept no new one."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._server.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def mend(self) -> None:
        self._server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def _accept(self, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = server.accept()
                far = socket.create_connection(self._target)
                self._open += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def relay(cluster: Cluster) -> Iterator[Relay]:
    made = Relay(cluster.services.coordinator)
    yield made
    made.cut()


@pytest.fixture
def supervisor(cluster: Cluster, druid: DruidCluster, topics: Topics) -> Iterator[str]:
    """A suspended supervisor without a table."""
    io = {"topic": topics.new(), "consumerProperties": {"bootstrap.servers": cluster.services.kafka}}
    schema = {
        "dataSource": SUPERVISED,
        "timestampSpec": {"column": "time", "format": "auto"},
        "dimensionsSpec": {"dimensions": ["page"]},
    }
    inner = {
        "dataSchema": schema,
        "ioConfig": {**io, "inputFormat": {"type": "json"}},
        "tuningConfig": {"type": "kafka"},
    }
    druid.client.post("overlord", SUPERVISOR, wire.SupervisorId, {"type": "kafka", "suspended": True, "spec": inner})
    yield SUPERVISED
    druid.client.post("overlord", supervisor_path(SUPERVISED, "terminate"), wire.SupervisorId)


def test_a_druid_that_goes_away_and_comes_back(relay: Relay, supervisor: str, cluster: Cluster, tmp_path: Path) -> None:
    through = f"http://127.0.0.1:{relay.port}"
    urls = {"druid.url": cluster.services.broker, "druid.coordinator.url": through, "druid.overlord.url": through}
    defaults.write(tmp_path, urls)
    terminal = Terminal(tmp_path, "--interval", "0.2", width=150)
    try:
        terminal.wait(f"{supervisor}: no table")
        terminal.wait("SUSPENDED")
        relay.cut()
        terminal.wait("Druid's overlord: unreachable")
        terminal.wait(supervisor)  # the last known state
        terminal.resize(90, 12)
        terminal.wait(supervisor)
        relay.mend()
        terminal.wait(f"{supervisor}: no table")
        terminal.process.send("q")
        assert terminal.end() == 0
    finally:
        end_process(terminal.process)


def test_metrics_of_ingestions(relay: Relay, supervisor: str, cluster: Cluster, tmp_path: Path) -> None:
    through = f"http://127.0.0.1:{relay.port}"
    urls = {"druid.url": cluster.services.broker, "druid.coordinator.url": through, "druid.overlord.url": through}
    with Session(tmp_path):
        defaults.write(tmp_path, urls)
    with serving(tmp_path, "127.0.0.1", 0) as url:
        until(
            lambda: f'hivedruid_ingestion_state{{table="{supervisor}",state="SUSPENDED"}}' in scraped(url), "the state"
        )
        assert scraped(url)['hivedruid_up{service="druid"}'] == 1
        relay.cut()
        until(lambda: scraped(url)['hivedruid_up{service="druid"}'] == 0, "the absence of Druid")
        assert not any(name.startswith("hivedruid_ingestion") for name in scraped(url))
