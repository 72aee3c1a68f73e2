"""How hivedruid builds the segments of a load itself, with the same rows as Druid's task would. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.catalog.types import BIGINT, DOUBLE, INTEGERS, STRING, HiveType
from hivedruid.druid import granularities
from hivedruid.druid.planned_segments import MOST_ROWS, PlannedDimension, PlannedMetric, PlannedSketch, SegmentPlan
from hivedruid.druid.sketch_columns import combining, sketching
from hivedruid.errors import UnsupportedError
from hivedruid.sketches.kinds import KINDS

_KEPT: Mapping[str, tuple[str, ...]] = {
    "LONG": INTEGERS,
    "DOUBLE": ("double", *INTEGERS),
    "FLOAT": ("float", "double", *INTEGERS),
    "STRING": ("string", "varchar", "char"),
}
"""The staged types that become exactly the value that Druid parses from JSON. A float is written with the fewest
digits, which Druid would read as another DOUBLE."""
_AGGREGATORS = {
    f"{kind}{function}": kind.upper() for kind in ("long", "double", "float") for function in ("Sum", "Min", "Max")
}
_ADDED: Mapping[str, tuple[HiveType, ...]] = {
    "theta": (BIGINT, DOUBLE, STRING), "hll": (BIGINT, DOUBLE, STRING), "quantiles": (BIGINT, DOUBLE),
}  # fmt: skip
"""The staged types of values that are added to a sketch as Druid adds them."""
_PLAIN = {"type", "name", "fieldName"}


def segment_plan(task: Mapping[str, Any], types: Mapping[str, HiveType]) -> SegmentPlan:
    """The plan for an index_parallel task whose rows have fields of these types.

    Raises UnsupportedError, with the reason, if only Druid's task stores the same rows.
    """
    schema, tuning = task["spec"]["dataSchema"], task["spec"].get("tuningConfig") or {}
    given = schema.get("granularitySpec") or {}
    granularity, query = (
        str(given.get(key) or default).upper()
        for key, default in (("segmentGranularity", "DAY"), ("queryGranularity", "NONE"))
    )
    if granularity == "NONE" or granularity not in {*granularities.WIDTHS, *granularities.MONTHS}:
        raise UnsupportedError(f"the segment granularity is {granularity}")
    if not _divides(query, granularity):  # Druid's task fails at some rows
        raise UnsupportedError(f"the query granularity is {query}, and the segment granularity is {granularity}")
    partitions = tuning.get("partitionsSpec") or {}
    if partitions.get("type", "dynamic") not in ("dynamic", "range"):
        raise UnsupportedError(f"the segments of an interval are {partitions['type']} partitions")
    if tuning.get("indexSpec"):
        raise UnsupportedError("the table has an indexSpec of its own")
    if schema.get("projections"):
        raise UnsupportedError("the table has projections")
    return SegmentPlan(
        granularity,
        query,
        tuple(_dimension(item, types) for item in (schema.get("dimensionsSpec") or {}).get("dimensions") or ()),
        tuple(_metric(item, types) for item in schema.get("metricsSpec") or ()),
        bool(given.get("rollup", True)),
        int(partitions.get("maxRowsPerSegment") or partitions.get("targetRowsPerSegment") or MOST_ROWS),
        tuple(partitions.get("partitionDimensions") or ()),
    )


def _divides(query: str, segment: str) -> bool:
    """Whether each bucket of the one granularity lies in one bucket of the other."""
    widths, months = granularities.WIDTHS, granularities.MONTHS
    if segment in months:
        return widths[query] <= granularities.DAY if query in widths else not months[segment] % months.get(query, 13)
    return query == segment or (query in widths and query != "WEEK" and not widths[segment] % widths[query])


def _dimension(item: Mapping[str, Any], types: Mapping[str, HiveType]) -> PlannedDimension:
    name, type_ = str(item["name"]), str(item["type"]).upper()
    handling = str(item.get("multiValueHandling") or "SORTED_ARRAY")
    stored = types[name]
    if stored.name == "array" and type_ == "STRING":
        _check(name, type_, stored.children[0])
    else:
        _check(name, type_, stored)
    return PlannedDimension(name, type_, handling)


def _metric(item: Mapping[str, Any], types: Mapping[str, HiveType]) -> PlannedMetric:
    name, aggregator = str(item["name"]), str(item["type"])
    field = str(item.get("fieldName") or "")
    if aggregator == "count" and not item.keys() - {"type", "name"}:
        return PlannedMetric(name, "LONG", aggregator, "")
    if (sketch := _sketch(item, types)) is not None:
        return PlannedMetric(name, KINDS[sketch.kind].druid_types[0], aggregator, field, sketch)
    if aggregator not in _AGGREGATORS or item.keys() - _PLAIN or field not in types or field == TIME_COLUMN:
        raise UnsupportedError(f"column '{name}' is stored by the aggregator {aggregator}")
    _check(name, _AGGREGATORS[aggregator], types[field])
    return PlannedMetric(name, _AGGREGATORS[aggregator], aggregator, field)


def _sketch(item: Mapping[str, Any], types: Mapping[str, HiveType]) -> PlannedSketch | None:
    """How the values of a metric become sketches; None if they do not, or if only Druid builds the same."""
    found = sketching(item)
    staged = types.get(str(item.get("fieldName")))
    if found is None or staged not in ((STRING,) if found.merges else _ADDED[found.kind.name]):
        return None
    return PlannedSketch(found.kind.name, found.merges, combining(found.kind))


def _check(name: str, type_: str, stored: HiveType) -> None:
    if stored.name not in _KEPT.get(type_, ()):
        raise UnsupportedError(f"column '{name}' is stored as {type_}, and its values are {stored}")
