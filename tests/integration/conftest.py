"""Fixtures of tests with a real Druid and Kafka. The `cluster` itself is in tests/conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.support.loads import MakeLoad, load
from tests.support.spark_settings import spark_of_few_rows  # noqa: F401 - for all tests of this folder
from tests.support.staged import DAY, NEW_YEAR, stage, task

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.druid.ingestion import Replaces
    from hivedruid.jobs.load import Load
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


collect_ignore_glob = ["q/*"]
"""Scripts that require topics: `test_kafka_goldens.py` runs them."""


@pytest.fixture
def druid(cluster: Cluster) -> Iterator[DruidCluster]:
    """A client of the real Druid."""
    made = cluster.druid()
    yield made
    made.close()


@pytest.fixture
def new_data_source(druid: DruidCluster) -> Iterator[Callable[[str], str]]:
    """Unique names of data sources; their data is dropped after the test."""
    names: list[str] = []

    def new(name: str = "t") -> str:
        names.append(f"{name}_{uuid4().hex[:12]}")
        return names[-1]

    yield new
    for name in set(names) & set(druid.data_sources()):
        druid.drop(name)


@pytest.fixture
def topics(cluster: Cluster) -> Iterator[Topics]:
    """Creates topics in Kafka; they are deleted after the test."""
    from tests.support.kafka import topics_of

    with topics_of(cluster.services.kafka) as made:
        yield made


@pytest.fixture
def task_slot(druid: DruidCluster) -> None:
    """Wait until there is a free task slot: tasks of earlier tests may still be publishing."""
    from hivedruid.clients.overlord import Overlord
    from tests.support.ingestion import until

    until(lambda: any(worker.used < worker.capacity for worker in Overlord(druid.client).workers()), "a free slot")


@pytest.fixture
def load_of(tmp_path: Path) -> MakeLoad:
    """Stage rows {day: x}, or {(day, millisecond): x}."""
    count = iter(range(1000))

    def make(
        name: str, rows: Mapping[Any, int], replaces: Replaces = "nothing", *, context: object = None, **how: Any
    ) -> Load:
        times = {key: key if isinstance(key, tuple) else (key, 7) for key in rows}
        staged = [{"__time": NEW_YEAR + d * DAY + ms, "x": rows[key]} for key, (d, ms) in times.items()]
        folder = stage(tmp_path / f"in{next(count)}", staged)
        spec = task(name, folder, columns={"x": "long"}, overwrite=replaces != "nothing", **how)
        if context is not None:
            spec["context"] = context
        return replace(load(spec), replaces=replaces)

    return make


@pytest.fixture
def other(cluster: Cluster) -> Iterator[DruidCluster]:
    """A client other than hivedruid."""
    with closing(cluster.druid()) as made:
        yield made
