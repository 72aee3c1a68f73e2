"""Inverts monotonic functions of a time: for which arguments they are below a value.

Values are integers: milliseconds of times (a date's midnight in UTC), years, seconds, days.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal

from hivedruid.catalog.types import DATE, STRING
from hivedruid.druid.interval_sets import MIN, IntervalSet
from hivedruid.plan import literals
from hivedruid.plan.rex import Call, Literal, Rex

DAY_MILLIS = 86_400_000
_FIXED = {"hour": 3_600_000, "minute": 60_000, "second": 1000}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_FORMATS = {"yyyy": "year", "yyyy-MM": "month", "yyyyMM": "month", "yyyy-MM-dd": "day", "yyyyMMdd": "day"}
"""Patterns of date_format whose results sort like times, and their truncation unit."""
_TRUNC = {
    **dict.fromkeys(("MONTH", "MON", "MM"), "month"),
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    **dict.fromkeys(("QUARTER", "Q"), "quarter"),
}


def trunc_unit(pattern: object) -> str | None:
    """The unit of trunc() of a date (GenericUDFTrunc: upper case only), None if unknown."""
    return _TRUNC.get(pattern) if isinstance(pattern, str) else None


Found = tuple[str, Rex, Decimal]


def constant_of(op: str, left: Rex, right: Literal) -> Found | None:
    """The comparison on integers: the operator, the compared expression, and the scaled constant."""
    value = right.value
    if isinstance(value, str):
        return _of_text(op, left, value)
    if isinstance(value, date) and left.type.is_time:
        return op, left, Decimal(literals.to_micros(value)) / 1000
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and left.type.is_integer:
        return _of_digits(op, left, value) or (op, left, Decimal(value))
    return None


def _of_digits(op: str, left: Rex, value: int | float | Decimal) -> Found | None:
    """A comparison of the digits of a time as one number: `CAST(date_format(t, 'yyyyMM') AS INT)`, `year(t) * 100 +
    month(t)`."""
    if not isinstance(left, Call) or not isinstance(value, int) or value < 0:
        return None
    if left.op == "cast" and left.type.name in ("int", "bigint") and isinstance(left.args[0], Call):
        text = left.args[0]
        return _of_text(op, text, str(value)) if text.op == "date_format" else None
    day = _numbered(left)
    if day is None:
        return None
    moment, pattern = day
    return _of_text(op, Call(STRING, "date_format", (moment, Literal(STRING, pattern))), str(value))


def _numbered(rex: Call) -> tuple[Rex, str] | None:
    """The time and the pattern of `year * 100 + month`, or of `year * 10000 + month * 100 + day`."""
    shares: dict[str, tuple[int, Rex]] = {}
    stack: list[Rex] = [rex]
    while stack:
        term = stack.pop()
        if isinstance(term, Call) and term.op == "+" and term.type.is_integer:
            stack += term.args
            continue
        times, part = 1, term
        if isinstance(term, Call) and term.op == "*":
            part, by = term.args if isinstance(term.args[1], Literal) else term.args[::-1]
            times = by.value if isinstance(by, Literal) else 0
        if not isinstance(part, Call) or not part.op.startswith("extract_") or part.op in shares:
            return None
        shares[part.op] = (times, part.args[0])
    moments = {moment for _, moment in shares.values()}
    pattern = _NUMBERED.get(tuple(sorted((op[8:], times) for op, (times, _) in shares.items())))
    return (moments.pop(), pattern) if pattern is not None and len(moments) == 1 else None


_NUMBERED = {
    (("month", 1), ("year", 100)): "yyyyMM",
    (("day", 1), ("month", 100), ("year", 10_000)): "yyyyMMdd",
}


def _of_text(op: str, left: Rex, text: str) -> Found | None:
    """A comparison of a formatted time: equal formats sort like times."""
    if not isinstance(left, Call) or not left.args:
        return None
    value = left.args[0]
    if left.op == "date_format" and isinstance(left.args[1], Literal) and value.type.is_time:
        pattern = str(left.args[1].value)
        unit = _FORMATS.get(pattern)
        moment = _written(text, pattern) if unit else None
        return None if unit is None or moment is None else (op, _floor(value, unit), _millis(moment))
    if left.op == "trunc" and isinstance(left.args[1], Literal) and value.type.is_time:
        unit, moment = trunc_unit(left.args[1].value), _written(text, "yyyy-MM-dd")
        return None if unit is None or moment is None else (op, _floor(value, unit), _millis(moment))
    if left.op != "cast" or left.type.name != "string":
        return None
    if value.type.name == "date":
        moment = _written(text, "yyyy-MM-dd")
        return None if moment is None else (op, value, _millis(moment))
    return _of_timestamp_text(op, value, text) if value.type.is_timestamp else None


def _floor(value: Rex, unit: str) -> Rex:
    """The first day of the unit that a time is in: a date, so that the constant is independent of the time zone."""
    day = value if value.type == DATE else Call(DATE, "cast", (value,))
    return Call(DATE, f"floor_{unit}", (day,))


def _of_timestamp_text(op: str, value: Rex, text: str) -> Found | None:
    """A prefix is less than every string that starts with it, and never equal to one."""
    day = Call(DATE, "cast", (value,))
    for pattern in ("yyyy", "yyyy-MM", "yyyy-MM-dd"):
        moment = _written(text, pattern)
        if moment is not None:
            if op == "=":
                return "=", day, Decimal("0.5")
            return (">=" if op in (">", ">=") else "<"), day, _millis(moment)
    if value.type.name == "timestamp" and re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", text):
        moment = literals.parse_timestamp(text)
        return None if moment is None else (op, value, _millis(moment))
    return None


def _written(text: str, pattern: str) -> datetime | None:
    """The time of a string in exactly this pattern."""
    shape = re.sub("[yMd]", r"\\d", pattern)
    if not re.fullmatch(shape, text, re.ASCII):
        return None
    digits = text.replace("-", "")
    return datetime(int(digits[:4]), int(digits[4:6] or 1), int(digits[6:8] or 1))


def _millis(local: datetime) -> Decimal:
    return Decimal(literals.to_micros(local)) / 1000


Below = tuple[Rex, IntervalSet]


def below(rex: Call, edge: int, session: tzinfo | None, is_utc: bool) -> Below | None:
    """The argument of a function, and for which of its values the function is less than `edge`.

    None for other functions. A zoned value is interpreted in the session's time zone.
    """
    if session is None or not rex.args:
        return None
    value = rex.args[0]
    calendar = session if value.type.name.endswith("zone") else UTC
    if rex.op == "cast":
        return _below_cast(rex, edge, calendar, is_utc)
    kind, _, unit = rex.op.partition("_")
    if (
        kind in ("floor", "ceil")
        and value.type.is_time
        and (unit in _FIXED or unit in _MONTHS or unit in ("day", "week"))
    ):
        return _below_bucket(value, kind, unit, edge, calendar)
    if rex.op == "extract_year" and value.type.is_time:
        return value, _before_wall_clock(datetime(edge, 1, 1), calendar)
    if rex.op == "unix_timestamp" and len(rex.args) == 1 and (value.type.name.endswith("zone") or is_utc):
        return _up_to(value, edge * 1000) if value.type.is_time else None
    return _below_shift(rex, edge)


def _below_bucket(value: Rex, kind: str, unit: str, edge: int, calendar: tzinfo) -> Below | None:
    """A time rounded down, or up, to a unit."""
    last = edge if kind == "floor" else edge - 1
    if unit in _FIXED:
        from hivedruid.druid.clocks import disturbance

        near = (last - 2 * DAY_MILLIS, last + 2 * DAY_MILLIS)
        if disturbance(calendar, unit, (near,)):
            return None  # a bucket may start before the end of the previous one
        start = bucket(last, unit, calendar)
        return _up_to(value, start + 1 if kind == "ceil" else edge if start == edge else start + _FIXED[unit])
    wall = _local_floor(_from_millis(last, calendar), unit)
    if kind == "ceil":
        return value, _before_wall_clock(wall + timedelta(milliseconds=1), calendar)
    return value, _before_wall_clock(wall if _instant(wall, calendar) == edge else _next(wall, unit), calendar)


def _up_to(value: Rex, edge: int) -> Below:
    return value, ((MIN, edge),)


def _below_cast(rex: Call, edge: int, calendar: tzinfo, is_utc: bool) -> Below | None:
    value, to = rex.args[0], rex.type
    if to.name == "date" and value.type.is_time:
        day = _from_millis(edge, UTC)
        midnight = day.replace(hour=0, minute=0, second=0, microsecond=0)
        return value, _before_wall_clock(midnight if midnight == day else midnight + timedelta(days=1), calendar)
    if to.name == "bigint" and value.type.is_timestamp and (value.type.name.endswith("zone") or is_utc):
        return _up_to(value, edge * 1000)
    if not to.is_timestamp or not value.type.is_time:
        return None
    if is_utc or value.type.name.endswith("zone") == to.name.endswith("zone") or to.name == value.type.name:
        return _up_to(value, edge)
    if to.name == "timestamp" and value.type.name == "date":
        return _up_to(value, edge)
    if value.type.name.endswith("zone"):
        return value, _before_wall_clock(_from_millis(edge, UTC), calendar)
    return None


def _before_wall_clock(wall: datetime, calendar: tzinfo) -> IntervalSet:
    """The instants with an earlier local time: two ranges if the clocks are set back over that time."""
    early, late = (
        literals.to_micros(wall.replace(tzinfo=calendar, fold=fold).astimezone(UTC)) // 1000 for fold in (0, 1)
    )
    if early == late:
        return ((MIN, early),)
    low, high = min(early, late), max(early, late)
    offset = _from_millis(low, calendar) - _from_millis(low, UTC)
    while high - low > 1:
        middle = (low + high) // 2
        if _from_millis(middle, calendar) - _from_millis(middle, UTC) == offset:
            low = middle
        else:
            high = middle
    return ((MIN, high),) if early > late else ((MIN, early), (high, late))


def _below_shift(rex: Call, edge: int) -> Below | None:
    """Functions with a fixed distance: date_add, date_sub, datediff from a day, an interval of days to seconds."""
    if len(rex.args) != 2:
        return None
    value, by = rex.args
    if rex.op == "+" and value.type.name == "interval_day_time":
        value, by = by, value
    if not isinstance(by, Literal) or by.value is None or not value.type.is_time:
        return None
    if rex.op in ("date_add", "date_sub") and isinstance(by.value, int) and value.type.name == "date":
        return _up_to(value, edge - by.value * DAY_MILLIS * (1 if rex.op == "date_add" else -1))
    if rex.op == "datediff" and isinstance(by.value, date) and value.type.name == "date":
        return _up_to(value, edge * DAY_MILLIS + literals.to_micros(by.value) // 1000)
    if rex.op in ("+", "-") and by.type.name == "interval_day_time" and by.value[1] % 1000 == 0:
        return _up_to(value, edge - by.value[1] // 1000 * (1 if rex.op == "+" else -1))
    return None


# --- the calendar ------------------------------------------------------------------------------------------------


def _from_millis(millis: int, calendar: tzinfo) -> datetime:
    """The wall clock of an instant."""
    utc = literals.EPOCH + timedelta(milliseconds=millis)
    return utc if calendar is UTC else utc.replace(tzinfo=UTC).astimezone(calendar).replace(tzinfo=None)


def _instant(local: datetime, calendar: tzinfo) -> int:
    return literals.to_micros(literals.from_local(local, calendar)) // 1000


def bucket(millis: int, unit: str, calendar: tzinfo) -> int:
    """The start of the bucket that an instant is in."""
    local = _from_millis(millis, calendar)
    if unit in _FIXED:
        since = {"hour": local.minute * 60_000, "minute": 0, "second": 0}[unit]
        since += 0 if unit == "second" else local.second * 1000
        return millis - since - local.microsecond // 1000
    return _instant(_local_floor(local, unit), calendar)


def next_bucket(start: int, unit: str, calendar: tzinfo) -> int:
    """The end of the bucket that starts there."""
    if unit in _FIXED:
        return start + _FIXED[unit]
    return _instant(_next(_local_floor(_from_millis(start, calendar), unit), unit), calendar)


def _next(wall: datetime, unit: str) -> datetime:
    """The beginning of the next day, week, month …"""
    if unit in ("day", "week"):
        return wall + timedelta(days=7 if unit == "week" else 1)
    moved = literals.add_months(wall, _MONTHS[unit])
    assert isinstance(moved, datetime)
    return moved


def _local_floor(local: datetime, unit: str) -> datetime:
    day = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1)
    return day.replace(day=1, month=1) if unit == "year" else day


Part = Callable[[datetime], int]

PARTS: dict[str, tuple[str, Part]] = {
    "quarter": ("month", lambda t: (t.month + 2) // 3),
    "month": ("month", lambda t: t.month),
    "week": ("day", lambda t: t.isocalendar().week),
    "day": ("day", lambda t: t.day),
    "dayofweek": ("day", lambda t: t.isoweekday() % 7 + 1),
    "dayofyear": ("day", lambda t: t.timetuple().tm_yday),
    "hour": ("hour", lambda t: t.hour),
    "minute": ("minute", lambda t: t.minute),
    "second": ("second", lambda t: t.second),
}
"""The part that extract_<part> returns, and the bucket in which it is constant."""


def wall_clock(millis: int, calendar: tzinfo) -> datetime:
    return _from_millis(millis, calendar)
