"""Numbers as Java writes them."""

from __future__ import annotations

import math
from decimal import Decimal
from struct import error, pack


def double_text(value: float) -> str:
    """Java's Double.toString: plain from 1.0E-3 up to 1.0E7, else scientific with at least one decimal."""
    return _java_number(float(value), repr(float(value)))


def float_text(value: float) -> str:
    """Java's Float.toString: the shortest digits that identify the same single-precision number."""
    value = float(value)
    if not math.isfinite(value):
        return double_text(value)
    try:
        single = pack("f", value)
        digits = next((d for d in range(1, 9) if pack("f", float(f"{value:.{d}g}")) == single), 9)
    except (OverflowError, error):  # not a single-precision number after all
        return double_text(value)
    return _java_number(value, repr(float(f"{value:.{digits}g}")))


def _java_number(value: float, shortest: str) -> str:
    if 1e-3 <= abs(value) < 1e7:
        return shortest
    if value == 0 or not math.isfinite(value):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(shortest, shortest)
    sign, digits, exponent = Decimal(shortest).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, rest = digits[0], "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{first}.{rest}E{exponent + len(digits) - 1}"
