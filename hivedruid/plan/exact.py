"""Decimals as in Hive: up to 38 digits, rounded half up, NULL on overflow. Pure."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from hivedruid.catalog.types import HiveType, decimal
from hivedruid.plan.common_types import precision_scale

MAX_PRECISION = 38
EXACT = Context(prec=120, rounding=ROUND_HALF_UP)
"""Enough precision for the product of two decimals with 38 digits; Python's default is 28."""


def fitted(number: Decimal, type_: HiveType) -> Decimal | None:
    """The number rounded to the type's scale; None on overflow."""
    precision, scale = precision_scale(type_)
    if number.adjusted() >= MAX_PRECISION:
        return None if number else abs(number.quantize(Decimal(1).scaleb(-scale), context=EXACT))
    rounded = number.quantize(Decimal(1).scaleb(-scale), context=EXACT)
    if rounded.is_zero():
        return abs(rounded)  # a decimal has no negative zero
    return rounded if len(rounded.as_tuple().digits) <= precision else None


def literal_type(number: Decimal) -> HiveType | None:
    """The type of a number literal: its digits without trailing zeros (HiveDecimal); None beyond 38."""
    sign_digits_exponent = number.normalize(EXACT).as_tuple()
    exponent = int(sign_digits_exponent.exponent)
    scale = max(0, -exponent)
    precision = max(len(sign_digits_exponent.digits) + max(0, exponent), scale, 1)
    return decimal(precision, scale) if precision <= MAX_PRECISION else None


def trimmed(number: Decimal) -> Decimal | None:
    """The number without trailing zeros, reduced to 38 digits like a literal; None if its integer part has more."""
    whole = len(str(abs(int(number)))) if abs(number) >= 1 else 0
    if whole > MAX_PRECISION:
        return None
    scale = max(0, -int(number.as_tuple().exponent))
    kept = number.quantize(Decimal(1).scaleb(-min(scale, MAX_PRECISION - whole)), context=EXACT).normalize(EXACT)
    return abs(kept) if kept.is_zero() else kept
