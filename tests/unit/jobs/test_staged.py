"""What is known of staged rows."""

from __future__ import annotations

import json

from hivedruid.jobs.staged import StagedRows, Sum, merged, summed_fields

SCHEMA = {
    "dimensionsSpec": {"dimensions": [{"type": "string", "name": "s"}, {"type": "long", "name": "l"}, "plain"]},
    "metricsSpec": [
        {"type": "doubleSum", "name": "d", "fieldName": "d"},
        {"type": "longSum", "name": "other", "fieldName": "l"},
        {"type": "longMax", "name": "m", "fieldName": "m"},
        {"type": "count", "name": "c"},
    ],
}


def test_rows_survive_their_way_through_text() -> None:
    staged = StagedRows("/x", 3, 10, ((0, 5), (7, 9)), 2, 2, {"l": Sum(2**53 + 1), "d": Sum(float("inf"), 1.5)}, 1)
    assert StagedRows.from_json(json.loads(json.dumps(staged.to_json()))) == staged


def test_sums_are_those_that_ingestion_keeps() -> None:
    assert summed_fields({**SCHEMA, "granularitySpec": {"rollup": True}}) == {"d": "DOUBLE"}
    assert summed_fields({**SCHEMA, "granularitySpec": {"rollup": False}}) == {"d": "DOUBLE", "l": "LONG"}


def test_intervals_that_touch_are_one() -> None:
    assert merged([(5, 7), (0, 2), (2, 4), (6, 9)]) == ((0, 4), (5, 9))
    assert merged([]) == ()
