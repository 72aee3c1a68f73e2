"""Arithmetic in decimals: on whole numbers of the smallest unit, which is exact.

In a comparison with a constant only the sign matters, so constants are moved to the other side.
"""

from __future__ import annotations

from decimal import Decimal
from math import floor
from typing import TYPE_CHECKING

from hivedruid.catalog.types import decimal
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.syntax import decimal_digits
from hivedruid.plan.rex import Call, Literal, Ref, Rex, walk

if TYPE_CHECKING:
    from fractions import Fraction

    from hivedruid.druid.expressions import DruidExpressions

MAX_PRECISION = 38
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10}
_COMPUTED = ("+", "-", "*", "/")


def decimal_arithmetic(d: DruidExpressions, rex: Call) -> str:
    """The DOUBLE nearest to a sum, difference, product or quotient of decimals."""
    if rex.op not in _COMPUTED:
        raise NotExact(f"{rex.op} of decimals")
    _, scale = decimal_digits(rex.type)
    units = f"CAST({_units(d, rex, scale)},'DOUBLE')"
    return f"({units} / {10**scale})" if scale else units


def decimal_units(d: DruidExpressions, rex: Call) -> str:
    """A decimal in units of its scale, as a LONG."""
    return _units(d, rex.args[0], rex.args[0].type.params[1])


def _units(d: DruidExpressions, rex: Rex, scale: int) -> str:
    """A number in units of 10^-scale, as a LONG."""
    if isinstance(rex, Literal) and isinstance(rex.value, int | Decimal):
        return str(int(Decimal(rex.value).scaleb(scale)))
    if rex.type.name in _DIGITS:
        return d.text(rex) if not scale else f"({d.text(rex)} * {10**scale})"
    if rex.type.name != "decimal":
        raise NotExact(f"decimal arithmetic with {rex.type}")
    precision, own = rex.type.params
    if precision + scale - own > 18:
        raise NotExact(f"{rex.type} exceeds the 18 digits of a LONG")
    if isinstance(rex, Call) and rex.op in _COMPUTED:
        units = _computed(d, rex, own)
    else:
        decimal_digits(rex.type)
        units = f"CAST(round({d.text(rex)} * {10**own}),'LONG')"
    return units if own == scale else f"({units} * {10 ** (scale - own)})"


def _computed(d: DruidExpressions, rex: Call, scale: int) -> str:
    a, b = rex.args
    if rex.op in ("+", "-"):
        return f"({_units(d, a, scale)} {rex.op} {_units(d, b, scale)})"
    scales = [x.type.params[1] if x.type.name == "decimal" else 0 for x in (a, b)]
    if rex.op == "/":
        return _quotient(d, rex, scale - scales[0] + scales[1])
    if sum(scales) != scale:
        raise NotExact(f"a product rounded to {rex.type}")
    return f"({_units(d, a, scales[0])} * {_units(d, b, scales[1])})"


def _quotient(d: DruidExpressions, rex: Call, exponent: int) -> str:
    """The quotient of two numbers in units, the first times 10^exponent, to the nearest LONG, halves away from zero."""
    a, b = rex.args
    if not any(isinstance(part, Ref) for part in walk(rex)):
        raise NotExact("Druid evaluates a division of constants, even by zero, before its enclosing condition")
    sizes = [_DIGITS[x.type.name] if x.type.name in _DIGITS else x.type.params[0] for x in (a, b)]
    if exponent < 0 or max(sizes[0] + exponent, sizes[1]) > 17:
        raise NotExact(f"{a.type} / {b.type} exceeds the 18 digits of a LONG")
    top = _units(d, a, exponent + (a.type.params[1] if a.type.name == "decimal" else 0))
    bottom = _units(d, b, b.type.params[1] if b.type.name == "decimal" else 0)
    if isinstance(b, Literal) and b.value:
        half = abs(int(bottom))
        size = f"div(abs({top}) * 2 + {half},{half * 2})"
        return f"if({top} {'<' if b.value > 0 else '>'} 0,0 - {size},{size})"
    size = f"div(abs({top}) * 2 + abs({bottom}),abs({bottom}) * 2)"
    return f"if({bottom} == 0,null,if(({top} < 0) == ({bottom} < 0),{size},0 - {size}))"


def solved_comparison(rex: Call) -> Call:
    """`x * 1.5 + 2 > 10` as `x > 5.333…` if x is an integer; other comparisons are unchanged. A non-integer constant
    is replaced by one between the same two integers.
    """
    left, right = rex.args
    if left.type.name != "decimal" or not isinstance(right, Literal) or not isinstance(right.value, int | Decimal):
        return rex
    if isinstance(right.value, bool) or rex.op == "<=>":
        return rex
    line = _line(left)
    if line is None or not line[1]:
        return rex
    base, slope, offset = line
    from fractions import Fraction

    constant = (Fraction(right.value) - offset) / slope
    below = floor(constant)
    value = Decimal(below) if constant == below else Decimal(below) + Decimal("0.5")
    op = _FLIPPED.get(rex.op, rex.op) if slope < 0 else rex.op
    digits = value.as_tuple().digits
    return Call(rex.type, op, (base, Literal(decimal(min(len(digits) + 1, MAX_PRECISION), 1), value)))


def _line(rex: Rex) -> tuple[Rex, Fraction, Fraction] | None:
    """An integer, and its factor and offset in an expression without rounding."""
    from fractions import Fraction

    if rex.type.is_integer and not isinstance(rex, Literal):
        return rex, Fraction(1), Fraction(0)
    if not isinstance(rex, Call) or rex.op not in ("+", "-", "*") or rex.type.params[0] >= MAX_PRECISION:
        return None
    a, b = rex.args
    flipped = isinstance(a, Literal)
    number, line = (a, _line(b)) if flipped else (b, _line(a))
    if line is None or not isinstance(number, Literal) or not isinstance(number.value, int | Decimal):
        return None
    base, slope, offset = line
    by = Fraction(number.value)
    if rex.op == "*":
        return base, slope * by, offset * by
    if rex.op == "+":
        return base, slope, offset + by
    return (base, -slope, by - offset) if flipped else (base, slope, offset - by)
