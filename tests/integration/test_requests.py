"""How many requests are sent to a real Druid, seen through a proxy in front of its services."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from operator import methodcaller
from uuid import uuid4

import pytest

from hivedruid.clients.cluster import DruidCluster
from hivedruid.clients.overlord import Overlord
from hivedruid.jobs.load import NoJournal
from tests.support.cluster import Cluster
from tests.support.loads import MakeLoad
from tests.support.proxy import Sent, proxy, recording


@pytest.fixture
def sent() -> Sent:
    return []


@pytest.fixture
def watched(druid: DruidCluster, cluster: Cluster, sent: Sent) -> Iterator[DruidCluster]:
    """A client whose requests are recorded in `sent`."""
    services, record = cluster.services, recording(sent)
    with proxy(services.broker, record) as broker, proxy(services.coordinator, record) as coordinator:
        address = replace(druid.address, broker=broker, coordinator=coordinator, overlord=coordinator)
        with closing(DruidCluster(address, progress=druid.progress, note=druid.note)) as made:
            yield made


@pytest.fixture
def names(druid: DruidCluster, new_data_source: Callable[[str], str], load_of: MakeLoad) -> list[str]:
    """Two data sources of two segments, and one that does not exist."""
    stored = [new_data_source("one"), new_data_source("two")]
    for name in stored:
        druid.ingest(load_of(name, {0: 1, 1: 2}), NoJournal())
    return [*stored, new_data_source("none")]


def test_the_segments_of_all_tables_take_one_request_each_and_two(
    watched: DruidCluster, druid: DruidCluster, names: list[str], sent: Sent
) -> None:
    listed = watched.listed_segments(names)
    assert [len(segments) for segments in listed] == [2, 2, 0]
    assert [segment.rows for segments in listed for segment in segments] == [1, 1, 1, 1]
    assert listed == tuple(druid.listed_segments([name])[0] for name in names)
    assert Counter(sent) == {
        ("GET", "/status"): 1,
        ("GET", "/druid/coordinator/v1/metadata/segments"): 1,
        ("POST", "/druid/v2"): 1,
        **{("GET", f"/druid/v2/datasources/{name}/candidates"): 1 for name in names},
    }


def test_no_data_sources_take_no_request(watched: DruidCluster, sent: Sent) -> None:
    assert watched.listed_segments([]) == ()
    assert {path for _, path in sent} <= {"/status"}


def test_analyze_cancels_none_of_its_queries(watched: DruidCluster, names: list[str], sent: Sent) -> None:
    found = watched.analysed(names[0], {"x": "LONG"})
    assert (found.rows, found.columns["x"].distinct) == (2, 2)
    assert [path for method, path in sent if method == "DELETE"] == []


@pytest.mark.parametrize("name", ["50%", "a;b", "a b", "é?#", "a\\b", "{}", "a+b&c"])
def test_names_in_paths(druid: DruidCluster, name: str) -> None:
    """Druid finds a data source and a task by the name that a path encodes."""
    overlord, name = Overlord(druid.client), f"{name}_{uuid4().hex[:12]}"
    overlord.submit({"type": "noop", "id": name, "dataSource": name, "runTime": 1})
    found = overlord.task(name)
    assert found is not None
    assert (found.id, found.data_source) == (name, name)
    assert [task.id for task in overlord.tasks(name)] == [name]
    druid.configure_compaction(name, {"dataSource": name})
    assert name in {config.data_source for config in druid.automatic_compactions()}
    druid.configure_compaction(name, None)
    assert name not in {config.data_source for config in druid.automatic_compactions()}
    assert druid.segments(name) == ()


def test_the_files_of_segments_that_stay_are_listed_once(
    watched: DruidCluster, druid: DruidCluster, names: list[str], sent: Sent, load_of: MakeLoad
) -> None:
    name = names[0]
    files = watched.segment_files(name)
    assert len(files.files) == 2
    sent.clear()
    assert watched.segment_files(name) == files
    assert Counter(sent) == {("GET", f"/druid/v2/datasources/{name}/candidates"): 1}
    druid.ingest(load_of(name, {2: 3}), NoJournal())
    assert {file.location for file in files.files} < {file.location for file in watched.segment_files(name).files}


def test_independent_queries_have_the_results_of_single_ones(
    watched: DruidCluster, names: list[str], sent: Sent
) -> None:
    asked = [methodcaller("schema", name) for name in names]
    assert watched.each(asked) == [watched.schema(name) for name in names]
    assert sent.count(("GET", "/status")) == 1, "the version is read once"
