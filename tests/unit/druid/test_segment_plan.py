"""Which tables' segments can be built without Druid, and how."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.catalog import types as t
from hivedruid.druid import granularities
from hivedruid.druid.planned_segments import PlannedDimension, PlannedMetric
from hivedruid.druid.segment_plan import segment_plan
from hivedruid.errors import UnsupportedError

TYPES = {
    "__time": t.BIGINT, "s": t.STRING, "n": t.INT, "d": t.DOUBLE, "f": t.FLOAT, "a": t.array_of(t.STRING),
    "numbers": t.array_of(t.BIGINT),
}  # fmt: skip


def task(*dimensions: Any, metrics: Any = (), tuning: Any = None, **granularity: Any) -> dict[str, Any]:
    given = {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": True, **granularity}
    schema = {
        "dataSource": "x", "dimensionsSpec": {"dimensions": [*dimensions]}, "metricsSpec": [*metrics],
        "granularitySpec": given,
    }  # fmt: skip
    return {"spec": {"dataSchema": schema, "tuningConfig": tuning or {}}}


def dimension(name: str, type_: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def metric(type_: str, field: str, **more: Any) -> dict[str, Any]:
    return {"name": f"m_{field}", "type": type_, "fieldName": field, **more}


def test_plan() -> None:
    plan = segment_plan(
        task(
            dimension("s", "string"),
            dimension("a", "string", multiValueHandling="ARRAY"),
            metrics=[metric("longSum", "n"), {"type": "count", "name": "rows"}],
            tuning={"partitionsSpec": {"type": "dynamic", "maxRowsPerSegment": 7}},
            segmentGranularity="month",
            queryGranularity="HOUR",
        ),
        TYPES,
    )
    assert (plan.granularity, plan.query_granularity, plan.rollup, plan.most_rows) == ("MONTH", "HOUR", True, 7)
    assert plan.dimensions == (PlannedDimension("s", "STRING"), PlannedDimension("a", "STRING", "ARRAY"))
    assert plan.metrics == (
        PlannedMetric("m_n", "LONG", "longSum", "n"),
        PlannedMetric("rows", "LONG", "count", ""),
    )


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (task(segmentGranularity="ALL"), "the segment granularity is ALL"),
        (task(segmentGranularity="NONE"), "the segment granularity is NONE"),
        (
            task(queryGranularity="ALL"),
            "the query granularity is ALL, and the segment granularity is DAY",
        ),
        (
            task(segmentGranularity="MONTH", queryGranularity="QUARTER"),
            "the query granularity is QUARTER, and the segment granularity is MONTH",
        ),
        (
            task(tuning={"partitionsSpec": {"type": "hashed", "numShards": 3}}),
            "the segments of an interval are hashed partitions",
        ),
        (task(tuning={"indexSpec": {"bitmap": {"type": "concise"}}}), "the table has an indexSpec of its own"),
        (task(dimension("numbers", "string")), "column 'numbers' is stored as STRING, and its values are bigint"),
        (task(dimension("f", "double")), "column 'f' is stored as DOUBLE, and its values are float"),
        (task(dimension("s", "long")), "column 's' is stored as LONG, and its values are string"),
        (task(dimension("s", "json")), "column 's' is stored as JSON, and its values are string"),
        (task(metrics=[metric("hyperUnique", "s")]), "column 'm_s' is stored by the aggregator hyperUnique"),
        (task(metrics=[metric("longSum", "d")]), "column 'm_d' is stored as LONG, and its values are double"),
        (
            task(metrics=[metric("longSum", "n", expression="n + 1")]),
            "column 'm_n' is stored by the aggregator longSum",
        ),
        (task(metrics=[metric("longMax", "__time")]), "column 'm___time' is stored by the aggregator longMax"),
    ],
)
def test_only_a_task_builds_them(spec: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsupportedError) as error:
        segment_plan(spec, TYPES)
    assert error.value.message == reason


@pytest.mark.parametrize(
    ("given", "staged", "merges"),
    [
        (metric("thetaSketch", "s"), t.STRING, False),
        (metric("thetaSketch", "s"), t.BIGINT, False),
        (metric("thetaSketch", "s", isInputThetaSketch=True, size=16384), t.STRING, True),
        (metric("HLLSketchBuild", "s", tgtHllType="HLL_4"), t.DOUBLE, False),
        (metric("HLLSketchMerge", "s", tgtHllType="HLL_4", lgK=12), t.STRING, True),
        (metric("quantilesDoublesSketch", "s"), t.DOUBLE, False),
        (metric("quantilesDoublesSketch", "s", k=128), t.STRING, True),
    ],
)
def test_sketches(given: dict[str, Any], staged: t.HiveType, merges: bool) -> None:
    (planned,) = segment_plan(task(metrics=[given]), {"s": staged}).metrics
    assert planned.sketch is not None
    assert planned.sketch.merges == merges
    assert planned.type.startswith("COMPLEX<")


@pytest.mark.parametrize(
    ("given", "staged"),
    [
        (metric("thetaSketch", "s", size=4096), t.STRING),
        (metric("thetaSketch", "s"), t.FLOAT),
        (metric("HLLSketchBuild", "s", stringEncoding="utf8"), t.STRING),
        (metric("quantilesDoublesSketch", "s"), t.STRING),
    ],
)
def test_sketches_that_only_druid_builds(given: dict[str, Any], staged: t.HiveType) -> None:
    with pytest.raises(UnsupportedError, match="is stored by the aggregator"):
        segment_plan(task(metrics=[given]), {"s": staged})


BUCKETS = [*granularities.WIDTHS, *granularities.MONTHS]


@pytest.mark.parametrize("segment", [name for name in BUCKETS if name != "NONE"])
def test_buckets_of_the_query_granularity_do_not_cross_segments(segment: str) -> None:
    """All buckets around the ends of two years of segments, so that WEEK and MONTH cross somewhere."""

    def crosses(query: str) -> bool:
        first = granularities.number(1_704_067_200_000, segment)
        ends = (granularities.interval(number, segment)[1] for number in range(first, first + 24))
        return any(granularities.floor(end, query) != end for end in ends)

    for query in BUCKETS:
        spec = task(segmentGranularity=segment, queryGranularity=query)
        if crosses(query):
            with pytest.raises(UnsupportedError):
                segment_plan(spec, TYPES)
        else:
            assert segment_plan(spec, TYPES).query_granularity == query
