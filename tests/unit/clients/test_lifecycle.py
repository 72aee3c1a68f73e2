"""Waiting for a supervisor that the overlord does not list for moments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from time import monotonic

import pytest

from hivedruid.catalog.table import Table
from hivedruid.clients import lifecycle
from hivedruid.clients.address import DruidAddress
from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.lifecycle import IngestionRunner
from hivedruid.errors import DruidError
from hivedruid.ingestion.lifecycle import Await, IngestionChange
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
