"""Compare filter constants with columns of other types: the meaning of `7`, `7.5` or `'7.0'` for LONG and STRING."""

from __future__ import annotations

import math
from typing import Any

from hivedruid.embedded.sql import (
    LONG_MAX,
    LONG_MIN,
    Sql,
    as_double,
    as_float,
    as_long,
    as_string,
    combine,
    constant,
    double,
    java_double,
    long,
    string,
)
from hivedruid.errors import DruidError


def never(column: Sql) -> Sql:
    """False on every value, unknown on null."""
    return combine(f"(CASE WHEN {column.text} IS NOT NULL THEN FALSE END)", "BOOLEAN", column)


def compare(column: Sql, operator: str, value: Sql) -> Sql:
    return combine(f"({column.text} {operator} {value.text})", "BOOLEAN", column)


def number_of(value: Any) -> int | float | None:
    """A JSON match value as a number, or None if it is not one."""
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float):
        return value
    text = str(value)
    if "_" in text or text != text.strip():  # Python accepts these, Java does not
        return None
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None


def text_of(value: Any, match_type: str) -> str:
    """A match value as Druid writes it as a string: DOUBLE 7 is '7.0'."""
    if match_type in ("DOUBLE", "FLOAT") or (isinstance(value, float)):
        number = number_of(value)
        return java_double(float(number)) if number is not None else str(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def matching(column: Sql, match_type: str, value: Any) -> Sql | None:
    """A typed match value in the column's type; None if no value can equal it."""
    if column.type in ("STRING", "NULL") or column.is_array:
        if match_type in ("DOUBLE", "FLOAT", "LONG") and number_of(value) is not None:
            return _number_as_text(number_of(value))
        return string(text_of(value, match_type))
    number = number_of(value)
    if number is None:
        return None
    if column.type in ("LONG", "BOOLEAN"):
        if isinstance(number, float):
            if not number.is_integer():
                return None
            number = int(number)
        return long(number) if LONG_MIN <= number <= LONG_MAX else None
    return as_float(double(float(number))) if column.type == "FLOAT" else double(float(number))


def _number_as_text(number: int | float | None) -> Sql:
    # A marker: a string column is compared with a number by value, '7' and '7.0' both equal 7.
    value = constant(number)
    value.type = "NUMBER"
    return value


def text_equals_number(element: Sql, number: Sql) -> Sql:
    value = as_double(as_string(element)).text
    text = f"(CASE WHEN {element.text} IS NOT NULL THEN coalesce({value} = {number.text}, FALSE) END)"
    return combine(text, "BOOLEAN", element)


def range_bound(element: Sql, operator: str, value: Any, numeric: bool) -> Sql:
    if not numeric:
        return compare(as_string(element), operator, string(str(value)))
    number = number_of(value)
    if number is None:
        raise DruidError(f"range filter: '{value}' is not a number")
    if element.type in ("LONG", "BOOLEAN") and not math.isnan(number):
        return compare(as_long(element), operator, long(_range_bound_of_longs(operator, float(number))))
    if element.type != "STRING":
        return compare(as_double(element), operator, double(float(number)))
    text = f"(CASE WHEN {element.text} IS NOT NULL THEN {_text_bound(element, operator, number)} END)"
    return combine(text, "BOOLEAN", element)


def _range_bound_of_longs(operator: str, number: float) -> int:
    """As in RangeFilter: a bound is a double, rounded and clamped to the range of LONG."""
    if math.isinf(number):
        return LONG_MAX if number > 0 else LONG_MIN
    whole = math.ceil(number) if operator in (">=", "<") else math.floor(number)
    return min(max(whole, LONG_MIN), LONG_MAX)


def _text_bound(element: Sql, operator: str, number: float) -> str:
    """A text compared as a number; text that is not a number is below all numbers."""
    value = f"druid_comparable_number({element.text})"
    return f"coalesce({value} {operator} {double(float(number)).text}, {str(operator[0] == '<').upper()})"


def _long_bound(element: Sql, operator: str, number: int | float) -> Sql:
    """An exact bound on a LONG column: an upper bound of 9.5 is `<= 9`, as in BoundDimFilter."""
    if isinstance(number, float):
        if not number.is_integer():
            operator, number = (">=", math.ceil(number)) if operator[0] == ">" else ("<=", math.floor(number))
        number = int(number)
    if LONG_MIN <= number <= LONG_MAX:
        return compare(element, operator, long(number))
    holds = (operator[0] == ">") == (number < LONG_MIN)
    return combine(f"(CASE WHEN {element.text} IS NOT NULL THEN {str(holds).upper()} END)", "BOOLEAN", element)


def bound_of_null(bounds: list[tuple[str, str]], numeric: bool, missing: bool) -> str:
    """Null strings are below everything: within an upper bound, outside a lower one (unknown for a text order)."""
    if not any(operator[0] == ">" for operator, _ in bounds):
        return "TRUE"
    return "FALSE" if numeric or missing else "NULL"


def bound_side(element: Sql, operator: str, value: str, numeric: bool) -> Sql:
    if not numeric:
        return compare(as_string(element), operator, string(value))
    number = number_of(value)
    below = operator[0] == "<"
    if number is None:  # text that is not a number is below all numbers
        holds = "FALSE" if below else "TRUE"
        return combine(f"(CASE WHEN {element.text} IS NOT NULL THEN {holds} END)", "BOOLEAN", element)
    if element.type in ("LONG", "BOOLEAN"):
        return _long_bound(as_long(element), operator, number)
    if element.type == "STRING":
        return combine(f"({_text_bound(element, operator, number)})", "BOOLEAN", element)
    return compare(as_double(element), operator, double(float(number)))
