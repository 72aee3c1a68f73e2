"""Waiting for a supervisor that the overlord does not list for moments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from time import monotonic
from typing import Any

import pytest

from hivedruid.catalog.table import Table
from hivedruid.clients import lifecycle
from hivedruid.clients.address import DruidAddress
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.lifecycle import IngestionRunner
from hivedruid.errors import DruidError
from hivedruid.ingestion.lifecycle import Await, IngestionChange
from hivedruid.ingestion.supervisor import SUPERVISOR
from tests.unit.clients.conftest import Answer, Serve

GONE = 0.4
CHANGE = IngestionChange(Table("default", "t", "druid", ()), "SUSPEND", (Await("suspended"),), started=True)


MISSING = Answer(b"", 404)


def status(state: str) -> Answer:
    payload = {"state": state, "detailedState": state, "suspended": True, "healthy": True}
    return Answer(json.dumps({"id": "t", "payload": payload}).encode())


def wait(serve: Serve, statuses: Iterator[Answer]) -> None:
    """Wait until a supervisor with these statuses, one for each poll, is suspended."""
    url = serve(lambda asked: next(statuses) if asked.path.endswith("/status") else Answer(b"[]")).url
    address = DruidAddress(url, url, url, url)
    with closing(DruidCluster(address, progress=lambda _: None, note=lambda _: None)) as cluster:
        IngestionRunner(cluster, 60.0, lambda _: None, lambda _: None).run(CHANGE, lambda: None)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "GONE", GONE)


def test_a_supervisor_that_is_replaced_twice(serve: Serve) -> None:
    """Between the two moments in which it is missing, the time passes in which it could be missing."""

    def statuses() -> Iterator[Answer]:
        yield MISSING
        end = monotonic() + 2 * GONE
        while monotonic() < end:
            yield status("STOPPING")
        yield MISSING
        yield status("SUSPENDED")

    wait(serve, statuses())


def test_a_supervisor_that_was_stopped_by_others(serve: Serve) -> None:
    with pytest.raises(DruidError, match="was stopped outside hivedruid"):
        wait(serve, repeat(MISSING))


# --- several supervisors of one data source --------------------------------------------------------------------


def listed(supervisor_id: str, data_source: str = "d", kind: str = "kafka") -> dict[str, Any]:
    spec = {"type": kind, "spec": {"dataSchema": {"dataSource": data_source}, "ioConfig": {}}}
    return {"id": supervisor_id, "state": "RUNNING", "detailedState": "RUNNING", "healthy": True, "spec": spec}


def reading(number: int, supervisor_id: str) -> dict[str, Any]:
    return {
        "id": f"index_kafka_{supervisor_id}_{number}", "groupId": f"index_kafka_{supervisor_id}", "type": "index_kafka",
        "dataSource": "d", "statusCode": "RUNNING", "runnerStatusCode": "RUNNING", "createdTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip


@pytest.mark.parametrize(("version", "others"), [("33.0.0", []), ("34.0.0", ["d", "third"])])
def test_the_supervisor_and_the_tasks_of_an_id(serve: Serve, version: str, others: list[str]) -> None:
    found: dict[str, Any] = {
        "/status": {"version": version, "modules": []},
        f"{SUPERVISOR}?full": [
            listed("d"), listed("second"), listed("third"), listed("e", "e"), listed("autocompact", kind="autocompact")
        ],
        f"{SUPERVISOR}/second": listed("second")["spec"],
        "/druid/indexer/v1/tasks?datasource=d&max=50": [reading(1, "d"), reading(2, "second")],
    }  # fmt: skip
    url = serve(lambda asked: Answer(json.dumps(found[asked.path]).encode())).url
    with closing(DruidCluster(DruidAddress(url, url, url, url), progress=print, note=print)) as cluster:
        facts = cluster.ingestion_facts("d", "second", whole=False)
    assert [task.id for task in facts.tasks] == ["index_kafka_second_2"]
    assert facts.running == listed("second")["spec"]
    assert [other.id for other in facts.others] == others
    assert facts.version is not None
    assert facts.version.text == version
