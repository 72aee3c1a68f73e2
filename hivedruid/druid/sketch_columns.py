"""The aggregators of columns with sketches, in Druid's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hivedruid.catalog.druid_columns import SKETCHES
from hivedruid.sketches.kinds import AGGREGATORS, SketchKind


def building(kind: SketchKind) -> dict[str, Any]:
    """Adds values to sketches."""
    return {"type": kind.build, **kind.build_fields}


def merging(kind: SketchKind) -> dict[str, Any]:
    """Merges sketches that come in base64. Its size, Druid's default, tells it from `building` where the types are the
    same."""
    return {"type": kind.merge, **kind.merge_fields, **_size(kind)}


def combining(kind: SketchKind) -> dict[str, Any]:
    """What segments name, with which compaction merges their sketches (AggregatorFactory.getCombiningFactory)."""
    if kind.name == "quantiles":
        return {"type": "quantilesDoublesSketchMerge", **_size(kind)}
    fields = {key: value for key, value in kind.merge_fields.items() if not key.startswith("isInput")}
    return {"type": kind.merge, **fields, **_size(kind)}


def _size(kind: SketchKind) -> dict[str, Any]:
    return {kind.size: kind.default_size} if kind.size is not None else {}


class Sketching(NamedTuple):
    """How the values of a column become sketches; `merges`: they are sketches in base64."""

    kind: SketchKind
    merges: bool


def sketching(metric: Mapping[str, Any]) -> Sketching | None:
    """What a metric of a spec does if this process can do the same; None for other metrics."""
    given = {key: value for key, value in metric.items() if key not in ("name", "fieldName")}
    for kind in (AGGREGATORS[function] for function in SKETCHES):
        if given in (building(kind), merging(kind)):
            return Sketching(kind, given == merging(kind))
    return None
