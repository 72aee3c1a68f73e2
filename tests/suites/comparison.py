"""Rows compared with those that a suite lists as text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

from tests.suites.cases import NotComparable, Row
from tests.suites.classfile import Float

T = TypeVar("T")

RELATIVE, ABSOLUTE = 1e-9, 1e-9
_NANOSECONDS = re.compile(r"(\.\d{6})\d+")


def is_permutation(rows: Sequence[Row], expected: Sequence[T], is_same: Callable[[Row, T], bool]) -> bool:
    """Whether the rows are the expected ones, each as often."""
    left = list(expected)
    for row in rows:
        place = next((i for i, one in enumerate(left) if is_same(row, one)), None)
        if place is None:
            return False
        left.pop(place)
    return not left


@dataclass(frozen=True)
class TextRows:
    """Rows of texts in any order: suites list the rows of a query with an order sorted by other keys, too."""

    rows: tuple[tuple[str, ...], ...]
    null: str = "NULL"
    kinds: tuple[str, ...] = ()
    """The types of the columns, if the suite lists them: a FLOAT has fewer digits."""

    def matches(self, rows: Sequence[Row]) -> bool:
        return is_permutation(rows, self.rows, self._is_same)

    @property
    def text(self) -> str:
        return "\n".join("\t".join(row) for row in self.rows[:40])

    def _is_same(self, row: Row, texts: Sequence[str]) -> bool:
        return len(row) == len(texts) and all(
            is_same_cell(value, text, self.null) or (kind == "float" and is_same_float(value, text))
            for value, text, kind in zip_longest(row, texts, self.kinds[: len(row)])
        )


@dataclass(frozen=True)
class ValueRows:
    """Rows of values in any order; a time is the number of its milliseconds, a float has fewer digits."""

    rows: tuple[tuple[Any, ...], ...]

    def matches(self, rows: Sequence[Row]) -> bool:
        return is_permutation(rows, self.rows, _is_same_row)

    @property
    def text(self) -> str:
        return "\n".join(repr(row) for row in self.rows[:40])


def _is_same_row(row: Row, values: Sequence[Any]) -> bool:
    return len(row) == len(values) and all(map(is_same_value, row, values))


def is_same_value(value: Any, expected: Any) -> bool:
    """Whether a value of ours is one of a Java program."""
    if isinstance(expected, Float):
        close = partial(math.isclose, rel_tol=1e-6)
        return not isinstance(value, bool) and isinstance(value, int | float | Decimal) and close(value, expected.value)
    if value is None or expected is None:
        return value is expected
    if isinstance(value, date):
        time = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return bool(round(time.replace(tzinfo=UTC).timestamp() * 1000) == expected)
    if isinstance(value, (bool, str)):
        return bool(value == expected)
    if isinstance(value, int | float | Decimal):
        return isinstance(expected, int | float) and (value == expected or _is_close(float(value), expected, value))
    raise NotComparable(f"values of type {type(value).__name__}")


def is_same_cell(value: Any, text: str, null: str) -> bool:
    """Whether a value of ours is the one that a text shows; a time is also the number of its milliseconds."""
    if value is None or text == null:
        return value is None and text == null
    if isinstance(value, bool):
        return text.lower() in (("true", "1") if value else ("false", "0"))
    if isinstance(value, int | Decimal):
        number = milliseconds(text) if _number(text) is None else _number(text)
        return number is not None and (number == value or _is_close(float(value), float(number), value))
    if isinstance(value, float):
        return _is_close(value, _float(text), value)
    if isinstance(value, datetime):
        return _time(text) == value.replace(tzinfo=None)
    if isinstance(value, date):
        return text == value.isoformat()
    if isinstance(value, str):
        return value.rstrip() == text.rstrip()
    raise NotComparable(f"values of type {type(value).__name__}")


def is_same_float(value: Any, text: str) -> bool:
    number = _float(text)
    return isinstance(value, float) and number is not None and math.isclose(value, number, rel_tol=1e-6)


def milliseconds(text: str) -> int | None:
    """A date or time in UTC, or a time of day, as milliseconds, which is how Druid's tables store it."""
    time = _time(f"1970-01-01 {text}" if text[2:3] == ":" else text)
    return None if time is None else round(time.replace(tzinfo=UTC).timestamp() * 1000)


def _is_close(ours: float, theirs: float | None, value: Any) -> bool:
    """Doubles have other last digits, depending on the order of their sum; integers have not."""
    if theirs is None or isinstance(value, int):
        return False
    both_nan = math.isnan(ours) and math.isnan(theirs)
    return both_nan or math.isclose(ours, theirs, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(_NANOSECONDS.sub(r"\1", text)).replace(tzinfo=None)
    except ValueError:
        return None
