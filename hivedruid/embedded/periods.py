"""ISO periods and zones in SQL: floor, ceiling and shift of instants as Joda-Time does them for Druid.

All instants are BIGINT milliseconds since the epoch in UTC. "Wall" is the same count for the wall clock of a zone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hivedruid.embedded.binding import once
from hivedruid.errors import DruidError

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
MONDAY = -3 * DAY
"""1969-12-29, the Monday from which ISO weeks are counted."""

_PERIOD = (
    r"(?i)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,3})\d*)?S)?)?"
)
_OFFSET = r"([+-])(\d{1,2})(?::?(\d{2}))?"
_UTC = frozenset({"utc", "etc/utc", "z", "gmt", "etc/gmt", "zulu", "universal", "uct", "etc/uct", "greenwich"})


class Period:
    """An ISO-8601 period: calendar `months` (years are 12), `days` (weeks are 7) and exact `millis`."""

    __slots__ = ("days", "is_hours", "is_week", "millis", "months", "text")

    def __init__(self, text: str) -> None:
        match = re.fullmatch(_PERIOD, text)
        if match is None or not any(match.groups()):
            raise DruidError(f"Invalid period '{text}'", hint="write an ISO-8601 period such as P1D or PT15M")
        years, months, weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:7])
        millis = int((match[8] or "").ljust(3, "0") or 0)
        self.text = text
        self.months = years * 12 + months
        self.days = weeks * 7 + days
        self.millis = hours * HOUR + minutes * MINUTE + seconds * SECOND + millis
        self.is_week = (weeks, days) == (1, 0)
        self.is_hours = not (minutes or seconds or millis)

    @property
    def shortest(self) -> int:
        """The minimum length of a bucket in milliseconds (daylight saving can shorten a day)."""
        return self.months * 28 * DAY + self.days * (DAY - 3 * HOUR) + self.millis


class Zone:
    """A time zone: `name` is None for UTC and fixed offsets, which do not need the zone database."""

    __slots__ = ("name", "offset")

    def __init__(self, text: str | None) -> None:
        self.name: str | None = None
        self.offset = 0
        if text is None or text.lower() in _UTC:
            return
        match = re.fullmatch(_OFFSET, text)
        if match is None:
            self.name = text
        else:
            sign = -1 if match[1] == "-" else 1
            self.offset = sign * (int(match[2]) * HOUR + int(match[3] or 0) * MINUTE)

    @property
    def is_utc(self) -> bool:
        return self.name is None and self.offset == 0

    def wall(self, t: str) -> str:
        """SQL for the wall clock of instant `t`."""
        if self.name is not None:
            return f"druid_local({t}, {self.literal})"
        return f"({t} + ({self.offset}))" if self.offset else t

    def instant(self, wall: str, original: str) -> str:
        """SQL for the instant of a wall clock time that was computed from instant `original`."""
        if self.name is not None:
            return f"druid_instant({wall}, {self.literal}, {original})"
        return f"({wall} - ({self.offset}))" if self.offset else wall

    def instant_of(self, wall: str) -> str:
        """SQL for the instant of a wall clock time."""
        if self.name is not None:
            return f"druid_instant_of({wall}, {self.literal})"
        return self.instant(wall, "0")

    @property
    def literal(self) -> str:
        return "'" + (self.name or "UTC").replace("'", "''") + "'"


def floor(t: str, period: Period, zone: Zone, origin: str | None = None) -> str:
    """SQL for the start of the bucket that instant `t` is in.

    Without an `origin` (SQL of an instant), single units follow the calendar (weeks start on Monday), and multiples are
    counted from 1970-01-01 in the zone (Druid's PeriodGranularity).
    """
    _refuse_mixed(period, zone)
    if period.months:
        wall = zone.wall(t)
        if period.months in (1, 12) and origin is None:
            unit = "month" if period.months == 1 else "year"
            return zone.instant(f"epoch_ms(date_trunc('{unit}', epoch_ms({wall})))", t)
        return zone.instant(_floor_months(wall, period.months, zone.wall(origin) if origin else "0"), t)
    if period.is_week and not (period.months or period.millis) and origin is None:
        return _floor_week(t, zone)
    if period.days and not period.millis:
        start = "0" if origin is None else zone.wall(origin)
        return zone.instant(_floor_to(zone.wall(t), period.days * DAY, start), t)
    size = period.days * DAY + period.millis
    if origin is None and size in (HOUR, MINUTE, SECOND, 1):
        return f"({t} - druid_floor_mod({zone.wall(t)}, {size}))"
    start = origin or zone.instant_of("CAST(0 AS BIGINT)")
    floored = _floor_to(t, size, start)
    if period.is_hours and size % HOUR == 0:
        # Hours before an origin that is not after 1970 round up, as in Druid (PeriodGranularity.truncate).
        floored = f"(CASE WHEN {t} < {start} AND {start} <= 0 THEN {t} - ({t} - {start}) % {size} ELSE {floored} END)"
    return floored


def _floor_week(t: str, zone: Zone) -> str:
    """Truncated to the day, and then to the same hour of its Monday, which is late if the clocks skip the start of the
    day."""

    def monday(days: Sequence[str]) -> str:
        wall = zone.wall(days[0])
        return zone.instant(f"({wall} - druid_floor_mod({wall} - ({MONDAY}), {7 * DAY}) // {DAY} * {DAY})", days[0])

    if zone.name is None:
        return zone.instant(_floor_to(zone.wall(t), 7 * DAY, str(MONDAY)), t)
    return once([zone.instant(_floor_to(zone.wall(t), DAY, "0"), t)], monday)


def _refuse_mixed(period: Period, zone: Zone) -> None:
    kinds = sum(1 for part in (period.months, period.days, period.millis) if part)
    if kinds > 1 and (period.months or zone.name is not None):
        raise DruidError(
            f"buckets of '{period.text}' mix units of changing length: not supported by the embedded store"
        )


def _floor_to(value: str, size: int, origin: str) -> str:
    shifted = value if origin == "0" else f"{value} - ({origin})"
    return f"({value} - druid_floor_mod({shifted}, {size}))"


def _floor_months(wall: str, months: int, start: str) -> str:
    index = f"(druid_month_index({wall}) - druid_month_index(CAST({start} AS BIGINT)))"
    whole = f"({index} - druid_floor_mod({index}, {months}))"
    floored = f"druid_add_months(CAST({start} AS BIGINT), {whole})"
    if start == "0":
        return floored
    return f"(CASE WHEN {floored} > {wall} THEN druid_add_months({start}, {whole} - {months}) ELSE {floored} END)"


def shift(t: str, period: Period, step: str, zone: Zone) -> str:
    """SQL for instant `t` plus `step` times a period: months and days on the wall clock, the rest exactly."""
    result = t
    if period.months:
        moved = f"druid_add_months({zone.wall(result)}, {period.months} * {step})"
        result = zone.instant(moved, result)
    if period.days:
        result = zone.instant(f"({zone.wall(result)} + {period.days * DAY} * {step})", result)
    if period.millis:
        result = f"({result} + {period.millis} * {step})"
    return result


def ceiling(t: str, period: Period, zone: Zone, origin: str | None = None) -> str:
    """SQL for the end of the bucket that instant `t` is in, or `t` itself if a bucket starts there."""

    def write(starts: Sequence[str]) -> str:
        return f"(CASE WHEN {starts[0]} = {t} THEN {t} ELSE {shift(starts[0], period, '1', zone)} END)"

    return once([floor(t, period, zone, origin)], write)
