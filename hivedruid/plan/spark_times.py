"""Hive's time functions in Spark SQL, where Spark's function of the same name differs."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from hivedruid.catalog.types import DATE, STRING
from hivedruid.errors import SemanticError
from hivedruid.plan import literals, time_patterns, time_shapes
from hivedruid.plan.rex import Call, Literal, Ref, Rex
from hivedruid.plan.spark_numbers import cut
from hivedruid.plan.spark_strings import Lower, constant
from hivedruid.plan.spark_text import quote_string, written_once

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex
    from hivedruid.plan.time_shapes import Place, Shape

_TRUNC_UNITS = {
    "'YEAR'": ("YEAR", "YYYY", "YY"),
    "'QUARTER'": ("QUARTER", "Q"),
    "'MONTH'": ("MONTH", "MON", "MM"),
}
"""The unit names of trunc(), in upper case only, and Spark's names."""
_GREGORIAN = date(1582, 10, 15)
_HIDDEN = "hidden_time"
_WALL_PATTERN = "yyyy-MM-dd HH:mm:ss"
_TIMES = frozenset({"date", "timestamp", "timestamp with local time zone"})
_YEAR_MONTH = frozenset({"year", "month"})
_DAY_TIME = frozenset({"day", "hour", "minute", "second"})


def with_hidden_times(rex: Call) -> Call:
    """The comparison with its columns in a form that Spark does not pass to the table, if a constant is before
    1582-10-15: Iceberg's conditions on such days skip rows of ORC files that satisfy them, since one side counts days
    in the Julian calendar."""
    if not any(isinstance(a, Literal) and is_before_gregorian(a.value) for a in rex.args):
        return rex
    return replace(rex, args=tuple(map(_hidden, rex.args)))


def is_before_gregorian(value: object) -> bool:
    """Whether a constant is a day or a time before 1582-10-15."""
    day = value.date() if isinstance(value, datetime) else value
    return isinstance(day, date) and day < _GREGORIAN


def _hidden(rex: Rex) -> Rex:
    """Also below casts, which Spark removes between DATE and TIMESTAMP."""
    if isinstance(rex, Ref):
        return Call(rex.type, _HIDDEN, (rex,)) if rex.type.name in _TIMES else rex
    if isinstance(rex, Call) and rex.op == "cast":
        return replace(rex, args=tuple(map(_hidden, rex.args)))
    return rex


def _hidden_time(s: SparkRex, rex: Call) -> str:
    sql = s.render(rex.args[0])
    return f"date_add({sql}, 0)" if rex.type == DATE else f"({sql} + INTERVAL '0' SECOND)"


def text_of_date(s: SparkRex, rex: Call) -> str:
    return f"CAST({rex.op}({', '.join(s.local(a) for a in rex.args)}) AS STRING)"


def _trunc(s: SparkRex, rex: Call) -> str:
    if rex.type.is_numeric:
        return cut(s, rex)
    day, unit = s.local(rex.args[0]), s.render(rex.args[1])
    if rex.args[0].type.is_string:
        day = s.text_to_time(day, DATE)
    branches = " ".join(
        f"WHEN {unit} IN ({', '.join(map(quote_string, names))}) THEN {known}" for known, names in _TRUNC_UNITS.items()
    )
    return f"CAST(trunc({day}, CASE {branches} END) AS STRING)"


def _add_months(s: SparkRex, rex: Call) -> str:
    """The last day of a month stays a last day (GenericUDFAddMonths). With a pattern the time of day is kept, too."""
    value, months = s.local(rex.args[0]), s.render(rex.args[1])
    day = value if rex.args[0].type.name == "date" else f"CAST({value} AS DATE)"
    moved = f"add_months({day}, {months})"
    moved = f"CASE WHEN {day} = last_day({day}) THEN last_day({moved}) ELSE {moved} END"
    if len(rex.args) < 3:
        return f"CAST({moved} AS STRING)"
    clock = f"CAST({value} AS TIMESTAMP)"
    moment = f"(CAST({moved} AS TIMESTAMP) + ({clock} - date_trunc('DAY', {clock})))"
    return _formatted(s, moment, rex.args[2])


def _formatted(s: SparkRex, time: str, pattern: Rex, instant: str | None = None) -> str:
    """A time formatted with a pattern; NULL if the value is not a time, which only date_format() accepts."""
    given = constant(pattern)
    if not isinstance(given, str):
        return f"date_format({time}, {s.render(pattern)})"
    parts = time_patterns.tokens(given)
    if parts is None:
        return "CAST(NULL AS STRING)"
    moment = time_patterns.Moment(time, instant or s.from_local(f"CAST({time} AS TIMESTAMP)"), s.zone)
    return time_patterns.formatted(moment, parts) if parts else f"IF({time} IS NULL, NULL, '')"


def _date_format(s: SparkRex, rex: Call) -> str:
    value, pattern = rex.args
    return _formatted(s, s.local(value), pattern, s.render(value) if value.type.name.endswith("zone") else None)


def _from_unixtime(s: SparkRex, rex: Call) -> str:
    pattern = rex.args[1] if len(rex.args) > 1 else Literal(STRING, literals.UNIX_PATTERN)
    instant = f"timestamp_seconds({s.render(rex.args[0])})"
    return _formatted(s, s.to_local(instant), pattern, instant)


def _unix_timestamp(s: SparkRex, rex: Call) -> str:
    value = rex.args[0]
    if not value.type.is_string:
        return s.seconds(value)
    text = s.render(value)
    if len(rex.args) == 1:
        return f"unix_seconds({s.from_local(s.plain_time(text))})"
    given = rex.args[1]
    pattern = constant(given)
    if not isinstance(pattern, str):
        return f"unix_seconds({s.from_local(f'to_timestamp({text}, {s.render(given)})')})"
    known = time_shapes.shapes(pattern)
    if known is not None:
        return written_once("t", text, lambda read: _read(s, read, known))
    parts = time_patterns.tokens(pattern)
    if parts is None or not time_patterns.contains_full_date(parts):
        return "CAST(NULL AS BIGINT)"
    parsed = f"to_timestamp({text}, {quote_string(time_patterns.spark_pattern(parts))})"
    return f"unix_seconds({parsed if time_patterns.has_zone(parts) else s.from_local(parsed)})"


def _read(s: SparkRex, text: str, shapes: tuple[Shape, ...]) -> str:
    branches = (
        f"WHEN {text} RLIKE {quote_string(whole_text(shape.whole))} THEN {_seconds_of(s, text, shape)}"
        for shape in shapes
    )
    return f"CASE {' '.join(branches)} END"


def _seconds_of(s: SparkRex, text: str, shape: Shape) -> str:
    """The seconds of a string of the shape; NULL if its day of the week or AM and PM contradict the others."""
    field = {letter: _field(text, shape, place) for letter, place in shape.places.items()}
    month = f"make_date({_year(field['y'], shape)}, {_month(field['M'], shape)}, 1)"
    day = f"least(date_add({month}, {_int(field['d'])} - 1), last_day({month}))"
    conditions = []
    if "E" in field:
        conditions.append(f"startswith(lower(date_format({day}, 'EEEE')), lower({field['E']}))")
    hour = None if shape.hour is None else _int(field[shape.hour])
    if "a" in field and hour is not None:
        is_afternoon = f"lower({field['a']}) = 'pm'"
        if shape.hour in ("h", "K"):
            hour = f"({hour} % 12 + IF({is_afternoon}, 12, 0))"
        else:
            conditions.append(f"({is_afternoon}) = ({hour} % 24 >= 12)")
    if shape.hour == "k":
        hour = f"{hour} % 24"
    seconds = f"unix_date({day}) * 86400L"
    if hour is not None:
        units = (
            (hour, 3600),
            *((_int(field[letter]), unit) for letter, unit in (("m", 60), ("s", 1)) if letter in field),
        )
        seconds += "".join(f" + {number} * {unit}" for number, unit in units)
    found = _instant(s, seconds, field.get("z"), shape)
    return f"CASE WHEN {' AND '.join(conditions)} THEN {found} END" if conditions else found


def _instant(s: SparkRex, seconds: str, zone: str | None, shape: Shape) -> str:
    """The seconds of a wall-clock time, given in seconds, in its zone or in the session's. Hive converts the time in a
    zone to the local time first: in an hour that a clock repeats it is the earlier one."""
    wall = f"timestamp_seconds({seconds})"
    local = f"({seconds})" if s.is_utc else f"unix_seconds({s.from_local(wall)})"
    if zone is None:
        return local
    pattern = quote_string(f"{_WALL_PATTERN} {shape.zone}")
    zoned = f"to_timestamp(concat(date_format({wall}, '{_WALL_PATTERN}'), ' ', {zone}), {pattern})"
    if shape.hour is None:  # the day does not depend on the zone, which must be valid
        return f"IF({zoned} IS NULL, NULL, {local})"
    return f"unix_seconds({s.from_local(s.to_local(zoned))})"


def _field(text: str, shape: Shape, place: Place) -> str:
    if place.position is not None and place.width:
        return f"substring({text}, {place.position + 1}, {place.width})"
    return f"regexp_extract({text}, {quote_string(whole_text(shape.groups))}, {place.group})"


def whole_text(expression: str) -> str:
    return rf"^{expression}\z"


def _int(field: str) -> str:
    return f"CAST({field} AS INT)"


def _year(field: str, shape: Shape) -> str:
    return f"2000 + {_int(field)}" if shape.has_short_year else _int(field)


def _month(field: str, shape: Shape) -> str:
    if not shape.has_month_name:
        return _int(field)
    return f"(instr('{time_shapes.SHORT_MONTHS}', lower(left({field}, 3))) + 2) div 3"


def _zone_shift(s: SparkRex, rex: Call) -> str:
    """An integer is in milliseconds, other numbers in seconds; a zone that Java does not know is UTC."""
    value = rex.args[0]
    sql = s.render(value)
    if value.type.is_numeric:
        sql = f"timestamp_millis({sql})" if value.type.is_integer else f"timestamp_seconds({sql})"
    else:
        sql = f"CAST({sql} AS TIMESTAMP)"
    zone = constant(rex.args[1])
    if isinstance(zone, str) and not _is_java_zone(zone):
        return f"CAST({sql} AS TIMESTAMP_NTZ)"
    return f"CAST({rex.op}({sql}, {s.render(rex.args[1])}) AS TIMESTAMP_NTZ)"


_JAVA_ZONE = re.compile(r"GMT[+-]\d{1,2}(:?\d\d)?|[A-Z]{3}")


def _is_java_zone(zone: str) -> bool:
    """Whether TimeZone.getTimeZone() supports the name; offsets need GMT, and names are case-sensitive."""
    if _JAVA_ZONE.fullmatch(zone):
        return True
    named = zone[:1].isupper() and not re.match(r"(UTC|UT|GMT)?[+-]", zone)
    return named and literals.zone_of(zone) is not None


def _months_between(s: SparkRex, rex: Call) -> str:
    args = [s.local(a) for a in rex.args]
    if len(args) > 2:
        args[2] = f"coalesce({args[2]}, FALSE)"
    return f"months_between({', '.join(args)})"


def _to_epoch_milli(s: SparkRex, rex: Call) -> str:
    value = rex.args[0]
    zoned = value.type.name.endswith("zone")
    return f"unix_millis({s.render(value) if zoned else f'CAST({s.render(value)} AS TIMESTAMP)'})"


def interval_part(s: SparkRex, unit: str, value: Rex) -> str:
    """year(), month(), day(), hour() … of an interval."""
    year_month = value.type.name == "interval_year_month"
    if unit not in (_YEAR_MONTH if year_month else _DAY_TIME):
        raise SemanticError(f"{unit}() does not take {value.type}")
    whole = "INTERVAL YEAR TO MONTH" if year_month else "INTERVAL DAY TO SECOND"
    return f"CAST(extract({unit.upper()} FROM CAST({s.render(value)} AS {whole})) AS INT)"


TIMES: dict[str, Lower] = {
    _HIDDEN: _hidden_time,
    "add_months": _add_months,
    "last_day": text_of_date,
    "next_day": text_of_date,
    "trunc": _trunc,
    "date_format": _date_format,
    "unix_timestamp": _unix_timestamp,
    "from_unixtime": _from_unixtime,
    "to_utc_timestamp": _zone_shift,
    "from_utc_timestamp": _zone_shift,
    "months_between": _months_between,
    "to_epoch_milli": _to_epoch_milli,
}
