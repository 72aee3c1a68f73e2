"""Calendar functions of constants, computed during planning: `trunc(current_date, 'MM')` becomes a plain date.

The clock of the statement is in its snapshot, so planning stays pure. Functions that cannot be computed exactly as in
Hive are left to the engine that runs the query. The expected values in the tests are those of Hive 4.0.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from hivedruid.druid.preimages import PARTS, bucket, trunc_unit
from hivedruid.plan import cast_patterns, literals, time_shapes
from hivedruid.plan.functions import EXTRACT_UNITS, TIME_UNITS
from hivedruid.plan.rex import Call

Folded = tuple[bool, Any]
"""Whether the value is known, and the value; NULL is None."""
Folder = Callable[[Call, list[Any], str], Folded]
UNKNOWN: Folded = (False, None)
_DATE_TEXT = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _local(value: Any, zone: str) -> datetime | None:
    """The wall-clock time of a value: for a zoned timestamp, in the session's zone. None if it is not a time."""
    if isinstance(value, str):
        return literals.parse_timestamp(value)
    if not isinstance(value, date):
        return None
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if value.tzinfo is None:
        return value
    session = literals.zone_of(zone)
    return None if session is None else value.astimezone(session).replace(tzinfo=None)


def _day_text(moment: date) -> Folded:
    return True, f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"


def _add_months(_call: Call, values: list[Any], _zone: str) -> Folded:
    """The last day of a month stays the last day (GenericUDFAddMonths)."""
    day, months = values[:2]
    if type(day) is not date or not isinstance(months, int) or len(values) > 2:
        return UNKNOWN
    try:
        moved = literals.add_months(day, months)
        return _day_text(_last_of_month(moved) if day == _last_of_month(day) else moved)
    except (ValueError, OverflowError):
        return UNKNOWN


def _last_of_month(day: date) -> date:
    return literals.add_months(day.replace(day=1), 1) - timedelta(days=1)


def _last_day(_call: Call, values: list[Any], _zone: str) -> Folded:
    day = values[0]
    if type(day) is not date or (day.year, day.month) == (9999, 12):
        return UNKNOWN
    return _day_text(_last_of_month(day))


def _next_day(_call: Call, values: list[Any], zone: str) -> Folded:
    moment, name = _local(values[0], zone), values[1]
    if moment is None or not isinstance(name, str):
        return UNKNOWN
    number = literals.day_number(name)
    if number is None:
        return True, None
    try:
        return _day_text(moment.date() + timedelta(days=(number - moment.isoweekday() - 1) % 7 + 1))
    except OverflowError:
        return UNKNOWN


def _trunc(_call: Call, values: list[Any], zone: str) -> Folded:
    """The first day of the month, quarter or year as a string; NULL for other units."""
    value, pattern = values[0], values[1] if len(values) == 2 else None
    is_day = isinstance(value, date) or (isinstance(value, str) and _DATE_TEXT.fullmatch(value))
    moment = _local(value, zone) if is_day else None
    if moment is None or not isinstance(pattern, str):
        return UNKNOWN
    unit = trunc_unit(pattern)
    return _day_text(floor_local(moment, unit)) if unit is not None else (True, None)


def floor_local(moment: datetime, unit: str) -> datetime:
    """The start of the unit that contains a wall-clock time."""
    start = bucket(literals.to_micros(moment) // 1000, unit, UTC)
    return literals.EPOCH + timedelta(milliseconds=start)


def _floor(unit: str) -> Folder:
    def fold(_call: Call, values: list[Any], zone: str) -> Folded:
        value, session = values[0], literals.zone_of(zone)
        if not isinstance(value, datetime) or session is None:
            return UNKNOWN
        if value.tzinfo is None:
            return True, floor_local(value, unit)
        start = literals.EPOCH + timedelta(milliseconds=bucket(literals.to_micros(value) // 1000, unit, session))
        return True, start.replace(tzinfo=UTC)

    return fold


def _extract(unit: str) -> Folder:
    def fold(_call: Call, values: list[Any], zone: str) -> Folded:
        moment = _local(values[0], zone) if isinstance(values[0], date) else None
        if moment is None:
            return UNKNOWN
        return True, moment.year if unit == "year" else PARTS[unit][1](moment)

    return fold


def _datediff(_call: Call, values: list[Any], _zone: str) -> Folded:
    a, b = values
    return (True, (a - b).days) if type(a) is date and type(b) is date else UNKNOWN


# --- patterns --------------------------------------------------------------------------------------------------------

_FIELD: dict[str, Callable[[datetime], int]] = {
    "y": lambda t: t.year,
    "M": lambda t: t.month,
    "d": lambda t: t.day,
    "D": lambda t: t.timetuple().tm_yday,
    "H": lambda t: t.hour,
    "h": lambda t: (t.hour + 11) % 12 + 1,
    "m": lambda t: t.minute,
    "s": lambda t: t.second,
}
_WIDTHS = {"D": (1, 3), **dict.fromkeys("MdHhms", (1, 2))}


def written(moment: datetime, pattern: str) -> str | None:
    """The time in a pattern of numbers; None if it has other letters."""
    out = []
    for match in re.finditer(r"'((?:[^']|'')*)'|(([a-zA-Z])\3*)|([-/:. ,_0-9])|(.)", pattern, re.DOTALL):
        quoted, run, letter, mark, other = match.groups()
        if other:
            return None
        if quoted is not None:
            quoted = quoted.replace("''", "'") or "'"
        field = _field(moment, run, letter) if run else quoted or mark
        if field is None:
            return None
        out.append(field)
    return "".join(out)


def _field(moment: datetime, run: str, letter: str) -> str | None:
    width = len(run)
    if letter == "S" and width <= 6:
        return f"{moment.microsecond:06d}"[:width]
    if letter == "y" and width == 2:
        return f"{moment.year % 100:02d}"
    if letter == "y":
        return str(moment.year).zfill(width) if width in (1, 4) else None
    if width not in _WIDTHS.get(letter, ()):
        return None
    return str(_FIELD[letter](moment)).zfill(width)


def _date_format(_call: Call, values: list[Any], zone: str) -> Folded:
    moment, pattern = _local(values[0], zone), values[1]
    if moment is None or not isinstance(pattern, str):
        return UNKNOWN
    text = written(moment, pattern)
    return UNKNOWN if text is None else (True, text)


def _from_unixtime(_call: Call, values: list[Any], zone: str) -> Folded:
    session, seconds = literals.zone_of(zone), values[0]
    if session is None or not isinstance(seconds, int) or isinstance(seconds, bool):
        return UNKNOWN
    try:
        moment = (literals.EPOCH + timedelta(seconds=seconds)).replace(tzinfo=UTC).astimezone(session)
    except OverflowError:
        return UNKNOWN
    text = written(moment.replace(tzinfo=None), values[1] if len(values) > 1 else literals.UNIX_PATTERN)
    return UNKNOWN if text is None else (True, text)


def _unix_timestamp(_call: Call, values: list[Any], zone: str) -> Folded:
    """Of a time, or of a string."""
    session, moment = literals.zone_of(zone), values[0]
    if isinstance(moment, str):
        is_known, moment = (True, literals.parse_plain(moment)) if len(values) == 1 else _read(moment, values[1])
        if not is_known or moment is None:
            return is_known, None
    elif len(values) > 1:
        return UNKNOWN
    elif type(moment) is date:
        moment = _local(moment, zone)
    if not isinstance(moment, datetime) or session is None:
        return UNKNOWN
    instant = moment if moment.tzinfo else literals.from_local(moment, session)
    return True, literals.to_micros(instant) // 1_000_000


def _read(text: str, pattern: Any) -> Folded:
    """The time in a string, unless it has a zone."""
    shapes = time_shapes.shapes(pattern) if isinstance(pattern, str) else None
    if shapes is None:
        return UNKNOWN
    shape = next((shape for shape in shapes if shape.matches(text)), None)
    if shape is None:
        return True, None
    try:
        return UNKNOWN if shape.zone else (True, shape.wall_clock(text))
    except (ValueError, OverflowError):  # before the year 1, or after 9999
        return UNKNOWN


def _zone_shift(call: Call, values: list[Any], _zone: str) -> Folded:
    """The wall-clock time in a zone for a UTC time, or the reverse."""
    moment = _local(values[0], "UTC")
    zone = literals.zone_of(values[1]) if isinstance(values[1], str) else None
    is_zoned = isinstance(values[0], datetime) and values[0].tzinfo is not None
    if moment is None or zone is None or is_zoned:
        return UNKNOWN
    try:
        if call.op == "to_utc_timestamp":
            return True, literals.from_local(moment, zone).replace(tzinfo=None)
        return True, moment.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return UNKNOWN


def _read_time(call: Call, values: list[Any], _zone: str) -> Folded:
    text, pattern, now = values
    known, moment = cast_patterns.parse(cast_patterns.read_pattern(pattern, True), text, now)
    return known, moment.date() if moment is not None and call.type.name == "date" else moment


CALENDAR: dict[str, Folder] = {
    cast_patterns.READ_TIME: _read_time,
    "add_months": _add_months,
    "last_day": _last_day,
    "next_day": _next_day,
    "trunc": _trunc,
    "date_format": _date_format,
    "datediff": _datediff,
    "from_unixtime": _from_unixtime,
    "unix_timestamp": _unix_timestamp,
    "from_utc_timestamp": _zone_shift,
    "to_utc_timestamp": _zone_shift,
    **{f"floor_{unit}": _floor(unit) for unit in TIME_UNITS},
    **{f"extract_{unit}": _extract(unit) for unit in EXTRACT_UNITS},
}
