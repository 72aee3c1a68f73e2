"""Numeric functions as in Hive: integers that wrap around, IEEE doubles, decimals of 38 digits rounded half up."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from hivedruid.catalog.types import HiveType
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.plan.common_types import precision_scale
from hivedruid.plan.fold import wrap
from hivedruid.plan.rex import Call, Literal

MAX_DIGITS = 38
EXACT = Context(prec=400, rounding=ROUND_HALF_UP, Emin=-9999, Emax=9999, traps=[InvalidOperation])
"""Enough precision for sums, products and quotients of 38 digits."""

_BEHIND_SINGLE, _HALFWAY = (1 << 29) - 1, 1 << 28
"""The bits of a double that a float does not have, and their value at the midpoint of two floats."""

Two = Callable[[Any, Any], Any]


def real(value: float) -> float:
    """A double that is the same in every engine."""
    if not math.isfinite(value):
        raise Unsure("a non-finite double")
    return value


def single(value: Any) -> float:
    """The nearest single-precision number; a float's decimal representation gives the float itself."""
    number = real(float(value))
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    if bits & _BEHIND_SINGLE == _HALFWAY and number != value:
        raise Unsure("a number close to the midpoint of two floats")
    try:
        (nearest,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        raise Unsure("a non-finite float") from None
    return float(nearest)


def rounded(value: Decimal, scale: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT)


def hive_decimal(value: Decimal) -> Decimal | None:
    """An exact result rounded to HiveDecimal: 38 digits, up to 38 of them fractional; None on overflow."""
    whole = max(0, value.adjusted() + 1)
    if whole > MAX_DIGITS:
        return None
    room = MAX_DIGITS - whole
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return value if -exponent <= room else rounded(value, room)


def as_decimal(value: Decimal | None, type_: HiveType) -> Decimal | None:
    """The value in its declared precision and scale, rounded half up; None if out of range."""
    if value is None:
        return None
    precision, scale = precision_scale(type_)
    number = rounded(value, scale)
    if not number:
        return number.copy_abs()  # no negative zero
    return number if number.adjusted() < precision - scale else None


# --- arithmetic ---------------------------------------------------------------------------------------------------


def arithmetic(call: Call) -> Two:
    """+ - * / % of numbers of any type; the result type determines the arithmetic."""
    kinds = [a.type for a in call.args]
    if any(not k.is_numeric for k in kinds):
        raise NotLocal(f"{call.op} of {' and '.join(map(str, kinds))}")
    if call.type.is_integer:
        return _INTEGERS[call.op](call.type)
    if call.type.name == "decimal":
        return _decimals(call.op, call.type)
    if call.type.name == "double":
        return _DOUBLES[call.op]
    raise NotLocal(f"{call.op} of type {call.type}")


def _wrapping(compute: Callable[[int, int], int]) -> Callable[[HiveType], Two]:
    return lambda type_: lambda a, b: wrap(compute(a, b), type_)


def quotient(a: int, b: int) -> int:
    """Division that truncates toward zero, as in Java."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_INTEGERS: dict[str, Callable[[HiveType], Two]] = {
    "+": _wrapping(lambda a, b: a + b),
    "-": _wrapping(lambda a, b: a - b),
    "*": _wrapping(lambda a, b: a * b),
    "div": lambda type_: lambda a, b: wrap(quotient(a, b), type_) if b else None,
    "%": lambda _type: lambda a, b: a - b * quotient(a, b) if b else None,
}
_DOUBLES: dict[str, Two] = {
    "+": lambda a, b: real(float(a) + float(b)),
    "-": lambda a, b: real(float(a) - float(b)),
    "*": lambda a, b: real(float(a) * float(b)),
    "/": lambda a, b: real(float(a) / float(b)) if b else None,
    "%": lambda a, b: math.fmod(real(float(a)), real(float(b))) if b else None,
}


def _decimals(op: str, type_: HiveType) -> Two:
    exact = _EXACT[op]

    def compute(a: Any, b: Any) -> Decimal | None:
        result = exact(Decimal(a), Decimal(b))
        if result is not None and op == "*" and len(result.normalize(EXACT).as_tuple().digits) > MAX_DIGITS:
            raise Unsure("a product of more than 38 digits")
        return None if result is None else as_decimal(hive_decimal(result), type_)

    return compute


def _divide(a: Decimal, b: Decimal) -> Decimal | None:
    """HiveDecimal.divide: 38 fractional digits, rounded half up."""
    return rounded(EXACT.divide(a, b), MAX_DIGITS) if b else None


_EXACT: dict[str, Callable[[Decimal, Decimal], Decimal | None]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
    "/": _divide,
    "%": lambda a, b: EXACT.remainder(a, b) if b else None,
}


def integer_division(call: Call) -> Two:
    if not all(a.type.is_integer for a in call.args):
        raise NotLocal("DIV of non-integers")
    return _INTEGERS["div"](call.type)


def positive_modulo(call: Call) -> Two:
    if not call.type.is_integer or not all(a.type.is_integer for a in call.args):
        raise NotLocal("pmod() of non-integers")
    rest, type_ = _INTEGERS["%"](call.type), call.type
    return lambda a, b: rest(wrap(rest(a, b) + b, type_), b) if b else None


def bits(call: Call) -> Two:
    if not all(a.type.is_integer for a in call.args):
        raise NotLocal(f"{call.op} of non-integers")
    compute: Two = {"&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b}[call.op]
    return compute


# --- functions of one number -----------------------------------------------------------------------------------------


def negative(call: Call) -> Callable[[Any], Any]:
    type_ = call.type
    if type_.is_integer:
        return lambda v: wrap(-v, type_)
    if type_.name == "double":
        return lambda v: -v
    if type_.name == "decimal":
        return lambda v: v.copy_negate() if v else v
    raise NotLocal(f"- of {type_}")


def absolute(call: Call) -> Callable[[Any], Any]:
    type_ = call.type
    if type_.is_integer:
        return lambda v: wrap(abs(v), type_)
    if type_.name == "double" and call.args[0].type == type_:
        return abs
    if type_.name == "decimal" and call.args[0].type == type_:
        return lambda v: v.copy_abs()
    raise NotLocal(f"abs() of {call.args[0].type}")


def sign(call: Call) -> Callable[[Any], Any]:
    if call.type.name != "double":
        raise NotLocal(f"sign() of type {call.type}")
    return lambda v: float((real(v) > 0) - (v < 0))


def square_root(call: Call) -> Callable[[Any], Any]:
    _number(call)
    return lambda v: math.sqrt(v) if real(v) >= 0 else None


def whole(call: Call) -> Callable[[Any], Any]:
    """floor() and ceil()."""
    source, type_ = call.args[0].type, call.type
    if len(call.args) > 1:
        raise NotLocal(f"{call.op}() to a number of digits")
    if source.is_integer and type_.is_integer:
        return lambda v: v
    mode = ROUND_FLOOR if call.op == "floor" else ROUND_CEILING
    if source.name == "decimal" and type_.name == "decimal":
        return lambda v: as_decimal(v.quantize(Decimal(1), mode, EXACT), type_)
    if source.name != "double" or type_.name != "bigint":
        raise NotLocal(f"{call.op}() of {source}")
    round_ = math.floor if call.op == "floor" else math.ceil

    def cut(value: float) -> int:
        result = round_(real(value))
        if wrap(result, type_) != result:
            raise Unsure(f"{call.op}() of a double out of range for bigint")
        return result

    return cut


def round_half_up(call: Call) -> Callable[[Any], Any]:
    """round(x[, constant])."""
    source, type_ = call.args[0].type, call.type
    digits = 0
    if len(call.args) > 1:
        given = call.args[1]
        if not isinstance(given, Literal) or not isinstance(given.value, int):
            raise NotLocal("round() to a non-constant number of digits")
        digits = given.value
    if abs(digits) > 30:
        raise NotLocal("round() to more than 30 digits")
    change: Callable[[Any], Any]
    if source.is_integer and type_ == source:
        change = (lambda v: v) if digits >= 0 else (lambda v: _rounded_integer(v, digits, type_))
    elif source.name == "decimal" and type_.name == "decimal":
        change = lambda v: as_decimal(rounded(v, digits), type_)  # noqa: E731
    elif source.name == "double" and type_ == source:
        change = lambda v: float(rounded(Decimal(repr(real(v))), digits)) + 0.0  # noqa: E731 - no negative zero
    else:
        raise NotLocal(f"round() of {source}")
    return lambda v, *_digits: change(v)


def _rounded_integer(value: int, digits: int, type_: HiveType) -> int:
    number = int(rounded(Decimal(value), digits))
    if wrap(number, type_) != number:
        raise Unsure("round() with a result out of range for the integer type")
    return number


def _number(call: Call) -> None:
    if not call.args[0].type.is_numeric or call.args[0].type.name == "float":
        raise NotLocal(f"{call.op}() of {call.args[0].type}")
