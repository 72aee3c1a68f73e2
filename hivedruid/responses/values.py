"""The values of responses as those of the fields' Hive types: what Druid returns depends on the segment, and in columns
of mixed values on the row."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from hivedruid.java_numbers import double_text

NOTHING: type[Any] = type(None)


class Reader(NamedTuple):
    """The Python types of values that stay as they are, and how others are converted: raises TypeError, ValueError."""

    expected: frozenset[type[Any]]
    convert: Callable[[Any], Any]


def reader_of(type_: str) -> Reader | None:
    """For the text of a Hive type; None for types without rows in Druid."""
    if type_.startswith("array<"):
        element = _ELEMENTS.get(type_[6:-1])
        return None if element is None else Reader(element.expected, _array_of(element))
    return _READERS.get(type_.partition("(")[0])


def text_of(value: Any) -> str:
    """A value of a column of strings: a number as Druid makes a string of it, nested data as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return double_text(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _array_of(element: Reader) -> Callable[[Any], Any]:
    expected, convert = element

    def read(value: Any) -> Any:
        """Druid returns an array, or a multi-value, with one value as a plain value: it stays one."""
        if type(value) is not list:
            return convert(value)
        return [item if type(item) in expected else convert(item) for item in value]

    return read


def _whole(value: Any) -> int:
    """Jackson writes some numbers as strings."""
    return int(_scalar(value))


def _scalar(value: Any) -> Any:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


WHOLE = Reader(frozenset({int, float, bool, NOTHING}), _whole)
REAL = Reader(frozenset({float, NOTHING}), float)
"""Jackson writes NaN and infinities as strings, and whole numbers of some columns as 3."""
TEXT = Reader(frozenset({str, NOTHING}), text_of)
_READERS: dict[str, Reader] = {
    **dict.fromkeys(("float", "double", "decimal"), REAL),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "boolean"), WHOLE),
    **dict.fromkeys(("date", "timestamp", "timestamp with local time zone"), WHOLE),
    **dict.fromkeys(("string", "varchar", "char"), TEXT),
}
_ELEMENTS: dict[str, Reader] = {
    "string": TEXT,
    "bigint": Reader(frozenset({int, NOTHING}), int),
    **dict.fromkeys(("float", "double"), REAL),
}
