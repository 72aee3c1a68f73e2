"""The task as it is submitted to a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid.clients import task_spec
from hivedruid.clients.fitting import fitted
from hivedruid.clients.task_spec import completed, joined, task_of, without
from hivedruid.clients.wire import DataSegment
from hivedruid.druid.ingestion import Replaces
from hivedruid.druid.interval_sets import MAX, MIN
from hivedruid.jobs.load import Load
from hivedruid.jobs.staged import Interval, StagedRows

DAY = 86_400_000


def load(replaces: Replaces, *staged: Interval, segment: str = "DAY", **tuning: Any) -> Load:
    granularity = {"type": "uniform", "segmentGranularity": segment, "queryGranularity": "NONE", "rollup": False}
    io = {"type": "index_parallel", "appendToExisting": replaces == "nothing", "dropExisting": replaces != "nothing"}
    spec = {"dataSchema": {"dataSource": "t", "granularitySpec": granularity}, "ioConfig": io, "tuningConfig": tuning}
    task = {"type": "index_parallel", "spec": spec, "context": {"useConcurrentLocks": True}}
    return Load("task_1", task, StagedRows("in", 5, intervals=staged), replaces)


def stored(more: dict[str, Any]) -> DataSegment:
    interval = "1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z"
    return fitted({"identifier": "t_1", "dataSource": "t", "interval": interval, "version": "v1", **more}, DataSegment)


def granularity_of(task: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = task["spec"]["dataSchema"]["granularitySpec"]
    return found


def test_segments_carry_the_task_and_the_rest_stays() -> None:
    given = load("nothing", (0, DAY), partitionsSpec={"type": "dynamic", "maxRowsPerSegment": 7})
    task = completed(given, [])
    assert task["id"] == "task_1"
    assert task["context"] == {"useConcurrentLocks": True, "storeCompactionState": True}
    assert task["spec"]["tuningConfig"]["partitionsSpec"] == {
        "type": "dynamic", "maxRowsPerSegment": 7, "maxTotalRows": 1 << 62,
    }  # fmt: skip
    state = {"transformSpec": task["spec"]["dataSchema"]["transformSpec"]}
    assert task_of(stored({"lastCompactionState": state})) == "task_1"
    assert task_of(stored({"lastCompactionState": {"transformSpec": {"filter": {"type": "true"}}}})) == ""
    assert task_of(stored({})) == ""
    assert "transformSpec" not in given.spec["spec"]["dataSchema"]


def test_shards_by_hash_stay() -> None:
    task = completed(load("all", (0, DAY), partitionsSpec={"type": "hashed", "numShards": 3}), [])
    assert task["spec"]["tuningConfig"]["partitionsSpec"] == {"type": "hashed", "numShards": 3}


def test_only_the_intervals_of_new_rows_are_replaced() -> None:
    task = completed(load("intervals", (0, DAY)), [(0, 30 * DAY)])
    assert granularity_of(task)["intervals"] == ["1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z"]


def test_the_intervals_of_new_and_old_rows_are_replaced() -> None:
    task = completed(load("all", (0, DAY)), [(3 * DAY, 5 * DAY)])
    assert granularity_of(task)["type"] == "uniform"
    assert granularity_of(task)["intervals"] == [
        "1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z",
        "1970-01-04T00:00:00.000Z/1970-01-06T00:00:00.000Z",
    ]


def test_where_nothing_is_there_nothing_is_dropped() -> None:
    task = completed(load("all", (0, DAY)), [])
    assert task["spec"]["ioConfig"]["dropExisting"] is False
    assert granularity_of(task)["intervals"] == ["1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z"]


@pytest.mark.parametrize(
    ("there", "context", "known"),
    [([], {}, True), ([(5, 6)], {}, True), ([(0, 2 * DAY)], {}, False), ([], {"useConcurrentLocks": True}, False)],
)
def test_what_is_appended_has_intervals_where_its_locks_suffice(
    there: list[Interval], context: dict[str, bool], known: bool
) -> None:
    given = load("nothing", (0, DAY))
    task = completed(replace(given, spec={**given.spec, "context": context}), there)
    assert ("intervals" in granularity_of(task)) == known
    assert task["context"].get("useConcurrentLocks", False) != known
    assert task["spec"]["ioConfig"]["dropExisting"] is False


def test_far_wider_old_segments_are_covered_by_few_buckets() -> None:
    task = completed(load("all", (0, 2 * DAY), (5 * DAY, 6 * DAY)), [(MIN, MAX)])
    found = granularity_of(task)
    assert (found["type"], found["queryGranularity"]) == ("arbitrary", "NONE")
    assert "segmentGranularity" not in found
    assert found["intervals"] == [
        "-146136543-09-08T08:23:32.096Z/1970-01-01T00:00:00.000Z",
        "1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z",
        "1970-01-02T00:00:00.000Z/1970-01-03T00:00:00.000Z",
        "1970-01-03T00:00:00.000Z/1970-01-06T00:00:00.000Z",
        "1970-01-06T00:00:00.000Z/1970-01-07T00:00:00.000Z",
        "1970-01-07T00:00:00.000Z/146140482-04-24T15:36:27.903Z",
    ]


def test_many_empty_buckets_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_spec, "MOST_TOMBSTONES", 1)
    old = [(day * DAY, (day + 1) * DAY) for day in range(0, 20, 2)]
    found = granularity_of(completed(load("all", (10 * DAY, 11 * DAY)), old))
    assert found["intervals"] == [
        "1970-01-01T00:00:00.000Z/1970-01-10T00:00:00.000Z",
        "1970-01-11T00:00:00.000Z/1970-01-12T00:00:00.000Z",
        "1970-01-13T00:00:00.000Z/1970-01-20T00:00:00.000Z",
    ]


@pytest.mark.parametrize(
    ("spans", "taken", "left"),
    [
        ([(0, 10)], [], [(0, 10)]),
        ([(0, 10)], [(0, 10)], []),
        ([(0, 10)], [(2, 3), (5, 20)], [(0, 2), (3, 5)]),
        ([(0, 4), (6, 9)], [(3, 7)], [(0, 3), (7, 9)]),
        ([(0, 1), (2, 3)], [(5, 6)], [(0, 1), (2, 3)]),
        ([(5, 6)], [(0, 1), (2, 3)], [(5, 6)]),
    ],
)
def test_without(spans: list[Interval], taken: list[Interval], left: list[Interval]) -> None:
    assert list(without(spans, taken)) == left


def test_joined() -> None:
    assert joined([(0, 1), (2, 3), (5, 6), (9, 10)], [(3, 5)]) == [(0, 3), (5, 10)]
    assert joined([(1, 2), (3, 4)], [(0, 1), (4, 5)]) == [(1, 4)]
    assert joined([], [(0, 1)]) == []
