"""The segments that Spark builds for a load. Spark's Python workers import this module, see `spark.segment_source`."""

from __future__ import annotations

from dataclasses import dataclass

MOST_ROWS = 5_000_000
"""The maximum number of rows of a segment, if the table does not set it (DynamicPartitionsSpec)."""


@dataclass(frozen=True)
class PlannedDimension:
    """`type`: STRING, LONG, DOUBLE or FLOAT; `handling`: the multiValueHandling of an array."""

    name: str
    type: str
    handling: str = "SORTED_ARRAY"


@dataclass(frozen=True)
class PlannedMetric:
    """`field` is the aggregated column; "" for a count of rows."""

    name: str
    type: str
    aggregator: str
    field: str


@dataclass(frozen=True)
class SegmentPlan:
    """The segments of a load: columns, granularities, rollup, and the maximum number of rows of each. `ranges`: the
    dimensions by whose values the rows of an interval are divided into segments."""

    granularity: str
    query_granularity: str
    dimensions: tuple[PlannedDimension, ...]
    metrics: tuple[PlannedMetric, ...]
    rollup: bool
    most_rows: int = MOST_ROWS
    ranges: tuple[str, ...] = ()
