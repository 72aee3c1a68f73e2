"""Dates and timestamps: calendar fields, rounding, arithmetic and formatting. Zoned timestamps are interpreted in the
session's time zone."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, TypeVar

from hivedruid.catalog.types import DATE, TIMESTAMP, HiveType
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.plan import cast_patterns, literals, time_patterns, time_shapes
from hivedruid.plan.rex import Call, Literal, Rex

Function = Callable[..., Any]
Moment = TypeVar("Moment", bound=date)
GREGORIAN = 1583
"""The first year for which all calendars in use agree."""


def modern(moment: Moment) -> Moment:
    if moment.year < GREGORIAN:
        raise Unsure("a time before the Gregorian calendar")
    return moment


def local(type_: HiveType, zone: tzinfo) -> Callable[[Any], Any]:
    """The local time: a zoned timestamp in the session's time zone, others unchanged."""
    if type_.name.endswith("zone"):
        return lambda v: modern(v.astimezone(zone).replace(tzinfo=None, fold=0))
    if type_ in (DATE, TIMESTAMP):
        return modern
    raise NotLocal(f"a time function of {type_}")


_FIELDS: dict[str, Callable[[Any], int]] = {
    "year": lambda t: t.year,
    "quarter": lambda t: (t.month + 2) // 3,
    "month": lambda t: t.month,
    "week": lambda t: t.isocalendar()[1],
    "day": lambda t: t.day,
    "dayofweek": lambda t: t.isoweekday() % 7 + 1,
    "dayofyear": lambda t: t.timetuple().tm_yday,
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
    "second": lambda t: t.second,
}


UNITS = tuple(_FIELDS)


def extract(call: Call, zone: tzinfo) -> Function:
    unit = call.op.removeprefix("extract_")
    field, read = _FIELDS[unit], local(call.args[0].type, zone)
    if call.args[0].type == DATE and unit in ("hour", "minute", "second"):
        raise NotLocal(f"{unit}() of a date")
    return lambda v: field(read(v))


def _midnight(t: datetime) -> datetime:
    return t.replace(hour=0, minute=0, second=0, microsecond=0)


def to_millis(call: Call) -> Function:
    """Milliseconds since the epoch, floored, of a timestamp of either kind or a date, in UTC."""
    if not call.args[0].type.is_time:
        raise NotLocal(f"to_millis() of {call.args[0].type}")
    return lambda v: literals.to_micros(modern(v)) // 1000


_FLOORS: dict[str, Callable[[datetime], datetime]] = {
    "year": lambda t: _midnight(t).replace(month=1, day=1),
    "quarter": lambda t: _midnight(t).replace(month=(t.month + 2) // 3 * 3 - 2, day=1),
    "month": lambda t: _midnight(t).replace(day=1),
    "week": lambda t: _midnight(t) - timedelta(days=t.weekday()),
    "day": _midnight,
    "hour": lambda t: t.replace(minute=0, second=0, microsecond=0),
    "minute": lambda t: t.replace(second=0, microsecond=0),
    "second": lambda t: t.replace(microsecond=0),
}


FLOOR_UNITS = tuple(_FLOORS)


def floor(call: Call, zone: tzinfo) -> Function:
    """floor_<unit>; below a day, the elapsed part of the local unit is subtracted from the instant."""
    unit = call.op.removeprefix("floor_")
    source = call.args[0].type
    cut, read = _FLOORS[unit], local(source, zone)
    if source == TIMESTAMP:
        return lambda v: cut(read(v))
    if not source.name.endswith("zone"):
        raise NotLocal(f"floor of {source}")
    if unit in ("hour", "minute", "second"):
        return lambda v: v - (read(v) - cut(read(v)))
    return lambda v: literals.from_local(cut(read(v)), zone)


def _day(call: Call, zone: tzinfo) -> Callable[[Any], date]:
    """The first argument as a date; the planner has already cast strings."""
    source = call.args[0].type
    if source == DATE:
        return modern
    read = local(source, zone)
    return lambda v: read(v).date()


def shift_days(call: Call, zone: tzinfo) -> Function:
    """date_add() and date_sub()."""
    day = _day(call, zone)
    if call.type != DATE or not call.args[1].type.is_integer:
        raise NotLocal(f"{call.op}() of {call.args[1].type}")
    factor = 1 if call.op == "date_add" else -1
    return lambda v, days: _moved(lambda: day(v) + timedelta(days=factor * days))


def _moved(move: Callable[[], Any]) -> Any:
    try:
        return modern(move())
    except (OverflowError, ValueError):
        raise Unsure("a time after the year 9999") from None


def days_between(call: Call) -> Function:
    if any(a.type != DATE for a in call.args):
        raise NotLocal("datediff() of non-dates")
    return lambda a, b: (modern(a) - modern(b)).days


def add_months(call: Call, zone: tzinfo) -> Function:
    """The last day of a month stays the last day; the result is a string."""
    day = _day(call, zone)
    if len(call.args) != 2 or not call.args[1].type.is_integer or call.args[0].type != DATE:
        raise NotLocal("add_months() with a pattern, or of non-dates")
    if call.type.name != "string":
        raise NotLocal(f"add_months() of type {call.type}")

    def added(value: Any, months: int) -> str:
        start = day(value)
        moved = _moved(lambda: literals.add_months(start, months))
        return str(_month_end(moved) if start == _month_end(start) else moved)

    return added


def _month_end(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def last_day(call: Call, zone: tzinfo) -> Function:
    day = _day(call, zone)
    if call.type.name not in ("string", "date"):
        raise NotLocal(f"last_day() of type {call.type}")
    return (lambda v: str(_month_end(day(v)))) if call.type.name == "string" else lambda v: _month_end(day(v))


_TRUNC: dict[str, str] = {
    **dict.fromkeys(("MONTH", "MON", "MM"), "month"),
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    **dict.fromkeys(("QUARTER", "Q"), "quarter"),
}


def trunc(call: Call, zone: tzinfo) -> Function:
    """trunc(date, 'MM'), which returns a string."""
    unit = call.args[1] if len(call.args) == 2 else None
    if not isinstance(unit, Literal) or not isinstance(unit.value, str) or unit.value.upper() not in _TRUNC:
        raise NotLocal("trunc() to a non-constant unit, or of a number")
    if call.type.name != "string" or not call.args[0].type.is_time:
        raise NotLocal(f"trunc() of {call.args[0].type}")
    cut, day = _FLOORS[_TRUNC[unit.value.upper()]], _day(call, zone)
    return lambda v, _unit: str(cut(datetime.combine(day(v), datetime.min.time())).date())


def plus_interval(call: Call, zone: tzinfo) -> Function:
    """A time plus or minus a constant interval; months of a zoned timestamp are added in the session's time zone."""
    a, b = call.args
    interval, moment = (a, b) if a.type.name.startswith("interval") else (b, a)
    if not isinstance(interval, Literal) or not isinstance(interval.value, tuple):
        raise NotLocal("a non-constant interval")
    if not moment.type.is_time or call.type not in (moment.type, TIMESTAMP):
        raise NotLocal(f"interval arithmetic with {moment.type}")
    if moment.type.name.endswith("zone") != call.type.name.endswith("zone"):
        raise NotLocal(f"interval arithmetic with {moment.type}")
    sign = -1 if call.op == "-" else 1
    months, micros = sign * interval.value[0], timedelta(microseconds=sign * interval.value[1])
    widen = moment.type == DATE and call.type == TIMESTAMP
    zoned, first = call.type.name.endswith("zone"), interval is a

    def added(x: Any, y: Any) -> Any:
        value = y if first else x
        if widen:
            value = datetime.combine(value, datetime.min.time())
        if months and zoned:
            moved = literals.add_months(value.astimezone(zone).replace(tzinfo=None, fold=0), months)
            value = literals.from_local(moved, zone)  # type: ignore[arg-type]
        elif months:
            value = literals.add_months(value, months)
        return value + micros

    return lambda x, y: _moved(lambda: added(x, y))


# --- texts of times ----------------------------------------------------------------------------------------------


_PATTERN = re.compile(r"([A-Za-z])\1*|'(?:[^']|'')*'|[^A-Za-z']+")


def _fraction(width: int) -> Callable[[Any], str]:
    return lambda t: f"{t.microsecond:06}000"[:width]


_WRITERS: dict[str, Callable[[Any], str]] = {
    "yyyy": lambda t: f"{t.year:04}",
    "yy": lambda t: f"{t.year % 100:02}",
    "y": lambda t: str(t.year),
    "Q": lambda t: str((t.month + 2) // 3),
    "M": lambda t: str(t.month),
    "MM": lambda t: f"{t.month:02}",
    "MMM": lambda t: time_patterns.MONTHS[t.month - 1][:3],
    "MMMM": lambda t: time_patterns.MONTHS[t.month - 1],
    "d": lambda t: str(t.day),
    "dd": lambda t: f"{t.day:02}",
    "DDD": lambda t: f"{t.timetuple().tm_yday:03}",
    "e": lambda t: str(t.isoweekday() % 7 + 1),
    **dict.fromkeys(("E", "EE", "EEE"), lambda t: time_patterns.WEEKDAYS[t.weekday()][:3]),
    "EEEE": lambda t: time_patterns.WEEKDAYS[t.weekday()],
    "H": lambda t: str(t.hour),
    "HH": lambda t: f"{t.hour:02}",
    "hh": lambda t: f"{(t.hour + 11) % 12 + 1:02}",
    "h": lambda t: str((t.hour + 11) % 12 + 1),
    "mm": lambda t: f"{t.minute:02}",
    "m": lambda t: str(t.minute),
    "ss": lambda t: f"{t.second:02}",
    "s": lambda t: str(t.second),
    **{"S" * width: _fraction(width) for width in range(1, 10)},
    "a": lambda t: "AM" if t.hour < 12 else "PM",
}


def writer(pattern: str) -> Callable[[datetime], str]:
    """A time formatted with a java.time pattern whose letters are in the table."""
    parts: list[Callable[[Any], str]] = []
    position = 0
    for match in _PATTERN.finditer(pattern):
        text = match[0]
        if match.start() != position:
            raise NotLocal(f"the time pattern '{pattern}'")
        position = match.end()
        if match[1]:
            if text not in _WRITERS:
                raise NotLocal(f"{text} in a time pattern")
            parts.append(_WRITERS[text])
        elif any(mark in text for mark in "[]{}#"):
            raise NotLocal(f"the time pattern '{pattern}'")
        else:
            written = text if text[0] != "'" else text[1:-1].replace("''", "'") or "'"
            parts.append(lambda _t, written=written: written)  # type: ignore[misc]
    if position != len(pattern) or not parts:
        raise NotLocal(f"the time pattern '{pattern}'")
    return lambda t: "".join([part(t) for part in parts])


def date_format(call: Call, zone: tzinfo) -> Function:
    pattern = call.args[1]
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise NotLocal("date_format() with a non-constant pattern")
    read, write = local(call.args[0].type, zone), writer(pattern.value)
    if call.args[0].type == DATE:
        return lambda v, _p: write(datetime.combine(read(v), datetime.min.time()))
    return lambda v, _p: write(read(v))


def from_unixtime(call: Call, zone: tzinfo) -> Function:
    if not call.args[0].type.is_integer:
        raise NotLocal(f"from_unixtime() of {call.args[0].type}")
    pattern = call.args[1] if len(call.args) > 1 else Literal(call.type, literals.UNIX_PATTERN)
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise NotLocal("from_unixtime() with a non-constant pattern")
    write = writer(pattern.value)

    def text(seconds: int, *_pattern: str) -> str:
        moment = _moved(lambda: (literals.EPOCH + timedelta(seconds=seconds)).replace(tzinfo=UTC))
        return write(_moved(lambda: moment.astimezone(zone).replace(tzinfo=None)))

    return text


def unix_timestamp(call: Call, zone: tzinfo) -> Function:
    """A plain timestamp is interpreted in the session's time zone."""
    source = call.args[0].type
    if source.name == "string" and len(call.args) == 2:
        return _parse_with(call.args[1], zone)
    if len(call.args) != 1 or not source.is_timestamp:
        raise NotLocal(f"unix_timestamp() of {source}")
    return lambda v: literals.to_micros(v if v.tzinfo else literals.from_local(modern(v), zone)) // 1_000_000


def read_time(call: Call) -> Function:
    """CAST … FORMAT of a string."""
    assert isinstance(call.args[1], Literal)
    pattern, is_date = cast_patterns.read_pattern(call.args[1].value, True), call.type == DATE

    def read(text: str, _pattern: str, now: int) -> date | None:
        known, moment = cast_patterns.parse(pattern, text, now)
        if not known:
            raise Unsure("a string or a pattern with other characters than ASCII")
        if moment is None:
            return None
        return modern(moment.date() if is_date else moment)

    return read


def _parse_with(pattern: Rex, zone: tzinfo) -> Function:
    """The time in a string with a pattern."""
    shapes = time_shapes.shapes(pattern.value) if isinstance(pattern, Literal) and pattern.value is not None else None
    if shapes is None or any(shape.zone for shape in shapes):
        raise NotLocal("unix_timestamp() with a non-constant or unsupported pattern")

    def seconds(text: str, _pattern: str) -> int | None:
        shape = next((shape for shape in shapes if shape.matches(text)), None)
        try:
            moment = None if shape is None else shape.wall_clock(text)
        except (OverflowError, ValueError):
            raise Unsure("a time before the year 1, or after 9999") from None
        return None if moment is None else literals.to_micros(literals.from_local(modern(moment), zone)) // 1_000_000

    return seconds
