"""Properties for the storage of single columns: druid.columns.aggregators, druid.columns.multivalue,
druid.columns.as, druid.columns.path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from hivedruid.catalog.table import Column
from hivedruid.catalog.types import BINARY, DOUBLE, STRING, HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.lazy_regex import regex
from hivedruid.sketches.kinds import AGGREGATORS as KINDS
from hivedruid.sketches.kinds import PROPERTY_AGGREGATORS, SketchKind

STORED_AS = "druid.columns.as"
PATHS = "druid.columns.path"
AGGREGATED = "druid.columns.aggregators"

AGGREGATORS = {
    "sum": "{}Sum",
    "min": "{}Min",
    "max": "{}Max",
    "count": "count",
    **{name: name for name in PROPERTY_AGGREGATORS},
}
"""Druid's aggregator for each function; {} is the type of the column: long, float or double."""


SKETCHES = ("thetaSketch", "HLLSketchBuild", "quantilesDoublesSketch")
"""The functions of druid.columns.aggregators that store sketches in a BINARY column, which this process can build and
merge, too."""

MULTI_VALUES = ("SORTED_ARRAY", "SORTED_SET", "ARRAY")
"""Druid's DimensionSchema.MultiValueHandling."""

_AGGREGATOR = regex(r"\s*(?P<column>[^:,()]+?)\s*:\s*(?P<function>\w+)\s*(\(\s*(?P<field>[^()]*?)\s*\))?\s*(,|$)")


@dataclass(frozen=True)
class Aggregator:
    """`function` of the records' `field`; None is the column's own field."""

    function: str
    field: str | None


def parse_aggregators(text: str) -> tuple[dict[str, Aggregator], str | None]:
    """The aggregator of each column (lower case), and the expected format, or None if the text is valid."""
    result: dict[str, Aggregator] = {}
    names = {name.lower(): name for name in AGGREGATORS}
    end = 0
    while text[end:].strip(" ,"):
        match = _AGGREGATOR.match(text, end)
        if match is None or match["column"].lower() in result:
            return {}, "a list of column:function(field) with each column at most once"
        if match["function"].lower() not in names:
            return {}, f"a list of column:function(field) with the functions {', '.join(AGGREGATORS)}"
        function, field = names[match["function"].lower()], match["field"] or None
        if field is not None and (field == "*") != (function == "count"):
            return {}, "a list of column:function(field), where the field of count, and of no other function, is *"
        result[match["column"].lower()] = Aggregator(function, None if field == "*" else field)
        end = match.end()
    return result, None if result else "a list of column:function(field)"


def sketch_columns(columns: Iterable[Column], properties: Mapping[str, str]) -> dict[str, SketchKind]:
    """The kind of the sketches of each BINARY column that stores them."""
    aggregators = parse_aggregators(properties.get(AGGREGATED, ""))[0]
    found = ((c.name, aggregators[c.name].function) for c in columns if c.type == BINARY and c.name in aggregators)
    return {name: KINDS[function] for name, function in found if function in SKETCHES}


def parse_multi_values(text: str) -> tuple[dict[str, str], str | None]:
    """The handling of multiple values per column (lower case), and the expected format, or None if the text is
    valid."""
    result: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        column, _, handling = (part.strip() for part in pair.rpartition(":"))
        if not column or column.lower() in result or handling.upper() not in MULTI_VALUES:
            return (
                {},
                f"a list of column:handling with each column at most once and the handling {', '.join(MULTI_VALUES)}",
            )
        result[column.lower()] = handling.upper()
    return result, None if result else "a list of column:handling"


_STAND_INS: dict[str, HiveType] = {"string": STRING, "double": DOUBLE}
_CHOICES = {"decimal": ("double", "string"), "binary": ("string",), "date": ("string",)}
"""The storage types of columns whose types Druid does not support."""


def stored_as_choices(type_: HiveType) -> tuple[str, ...]:
    """The valid values of druid.columns.as for a column of that type; empty for types that need no substitute, or have
    none."""
    return _CHOICES.get(type_.name, ())


def parse_stored_as(text: str) -> tuple[dict[str, HiveType], str | None]:
    """The storage type of each column (lower case), and the expected format, or None if the text is valid."""
    result: dict[str, HiveType] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        column, _, type_ = (part.strip() for part in pair.rpartition(":"))
        if not column or column.lower() in result or type_.lower() not in _STAND_INS:
            return {}, "a list of column:type with each column at most once and the type string or double"
        result[column.lower()] = _STAND_INS[type_.lower()]
    return result, None if result else "a list of column:type"


def with_stored_types(columns: Iterable[Column], properties: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns with the storage types of druid.columns.as."""
    stored = parse_stored_as(properties.get(STORED_AS, ""))[0]

    def converted(column: Column) -> Column:
        type_ = stored.get(column.name)
        fits = type_ is not None and type_.name in stored_as_choices(column.type)
        return replace(column, type=type_) if fits and type_ is not None else column

    return tuple(converted(column) for column in columns)


@dataclass(frozen=True)
class NestedPath:
    """Where the value of a column is: a path of get_json_object() in a column of nested data."""

    column: str
    path: str

    def __str__(self) -> str:
        return self.column + self.path.removeprefix("$")


_PATH = regex(
    r"(?P<column>[^:,]+?)\s*:\s*(?P<nested>[^.:,\[\]]+)(?P<path>(?:[.][a-zA-Z0-9_\-: ]+|\[[0-9]{1,9}\])+)", re.ASCII
)


def parse_paths(text: str) -> tuple[dict[str, NestedPath], str | None]:
    """The path of each column (lower case), and the expected format, or None if the text is valid."""
    result: dict[str, NestedPath] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        match = _PATH.fullmatch(pair)
        if match is None or match["column"].lower() in result:
            return {}, "a list of column:field.path with each column at most once and paths such as field.a[0].b"
        result[match["column"].lower()] = NestedPath(match["nested"].lower(), "$" + match["path"])
    return result, None if result else "a list of column:field.path"


def paths_of(properties: Mapping[str, str]) -> dict[str, NestedPath]:
    """The path of each column of druid.columns.path; the columns are not fields of the data source."""
    return parse_paths(properties.get(PATHS, ""))[0]
