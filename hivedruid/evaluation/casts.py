"""CAST between types, where Hive's result is certain."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hivedruid.catalog.types import HiveType
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.numbers import as_decimal, hive_decimal, real, single
from hivedruid.evaluation.times import modern
from hivedruid.java_numbers import double_text
from hivedruid.plan import fold, literals
from hivedruid.plan.number_text import parse_decimal, parse_double, parse_integer
from hivedruid.plan.rex import Call

Cast = Callable[[Any], Any]


def cast(call: Call, zone_name: str) -> Cast:
    source, to = call.args[0].type, call.type
    if source == to or source.name == "void":
        return lambda v: v
    if to.is_time:
        return _to_time(source, to, zone_name)
    conversion = _CASTS.get((_family(source), "string" if to.is_string else _family(to)))
    if conversion is None:
        raise NotLocal(f"a cast of {source} to {to}")
    return conversion(source, to)


def _family(type_: HiveType) -> str:
    if type_.is_integer:
        return "integer"
    return "string" if type_.name == "varchar" else type_.name


_TIME_TEXT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d(\.\d{1,6})?Z?)?", re.ASCII)
"""The usual forms of times, in Hive and in ISO 8601."""


def _to_time(source: HiveType, to: HiveType, zone_name: str) -> Cast:
    if not (source.is_time or source.name in ("string", "varchar")):
        raise NotLocal(f"a cast of {source} to {to}")

    def convert(value: Any) -> Any:
        if isinstance(value, str) and _TIME_TEXT.fullmatch(value) is None:
            raise Unsure("a string in an unusual time format")
        known, result = fold.cast_value(value, source, to, zone_name)
        if not known or (result is not None and modern(result) is None):
            raise Unsure(f"a cast of {source} to {to}")
        return result

    return convert


def _integer_to_integer(_source: HiveType, to: HiveType) -> Cast:
    return lambda v: fold.wrap(v, to)


def _double_to_integer(_source: HiveType, to: HiveType) -> Cast:
    def convert(value: float) -> int:
        number = int(real(value))
        if fold.wrap(number, to) != number:
            raise Unsure(f"a double out of range for {to}")
        return number

    return convert


def _decimal_to_integer(_source: HiveType, to: HiveType) -> Cast:
    def convert(value: Decimal) -> int | None:
        number = int(value)
        return number if fold.wrap(number, to) == number else None

    return convert


def _to_decimal(_source: HiveType, to: HiveType) -> Cast:
    return lambda v: as_decimal(Decimal(v), to)


def _double_to_decimal(_source: HiveType, to: HiveType) -> Cast:
    """The displayed digits, rounded half up."""
    return lambda v: as_decimal(Decimal(repr(real(v))), to)


def _string_to_integer(_source: HiveType, to: HiveType) -> Cast:
    def convert(text: str) -> int | None:
        number = parse_integer(text)
        return number if number is not None and fold.wrap(number, to) == number else None

    return convert


def _string_to_double(_source: HiveType, _to: HiveType) -> Cast:
    def convert(text: str) -> float | None:
        number = parse_double(text)
        return None if number is None else real(number)

    return convert


def _string_to_float(_source: HiveType, _to: HiveType) -> Cast:
    def convert(text: str) -> float | None:
        if parse_double(text) is None:
            return None
        number = parse_decimal(text)
        if number is None:
            raise Unsure("a string in an unusual number format")
        return single(number)

    return convert


def _string_to_decimal(_source: HiveType, to: HiveType) -> Cast:
    def convert(text: str) -> Decimal | None:
        number = parse_decimal(text)
        return None if number is None else as_decimal(hive_decimal(number), to)

    return convert


def _to_string(text: Callable[[Any], str]) -> Callable[[HiveType, HiveType], Cast]:
    """Cut to the length of the type; that of CHAR without trailing blanks."""

    def build(_source: HiveType, to: HiveType) -> Cast:
        if not to.params:
            return text
        length = to.params[0]
        if to.name == "char":
            return lambda v: text(v)[:length].rstrip(" ")
        return lambda v: text(v)[:length]

    return build


_FALSE_TEXTS = ("", "false", "no", "off", "0")


def _boolean_text(_value: Any) -> str:
    return "TRUE" if _value else "FALSE"


def _nonzero(_source: HiveType, _to: HiveType) -> Cast:
    return bool


def _double_text(value: float) -> str:
    if 0 < abs(value) < sys.float_info.min:
        raise Unsure("the string of a double close to zero")
    return double_text(real(value))


def _to_single(_source: HiveType, _to: HiveType) -> Cast:
    return single


_CASTS: dict[tuple[str, str], Callable[[HiveType, HiveType], Cast]] = {
    ("integer", "integer"): _integer_to_integer,
    ("integer", "double"): lambda _s, _t: float,
    ("integer", "decimal"): _to_decimal,
    ("integer", "float"): _to_single,
    ("integer", "string"): _to_string(str),
    ("integer", "boolean"): _nonzero,
    ("boolean", "integer"): lambda _s, _t: int,
    ("boolean", "double"): lambda _s, _t: float,
    ("boolean", "string"): _to_string(_boolean_text),
    ("float", "double"): _to_single,
    ("float", "integer"): _double_to_integer,
    ("float", "boolean"): _nonzero,
    ("double", "float"): _to_single,
    ("double", "integer"): _double_to_integer,
    ("double", "decimal"): _double_to_decimal,
    ("double", "string"): _to_string(_double_text),
    ("decimal", "integer"): _decimal_to_integer,
    ("decimal", "double"): lambda _s, _t: float,
    ("decimal", "float"): _to_single,
    ("decimal", "decimal"): _to_decimal,
    ("decimal", "string"): _to_string(lambda v: format(v, "f")),
    ("string", "integer"): _string_to_integer,
    ("string", "double"): _string_to_double,
    ("string", "float"): _string_to_float,
    ("string", "decimal"): _string_to_decimal,
    ("string", "string"): _to_string(str),
    ("string", "boolean"): lambda _s, _t: lambda v: v.lower() not in _FALSE_TEXTS,
    ("date", "string"): _to_string(lambda v: str(modern(v))),
    ("timestamp", "string"): _to_string(lambda v: literals.timestamp_text(modern(v))),
}
