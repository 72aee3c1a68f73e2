"""Data sources that hivedruid did not make: one column for each kind of column, in segments that Druid's own tasks write.

`KINDS` is also the table of docs/data-sources.md: `python -m tests.support.data_sources` prints it.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from hivedruid.catalog.druid_columns import SKETCHES
from hivedruid.catalog.stored_types import CAST, JSON, Schema, reading_of, schema_of
from hivedruid.segments.texts import is_read_as_text
from hivedruid.sketches.kinds import kind_of
from hivedruid.tables.druid_tables import discovered_type

Json = dict[str, Any]
ROWS = 6
"""Rows of a segment. Values that a part does not list are missing in its records."""


@dataclass(frozen=True)
class Part:
    """The column in one segment: the type of the dimension or of the aggregator, its values, and the Druid type that a
    segmentMetadata query reports."""

    spec: str
    values: Sequence[Any]
    stored: str


@dataclass(frozen=True)
class Kind:
    """A column with its parts, of which the last one is also in the segments after it."""

    name: str
    parts: tuple[Part, ...]

    @property
    def types(self) -> set[str]:
        return {part.stored for part in self.parts}

    @property
    def column(self) -> str:
        return self.name.replace(" ", "_").replace(",", "")

    @property
    def druid(self) -> str:
        """The common type of the segments."""
        return self._schema["x"]

    @property
    def hive(self) -> str:
        return str(discovered_type("x", self.druid))

    @property
    def reading(self) -> str:
        return reading_of(discovered_type("x", self.druid), self.druid, self._schema.differing.get("x", ()))

    @property
    def read_as(self) -> str:
        """The Druid type as which the values are read from segment files."""
        return "STRING" if is_read_as_text(self.druid) else self.druid

    @property
    def is_written(self) -> bool:
        """Whether INSERT and UNARCHIVE TABLE store such a value."""
        sketch = kind_of(self.druid)
        return sketch is None or sketch.build in SKETCHES

    @cached_property
    def _schema(self) -> Schema:
        return schema_of({"x": type_} for type_ in self.types if type_)


def _kind(name: str, *parts: tuple[str, Sequence[Any], str]) -> Kind:
    return Kind(name, tuple(Part(*part) for part in parts))


WORDS = ["a", "", None, "b", "a", "ä"]
WHOLE = [1, 0, None, -5, 1, 9007199254740993]
REAL = [1.5, 0.0, None, -2.0, 1.5, 1e10]
LEAVES: Json = {
    "long": 7, "double": 1.0, "large": 1e10, "small": 1e-7, "wide": 12345678901234567890, "yes": True, "no": False, "text": "ä\u0001\"q/",
    "empty": "", "digits": "1.50", "quoted": '{"x":1}', "null": None, "object": {"x": 1e10, "n": None}, "nothing": {},
    "longs": [1, 2], "texts": ["p", "q"], "mixed": [1, "a", 2.5], "objects": [{"x": 1}, {"y": 2}], "none": [], "one": [3.0], "two words": "w",
}  # fmt: skip
"""A value of every kind of JSON by the name of its field."""


def _turned(by: int) -> Json:
    """The same names with the values of others, so that a path has several types in a segment."""
    values = list(LEAVES.values())
    return dict(zip(LEAVES, values[by:] + values[:by], strict=True))


PATHS = (
    *(f"$.{name}" for name in LEAVES), *(f"$.{name}[0]" for name in LEAVES), "$.longs[1]", "$.longs[9]", "$.objects[1].y", "$.object.x",
    "$.object.x.y", "$.text.x", "$.absent", "$.deep.object.x", "$[0]", "$[1].long", "$[0].objects[0].x",
)  # fmt: skip
KINDS = (
    _kind("string", ("string", WORDS, "STRING")),
    _kind("long", ("long", WHOLE, "LONG")),
    _kind("double", ("double", REAL, "DOUBLE")),
    _kind("float", ("float", [1.5, 0.25, None, -2.0, 1.5, 8.25], "FLOAT")),
    _kind("multi-value", ("string", [["a", "b"], ["b"], None, [], "a", ["", "c"]], "ARRAY<STRING>")),
    _kind("multi-value in one segment", ("string", [["a", "b"]], "ARRAY<STRING>"), ("string", WORDS, "STRING")),
    _kind("auto string", ("auto", WORDS, "STRING")),
    _kind("auto long", ("auto", WHOLE, "LONG")),
    _kind("auto double", ("auto", REAL, "DOUBLE")),
    _kind("auto boolean", ("auto", [True, False, None, True], "LONG")),
    _kind("auto long and double", ("auto", [1, 2.5, None, -3], "DOUBLE")),
    _kind("auto mixed", ("auto", [1, "a", 2.5, None, "1", 1e10], "STRING")),
    _kind("auto mixed with arrays", ("auto", [1, "a", 2.5, None, [1, 2], ["a", None]], "ARRAY<STRING>")),
    _kind("array of long", ("auto", [[1, 2], [3], None, [], [None, 4], [1, 2]], "ARRAY<LONG>")),
    _kind("array of double", ("auto", [[1.5, 2], [3], None, [], [None, 4], [1.5, 2]], "ARRAY<DOUBLE>")),
    _kind("array of string", ("auto", [["a", "b"], ["c"], None, [], [None, "d"], ["a", "b"]], "ARRAY<STRING>")),
    _kind("mixed array", ("auto", [["a", 1], [2.5], None, ["1"]], "ARRAY<STRING>")),
    _kind("long array and long", ("auto", [[1, 2], [3], None], "ARRAY<LONG>"), ("long", WHOLE, "LONG")),
    _kind("double array and long", ("auto", [[1.5], [3], None], "ARRAY<DOUBLE>"), ("long", [1, 2, None], "LONG")),
    _kind("string array and string", ("auto", [["a", "b"], [None]], "ARRAY<STRING>"), ("string", WORDS, "STRING")),
    _kind("multi-value and long", ("string", [["a", "b"], "c"], "ARRAY<STRING>"), ("long", [1, None], "LONG")),
    _kind("json", ("json", [{"a": "s", "b": [1, 2]}, {"a": {"b": 7}}, None, {}, {"a": "s", "b": [1, 2]}], "COMPLEX<json>")),
    _kind("auto json", ("auto", [{"a": 1.5, "ä": None}, [{"x": 1}], None, {"a": True}], "COMPLEX<json>")),
    _kind("json of one type", ("json", [LEAVES, {"deep": LEAVES}, None, {}, LEAVES], "COMPLEX<json>")),
    _kind("json of several types", ("json", [LEAVES, _turned(5), _turned(9), [LEAVES, _turned(3)], json.dumps({"long": 1e10}), 5],
        "COMPLEX<json>"), ("json", [_turned(7), [LEAVES], "text", True], "COMPLEX<json>")),
    _kind("json and long", ("json", [{"a": 1}, None], "COMPLEX<json>"), ("long", [1, 2, None], "LONG")),
    _kind("json and string", ("json", [{"a": 1}, None], "COMPLEX<json>"), ("string", ["x", None], "STRING")),
    _kind("double and long", ("double", REAL, "DOUBLE"), ("long", [7, 9007199254740993, None], "LONG")),
    _kind("long and double", ("long", WHOLE, "LONG"), ("double", REAL, "DOUBLE")),
    _kind("long, double and float", ("long", [7], "LONG"), ("double", [1.1], "DOUBLE"), ("float", [0.1, None], "FLOAT")),
    _kind("double and float", ("double", [1.1, None], "DOUBLE"), ("float", [0.1, 2.0], "FLOAT")),
    _kind("string and long", ("string", ["abc", "7", None, ""], "STRING"), ("long", [1, 7, None], "LONG")),
    _kind("long and string", ("long", [1, 7, None], "LONG"), ("string", ["abc", "7", None, ""], "STRING")),
    _kind("string and double", ("string", ["abc", "1.5"], "STRING"), ("double", [1.5, 1e10, None], "DOUBLE")),
    _kind("string and float", ("string", ["abc", "0.1"], "STRING"), ("float", [0.1, 2.0, None], "FLOAT")),
    _kind("missing in one segment", ("long", WHOLE, "LONG"), ("", [], "")),
    _kind("thetaSketch", ("thetaSketch", WORDS, "COMPLEX<thetaSketch>")),
    _kind("HLLSketch", ("HLLSketchBuild", WORDS, "COMPLEX<HLLSketch>")),
    _kind("hyperUnique", ("hyperUnique", WORDS, "COMPLEX<hyperUnique>")),
    _kind("quantiles", ("quantilesDoublesSketch", REAL, "COMPLEX<quantilesDoublesSketch>")),
    _kind("KLL of doubles", ("KllDoublesSketch", REAL, "COMPLEX<KllDoublesSketch>")),
    _kind("KLL of floats", ("KllFloatsSketch", REAL, "COMPLEX<KllFloatsSketch>")),
    _kind("tuple", ("arrayOfDoublesSketch", WORDS, "COMPLEX<arrayOfDoublesSketch>")),
    _kind("stringLast", ("stringLast", WORDS, "COMPLEX<serializablePairLongString>")),
    _kind("longFirst", ("longFirst", WHOLE, "COMPLEX<serializablePairLongLong>")),
    _kind("doubleLast", ("doubleLast", REAL, "COMPLEX<serializablePairLongDouble>")),
    _kind("floatFirst", ("floatFirst", [1.5, 0.1, None, -2.0, 1.5, 8.25], "COMPLEX<serializablePairLongFloat>")),
    _kind("sketch and string", ("thetaSketch", ["a", "b"], "COMPLEX<thetaSketch>"), ("string", WORDS, "STRING")),
)  # fmt: skip
METRICS = frozenset(
    {
        "thetaSketch",
        "HLLSketchBuild",
        "hyperUnique",
        "quantilesDoublesSketch",
        "KllDoublesSketch",
        "KllFloatsSketch",
        "arrayOfDoublesSketch",
        "stringLast",
        "longFirst",
        "doubleLast",
        "floatFirst",
    }
)
_FIELDS: Mapping[str, Json] = {"arrayOfDoublesSketch": {"metricColumns": ["long"]}}
"""What an aggregator has besides type, name and fieldName."""
SEGMENTS = 3


def spec_of(data_source: str, number: int, kinds: Sequence[Kind] = KINDS, repeats: int = 1) -> Json:
    """The task that writes the segment of a day. Kinds with fewer parts have their last one in the other segments. The
    rows are written `repeats` times."""
    parts = [(kind, kind.parts[min(number, len(kind.parts) - 1)]) for kind in kinds]
    records = [{"t": f"2026-01-0{number + 1}T0{row}:00:00Z", "r": f"r{number}{row}"} for row in range(ROWS)]
    for kind, part in parts:
        for record, value in zip(records, part.values, strict=False):
            record[kind.column] = value
    dimensions = [{"type": p.spec, "name": k.column} for k, p in parts if p.spec and p.spec not in METRICS]
    metrics = [
        {"type": p.spec, "name": k.column, "fieldName": k.column, **_FIELDS.get(p.spec, {})}
        for k, p in parts
        if p.spec in METRICS
    ]
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": data_source, "timestampSpec": {"column": "t", "format": "iso"},
                "dimensionsSpec": {"dimensions": [{"type": "string", "name": "r"}, *dimensions]}, "metricsSpec": metrics,
                "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False},
            },
            "ioConfig": {
                "type": "index_parallel", "inputFormat": {"type": "json"}, "appendToExisting": True,
                "inputSource": {"type": "inline", "data": "\n".join(map(json.dumps, records * repeats))},
            },
            "tuningConfig": {"type": "index_parallel"},
        },
    }  # fmt: skip


def as_hive(value: Any, type_: str) -> Any:
    """A value of Druid's own scan as a value of the column's type, by the rules of the page."""
    if value is None:
        return None
    if type_.startswith("array<"):
        return [as_hive(item, type_[6:-1]) for item in (value if isinstance(value, list) else [value])]
    if type_ == "binary":
        return b64decode(value)
    if type_ == "string":
        return value if isinstance(value, str) else _text(value)
    return float(value) if type_ in ("double", "float") else int(value)


def _text(value: Any) -> str:
    if isinstance(value, float):
        if 1e-3 <= abs(value) < 1e7 or value == 0:
            return repr(value)
        sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
        first, *rest = map(str, digits)
        return f"{'-' * sign}{first}.{''.join(rest) or '0'}E{len(rest) + int(exponent)}"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def hive_text(text: str | None, path: str) -> str | None:
    """What Hive's get_json_object() returns for keys and indexes, where no key is one of an array's elements."""
    try:
        value = json.loads(text or "null")
    except ValueError:
        return None
    for key, index in re.findall(r"[.]([^.\[]+)|\[(\d+)\]", path):
        if key:
            value = value.get(key) if isinstance(value, dict) else None
        else:
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else None
    return value if isinstance(value, str | None) else _java_text(value)


def _java_text(value: Any) -> str:
    """JSON without blanks, with numbers as Java writes them."""
    if isinstance(value, dict):
        return (
            "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{_java_text(v)}" for key, v in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_java_text, value)) + "]"
    return _text(value)


def key_of(value: Any) -> tuple[int, Any]:
    """Sorts values of one type, with NULL last, in an array first."""
    if isinstance(value, list):
        return (0, [(each is not None, each) for each in value])
    return (1, 0) if value is None else (0, value)


def table() -> str:
    """The table of the page."""
    lines = [
        "| kind | Druid types | type here | queries of Druid | archived |",
        "|---|---|---|---|---|",
    ]
    for kind in KINDS:
        how = {
            "": "all",
            CAST: "all, over a virtual column that converts the values",
            JSON: "scans, IS NULL, count, and all over the values at paths",
        }.get(kind.reading, "scans, IS NULL, count")
        types = ", ".join(f"`{stored}`" for stored in dict.fromkeys(part.stored for part in kind.parts if part.stored))
        cells = (
            kind.name,
            types,
            f"`{kind.hive}`",
            how,
            "yes" if kind.is_written else "no",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def by_row(rows: Sequence[Sequence[Any]]) -> Mapping[str, Any]:
    return {str(row[0]): row[1] for row in rows}


if __name__ == "__main__":
    print(table())
