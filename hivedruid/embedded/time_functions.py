"""Druid's time functions (`timestamp_floor` and related ones) as SQL. Zones, periods and patterns must be constants."""

from __future__ import annotations

import re
from collections.abc import Callable

from hivedruid.embedded import joda, periods
from hivedruid.embedded.intervals import parse_instant
from hivedruid.embedded.sql import NULL, Sql, as_long, combine
from hivedruid.errors import DruidError

_FIELDS = {
    "SECOND": "(millisecond({ts}) // 1000)",
    "MINUTE": "minute({ts})",
    "HOUR": "hour({ts})",
    "DAY": "day({ts})",
    "DOW": "isodow({ts})",
    "ISODOW": "isodow({ts})",
    "DOY": "dayofyear({ts})",
    "WEEK": "week({ts})",
    "MONTH": "month({ts})",
    "QUARTER": "quarter({ts})",
    "YEAR": "year({ts})",
    "ISOYEAR": "isoyear({ts})",
    "DECADE": "(year({ts}) // 10)",
    "CENTURY": "ceil(year({ts}) / 100.0)",
    "MILLENNIUM": "ceil(year({ts}) / 1000.0)",
}
"""The fields that `timestamp_extract` extracts from a wall clock timestamp. Both DOW and ISODOW count Monday=1 to
Sunday=7."""


def _constant(arguments: list[Sql], index: int, function: str, what: str) -> str | None:
    if index >= len(arguments):
        return None
    argument = arguments[index]
    if not argument.is_literal:
        raise DruidError(f"Function[{function}] {what} argument must be a literal")
    return None if argument.literal is None else str(argument.literal)


def _zone(arguments: list[Sql], index: int, function: str) -> periods.Zone:
    return periods.Zone(_constant(arguments, index, function, "timezone"))


def _period(arguments: list[Sql], function: str) -> periods.Period:
    text = _constant(arguments, 1, function, "period")
    if text is None:
        raise DruidError(f"Function[{function}] needs a period")
    return periods.Period(text)


def _origin(arguments: list[Sql], function: str, zone: periods.Zone) -> str | None:
    """SQL of the origin: an instant in milliseconds, or ISO text, which is in the zone unless it has an offset."""
    if len(arguments) > 2 and arguments[2].type == "LONG" and arguments[2].is_literal:
        return arguments[2].text
    text = _constant(arguments, 2, function, "origin")
    if text is None:
        return None
    if text == "":
        raise DruidError('Invalid format: ""')
    instant = f"CAST({parse_instant(text)} AS BIGINT)"
    return instant if re.search(r"([Zz]|T.*[+-][\d:]+)$", text) else zone.instant_of(instant)


def _timestamp_floor(arguments: list[Sql]) -> Sql:
    t = as_long(arguments[0])
    zone = _zone(arguments, 3, "timestamp_floor")
    origin = _origin(arguments, "timestamp_floor", zone)
    return combine(periods.floor(t.text, _period(arguments, "timestamp_floor"), zone, origin), "LONG", t)


def _timestamp_ceil(arguments: list[Sql]) -> Sql:
    t = as_long(arguments[0])
    zone = _zone(arguments, 3, "timestamp_ceil")
    origin = _origin(arguments, "timestamp_ceil", zone)
    return combine(periods.ceiling(t.text, _period(arguments, "timestamp_ceil"), zone, origin), "LONG", t)


def _timestamp_shift(arguments: list[Sql]) -> Sql:
    t, step = as_long(arguments[0]), as_long(arguments[2])
    text = periods.shift(
        t.text,
        _period(arguments, "timestamp_shift"),
        step.text if step.is_literal else f"coalesce({step.text}, 0)",
        _zone(arguments, 3, "timestamp_shift"),
    )
    return combine(text, "LONG", t, step)


def _timestamp_extract(arguments: list[Sql]) -> Sql:
    zone = _zone(arguments, 2, "timestamp_extract")
    unit = (_constant(arguments, 1, "timestamp_extract", "unit") or "").upper()
    t = arguments[0]
    t = combine(joda.parse_sql(t.text, None, zone), "LONG", t) if t.type == "STRING" else as_long(t)
    if unit == "EPOCH":
        return combine(f"({t.text} // 1000)", "LONG", t)
    wall = zone.wall(t.text)
    if unit == "MILLISECOND":
        return combine(f"druid_floor_mod({wall}, 1000)", "LONG", t)
    if unit not in _FIELDS:
        raise DruidError(
            f"Function[timestamp_extract] does not support the unit '{unit}'; supported units: {', '.join(_FIELDS)}"
        )
    field = _FIELDS[unit].format(ts=f"epoch_ms({wall})")
    if unit in ("CENTURY", "MILLENNIUM"):
        return combine(f"CAST({field} AS DOUBLE)", "DOUBLE", t)
    return combine(f"CAST({field} AS BIGINT)", "LONG", t)


def _timestamp_format(arguments: list[Sql]) -> Sql:
    t = as_long(arguments[0])
    pattern = _constant(arguments, 1, "timestamp_format", "pattern")
    return combine(joda.format_sql(t.text, pattern, _zone(arguments, 2, "timestamp_format")), "STRING", t)


def _timestamp_parse(arguments: list[Sql]) -> Sql:
    text = arguments[0]
    if text.type != "STRING":
        return Sql("CAST(NULL AS BIGINT)", "LONG")
    pattern = _constant(arguments, 1, "timestamp_parse", "pattern")
    if pattern == "":
        raise DruidError("Invalid pattern specification")
    return combine(joda.parse_sql(text.text, pattern, _zone(arguments, 2, "timestamp_parse")), "LONG", text)


def _timestamp(arguments: list[Sql]) -> Sql:
    """`timestamp(text[, pattern])`: as timestamp_parse in UTC, but a text that does not match is an error."""
    parsed = _timestamp_parse([*arguments[:1], *(arguments[1:2] or [NULL])])
    text = arguments[0].text
    message = f"error('Invalid format: \"' || {text} || '\"')"
    return Sql(
        f"(CASE WHEN {text} IS NOT NULL AND {parsed.text} IS NULL THEN {message} ELSE {parsed.text} END)",
        "LONG",
        fails=True,
    )


def _unix_timestamp(arguments: list[Sql]) -> Sql:
    if arguments[0].type not in ("STRING", "NULL"):
        raise DruidError(
            f"Function[unix_timestamp] first argument should be a STRING but got {arguments[0].type} instead"
        )
    return Sql(f"({_timestamp(arguments).text} // 1000)", "LONG", fails=True)


def _months_between(arguments: list[Sql]) -> Sql:
    """`subtract_months(a, b, zone)`: whole months from b to a on the zone's calendar."""
    zone = _zone(arguments, 2, "subtract_months")
    a, b = as_long(arguments[0]), as_long(arguments[1])
    wall_a, wall_b = zone.wall(a.text), zone.wall(b.text)
    return combine(f"datesub('month', epoch_ms({wall_b}), epoch_ms({wall_a}))", "LONG", a, b)


TIME_FUNCTIONS: dict[str, tuple[int, int, Callable[[list[Sql]], Sql]]] = {
    "timestamp_floor": (2, 4, _timestamp_floor),
    "timestamp_ceil": (2, 4, _timestamp_ceil),
    "timestamp_shift": (3, 4, _timestamp_shift),
    "timestamp_extract": (2, 3, _timestamp_extract),
    "timestamp_format": (1, 3, _timestamp_format),
    "timestamp_parse": (1, 3, _timestamp_parse),
    "timestamp": (1, 2, _timestamp),
    "unix_timestamp": (1, 2, _unix_timestamp),
    "subtract_months": (2, 3, _months_between),
}
"""Function by name: minimum and maximum number of arguments, and its translation."""
