"""Parses strings of times and intervals exactly as Hive does. Invalid strings return None (NULL in Hive)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import cache
from typing import Any

from hivedruid.catalog.types import INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, HiveType
from hivedruid.lazy_regex import regex
from hivedruid.plan.number_text import TIME_BLANK
from hivedruid.results import Batches, Column

ZONE = (
    r"Z|[+-][0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?|(?:UTC|GMT|UT)(?:[+-][0-9]{2}:[0-9]{2})?|[CEMW]ET"
    r"|[A-Z][A-Za-z_]*(?:/[A-Za-z0-9_+-]+)+"
)
"""A zone after a time, in java.time's syntax."""
DAY = r"[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}"
CLOCK = r"[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.][0-9]{1,9})?"
FULL_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
FULL_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,9})?"
ISO = rf"{FULL_DAY}[Tt][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.][0-9]{{1,9}})?)?"
_START, _END = rf"^{TIME_BLANK}*", rf"{TIME_BLANK}*(?![\s\S])"
DATE_TEXT = rf"{_START}(?!0+-)({DAY})(?![0-9])"
"""The dates that Hive parses: the day at the beginning, followed by anything but a digit (Date.valueOf)."""
MOMENT_TEXT = (
    rf"{_START}(?!0+-)(?=(?:{DAY} {CLOCK}|{ISO})[0-9]*{_END}|{FULL_DAY} {FULL_CLOCK}[0-9]* ?(?:{ZONE}){_END})"
    rf"({DAY} {CLOCK}|{ISO})"
)
"""The timestamps that Hive parses. Digits after the ninth are dropped, a zone is ignored. Another string that begins
with a date is that date's midnight."""
PLAIN_TEXT = rf"{_START}({DAY} {CLOCK}|{ISO}){_END}"
"""The timestamps that unix_timestamp parses without a pattern."""
CLOCK_TEXT = rf"{_START}((?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?){_END}"
"""A time of day, on the current date."""
LTZ_TEXT = rf"{_START}(?!0000)({FULL_DAY}(?: {FULL_CLOCK})?)[0-9]* ?({ZONE})?{_END}"
"""The strings that Hive parses as timestamp with local time zone, with an optional zone at the end."""
_FIELDS = regex(r"(\d+)-(\d+)-(\d+)(?:[ Tt](\d+):(\d+)(?::(\d+)(?:\.(\d{1,9}))?)?)?", re.ASCII)
_OFFSET = regex(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?")


@cache
def zone_of(name: str) -> tzinfo | None:
    """The time zone of an IANA name, `Z`, or an offset such as +05:30; None if there is no such zone."""
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def in_zone(value: Any, zone: tzinfo | None) -> Any:
    """A zoned time converted to a zone; other values are unchanged."""
    return value.astimezone(zone) if isinstance(value, datetime) and value.tzinfo is not None else value


def rows_in_zone(rows: Iterable[tuple[Any, ...]], zone: str) -> Iterator[tuple[Any, ...]]:
    """The rows with zoned times in the session's time zone."""
    session = zone_of(zone)
    if isinstance(rows, Batches):
        return rows.mapped(lambda columns: tuple(_in_zone(column, session) for column in columns))
    return (tuple(in_zone(value, session) for value in row) for row in rows)


def _in_zone(column: Column, zone: tzinfo | None) -> Column:
    return [in_zone(cell, zone) for cell in column] if isinstance(column, Sequence) else column


def parse_timestamp(text: str) -> datetime | None:
    """The timestamp that Hive parses from a string, truncated to microseconds; for a time of day see `is_clock`."""
    match = re.match(MOMENT_TEXT, text, re.ASCII)
    moment = _datetime(match[1]) if match else None
    if moment is not None:
        return moment
    day = parse_date(text)
    return datetime(day.year, day.month, day.day) if day else None


def parse_plain(text: str) -> datetime | None:
    """The timestamp that unix_timestamp() parses without a pattern: date and time of day, and nothing else."""
    match = re.match(PLAIN_TEXT, text, re.ASCII)
    return _datetime(match[1]) if match else None


def is_clock(text: str) -> bool:
    """Whether a string is a time without a date, which Hive interprets as a time of the current day."""
    return re.match(CLOCK_TEXT, text, re.ASCII) is not None


def parse_timestamp_ltz(text: str, session_zone: str) -> datetime | None:
    """A timestamp string with an optional zone at the end, as an aware UTC datetime; without zone it is in the
    session's.
    """
    match = re.match(LTZ_TEXT, text, re.ASCII)
    local = _datetime(match[1]) if match else None
    zone = zone_of((match[2] if match else None) or session_zone)
    return None if zone is None or local is None else from_local(local, zone)


def from_local(local: datetime, zone: tzinfo) -> datetime:
    """The instant of a local time: the earlier of two at a fold, shifted forward in a gap, as java.time and Joda do."""
    try:
        return local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    except OverflowError:
        return local.replace(tzinfo=UTC)


UNIX_PATTERN = "yyyy-MM-dd HH:mm:ss"
"""The strings that unix_timestamp() parses without a pattern (GenericUDFToUnixTimeStamp)."""


def is_cut(text: str) -> bool:
    """Whether the string of a time has digits that timestamps here do not keep: after the sixth."""
    return re.search(r":[0-9]+[.][0-9]{6}0*[1-9]", text) is not None


def parse_date(text: str) -> date | None:
    """The date at the start of a string."""
    match = re.match(DATE_TEXT, text, re.ASCII)
    moment = _datetime(match[1]) if match else None
    return moment.date() if moment else None


def _datetime(text: str) -> datetime | None:
    match = _FIELDS.fullmatch(text)
    assert match is not None
    micros = int((match[7] or "").ljust(6, "0")[:6] or 0)
    try:
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
        return datetime(year, month, day, hour, minute, second, micros)
    except ValueError:
        return None


EPOCH = datetime(1970, 1, 1)


def to_micros(moment: datetime | date) -> int:
    """Microseconds since the epoch: of an aware datetime's instant, or of a naive one or a date read in UTC."""
    if not isinstance(moment, datetime):
        return (moment - EPOCH.date()).days * 86_400_000_000
    naive = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    delta = naive - EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def timestamp_text(moment: datetime) -> str:
    """A naive datetime as Hive prints it: no fraction, or one without trailing zeros."""
    text = moment.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")
    return text if not moment.microsecond else f"{text}.{moment.microsecond:06d}".rstrip("0")


_UNIT_MICROS = {
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "week": 604_800_000_000,
}
_UNIT_MONTHS = {"year": 12, "month": 1, "quarter": 3}
INTERVAL_UNITS = ("year", "month", "day", "hour", "minute", "second")
"""The units of Hive's intervals."""


def interval_text(value: tuple[int, int], type_: HiveType) -> str:
    """An interval as Hive prints it: `1-2` of years and months, `1 02:03:04.500000000` of days and seconds."""
    from hivedruid.cells import interval_of

    return str(interval_of(value, type_))


INTERVAL_TEXTS = {INTERVAL_YEAR_MONTH: "year to month", INTERVAL_DAY_TIME: "day to second"}
"""The units of a string that is cast to an interval."""
INTERVAL_TEXT = r"\s*[+-]?(\d+-0*(\d|1[01])|\d+ 0*(\d|1\d|2[0-3])(:[0-5]?\d){2}(\.\d{1,9}\d*)?)\s*"
"""The syntax of a string that is cast to an interval."""


def parse_interval_text(text: str, type_: HiveType) -> tuple[int, int] | None:
    """The interval for CAST of a string; None if a part is missing or out of range."""
    return parse_interval(text, INTERVAL_TEXTS[type_]) if re.fullmatch(INTERVAL_TEXT, text, re.ASCII) else None


_PART = r"\d{1,18}"
"""More digits are beyond every interval."""


def parse_interval(text: str, unit: str) -> tuple[int, int] | None:
    """`INTERVAL 'text' unit` as (months, microseconds); units singular or plural, YEAR TO MONTH, DAY TO SECOND."""
    unit = unit.lower()
    sign = -1 if text.strip().startswith("-") else 1
    bare = text.strip().lstrip("+-")
    if unit == "year to month":
        match = re.fullmatch(rf"({_PART})-({_PART})", bare)
        return (sign * (int(match[1]) * 12 + int(match[2])), 0) if match else None
    if unit == "day to second":
        match = re.fullmatch(rf"({_PART}) ({_PART}):({_PART})(?::({_PART})(?:\.(\d+))?)?", bare)
        if not match:
            return None
        seconds = ((int(match[1]) * 24 + int(match[2])) * 60 + int(match[3])) * 60 + int(match[4] or 0)
        return (0, sign * (seconds * 1_000_000 + int((match[5] or "").ljust(6, "0")[:6] or 0)))
    unit = unit.removesuffix("s")
    if unit in _UNIT_MONTHS and re.fullmatch(_PART, bare):
        return (sign * int(bare) * _UNIT_MONTHS[unit], 0)
    if unit in _UNIT_MICROS and re.fullmatch(rf"{_PART}(\.\d+)?", bare):
        return (0, sign * int(Decimal(bare) * _UNIT_MICROS[unit]))
    return None


_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def day_number(name: str) -> int | None:
    """1 for Monday, `mo` or `mon`, … 7 for Sunday, in any case; None for other names."""
    name = name.lower()
    return next((n for n, full in enumerate(_DAY_NAMES, 1) if name in (full, full[:3], full[:2])), None)


def add_months(moment: date, months: int) -> date:
    """Shift by calendar months, the day limited to the month's length; works on dates and datetimes."""
    import calendar

    index = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(index, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))
