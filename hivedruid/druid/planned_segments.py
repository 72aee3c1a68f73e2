"""The segments that Spark builds for a load. Spark's Python workers import this module, see `spark.segment_source`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hivedruid.lazy_dataclass import dataclass

MOST_ROWS = 5_000_000
"""The maximum number of rows of a segment, if the table does not set it (DynamicPartitionsSpec)."""


@dataclass(frozen=True)
class PlannedDimension:
    """`type`: STRING, LONG, DOUBLE or FLOAT; `handling`: the multiValueHandling of an array."""

    name: str
    type: str
    handling: str = "SORTED_ARRAY"


@dataclass(frozen=True)
class PlannedSketch:
    """`kind`: see `sketches.kinds`; `merges`: the values are sketches in base64. `combining` is the aggregator, in
    Druid's JSON, that segments name."""

    kind: str
    merges: bool
    combining: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class PlannedMetric:
    """`field` is the aggregated column; "" for a count of rows. `sketch` is how its values become the sketches of a
    complex type, None for numbers."""

    name: str
    type: str
    aggregator: str
    field: str
    sketch: PlannedSketch | None = None


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
