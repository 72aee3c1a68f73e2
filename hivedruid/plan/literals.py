"""Hive's texts for times and intervals, read exactly. What does not parse is None: NULL for Hive."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import cache

_DATE = r"(\d{4})-(\d{1,2})-(\d{1,2})"
_TIMESTAMP = re.compile(_DATE + r"(?:[ ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?")
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?")


@cache
def zone_of(name: str) -> tzinfo | None:
    """The time zone of an IANA name, `Z`, or an offset such as +05:30; None if there is no such zone."""
    import zoneinfo

    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def parse_timestamp(text: str) -> datetime | None:
    """`yyyy-MM-dd[ HH:mm[:ss[.fffffffff]]]` as a naive datetime, digits past microseconds cut.

    An ISO text with `T` and `Z` is no timestamp for Hive (observed on 4.0.1).
    """
    match = _TIMESTAMP.fullmatch(text.strip())
    return _datetime(match) if match else None


def parse_timestamp_ltz(text: str, session_zone: str) -> datetime | None:
    """A timestamp text with an optional zone behind it, as an aware UTC datetime; without zone it is the session's."""
    stripped = text.strip()
    match = _TIMESTAMP.match(stripped)
    if not match:
        return None
    rest = stripped[match.end() :].strip()
    zone = zone_of(rest or session_zone)
    local = _datetime(match)
    if zone is None or local is None:
        return None
    return from_local(local, zone)


def from_local(local: datetime, zone: tzinfo) -> datetime:
    """The instant of a local time: the earlier of two at a fold, shifted forward in a gap, as java.time and Joda do."""
    try:
        return local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    except OverflowError:
        return local.replace(tzinfo=UTC)


UNIX_PATTERN = "yyyy-MM-dd HH:mm:ss"
"""The texts that unix_timestamp() reads without a pattern (GenericUDFToUnixTimeStamp)."""
_FIELD = re.compile(r"(yyyy)|(MM|dd|HH|mm|ss)|([-/:. ,_])|(.)", re.DOTALL)


def unix_shape(pattern: str) -> str | None:
    """The regular expression of the texts in a pattern whose fields all have a fixed width, each once, from the year
    on; None for others."""
    fields = _FIELD.findall(pattern)
    letters = [year or two for year, two, _, _ in fields if year or two]
    if (
        any(other for *_, other in fields)
        or not {"yyyy", "MM", "dd"} <= set(letters)
        or len(set(letters)) < len(letters)
    ):
        return None
    if ("mm" in letters) > ("HH" in letters) or ("ss" in letters) > ("mm" in letters):
        return None
    return "".join("[0-9]{4}" if year else "[0-9]{2}" if two else f"[{mark}]" for year, two, mark, _ in fields)


def parse_date(text: str) -> date | None:
    """The date part of a date or timestamp text."""
    match = _TIMESTAMP.fullmatch(text.strip())
    moment = _datetime(match) if match else None
    return moment.date() if moment else None


def _datetime(match: re.Match[str]) -> datetime | None:
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    micros = int((match[7] or "").ljust(6, "0")[:6] or 0)
    try:
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
    """A naive datetime as Hive writes it: no fraction, or one without trailing zeros."""
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


def parse_interval(text: str, unit: str) -> tuple[int, int] | None:
    """`INTERVAL 'text' unit` as (months, microseconds); units singular or plural, YEAR TO MONTH, DAY TO SECOND."""
    unit = unit.lower()
    sign = -1 if text.strip().startswith("-") else 1
    bare = text.strip().lstrip("+-")
    if unit == "year to month":
        match = re.fullmatch(r"(\d+)-(\d+)", bare)
        return (sign * (int(match[1]) * 12 + int(match[2])), 0) if match else None
    if unit == "day to second":
        match = re.fullmatch(r"(\d+) (\d+):(\d+)(?::(\d+)(?:\.(\d{1,9}))?)?", bare)
        if not match:
            return None
        seconds = ((int(match[1]) * 24 + int(match[2])) * 60 + int(match[3])) * 60 + int(match[4] or 0)
        return (0, sign * (seconds * 1_000_000 + int((match[5] or "").ljust(6, "0")[:6] or 0)))
    unit = unit.removesuffix("s")
    if unit in _UNIT_MONTHS and re.fullmatch(r"\d+", bare):
        return (sign * int(bare) * _UNIT_MONTHS[unit], 0)
    if unit in _UNIT_MICROS and re.fullmatch(r"\d+(\.\d+)?", bare):
        return (0, sign * int(Decimal(bare) * _UNIT_MICROS[unit]))
    return None


def add_months(moment: date, months: int) -> date:
    """Shift by calendar months, the day cut to the month's length; works on dates and datetimes."""
    import calendar

    index = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(index, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))
