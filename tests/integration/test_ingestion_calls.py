"""Requests to Druid: for thirty suspended supervisors as many as for one, and two for each whose tasks run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from hivedruid.catalog.opening import catalog_name
from hivedruid.clients import wire
from hivedruid.clients.druid import DruidClient
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.ingestion.owners import owned
from hivedruid.ingestion.supervisor import SUPERVISOR
from tests.support.ingestion import IngestionHome, record, until

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

MANY = 30
ALL = {f"GET {SUPERVISOR}": 1, "GET /druid/indexer/v1/tasks": 1}
"""The requests of SHOW INGESTIONS in any case."""
WHOLE = {**ALL, "GET /druid/indexer/v1/workers": 1, "GET /druid/coordinator/v1/loadstatus": 1}
"""The requests of SHOW PROBLEMS."""


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path, cluster.services)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every request to Druid, without query parameters."""
    found: list[str] = []
    send = DruidClient._send

    def counted(client: DruidClient, method: str, service: Any, path: str, *rest: Any, **options: Any) -> Any:
        found.append(f"{method} {urlsplit(path).path}")
        return send(client, method, service, path, *rest, **options)

    monkeypatch.setattr(DruidClient, "_send", counted)
    return found


def requests_of(home: IngestionHome, sent: list[str], text: str) -> Counter[str]:
    sent.clear()
    home.run(text)
    return Counter(sent)


def without_reports(requests: Counter[str]) -> tuple[Counter[str], int]:
    """The requests without those for reports of tasks, and the number of these: one for each poll of a running task."""
    reports = [request for request in requests if request.endswith("/reports")]
    return Counter({r: n for r, n in requests.items() if r not in reports}), sum(requests[r] for r in reports)


def rest(home: IngestionHome, topic: str) -> None:
    """Create another suspended supervisor, of a table."""
    table = home.session.catalog.get("default", home.create(topic))
    spec = owned(
        supervisor_spec(table, home.session.settings),
        table,
        catalog_name(home.folder, home.session.catalog),
        suspended=True,
    )
    home.druid.client.post("overlord", SUPERVISOR, wire.SupervisorId, spec)


def resting(home: IngestionHome) -> int:
    return sum(one.id in home.sources.values() and one.state == "SUSPENDED" for one in home.overlord.supervisors())


def test_one_supervisor_and_thirty_take_the_same_requests(
    home: IngestionHome, topics: Topics, sent: list[str], task_slot: None
) -> None:
    topic = topics.new([record(1)])
    rest(home, topic)
    until(lambda: resting(home) == 1)
    assert requests_of(home, sent, "SHOW INGESTIONS") == ALL
    assert requests_of(home, sent, "SHOW PROBLEMS") == WHOLE
    for _ in range(MANY - 1):
        rest(home, topic)
    until(lambda: resting(home) == MANY)
    assert requests_of(home, sent, "SHOW INGESTIONS") == ALL
    assert requests_of(home, sent, "SHOW PROBLEMS") == WHOLE

    name = home.create(topic)
    one = f"{SUPERVISOR}/{name}"
    started, _ = without_reports(requests_of(home, sent, f"START INGESTION {name}"))
    looks = started.pop(f"GET {one}/status")
    assert started.pop("GET /status") == 2  # once in a session: the versions of the broker and of the coordinator
    # the running supervisor and the tasks; the spec; its owner before and after; two for each poll during the start
    assert started == {f"GET {one}": 3, f"POST {SUPERVISOR}": 1, "GET /druid/indexer/v1/tasks": 1 + looks}
    # nothing is sent if the same spec is running
    again, reports = without_reports(requests_of(home, sent, f"START INGESTION {name}"))
    looks = again.pop(f"GET {one}/status")
    assert 1 <= reports <= looks  # each asks whether its task reads records
    assert again == {f"GET {one}": 1, "GET /druid/indexer/v1/tasks": 1 + looks}

    until(lambda: home.ingestion(name)["tasks"] == "1/1")
    running = {f"GET {one}/status": 1, f"GET {one}/stats": 1}
    assert requests_of(home, sent, "SHOW INGESTIONS") == {**ALL, **running}
    until(lambda: home.counted(name) == {"1": 1}, "the record")  # the times of rows are queried once there are some
    until(lambda: requests_of(home, sent, "SHOW PROBLEMS") == {**WHOLE, **running, "POST /druid/v2": 1})
