"""CAST in Druid's expression language.

Druid's CAST of a string accepts other forms than Hive's ('true' is 1, ' 5' is null, '1e3' is an integer), so strings
are checked first with the regular expressions of plan.number_text.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from math import nextafter
from typing import TYPE_CHECKING

from hivedruid.catalog.types import HiveType
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.preimages import trunc_unit
from hivedruid.druid.string_functions import characters_left
from hivedruid.druid.syntax import MAX_LONG, MIN_LONG, PERIODS, decimal_digits, str_constant, string_literal
from hivedruid.plan.literals import DAY
from hivedruid.plan.number_text import DOUBLE_TEXT, INTEGER_BLANKS, INTEGER_TEXT, TIME_BLANK
from hivedruid.plan.rex import Call, Rex

if TYPE_CHECKING:
    from hivedruid.druid.expressions import DruidExpressions

BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_FALSE_TEXTS = ("", "false", "no", "off", "0")


def cast(d: DruidExpressions, rex: Call) -> str:
    value, to = rex.args[0], rex.type
    if to.is_string:
        return _to_string(d, value, to)
    if to.is_time:
        return _to_time(d, value, to)
    if to.is_integer:
        return _to_integer(d, value, to)
    if to.name == "double":
        return _to_double(d, value)
    if to.name == "boolean":
        return _to_boolean(d, value)
    if to.name == "decimal":
        return _to_decimal(d, value, to)
    raise NotExact(f"CAST from {value.type} to {to}")


@cache
def whole_text(pattern: str) -> str:
    """A regular expression for a whole string, as a constant; \\z, since $ also matches before a line break at
    the end."""
    return string_literal(rf"^{pattern}\z")


# --- numbers -----------------------------------------------------------------------------------------------------


def _to_integer(d: DruidExpressions, value: Rex, to: HiveType) -> str:
    source, bits = value.type, BITS[to.name]
    if source.is_string:
        return _text_to_bigint(d.text(value)) if bits == 64 else _text_to_int(d.text(value), bits)
    if source.is_integer or source.name == "boolean":
        return d.fit(to, d.text(value)) if bits < BITS.get(source.name, 1) else d.text(value)
    if source.is_approximate:
        whole = f"CAST({d.text(value)},'LONG')"  # truncated, and saturated at the LONG limits, as in Java
        return whole if bits == 64 else d.fit(to, whole)
    if source.is_timestamp and bits == 64:
        return d.seconds(value)
    raise NotExact(f"CAST from {source} to {to}")


def _text_to_int(text: str, bits: int) -> str:
    """Out of range is NULL. The digits before the decimal point are used, without surrounding blanks."""
    digits = whole_text(rf"{INTEGER_BLANKS}([+-]?[0-9]+[.]?|[+-]?[.])[0-9]*{INTEGER_BLANKS}")
    number = f"CAST(replace(regexp_extract({text},{digits},1),'.','.0'),'LONG')"
    half = 1 << (bits - 1)
    return f"case_searched({_is_integer(text)} && {number} >= {-half} && {number} < {half},{number})"


def _is_integer(text: str) -> str:
    return f"regexp_like({text},{whole_text(INTEGER_TEXT)})"


def _text_to_bigint(text: str) -> str:
    """Druid saturates at the LONG limits; only the limits themselves are valid, values beyond are NULL."""
    number = rf"{INTEGER_BLANKS}[+]?(-?)([0-9]+[.]?|[.])[0-9]*{INTEGER_BLANKS}"
    ends = whole_text(rf"{INTEGER_BLANKS}(?:[+]?0*{MAX_LONG}|-0*{-MIN_LONG})(?:[.][0-9]*)?{INTEGER_BLANKS}")
    digits = f"replace(regexp_replace({text},{whole_text(number)},{string_literal('$10$2')}),'.','')"
    cut = f"CAST({digits},'LONG')"
    inside = f"({cut} < {MAX_LONG} && {cut} > {MIN_LONG}) || regexp_like({text},{ends})"
    return f"case_searched({_is_integer(text)} && ({inside}),{cut})"


def _to_double(d: DruidExpressions, value: Rex) -> str:
    source, text = value.type, d.text(value)
    if source.is_string:
        return text_to_double(text)
    if source.is_approximate or source.name == "decimal":
        return text
    if source.is_integer or source.name == "boolean":
        return f"CAST({text},'DOUBLE')"
    raise NotExact(f"CAST from {source} to double")


def text_to_double(text: str) -> str:
    """A string parsed to a double like Java's Double.parseDouble."""
    return f"CAST(regexp_extract({text},{whole_text(DOUBLE_TEXT)},1),'DOUBLE')"


def _to_boolean(d: DruidExpressions, value: Rex) -> str:
    text = d.text(value)
    if value.type.is_string:
        return "(" + " && ".join(f"lower({text}) != '{false}'" for false in _FALSE_TEXTS) + ")"
    if value.type.is_integer or value.type.is_approximate or value.type.name == "decimal":
        return f"({text} != 0)"
    raise NotExact(f"CAST from {value.type} to boolean")


def _to_decimal(d: DruidExpressions, value: Rex, to: HiveType) -> str:
    """Rounded HALF_UP from the shortest representation of the double, like HiveDecimal.create; NULL with too many
    digits."""
    precision, scale = decimal_digits(to)
    text = d.text(value)
    if value.type.is_integer or value.type.name == "boolean":
        bound = 10 ** (precision - scale)
        number = f"CAST({text},'DOUBLE')"
        if 1 << (BITS.get(value.type.name, 2) - 1) < bound:
            return number
        return f"case_searched({text} < {bound} && {text} > {-bound},{number})"
    if value.type.name in ("double", "decimal"):
        return f"case_searched(abs({text}) <= {_largest(precision, scale)!r},round({text},{scale}))".replace("e+", "e")
    raise NotExact(f"CAST from {value.type} to {to}")


def _largest(precision: int, scale: int) -> float:
    """The largest double that is not rounded beyond the precision."""
    beyond = Decimal(10) ** (precision - scale) - Decimal(5).scaleb(-scale - 1)
    largest = float(beyond)
    while Decimal(repr(largest)) >= beyond:
        largest = nextafter(largest, 0)
    return largest


# --- strings and times -------------------------------------------------------------------------------------------


def _to_string(d: DruidExpressions, value: Rex, to: HiveType) -> str:
    source = value.type
    if source.is_string:
        text = d.text(value)
    elif source.is_integer or source.name == "double":
        text = f"CAST({d.text(value)},'STRING')"
    elif source.name == "boolean":
        inner = d.text(value)
        text = f"case_searched({inner} == 1,'TRUE',{inner} == 0,'FALSE')"
    elif source.name == "date":
        text = f"timestamp_format({d.text(value)},'yyyy-MM-dd','UTC')"
    elif source.is_timestamp:
        text = d.timestamp_text(value)
    else:
        raise NotExact(f"CAST from {source} to {to}")
    if to.name == "varchar" and to.params:
        return characters_left(text, to.params[0]) if source.is_string else f"left({text},{to.params[0]})"
    if to.name == "char":
        raise NotExact("CAST to char")
    return text


def _to_time(d: DruidExpressions, value: Rex, to: HiveType) -> str:
    source = value.type
    if source.is_string and to.name == "date":
        if isinstance(value, Call) and value.op == "trunc" and d.zone(value.args[0]) == "UTC":
            return day_of_trunc(d, value)
        return text_to_date(d.text(value))
    if source.is_string and to.is_timestamp:
        raise NotExact("Druid has millisecond precision, strings may contain microseconds")
    if not source.is_time:
        raise NotExact(f"CAST from {source} to {to}")
    if to.name == "date":
        return d.day(value)
    if source.name.endswith("zone") == to.name.endswith("zone") or d.is_utc:
        return d.text(value)
    if source.name.endswith("zone"):
        return d.wall_clock(value, d.session_zone)
    return d.instant(d.text(value), d.session_zone)


def day_of_trunc(d: DruidExpressions, rex: Call) -> str:
    """The date that trunc() returns as a string, for a time in UTC."""
    value = rex.args[0]
    unit = trunc_unit(str_constant(rex.args[1], "the unit of trunc()")) if len(rex.args) > 1 else None
    if unit is None or not value.type.is_time:
        raise NotExact(f"trunc() of {value.type} to a unit other than month, quarter or year")
    return f"timestamp_floor({d.moment(value)},'{PERIODS[unit]}',null,'{d.zone(value)}')"


def text_to_date(text: str) -> str:
    """The date at the start of a string (DATE_TEXT in plan.literals)."""
    shape = whole_text(rf"{TIME_BLANK}*({DAY})(?:[^0-9][\s\S]*)?")
    return f"timestamp_parse(regexp_extract({text},{shape},1),'yyyy-MM-dd','UTC')"
