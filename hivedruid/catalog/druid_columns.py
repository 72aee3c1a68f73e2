"""Properties that say per column how Druid keeps it: druid.columns.aggregators and druid.columns.multivalue."""

from __future__ import annotations

import re
from dataclasses import dataclass

AGGREGATORS = {
    "sum": "{}Sum",
    "min": "{}Min",
    "max": "{}Max",
    "count": "count",
    "hyperUnique": "hyperUnique",
    "thetaSketch": "thetaSketch",
    "HLLSketchBuild": "HLLSketchBuild",
    "quantilesDoublesSketch": "quantilesDoublesSketch",
}
"""Druid's aggregator for each function; {} is the type of the column: long, float or double."""

MULTI_VALUES = ("SORTED_ARRAY", "SORTED_SET", "ARRAY")
"""Druid's DimensionSchema.MultiValueHandling."""

_AGGREGATOR = re.compile(r"\s*(?P<column>[^:,()]+?)\s*:\s*(?P<function>\w+)\s*(\(\s*(?P<field>[^()]*?)\s*\))?\s*(,|$)")


@dataclass(frozen=True)
class Aggregator:
    """`function` of the records' `field`; None is the column's own field."""

    function: str
    field: str | None


def parse_aggregators(text: str) -> tuple[dict[str, Aggregator], str | None]:
    """The aggregator of each column (lower case), and what the text should have been, or None where it is right."""
    result: dict[str, Aggregator] = {}
    names = {name.lower(): name for name in AGGREGATORS}
    end = 0
    while text[end:].strip(" ,"):
        match = _AGGREGATOR.match(text, end)
        if match is None or match["column"].lower() in result:
            return {}, "column:function(field), … with every column once"
        if match["function"].lower() not in names:
            return {}, f"functions among {', '.join(AGGREGATORS)}"
        function, field = names[match["function"].lower()], match["field"] or None
        if field is not None and (field == "*") != (function == "count"):
            return {}, "count(*), which counts records, and other functions of a field"
        result[match["column"].lower()] = Aggregator(function, None if field == "*" else field)
        end = match.end()
    return result, None if result else "column:function(field), …"


def parse_multi_values(text: str) -> tuple[dict[str, str], str | None]:
    """The handling of several values for each column (lower case), and what the text should have been, or None."""
    result: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        column, _, handling = (part.strip() for part in pair.rpartition(":"))
        if not column or column.lower() in result or handling.upper() not in MULTI_VALUES:
            return {}, f"column:handling, … with every column once and {', '.join(MULTI_VALUES)}"
        result[column.lower()] = handling.upper()
    return result, None if result else "column:handling, …"
