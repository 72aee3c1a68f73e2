"""What tests against the real Druid and Kafka share. The `cluster` itself is in tests/conftest.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


@pytest.fixture
def druid(cluster: Cluster) -> Iterator[DruidCluster]:
    """A client of the real Druid."""
    made = cluster.druid()
    yield made
    made.close()


@pytest.fixture
def new_data_source(druid: DruidCluster) -> Iterator[Callable[[str], str]]:
    """Names of data sources that no other test has; what a test stores there is dropped with it."""
    names: list[str] = []

    def new(name: str = "t") -> str:
        names.append(f"{name}_{uuid4().hex[:12]}")
        return names[-1]

    yield new
    for name in set(names) & set(druid.data_sources()):
        druid.drop(name)


@pytest.fixture
def topics(cluster: Cluster) -> Iterator[Topics]:
    """Makes topics in the real Kafka; they go with the test."""
    from tests.support.kafka import topics_of

    with topics_of(cluster.services.kafka) as made:
        yield made


@pytest.fixture
def task_slot(druid: DruidCluster) -> None:
    """There is room for a task: those of tests before may still be publishing."""
    from hivedruid.clients.overlord import Overlord

    deadline = time.monotonic() + 180
    while all(worker.used >= worker.capacity for worker in Overlord(druid.client).workers()):
        assert time.monotonic() < deadline
        time.sleep(0.5)
