"""Ctrl-C at the prompt while Druid computes: the prompt is back at once, and the query is cancelled in Druid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from hivedruid.clients.cluster import DruidCluster
from hivedruid.jobs.load import NoJournal
from tests.support.cluster import Cluster
from tests.support.loads import MakeLoad
from tests.support.prompt import Prompt
from tests.support.proxy import Sent, proxy

PATIENCE = 120.0
"""Timeout of a query that Druid computes, in seconds."""


class Slow:
    """Keeps the response of a query, the first one after `begin`, until a query is cancelled, as if Druid computed for
    that long."""

    def __init__(self) -> None:
        self.begin = Event()
        self.sent: Sent = []
        self.held = Event()
        self.cancelled = Event()

    def __call__(self, what: str, method: str, path: str) -> bool:
        path = path.partition("?")[0].rstrip("/")
        if what == "request":
            self.sent.append((method, path))
            if method == "DELETE":
                self.cancelled.set()
            return False
        if (method, path) != ("POST", "/druid/v2") or self.held.is_set() or not self.begin.is_set():
            return False
        self.held.set()
        return self.cancelled.wait(2 * PATIENCE)  # longer than a test waits for the prompt


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def prompt(cluster: Cluster, slow: Slow, tmp_path: Path) -> Iterator[Prompt]:
    services = cluster.services
    with proxy(services.broker, slow) as broker:
        urls = {"url": broker, "coordinator.url": services.coordinator, "overlord.url": services.overlord}
        options = [word for key, url in urls.items() for word in ("--hiveconf", f"druid.{key}={url}")]
        made = Prompt(tmp_path / "home", *options)
        try:
            yield made
        finally:
            made.end()


def is_ready(lines: list[str]) -> bool:
    return bool(lines) and lines[-1].startswith("hivedruid (") and lines[-1].endswith(">")


def test_control_c_cancels_the_query_in_druid(
    prompt: Prompt, slow: Slow, druid: DruidCluster, new_data_source: Callable[[str], str], load_of: MakeLoad
) -> None:
    name = new_data_source("edits")
    druid.ingest(load_of(name, {0: 1, 1: 2}), NoJournal())
    prompt.wait(is_ready)
    table = "CREATE EXTERNAL TABLE edits (`__time` timestamp, x bigint) STORED BY 'druid'"
    prompt.send(f"{table} TBLPROPERTIES ('druid.datasource' = '{name}');\r")
    prompt.wait(lambda lines: is_ready(lines) and any("Time taken" in line for line in lines), PATIENCE)
    slow.begin.set()
    prompt.send("SELECT sum(x) FROM edits;\r")
    prompt.wait(lambda _: slow.held.is_set(), PATIENCE)
    prompt.send("\x03")
    prompt.wait(lambda lines: is_ready(lines) and lines[-2] == "interrupted", PATIENCE)
    assert slow.cancelled.wait(PATIENCE)
    (deleted,) = (path for method, path in slow.sent if method == "DELETE")
    assert deleted.startswith("/druid/v2/")  # the statement's query, or one about its table
    prompt.send("SELECT sum(x) AS total FROM edits;\r")
    prompt.wait(lambda lines: is_ready(lines) and "|     3 |" in lines, PATIENCE)
