"""The Druid types of the fields of a data source, which may differ from segment to segment, and how a column of a table
reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import reduce

from hivedruid.catalog.types import BINARY, HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.sketches.kinds import kind_of

CAST = "cast"
"""How a column is read whose values queries convert to its type in each segment, exactly."""
ROWS = "rows"
"""How a column is read whose values only scans return: queries do not compute with it."""
MIXED = "mixed rows"
"""The same for a column whose segments have different types."""
JSON = "json rows"
"""The same for nested data in all segments, of which queries compute the value at a path."""
SCANNED = frozenset({ROWS, MIXED, JSON})
"""How a column is read of whose values queries compute only whether they are null."""
_JSON = "COMPLEX<json>"
_NUMBERS = ("LONG", "FLOAT", "DOUBLE")
_TEXTS = frozenset({"STRING", "ARRAY<STRING>"})
"""The types of a multi-value string: the one of a segment depends on its rows."""


@dataclass(frozen=True, eq=False)
class Schema(Mapping[str, str]):
    """Druid type by field: `__time` first, multi-value strings as ARRAY<STRING>. If segments differ, it is their common
    type, and `differing` has the number of segments by type."""

    types: Mapping[str, str]
    differing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)


def schema_of(segments: Iterable[Mapping[str, str]]) -> Schema:
    """The schema of segments with these types by field; empty without segments."""
    counts: dict[str, Counter[str]] = {}
    for segment in segments:
        for name, type_ in segment.items():
            counts.setdefault(name, Counter())[_canonical(type_)] += 1
    types = {name: common_type(of_field) for name, of_field in counts.items()}
    differing = {name: n for name, n in counts.items() if len(n) > 1 and not n.keys() <= _TEXTS}
    return Schema({"__time": "LONG", **types} if types else {}, differing)


def _canonical(type_: str) -> str:
    """One name for the types of a sketch, which Druid names after the aggregator while a segment grows."""
    kind = kind_of(type_)
    return type_ if kind is None else kind.druid_types[0]


def common_type(types: Iterable[str]) -> str:
    """The type that holds the values of all of these, at least one.

    It is Druid's least restrictive type (ColumnType.leastRestrictiveType, with which Druid 32 and later merge the
    schemas of segments), also for a multi-value string. Druid has none for a sketch beside another type: the text of
    both is a STRING.
    """
    return reduce(_common, sorted(set(types)))


def _common(a: str, b: str) -> str:
    if a == b:
        return a
    if _JSON in (a, b):
        return _JSON
    if a.startswith("COMPLEX") or b.startswith("COMPLEX"):
        return "STRING"
    if a.startswith("ARRAY<") or b.startswith("ARRAY<"):
        return f"ARRAY<{_common(_element(a), _element(b))}>"
    if "STRING" in (a, b):
        return "STRING"
    return "DOUBLE"


def _element(type_: str) -> str:
    return type_[6:-1] if type_.startswith("ARRAY<") else type_


def reading_of(column: HiveType, druid_type: str, differing: Iterable[str] = ()) -> str:
    """How a column of this type reads a field of this Druid type, whose segments have the types `differing` if they
    differ: CAST, ROWS, MIXED, JSON, or "" if Druid computes with the field as with the column."""
    types = set(differing) or {druid_type}
    rows = MIXED if len(types) > 1 else JSON if types == {_JSON} else ROWS
    if column.name == "array":
        return "" if types <= _TEXTS else rows
    if column == BINARY:
        return rows
    if types <= _TEXTS or not (column.is_string or column.is_approximate):
        return ""
    if not types <= {"STRING", *_NUMBERS}:
        return rows
    if column.is_approximate and len(types) == 1 and types <= {"FLOAT", "DOUBLE"}:
        return ""
    # the DOUBLE and the text that Druid makes of a FLOAT are not the number that its rows show
    return rows if "FLOAT" in types else CAST
