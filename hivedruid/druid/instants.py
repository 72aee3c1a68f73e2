"""Druid's instants: ISO 8601 text in the full range of years of a LONG in milliseconds."""

from __future__ import annotations

import re

from hivedruid.errors import DruidError
from hivedruid.lazy_regex import regex

_INSTANT = regex(
    r"([+-]?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3})\d*)?(?:Z|([+-])(\d\d):(\d\d)(?::(\d\d))?)",
    re.ASCII,
)


def millis(text: str) -> int:
    """Milliseconds since the epoch. Raises DruidError for an invalid instant."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise DruidError(f"'{text}' is not a valid ISO 8601 instant")
    year, month, day, hour, minute, second = map(int, match.group(1, 2, 3, 4, 5, 6))
    offset = int(match[9] or 0) * 3600 + int(match[10] or 0) * 60 + int(match[11] or 0)
    total = _days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    total += offset if match[8] == "-" else -offset
    return total * 1000 + int((match[7] or "0").ljust(3, "0"))


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468
