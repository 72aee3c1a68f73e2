"""CAST of a string AS DATE or TIMESTAMP FORMAT in Spark SQL: one regular expression, whose groups are the parts of the
time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.types import DATE
from hivedruid.plan.cast_patterns import NAMES, READ_TIME, Token, century, names_of, read_pattern
from hivedruid.plan.rex import Call
from hivedruid.plan.spark_strings import Lower, constant
from hivedruid.plan.spark_text import let, quote_string

if TYPE_CHECKING:
    from hivedruid.plan.spark_rex import SparkRex


def _read_time(s: SparkRex, rex: Call) -> str:
    """The parts of the string are those of an array `p`. All parts of a string that does not match are empty, so that
    its day is NULL."""
    now = constant(rex.args[2])
    assert isinstance(now, int)
    pattern = read_pattern(str(constant(rex.args[1])), True)
    parts = {token.field: _part(token, f"p[{i}]", now) for i, token in enumerate(pattern.fields)}
    groups = ",".join(f"${i}" for i, _ in enumerate(pattern.fields, 1))
    expression = quote_string(rf"^(?:{pattern.expression}|[\s\S]*)\z")
    texts = f"split(regexp_replace({s.render(rex.args[0])}, {expression}, '{groups}'), ',')"
    return let("p", texts, _day(parts) if rex.type == DATE else _moment(parts))


def _part(token: Token, text: str, now: int) -> str:
    """A part of the time as a number, the fraction as digits."""
    if token.name in NAMES:
        names = ",".join(name[:3].lower() for name in names_of(token.field))
        return f"find_in_set(lower(left({text}, 3)), '{names}')"
    if token.field == "half_day":
        return f"IF({text} = '', 12, 0)"
    if token.field == "fraction":
        return f"rpad({text}, 6, '0')"
    if token.field in ("year", "iso_year"):
        before = f"left('{now}', 4 - length({text}))"
        if token.name[0] == "R":
            early, late = (century(token, 2, digits, now) for digits in ("00", "99"))
            before = f"IF(length({text}) = 2, IF({text} < '50', '{early}', '{late}'), {before})"
        return f"CAST(concat({before}, {text}) AS INT)"
    return f"CAST({text} AS INT)"


def _day(parts: dict[str, str]) -> str:
    """NULL if the month does not have the day, or the year the day or week."""
    if "iso_year" in parts:
        year, week = parts["iso_year"], parts["iso_week"]
        monday = f"date_add(trunc(make_date({year}, 1, 4), 'WEEK'), 7 * ({week} - 1))"
        return f"IF(year(date_add({monday}, 3)) = {year}, date_add({monday}, {parts['weekday']} - 1), NULL)"
    year = parts["year"]
    if "day_of_year" in parts:
        day = f"date_add(make_date({year}, 1, 1), {parts['day_of_year']} - 1)"
        return f"IF(year({day}) = {year}, {day}, NULL)"
    return f"make_date({year}, {parts['month']}, {parts['day']})"


def _moment(parts: dict[str, str]) -> str:
    hour = parts.get("hour")
    if hour is None and "hour_of_half_day" in parts:
        hour = f"{parts['hour_of_half_day']} % 12 + {parts.get('half_day', '0')}"
    second = parts.get("second_of_day") or parts.get("second") or "0"
    if "fraction" in parts:
        second = f"CAST(concat({second}, '.', {parts['fraction']}) AS DECIMAL(18, 6))"
    midnight = f"CAST({_day(parts)} AS TIMESTAMP_NTZ)"
    clock = (hour or "0", parts.get("minute", "0"), second)
    return midnight if set(clock) == {"0"} else f"({midnight} + make_dt_interval(0, {', '.join(clock)}))"


FORMATS: dict[str, Lower] = {READ_TIME: _read_time}
