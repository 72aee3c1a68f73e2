"""The measures of staged rows."""

from __future__ import annotations

import json

from hivedruid.druid.interval_sets import merged
from hivedruid.jobs.staged import Layout, StagedRows, Sum, layout, summed_fields

SCHEMA = {
    "dimensionsSpec": {"dimensions": [{"type": "string", "name": "s"}, {"type": "long", "name": "l"}, "plain"]},
    "metricsSpec": [
        {"type": "doubleSum", "name": "d", "fieldName": "d"},
        {"type": "floatSum", "name": "f", "fieldName": "f"},
        {"type": "longSum", "name": "other", "fieldName": "l"},
        {"type": "longMax", "name": "m", "fieldName": "m"},
        {"type": "count", "name": "c"},
    ],
}


def test_rows_survive_their_way_through_text() -> None:
    staged = StagedRows("/x", 3, 10, ((0, 5), (7, 9)), {"l": Sum(2**53 + 1), "d": Sum(float("inf"), 1.5)}, 1)
    assert StagedRows.from_json(json.loads(json.dumps(staged.to_json()))) == staged


def test_sums_are_those_that_ingestion_keeps() -> None:
    """Merged rows lose digits of a floatSum: 200,000 times 0.1 are 19,959.494."""
    assert summed_fields({**SCHEMA, "granularitySpec": {"rollup": True}}) == {"d": "DOUBLE"}
    kept = {"d": "DOUBLE", "f": "FLOAT", "l": "LONG"}
    assert summed_fields({**SCHEMA, "granularitySpec": {"rollup": False}}) == kept


def test_intervals_that_touch_are_one() -> None:
    assert merged([(5, 7), (0, 2), (2, 4), (6, 9)]) == ((0, 4), (5, 9))
    assert merged([]) == ()


def test_layout() -> None:
    """Only subtasks that share the files benefit from files with few intervals."""

    def task(subtasks: int, partitions: str) -> dict[str, object]:
        schema = {"granularitySpec": {"segmentGranularity": "month"}}
        tuning = {"maxNumConcurrentSubTasks": subtasks, "partitionsSpec": {"type": partitions}}
        return {"spec": {"dataSchema": schema, "tuningConfig": tuning}}

    assert not layout(task(1, "dynamic")).clustered
    assert not layout(task(2, "hashed")).clustered
    assert layout(task(2, "dynamic")) == Layout("MONTH", clustered=True)
    assert str(layout(task(2, "dynamic"))) == "by __time_granularity (MONTH)"
