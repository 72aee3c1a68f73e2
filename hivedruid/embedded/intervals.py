"""Druid's instants and intervals: ISO-8601 text to milliseconds and back, for all years that Joda-Time supports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hivedruid.errors import DruidError

MIN_INSTANT = -4611686018427387904
MAX_INSTANT = 4611686018427387903
"""The ends of Druid's eternity, `-146136543-09-08T08:23:32.096Z` and `146140482-04-24T15:36:27.903Z`."""

ETERNITY = ((MIN_INSTANT, MAX_INSTANT),)

_INSTANT = (
    r"(?i)([+-]?\d+)(?:-(\d{1,2})(?:-(\d{1,2}))?)?"
    r"(?:T(?:(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.,](\d+))?)?)?)?)?"
    r"(Z|[+-]\d{2}(?::?\d{2})?)?"
)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


def _civil_from_days(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + 719468, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def parse_instant(text: str) -> int:
    """Milliseconds since the epoch. A text without an offset is in UTC. Raises DruidError."""
    match = re.fullmatch(_INSTANT, text.strip().replace(" ", "T", 1))
    if match is None:
        raise DruidError(f'Invalid format: "{text}" is not a valid ISO-8601 instant')
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    hour, minute, second = int(match[4] or 0), int(match[5] or 0), int(match[6] or 0)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    month_days = _MONTH_DAYS[month - 1] + (leap and month == 2) if 1 <= month <= 12 else 0
    if not 1 <= day <= month_days or hour > 24 or minute > 59 or second > 59:
        raise DruidError(f'Cannot parse "{text}": a field is out of range')
    millis = int((match[7] or "0")[:3].ljust(3, "0"))
    total = _days_from_civil(year, month, day) * 86_400_000 + hour * 3_600_000 + minute * 60_000 + second * 1000
    return total + millis - _offset(match[8])


def _offset(text: str | None) -> int:
    if not text or text in "Zz":
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = int(digits[:2]) * 3_600_000 + int(digits[2:]) * 60_000
    return -offset if text[0] == "-" else offset


def format_instant(millis: int) -> str:
    """ISO-8601 in UTC with milliseconds, as Druid prints an instant."""
    days, rest = divmod(millis, 86_400_000)
    year, month, day = _civil_from_days(days)
    hour, rest = divmod(rest, 3_600_000)
    minute, rest = divmod(rest, 60_000)
    second, milli = divmod(rest, 1000)
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{milli:03d}Z"


def parse_interval(text: str) -> tuple[int, int]:
    """Start and end of `start/end`; one of the two may be a period."""
    start, slash, end = text.partition("/")
    if not slash:
        raise DruidError(f"Format requires a '/' separator: {text}")
    if start.startswith("P"):
        last = parse_instant(end)
        first = _move(last, start, -1)
    elif end.startswith("P"):
        first = parse_instant(start)
        last = _move(first, end, 1)
    else:
        first, last = parse_instant(start), parse_instant(end)
    if last < first:
        raise DruidError(f"The end instant must be greater than the start instant: {text}")
    return first, last


def _move(millis: int, text: str, step: int) -> int:
    from hivedruid.embedded.periods import Period

    period = Period(text)
    days, rest = divmod(millis, 86_400_000)
    year, month, day = _civil_from_days(days)
    years, month = divmod(year * 12 + month - 1 + step * period.months, 12)
    leap = years % 4 == 0 and (years % 100 != 0 or years % 400 == 0)
    day = min(day, _MONTH_DAYS[month] + (leap and month == 1))
    return (_days_from_civil(years, month + 1, day) + step * period.days) * 86_400_000 + rest + step * period.millis


def parse_intervals(spec: Any) -> tuple[tuple[int, int], ...]:
    """The `intervals` of a query: one text, a list of texts, or `{"type": "intervals", …}`."""
    if isinstance(spec, Mapping):
        if spec.get("type") not in (None, "intervals", "LegacySegmentSpec"):
            raise DruidError(f"intervals of type '{spec.get('type')}' are not supported by the embedded store")
        spec = spec.get("intervals")
    if spec is None:
        return ETERNITY
    texts = spec.split(",") if isinstance(spec, str) else list(spec)
    return tuple(parse_interval(text) for text in texts)


def covers_all_time(intervals: tuple[tuple[int, int], ...]) -> bool:
    return any(start <= MIN_INSTANT and end >= MAX_INSTANT for start, end in intervals)


def condition(column: str, intervals: tuple[tuple[int, int], ...]) -> str | None:
    """SQL that keeps the rows whose time is in one of the half-open intervals; None if all are."""
    if covers_all_time(intervals):
        return None
    parts = []
    for start, end in intervals:
        bounds = []
        if start > MIN_INSTANT:
            bounds.append(f"{column} >= {start}")
        if end < MAX_INSTANT:
            bounds.append(f"{column} < {end}")
        parts.append(" AND ".join(bounds) if start < end else "FALSE")
    return "(" + " OR ".join(f"({part})" for part in parts) + ")" if parts else "FALSE"
