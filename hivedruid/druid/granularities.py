"""The time buckets of Druid's named granularities, in UTC: GranularityType, and Joda's ISO calendar."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from hivedruid.druid.interval_sets import MAX, MIN

DAY = 86_400_000

WIDTHS: Mapping[str, int] = {
    "NONE": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "FIVE_MINUTE": 300_000,
    "TEN_MINUTE": 600_000,
    "FIFTEEN_MINUTE": 900_000,
    "THIRTY_MINUTE": 1_800_000,
    "HOUR": 3_600_000,
    "SIX_HOUR": 21_600_000,
    "EIGHT_HOUR": 28_800_000,
    "DAY": DAY,
    "WEEK": 7 * DAY,
}
"""The length of a bucket in milliseconds, if constant."""
ORIGINS: Mapping[str, int] = {"WEEK": -3 * DAY}
"""The start of the first bucket, if not the epoch: weeks start on Monday."""
MONTHS: Mapping[str, int] = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
"""The length of a bucket in months, if it consists of months."""

_CYCLE = 146_097
"""Days of 400 years, after which the calendar repeats."""
_CYCLE_BEGIN = date(2000, 1, 1).toordinal()
_EPOCH = date(1970, 1, 1).toordinal()


def number(millis: int, granularity: str) -> int:
    """The number of the bucket of an instant; adjacent buckets have consecutive numbers."""
    if granularity in WIDTHS:
        return (millis - ORIGINS.get(granularity, 0)) // WIDTHS[granularity]
    return _months(millis) // MONTHS[granularity] if granularity in MONTHS else 0


def interval(bucket: int, granularity: str) -> tuple[int, int]:
    """Start and end of the bucket with that number; all of time for ALL."""
    if granularity in WIDTHS:
        begin = ORIGINS.get(granularity, 0) + bucket * WIDTHS[granularity]
        return begin, begin + WIDTHS[granularity]
    if granularity in MONTHS:
        return _begin(bucket * MONTHS[granularity]), _begin((bucket + 1) * MONTHS[granularity])
    return MIN, MAX


def floor(millis: int, granularity: str) -> int:
    """The start of the bucket of an instant."""
    return interval(number(millis, granularity), granularity)[0]


def ceiling(millis: int, granularity: str) -> int:
    """The end of the bucket of the last millisecond before an instant."""
    return interval(number(millis - 1, granularity), granularity)[1]


def _months(millis: int) -> int:
    """Months since the start of the year 0. Python's dates end with the year 9999, Druid's do not."""
    cycles, days = divmod(millis // DAY + _EPOCH - _CYCLE_BEGIN, _CYCLE)
    day = date.fromordinal(_CYCLE_BEGIN + days)
    return (day.year + 400 * cycles) * 12 + day.month - 1


def _begin(months: int) -> int:
    """The first instant of a month."""
    cycles, month = divmod(months - 2000 * 12, 400 * 12)
    first = date(2000 + month // 12, month % 12 + 1, 1)
    return (first.toordinal() - _EPOCH + cycles * _CYCLE) * DAY
