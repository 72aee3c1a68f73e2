"""The strings that Hive casts to numbers: patterns that Python, Java and Druid read alike, and parsers. Pure.

Other strings are NULL. Which characters may surround a number depends on its type, and no type accepts other digits
than 0 to 9.
"""

from __future__ import annotations

import math
from decimal import Decimal

from hivedruid.lazy_regex import regex

TIME_BLANK = r"[\x00-\x20]"
"""String.trim(): what may surround a date, a timestamp or a DOUBLE."""
_DOUBLE_BLANKS = rf"{TIME_BLANK}*"
INTEGER_BLANKS = r"[\t-\r\x1c-\x20]*"
"""Character.isWhitespace() (LazyInteger, LazyLong)."""
_DECIMAL_BLANKS = r"[\t\x0b\f\x20]*"
"""FastHiveDecimalImpl: a line break is not a blank."""

_UNSIGNED = r"(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)"
_HEX = r"0[xX](?:[0-9a-fA-F]+(?:[.][0-9a-fA-F]*)?|[.][0-9a-fA-F]+)[pP][+-]?[0-9]+"
INTEGER_TEXT = rf"{INTEGER_BLANKS}[+-]?{_UNSIGNED}{INTEGER_BLANKS}"
"""Digits after the decimal point are dropped."""
DOUBLE_TEXT = (
    rf"{_DOUBLE_BLANKS}([+-]?(?:NaN|Infinity|{_UNSIGNED}(?:[eE][+-]?[0-9]+)?[fFdD]?|{_HEX}[fFdD]?)){_DOUBLE_BLANKS}"
)
"""What Double.parseDouble and Float.parseFloat accept; the first group is the number."""
DECIMAL_TEXT = rf"{_DECIMAL_BLANKS}([+-]?{_UNSIGNED}(?:[eE][+-]?0*[0-9]{{1,2}})?){_DECIMAL_BLANKS}"
"""The exponent has at most two digits (FastHiveDecimalImpl); the first group is the number."""

_INTEGER = regex(rf"{INTEGER_BLANKS}([+-]?)0*([0-9]*)(?:[.][0-9]*)?{INTEGER_BLANKS}")
_DOUBLE, _DECIMAL = regex(DOUBLE_TEXT), regex(DECIMAL_TEXT)
_ANY_INTEGER = regex(INTEGER_TEXT)
_BIGINT_DIGITS = 19


def parse_integer(text: str) -> int | None:
    """The integer in a string, which may be beyond its type; None if there is none or it is beyond BIGINT."""
    match = _INTEGER.fullmatch(text) if _ANY_INTEGER.fullmatch(text) else None
    if match is None or len(match[2]) > _BIGINT_DIGITS:
        return None
    number = int(match[2] or "0")
    return -number if match[1] == "-" else number


def parse_double(text: str) -> float | None:
    """The nearest double, which may be infinite or NaN; None if the string is not a number."""
    match = _DOUBLE.fullmatch(text)
    if match is None:
        return None
    number = match[1].rstrip("fFdD")  # a hexadecimal number ends with a decimal exponent
    if "x" not in number.lower():
        return float(number)
    try:
        return float.fromhex(number)
    except OverflowError:
        return -math.inf if number.startswith("-") else math.inf


def parse_decimal(text: str) -> Decimal | None:
    """The number in a string with all its digits; None if the string is not a number."""
    match = _DECIMAL.fullmatch(text)
    return Decimal(match[1]) if match else None
