"""Times of records that are unlikely, and the format that their field probably has. Pure.

A time field that is read in another unit, such as seconds as milliseconds, is no error for Druid: its rows are stored
in 1970, or thousands of years ahead, where no query looks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from hivedruid.druid.interval_sets import MAX, iso
from hivedruid.lazy_dataclass import dataclass


def _millis(year: int) -> int:
    """The beginning of a year."""
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000)


IN_1970 = (0, _millis(1971))
"""Milliseconds since 1970, the end exclusive."""
LIKELY_FROM = _millis(2000)
"""From when on a time is taken as evidence for another format."""
_UNITS = {"posix": 1000.0, "millis": 1.0, "micro": 1e-3, "nano": 1e-6}
"""Milliseconds of a unit, by Druid's name of the format."""
_PATTERNS = {8: ("%Y%m%d", "yyyyMMdd"), 10: ("%Y%m%d%H", "yyyyMMddHH"), 12: ("%Y%m%d%H%M", "yyyyMMddHHmm"),
             14: ("%Y%m%d%H%M%S", "yyyyMMddHHmmss")}  # fmt: skip
"""Python's and Joda's patterns of times that are written as one number, by its digits."""


@dataclass(frozen=True)
class UnlikelyTimes:
    """The rows of 1970 and those far ahead, with the first and the last of their times in milliseconds since 1970."""

    in_1970: int
    ahead: int
    first: int
    last: int

    @classmethod
    def of(cls, times: Sequence[int], now: datetime) -> UnlikelyTimes | None:
        """Those among these times; None if all are likely."""
        past = [time for time in times if IN_1970[0] <= time < IN_1970[1]]
        ahead = [time for time in times if time >= ahead_from(now)]
        found = sorted(past + ahead)
        return cls(len(past), len(ahead), found[0], found[-1]) if found else None

    @property
    def rows(self) -> int:
        return self.in_1970 + self.ahead

    def evidence(self, now: datetime) -> str:
        """`3 in 1970, 2 after 2027, from 1970-01-21T00:00:00Z to …`"""
        parts = (
            f"{self.in_1970} in 1970" if self.in_1970 else "",
            f"{self.ahead} after {_year_ahead(now) - 1}" if self.ahead else "",
            f"from {iso(self.first)}" + (f" to {iso(self.last)}" if self.last != self.first else ""),
        )
        return ", ".join(filter(None, parts))

    def format(self, read_as: str, now: datetime) -> str:
        """The druid.timestamp.format by which the times are likely; empty if there is none."""
        return next(
            (
                name
                for name in (*_UNITS, *(joda for _, joda in _PATTERNS.values()))
                if all(_is_likely(time, read_as, name, now) for time in (self.first, self.last))
            ),
            "",
        )


def ahead_from(now: datetime) -> int:
    """Times from then on are far ahead: more than a year, and at the beginning of one, where segments begin."""
    return _millis(_year_ahead(now))


def _year_ahead(now: datetime) -> int:
    return now.year + 2


def unlikely_intervals(now: datetime) -> list[str]:
    """The intervals of a native query that counts unlikely times."""
    return [f"{iso(start)}/{iso(end)}" for start, end in (IN_1970, (ahead_from(now), MAX))]


def condition(times: UnlikelyTimes, now: datetime) -> str:
    """The unlikely times as bounds of DROP PARTITION: those of 1970, or else those ahead."""
    return "__time < '1971-01-01'" if times.in_1970 else f"__time >= '{_year_ahead(now)}-01-01'"


def _is_likely(time: int, read_as: str, format_: str, now: datetime) -> bool:
    """Whether the number that was read as this time is a likely time in another format."""
    unit = _UNITS.get("millis" if read_as == "auto" else read_as)
    if unit is None or read_as == format_:
        return False
    number = round(time / unit)
    if format_ in _UNITS:
        found: float | None = number * _UNITS[format_]
    else:
        found = _parsed(str(number), format_)
    return found is not None and LIKELY_FROM <= found < ahead_from(now)


def _parsed(digits: str, joda: str) -> int | None:
    pattern, name = _PATTERNS.get(len(digits), ("", ""))
    if name != joda:
        return None
    try:
        return int(datetime.strptime(digits, pattern).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None
