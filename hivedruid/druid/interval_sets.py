"""Sets of time as half-open intervals of milliseconds, and how Druid writes them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from hivedruid.druid.instants import millis

MIN = -(1 << 62)
MAX = (1 << 62) - 1
"""Druid's eternity (Intervals.ETERNITY: half of Long's range)."""

IntervalSet = tuple[tuple[int, int], ...]
"""Disjoint, sorted, not touching."""

ALL: IntervalSet = ((MIN, MAX),)
NONE: IntervalSet = ()


def merged(intervals: Iterable[tuple[int, int]]) -> IntervalSet:
    """Sorted intervals, with touching and overlapping ones merged."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, end))
    return tuple(result)


class Cover:
    """A set of intervals that other intervals are compared with, each in logarithmic time."""

    def __init__(self, intervals: Iterable[tuple[int, int]] = ()) -> None:
        disjoint = merged(intervals)
        self._starts = [start for start, _ in disjoint]
        self._ends = [end for _, end in disjoint]

    def add(self, start: int, end: int) -> None:
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    @property
    def hull(self) -> tuple[int, int] | None:
        """From the first start to the last end; None for an empty set."""
        return (self._starts[0], self._ends[-1]) if self._starts else None

    def overlaps(self, start: int, end: int) -> bool:
        place = bisect_right(self._ends, start)
        return place < len(self._starts) and self._starts[place] < end

    def contains(self, start: int, end: int) -> bool:
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and end <= self._ends[place]


def union(sets: list[IntervalSet]) -> IntervalSet:
    return merged(interval for s in sets for interval in s)


def intersection(a: IntervalSet, b: IntervalSet) -> IntervalSet:
    result: list[tuple[int, int]] = []
    first = second = 0
    while first < len(a) and second < len(b):
        start, end = max(a[first][0], b[second][0]), min(a[first][1], b[second][1])
        if start < end:
            result.append((start, end))
        if a[first][1] < b[second][1]:
            first += 1
        else:
            second += 1
    return tuple(result)


def complement(a: IntervalSet) -> IntervalSet:
    edges = [MIN, *(edge for interval in a for edge in interval), MAX]
    return tuple((s, e) for s, e in zip(edges[::2], edges[1::2], strict=True) if s < e)


def iso(millis: int) -> str:
    """An instant in Druid's format, for any year in the range of a LONG."""
    days, rest = divmod(millis, 86_400_000)
    year, month, day = _civil(days)
    hour, rest = divmod(rest, 3_600_000)
    minute, rest = divmod(rest, 60_000)
    second, milli = divmod(rest, 1000)
    sign, width = ("-" if year < 0 else ""), 4
    return f"{sign}{abs(year):0{width}d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{milli:03d}Z"


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month, day of a day number since 1970-01-01 in the proleptic Gregorian calendar."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def to_json(intervals: IntervalSet) -> list[str]:
    """The `intervals` of a native query; an empty set is one empty interval."""
    return [f"{iso(start)}/{iso(end)}" for start, end in intervals] or [
        "1970-01-01T00:00:00.000Z/1970-01-01T00:00:00.000Z"
    ]


def from_json(intervals: Iterable[str]) -> IntervalSet:
    """The intervals of a native query as a set."""
    return merged((millis(start), millis(end)) for start, end in (text.split("/") for text in intervals))
