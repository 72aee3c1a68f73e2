"""Ranges of columns from statistics, and the share of their values that comparisons with constants keep, as if the
values were distributed evenly. Estimates only.

Numbers are positions in a range as they are; dates and timestamps are days since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from math import ceil, floor, inf, isfinite
from typing import Any

from hivedruid.catalog.statistics import ColumnStatistics
from hivedruid.catalog.types import HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.literals import to_micros
from hivedruid.plan.rex import Call, Literal, Ref, Rex

_MILLIS = 86_400_000
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class ValueRange:
    """The smallest and the largest value of a column; `is_whole`: all of its values are whole numbers."""

    low: float
    high: float
    is_whole: bool

    @property
    def values(self) -> int | None:
        """The maximum number of different values."""
        return int(self.high) - int(self.low) + 1 if self.is_whole else None

    def share(self, comparisons: Iterable[Comparison]) -> float:
        """The share of values that satisfy all comparisons."""
        low, high = self.low, self.high
        for each in comparisons:
            least, most = each.bounds(is_whole=self.is_whole)
            low, high = max(low, least), min(high, most)
        width = 1 if self.is_whole else 0
        if self.high - self.low + width == 0:
            return 1.0 if low <= high else 0.0
        return max(0.0, (high - low + width) / (self.high - self.low + width))

    def may_have(self, value: Rex) -> bool:
        """Whether a constant is in the range; True for one that is not comparable."""
        at = _position(value.value) if isinstance(value, Literal) else None
        return at is None or self.low <= at <= self.high

    @property
    def millis(self) -> tuple[int, int]:
        """A range of days in milliseconds since 1970, half open."""
        return floor(self.low * _MILLIS), floor(self.high * _MILLIS) + 1


@dataclass(frozen=True)
class Comparison:
    """A comparison of a column with a constant."""

    column: str
    op: str
    value: float

    def bounds(self, *, is_whole: bool) -> tuple[float, float]:
        """The values that satisfy it."""
        if self.op in ("<", "<="):
            most = floor(self.value) - (self.op == "<" and floor(self.value) == self.value) if is_whole else self.value
            return -inf, most
        least = ceil(self.value) + (self.op == ">" and ceil(self.value) == self.value) if is_whole else self.value
        return least, inf


def comparison(rex: Rex) -> Comparison | None:
    """A condition as a comparison; None if it is another one."""
    if not isinstance(rex, Call) or rex.op not in _FLIPPED or len(rex.args) != 2:
        return None
    op, (left, right) = rex.op, rex.args
    if isinstance(left, Literal):
        op, left, right = _FLIPPED[op], right, left
    column, value = uncast(left), _position(right.value) if isinstance(right, Literal) else None
    return Comparison(column.id, op, value) if isinstance(column, Ref) and value is not None else None


def uncast(rex: Rex) -> Rex:
    """Without conversions that keep positions."""
    while isinstance(rex, Call) and rex.op == "cast" and len(rex.args) == 1:
        before, after = rex.args[0].type, rex.type
        if not (before.is_numeric and after.is_numeric) and not (before.name == "date" and after.is_timestamp):
            break
        rex = rex.args[0]
    return rex


def value_range(statistics: ColumnStatistics, hive: HiveType) -> ValueRange | None:
    """The range of a column of numbers, dates or timestamps; None if it is not known."""
    if statistics.low is None or statistics.high is None:
        return None
    try:
        low, high = (_bound(text, hive) for text in (statistics.low, statistics.high))
    except (ValueError, OverflowError, ArithmeticError):
        return None
    is_whole = hive.is_integer or hive.name == "date"
    if low is None or high is None or not low <= high or not (isfinite(low) and isfinite(high)):
        return None
    return ValueRange(low, high, is_whole)


def _bound(text: str, hive: HiveType) -> float | None:
    """The position of a bound; Druid's times are milliseconds."""
    if hive.is_integer:
        return int(text)
    if hive.is_numeric:
        return float(text)
    if not hive.is_time:
        return None
    is_millis = text.removeprefix("-").isdigit()
    days = int(text) / _MILLIS if is_millis else _days(datetime.fromisoformat(text))
    return floor(days) if hive.name == "date" else days


def _days(moment: date) -> float:
    return to_micros(moment) / (_MILLIS * 1_000)


def _position(value: Any) -> float | None:
    """The position of a constant; None if it has none."""
    if isinstance(value, date):
        return _days(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = value if isinstance(value, int) else float(value)
    return number if isfinite(number) else None
