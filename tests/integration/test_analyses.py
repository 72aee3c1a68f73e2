"""What a session asks a real Druid about the columns of a data source, from its second statement on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.clients import analyses
from hivedruid.clients.analyses import Analyses
from hivedruid.jobs.load import NoJournal
from tests.support.ingestion import IngestionHome, record, until
from tests.support.loads import MakeLoad, ingest
from tests.support.proxy import Sent, proxy, recording
from tests.support.staged import DAY, NEW_YEAR, stage, task

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


@pytest.fixture
def sent() -> Sent:
    return []


@pytest.fixture
def watched(druid: DruidCluster, cluster: Cluster, sent: Sent) -> Iterator[DruidCluster]:
    """A client whose requests to the broker are recorded in `sent`."""
    with proxy(cluster.services.broker, recording(sent)) as broker, closing(client_of(druid, broker)) as made:
        made.schema("no_such_data_source")  # checks the version
        sent.clear()
        yield made


def client_of(druid: DruidCluster, broker: str) -> DruidCluster:
    return type(druid)(replace(druid.address, broker=broker), progress=druid.progress, note=druid.note)


def add(druid: DruidCluster, folder: Path, name: str, day: int, **columns: Any) -> None:
    """A segment with one row."""
    types = {c: "long" if isinstance(v, int) else "string" for c, v in columns.items()}
    ingest(
        druid, task(name, stage(folder / f"{name}_{day}", [{"__time": NEW_YEAR + day * DAY, **columns}]), columns=types)
    )


def kept_from(last: Analyses, now: Analyses) -> int:
    """The number of segments about which Druid was not asked again."""
    return sum(last.kept.get(id_) is analysis for id_, analysis in now.kept.items())


def test_druid_is_asked_once_about_each_segment(
    watched: DruidCluster, druid: DruidCluster, new_data_source: Callable[[str], str], tmp_path: Path, sent: Sent
) -> None:
    name = new_data_source("asked")
    for day in range(3):
        add(druid, tmp_path, name, day, s="a")
    query, timeline = ("POST", "/druid/v2"), ("GET", f"/druid/v2/datasources/{name}/candidates")

    first = analyses.read(watched, name, None)
    assert (sent, len(first.found)) == ([query], 1)

    sent.clear()
    second = analyses.read(watched, name, first)
    assert (sent, len(second.kept)) == ([timeline, query], 3)
    assert second.types == first.types
    assert second.statistics == first.statistics

    sent.clear()
    assert analyses.read(watched, name, second) is second
    assert sent == [timeline]

    add(druid, tmp_path, name, 3, s="b", later=5)
    sent.clear()
    third = analyses.read(watched, name, second)
    assert sent == [timeline, query]
    assert kept_from(second, third) == 3
    assert len(third.kept) == 4
    assert third.types == {**first.types, "later": "LONG"} == druid.schema(name)


def test_a_column_that_only_a_replaced_segment_had_is_gone(
    watched: DruidCluster, druid: DruidCluster, new_data_source: Callable[[str], str], tmp_path: Path, sent: Sent
) -> None:
    name = new_data_source("replaced")
    add(druid, tmp_path, name, 0, s="a")
    add(druid, tmp_path, name, 1, s="a", old=1)
    before = analyses.read(watched, name, analyses.read(watched, name, None))
    folder = stage(tmp_path / "new", [{"__time": NEW_YEAR + DAY, "s": 7}])
    ingest(druid, task(name, folder, columns={"s": "long"}, overwrite=True))
    after = analyses.read(watched, name, before)
    assert set(before.types) == {"__time", "s", "old"}
    assert after.types == {"__time": "LONG", "s": "LONG"} == druid.schema(name)


def test_all_segments_are_analysed_if_some_are_dropped_in_the_meantime(
    druid: DruidCluster, cluster: Cluster, new_data_source: Callable[[str], str], load_of: MakeLoad
) -> None:
    name = new_data_source("dropped")
    druid.ingest(load_of(name, {0: 1, 1: 2}), NoJournal())
    dropped: list[bool] = []

    def drop_first(what: str, method: str, path: str) -> bool:
        if what == "request" and path == "/druid/v2" and first is not None and not dropped:
            dropped.append(True)
            druid.drop(name)
        return False

    first: Analyses | None = None
    with proxy(cluster.services.broker, drop_first) as broker, closing(client_of(druid, broker)) as slow:
        first = analyses.read(slow, name, None)
        second = analyses.read(slow, name, first)
    assert set(first.types) == {"__time", "x"}
    assert (dropped, second.types, second.timeline) == ([True], {}, None)


def test_a_data_source_without_segments_has_no_columns(
    druid: DruidCluster, new_data_source: Callable[[str], str], tmp_path: Path
) -> None:
    name = new_data_source("empty")
    assert [druid.schema(name) for _ in range(3)] == [{}, {}, {}]
    assert druid.statistics(name) is None
    add(druid, tmp_path, name, 0, s="a")
    assert druid.schema(name) == {"__time": "LONG", "s": "STRING"}


def test_a_growing_segment_is_analysed_by_every_statement(
    cluster: Cluster, topics: Topics, task_slot: None, tmp_path: Path
) -> None:
    home = IngestionHome(tmp_path, cluster.services)
    with closing(home):
        topic = topics.new([record(1)])
        name = home.create(topic)
        source = home.sources[name]
        home.run(f"START INGESTION {name}")
        until(lambda: home.druid.schema(source).get("id") == "STRING", "the first record")
        last = analyses.read(home.druid, source, analyses.read(home.druid, source, None))
        assert (last.kept, last.timeline) == ({}, None)
        topics.send(topic, {**record(2), "id": ["2", "3"]})
        topics.producer.flush()
        until(lambda: home.druid.schema(source).get("id") == "ARRAY<STRING>", "a record with two values")
