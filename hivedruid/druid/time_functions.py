"""Time functions in Druid's expression language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hivedruid.druid.casts import day_of_trunc, whole_text
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.syntax import DAY_MILLIS, int_constant, str_constant, string_literal
from hivedruid.plan import literals
from hivedruid.plan.rex import Call

if TYPE_CHECKING:
    from hivedruid.druid.expressions import DruidExpressions, Translate

_LETTERS = frozenset(
    letter * count
    for letter, counts in {"y": (1, 2, 4), "D": (1, 3), "S": (1, 2, 3), **dict.fromkeys("MdHhms", (1, 2))}.items()
    for count in counts
)
"""Numeric pattern letters with the same meaning in java.time and Joda-Time; names would depend on the server's locale.
"""


def _is_safe(pattern: str) -> bool:
    """Whether a pattern consists only of such letters, quoted text and punctuation."""
    if re.search(r"[^-/:. ,_a-zA-Z']", re.sub("'[^']+'", "", pattern)):
        return False
    return all(match[0] in _LETTERS for match in re.finditer(r"([a-zA-Z'])\1*", re.sub("'[^']+'", "", pattern)))


def _text(day: str, zone: str = "UTC") -> str:
    return f"timestamp_format({day},'yyyy-MM-dd','{zone}')"


def _trunc(d: DruidExpressions, rex: Call) -> str:
    """The first day of the month, quarter or year, as a string."""
    return _text(day_of_trunc(d, rex), d.zone(rex.args[0]))


def _last_of_month(day: str) -> str:
    return f"(timestamp_shift(timestamp_floor({day},'P1M',null,'UTC'),'P1M',1,'UTC') - {DAY_MILLIS})"


def _last_day(d: DruidExpressions, rex: Call) -> str:
    if rex.args[0].type.name != "date":
        raise NotExact(f"last_day() of {rex.args[0].type}")
    return _text(_last_of_month(d.text(rex.args[0])))


def _add_months(d: DruidExpressions, rex: Call) -> str:
    """The last day of a month stays the last day (GenericUDFAddMonths)."""
    if rex.args[0].type.name != "date" or len(rex.args) > 2:
        raise NotExact(f"add_months() of {rex.args[0].type} with a result format")
    day = d.text(rex.args[0])
    moved = f"timestamp_shift({day},'P1M',{int_constant(rex.args[1], 'the number of months in add_months()')},'UTC')"
    is_last = f"timestamp_extract(({day} + {DAY_MILLIS}),'DAY','UTC') == 1"
    return _text(f"case_searched({is_last},{_last_of_month(moved)},{moved})")


def _next_day(d: DruidExpressions, rex: Call) -> str:
    number = literals.day_number(str_constant(rex.args[1], "the weekday of next_day()"))
    if number is None or not rex.args[0].type.is_time:
        raise NotExact(f"next_day() of {rex.args[0].type}, or with an unknown weekday")
    day = d.text(rex.args[0]) if rex.args[0].type.name == "date" else d.day(rex.args[0])
    ahead = f"(({number + 6} - timestamp_extract({day},'DOW','UTC')) % 7 + 1)"
    return _text(f"({day} + {ahead} * {DAY_MILLIS})")


def _zone_shift(d: DruidExpressions, rex: Call) -> str:
    """The local time in a zone of a UTC time, or the inverse."""
    value, zone = rex.args[0], str_constant(rex.args[1], "the zone")
    if not value.type.is_time or not re.fullmatch(r"[A-Za-z_/+\-]+", zone) or literals.zone_of(zone) is None:
        raise NotExact(f"{rex.op}() of {value.type}, or with an unknown time zone")
    return d.wall_clock(value, zone) if rex.op == "from_utc_timestamp" else d.instant(d.text(value), zone)


def _text_to_seconds(d: DruidExpressions, rex: Call) -> str:
    """A string in a pattern of numbers of fixed widths, as a time in the session's time zone: Druid's parser is strict,
    so days are counted from the first of the month, up to its last."""
    if len(rex.args) < 2:
        raise NotExact("unix_timestamp() of a string without a pattern")
    from hivedruid.plan.time_shapes import shapes

    pattern = str_constant(rex.args[1], "the pattern of unix_timestamp()")
    known = shapes(pattern)
    if known is None or len(known) > 1 or not known[0].is_plain or "yyyy" not in pattern:
        raise NotExact("unix_timestamp() with unsupported pattern letters")
    shape, text = known[0], d.text(rex.args[0])
    field = {letter: f"substring({text},{place.position},{place.width})" for letter, place in shape.places.items()}
    month = f"timestamp_parse(concat({field['y']},'-',{field['M']}),'yyyy-MM','UTC')"
    day = f"least({month} + (CAST({field['d']},'LONG') - 1) * {DAY_MILLIS},{_last_of_month(month)})"
    units = {"H": 3_600_000, "m": 60_000, "s": 1000} if shape.hour else {}
    since = "".join(f" + CAST({field[x]},'LONG') * {unit}" for x, unit in units.items() if x in field)
    wall = f"case_searched(regexp_like({text},{whole_text(shape.whole)}),{day}{since})"
    return f"div({wall if d.is_utc else d.instant(wall, d.session_zone)},1000)"


def _date_format(d: DruidExpressions, rex: Call) -> str:
    value, pattern = rex.args[0], str_constant(rex.args[1], "the pattern of date_format()")
    if not value.type.is_time or not _is_safe(pattern):
        raise NotExact("date_format() with pattern letters that differ in Druid")
    return f"timestamp_format({d.moment(value)},{string_literal(pattern)},'{d.zone(value)}')"


def _from_unixtime(d: DruidExpressions, rex: Call) -> str:
    pattern = (
        str_constant(rex.args[1], "the pattern of from_unixtime()") if len(rex.args) > 1 else "yyyy-MM-dd HH:mm:ss"
    )
    if not rex.args[0].type.is_integer or not _is_safe(pattern):
        raise NotExact("from_unixtime() with pattern letters that differ in Druid")
    return f"timestamp_format({d.text(rex.args[0])} * 1000,{string_literal(pattern)},'{d.session_zone}')"


def _unix_timestamp(d: DruidExpressions, rex: Call) -> str:
    value = rex.args[0]
    if value.type.is_string:
        return _text_to_seconds(d, rex)
    if not value.type.is_time:
        raise NotExact(f"unix_timestamp() of {value.type}")
    return d.seconds(value)


def _date_add(d: DruidExpressions, rex: Call) -> str:
    day, days = rex.args
    if day.type.name != "date" or not days.type.is_integer:
        raise NotExact(f"{rex.op}() of {day.type}")
    return f"({d.text(day)} {'+' if rex.op == 'date_add' else '-'} {d.text(days)} * {DAY_MILLIS})"


def _datediff(d: DruidExpressions, rex: Call) -> str:
    if not all(a.type.name == "date" for a in rex.args):
        raise NotExact("datediff() of non-dates")
    return f"div({d.text(rex.args[0])} - {d.text(rex.args[1])},{DAY_MILLIS})"


TIMES: dict[str, Translate] = {
    "date_format": _date_format,
    "from_unixtime": _from_unixtime,
    "unix_timestamp": _unix_timestamp,
    "date_add": _date_add,
    "date_sub": _date_add,
    "datediff": _datediff,
    "trunc": _trunc,
    "last_day": _last_day,
    "add_months": _add_months,
    "next_day": _next_day,
    "from_utc_timestamp": _zone_shift,
    "to_utc_timestamp": _zone_shift,
}
