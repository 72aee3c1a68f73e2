"""The specs of COMPACT and automatic compaction, by a table's properties and the intervals of its segments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid.catalog.table import Table
from hivedruid.druid.compaction import automatic, compact_task, over
from hivedruid.druid.interval_sets import MAX, MIN

HOUR, DAY = 3_600_000, 86_400_000
JANUARY, FEBRUARY, MARCH, APRIL = 1_704_067_200_000, 1_706_745_600_000, 1_709_251_200_000, 1_711_929_600_000


def table(**properties: str) -> Table:
    given = {key.replace("_", "."): value for key, value in properties.items()}
    return Table("default", "t", "druid", (), properties={"druid.datasource": "d/x", **given})


def intervals(tasks: tuple[Any, ...]) -> list[str]:
    return [task["ioConfig"]["inputSpec"]["interval"] for task in tasks]


def test_the_task() -> None:
    assert compact_task(table(), {}) == {
        "type": "compact",
        "dataSource": "d/x",
        "ioConfig": {"type": "compact", "inputSpec": {"type": "interval"}},
        "granularitySpec": {"queryGranularity": "NONE"},
        "tuningConfig": {"type": "index_parallel", "partitionsSpec": {"type": "dynamic", "maxRowsPerSegment": 5000000}},
        "context": {"useConcurrentLocks": True, "storeCompactionState": True},
    }


def test_times_stay_what_they_are_whatever_granularity_rows_were_written_at() -> None:
    """Without a query granularity Druid uses the finest one in the segments: a WEEK moves the first of a month."""
    given = table(
        druid_query_granularity="DAY", druid_rollup="false", druid_segment_granularity="month",
        druid_segment_targetRowsPerSegment="7",
    )  # fmt: skip
    task = compact_task(given, {})
    assert task["granularitySpec"] == {"queryGranularity": "NONE", "segmentGranularity": "MONTH", "rollup": False}
    config = automatic(replace(given, properties={**given.properties, "druid.compaction.auto": "true"}), {})
    assert config is not None
    assert config["granularitySpec"] == task["granularitySpec"]
    assert task["tuningConfig"]["partitionsSpec"] == {"type": "dynamic", "maxRowsPerSegment": 7}


def test_rows_are_summed_only_where_the_table_rolls_up() -> None:
    """If the table has rollup, Druid checks whether all segments were written with rollup."""
    assert "rollup" not in compact_task(table(druid_rollup="true"), {})["granularitySpec"]
    assert compact_task(table(), {"hive.druid.rollup": "false"})["granularitySpec"]["rollup"] is False


def test_a_number_of_segments_needs_a_hash() -> None:
    tuning = compact_task(table(druid_segment_targetShardsPerGranularity="2"), {})["tuningConfig"]
    assert tuning["partitionsSpec"] == {"type": "hashed", "numShards": 2}
    assert tuning["forceGuaranteedRollup"] is True


def test_without_a_granularity_one_task_is_over_all() -> None:
    spans = [(MARCH, MARCH + DAY), (JANUARY, JANUARY + HOUR)]
    (task,) = over(compact_task(table(), {}), spans)
    assert intervals((task,)) == ["2024-01-01T00:00:00.000Z/2024-03-02T00:00:00.000Z"]
    assert task["granularitySpec"] == {"queryGranularity": "NONE"}


def test_a_coarser_granularity_makes_a_task_for_each_run() -> None:
    given = compact_task(table(druid_segment_granularity="MONTH", druid_rollup="false"), {})
    spans = [(JANUARY + DAY, JANUARY + 2 * DAY), (FEBRUARY, FEBRUARY + DAY), (APRIL, APRIL + HOUR)]
    tasks = over(given, spans)
    assert intervals(tasks) == [
        "2024-01-01T00:00:00.000Z/2024-03-01T00:00:00.000Z", "2024-04-01T00:00:00.000Z/2024-05-01T00:00:00.000Z",
    ]  # fmt: skip
    wanted = {"queryGranularity": "NONE", "rollup": False, "segmentGranularity": "MONTH"}
    assert all(task["granularitySpec"] == wanted for task in tasks)


@pytest.mark.parametrize(
    "spans",
    [
        [(JANUARY, FEBRUARY)],  # it already has this granularity
        [(JANUARY, FEBRUARY), (JANUARY, MARCH)],  # it would be finer: time chunks are not split
    ],
)
def test_a_granularity_that_merges_nothing_is_left_out(spans: list[tuple[int, int]]) -> None:
    (task,) = over(compact_task(table(druid_segment_granularity="MONTH"), {}), spans)
    assert task["granularitySpec"] == {"queryGranularity": "NONE"}


def test_all_of_time_has_to_be_named() -> None:
    (task,) = over(compact_task(table(druid_segment_granularity="DAY"), {}), [(MIN, MAX)])
    assert task["granularitySpec"] == {"queryGranularity": "NONE", "segmentGranularity": "ALL"}
    assert intervals((task,)) == ["-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"]


def test_automatic_compaction() -> None:
    assert automatic(table(), {}) is None
    assert automatic(table(druid_compaction_auto="false"), {}) is None
    assert automatic(table(druid_compaction_auto="TRUE", druid_rollup="false"), {}) == {
        "dataSource": "d/x",
        "skipOffsetFromLatest": "P1D",
        "granularitySpec": {"queryGranularity": "NONE", "rollup": False},
        "tuningConfig": {"type": "index_parallel", "partitionsSpec": {"type": "dynamic", "maxRowsPerSegment": 5000000}},
        "taskContext": {"useConcurrentLocks": True},
    }
    given = {"druid.compaction.auto": "true", "druid.compaction.skipOffsetFromLatest": "PT1H"}
    config = automatic(Table("default", "t", "druid", (), properties=given), {})
    assert config is not None
    assert config["skipOffsetFromLatest"] == "PT1H"
