"""Constant folding of scalar operators that can be computed exactly during planning, and of CAST of literals."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from hivedruid.catalog.types import BOOLEAN, VOID, HiveType
from hivedruid.plan import exact, literals
from hivedruid.plan.number_text import parse_decimal, parse_double, parse_integer
from hivedruid.plan.rex import Call, Literal, Ref, Rex, transform

_INTEGER_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def wrap(value: int, type_: HiveType) -> int:
    """An integer wrapped to its type's width, as in Java."""
    bits = _INTEGER_BITS[type_.name]
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def cast(rex: Rex, to: HiveType, zone: str) -> Rex:
    """CAST(rex AS to), folded if `rex` is a literal whose cast can be computed; no cast if the type is the same."""
    if rex.type == to:
        return rex
    if isinstance(rex, Literal):
        known, value = cast_value(rex.value, rex.type, to, zone)
        if known:
            return Literal(to, value)
    return Call(to, "cast", (rex,))


def cast_value(value: Any, source: HiveType, to: HiveType, zone: str) -> tuple[bool, Any]:
    """(True, the cast value), or (False, None) if only Spark can compute it."""
    if value is None:
        return True, None
    if to.is_timestamp or to.name == "date":
        return _cast_time(value, to, zone)
    if to.is_integer:
        return _cast_integer(value, source, to)
    if to.is_approximate:
        return _cast_double(value, to)
    if to.name == "decimal":
        return _cast_decimal(value, to)
    if to.is_string:
        return _cast_string(value, source, to)
    if to in literals.INTERVAL_TEXTS and isinstance(value, str):
        nanoseconds = re.search(r"\.\d{6}0*[1-9]", value)
        return (False, None) if nanoseconds else (True, literals.parse_interval_text(value, to))
    return False, None


def _cast_time(value: Any, to: HiveType, zone: str) -> tuple[bool, Any]:
    if isinstance(value, str):
        if to.name == "date":
            return True, literals.parse_date(value)
        if to.name == "timestamp":
            return (False, None) if literals.is_clock(value) else (True, literals.parse_timestamp(value))
        return True, literals.parse_timestamp_ltz(value, zone)
    session = literals.zone_of(zone)
    if not isinstance(value, date) or session is None:
        return False, None
    if not isinstance(value, datetime):
        moment = datetime(value.year, value.month, value.day)
        return True, literals.from_local(moment, session) if to.name.endswith("zone") else moment
    if to.name.endswith("zone"):
        return True, value if value.tzinfo else literals.from_local(value, session)
    local = value.astimezone(session).replace(tzinfo=None) if value.tzinfo else value
    return True, local if to.name == "timestamp" else local.date()


def _cast_integer(value: Any, source: HiveType, to: HiveType) -> tuple[bool, Any]:
    if isinstance(value, bool):
        return True, int(value)
    if isinstance(value, int):
        return True, wrap(value, to)
    if isinstance(value, Decimal):
        whole = int(value)
        return True, whole if wrap(whole, to) == whole else None
    number = parse_integer(value) if isinstance(value, str) and source.is_string else None
    if number is not None:
        return True, number if wrap(number, to) == number else None
    return False, None


def _cast_double(value: Any, to: HiveType) -> tuple[bool, Any]:
    if to.name == "float" or isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return False, None
    number = parse_double(value) if isinstance(value, str) else float(value)
    return (False, None) if number is None or not isfinite(number) else (True, number)


def _cast_decimal(value: Any, to: HiveType) -> tuple[bool, Any]:
    if isinstance(value, bool | float) or not isinstance(value, int | Decimal | str):
        return False, None
    number = parse_decimal(value) if isinstance(value, str) else Decimal(value)
    return True, None if number is None else exact.fitted(number, to)


def _cast_string(value: Any, source: HiveType, to: HiveType) -> tuple[bool, Any]:
    text: str
    if isinstance(value, (bool, float)) or (isinstance(value, datetime) and value.tzinfo):
        return False, None
    if isinstance(value, datetime):
        text = literals.timestamp_text(value)
    elif isinstance(value, Decimal):
        text = f"{value:f}"
    elif isinstance(value, tuple):
        text = literals.interval_text(value, source)
    elif isinstance(value, date):
        text = value.isoformat()
    elif isinstance(value, str | int):
        text = str(value)
    else:
        return False, None
    if to.name == "varchar" and to.params:
        text = text[: to.params[0]]
    return (False, None) if to.name == "char" else (True, text)


def fold(call: Call, zone: str) -> Rex:
    """The call, or its constant value."""
    values = [arg.value for arg in call.args if isinstance(arg, Literal)]
    if call.op in ("and", "or"):
        return _logic(call)
    if call.op == "case":
        return _case(call)
    if call.op == "coalesce":
        return _coalesce(call)
    if call.op == "not" and isinstance(inner := call.args[0], Call) and inner.op == "not":
        return inner.args[0]
    if len(values) != len(call.args):
        return _with_date(_with_null(call))
    folder = _folder(call.op)
    if folder is None:
        return call
    if any(value is None for value in values) and call.op not in ("is_null", "is_not_null", "<=>"):
        return Literal(call.type, None)
    known, value = folder(call, values, zone)
    return Literal(call.type, value) if known else call


def _folder(op: str) -> Any:
    """The function that computes an operator of constants; None if there is none."""
    folder = _FOLDERS.get(op)
    if folder is None:
        from hivedruid.plan.fold_calendar import CALENDAR

        folder = CALENDAR.get(op)
    return folder


_FLIPPED = {"=": "=", "<>": "<>", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def refold(rex: Rex, zone: str) -> Rex:
    """An expression in which columns have become constants, folded from the inside; constants are on the right of
    comparisons.
    """
    if isinstance(rex, Ref | Literal):
        return rex
    if not isinstance(rex, Call):
        return transform(rex, lambda part: refold(part, zone) if isinstance(part, Call) else None)
    args = tuple([refold(a, zone) for a in rex.args])
    if rex.op == "cast":
        return cast(args[0], rex.type, zone)
    op = rex.op
    if op in _FLIPPED and isinstance(args[0], Literal) and not isinstance(args[1], Literal):
        op, args = _FLIPPED[op], args[::-1]
    return fold(Call(rex.type, op, args), zone)


def plain(value: Any) -> Any:
    """A result value as a literal value: zoned times in UTC."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo is not None else value


def _with_null(call: Call) -> Rex:
    """Strict operators are NULL if one side is NULL."""
    if call.op in _STRICT and any(isinstance(a, Literal) and a.value is None for a in call.args):
        return Literal(call.type, None)
    return call


def _logic(call: Call) -> Rex:
    """AND and OR without neutral constants, or their absorbing constant."""
    neutral = call.op == "and"
    rest: dict[Rex, None] = {}
    for arg in call.args:
        if isinstance(arg, Literal) and isinstance(arg.value, bool):
            if arg.value is not neutral:
                return Literal(BOOLEAN, not neutral)
        else:
            rest[arg] = None
    if len(rest) == len(call.args):
        return call
    if not rest:
        return Literal(BOOLEAN, neutral)
    terms = tuple(rest)
    return terms[0] if len(terms) == 1 else Call(BOOLEAN, call.op, terms)


Folded = tuple[bool, Any]
_UNKNOWN: Folded = (False, None)


def _compare(call: Call, values: list[Any], _zone: str) -> Folded:
    a, b = values
    if call.op == "<=>" and (a is None or b is None):
        return True, a is b
    if isinstance(a, str) != isinstance(b, str) or isinstance(a, float) or isinstance(b, float):
        return _UNKNOWN
    try:
        if isinstance(a, str):
            a, b = a.encode(), b.encode()
        result = {
            "=": lambda: a == b, "<>": lambda: a != b, "<": lambda: a < b, "<=": lambda: a <= b,
            ">": lambda: a > b, ">=": lambda: a >= b, "<=>": lambda: a == b,
        }[call.op]()  # fmt: skip
    except TypeError:
        return _UNKNOWN
    return True, result


def _with_date(rex: Rex) -> Rex:
    """CAST(d AS timestamp) <= constant as a condition on the date, which Spark can check for parts of files."""
    if not isinstance(rex, Call) or rex.op not in _FLIPPED:
        return rex
    a, b = rex.args
    date_ = _cast_date(a)
    if date_ is None or not isinstance(b, Literal) or not isinstance(b.value, datetime):
        return rex
    is_midnight = b.value == datetime(b.value.year, b.value.month, b.value.day)
    op = rex.op if is_midnight else {"<": "<=", "<=": "<=", ">": ">", ">=": ">"}.get(rex.op)
    return Call(rex.type, op, (date_, Literal(date_.type, b.value.date()))) if op else rex


def _cast_date(rex: Rex) -> Rex | None:
    """The date, if it is the midnight of one."""
    if not isinstance(rex, Call) or rex.op != "cast" or rex.type.name != "timestamp":
        return None
    return rex.args[0] if rex.args[0].type.name == "date" else None


def _arithmetic(call: Call, values: list[Any], zone: str) -> Folded:
    a, b = values
    if isinstance(a, tuple) or isinstance(b, tuple):
        return _add_interval(call, a, b, zone)
    if call.type.name == "decimal" and call.op in ("+", "-", "*"):
        return _decimal_arithmetic(call, a, b)
    if not call.type.is_integer or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        return _UNKNOWN
    if call.op in ("+", "-", "*"):
        return True, wrap({"+": a + b, "-": a - b, "*": a * b}[call.op], call.type)
    if b == 0:
        return True, None
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return True, quotient if call.op == "div" else a - b * quotient


def _decimal_arithmetic(call: Call, a: Any, b: Any) -> Folded:
    """Rounded to the result's scale; NULL if the integer part does not fit."""
    if not all(isinstance(v, int | Decimal) and not isinstance(v, bool) for v in (a, b)):
        return _UNKNOWN
    x, y = Decimal(a), Decimal(b)
    compute = {"+": exact.EXACT.add, "-": exact.EXACT.subtract, "*": exact.EXACT.multiply}[call.op]
    return True, exact.fitted(compute(x, y), call.type)


def _add_interval(call: Call, a: Any, b: Any, zone: str) -> Folded:
    """Time plus or minus an interval; months of a zoned timestamp move in the session's local time."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        sign = -1 if call.op == "-" else 1
        return True, (a[0] + sign * b[0], a[1] + sign * b[1])
    moment, interval = (b, a) if isinstance(a, tuple) else (a, b)
    if not isinstance(moment, date) or not isinstance(interval, tuple):
        return _UNKNOWN
    sign = -1 if call.op == "-" else 1
    if not isinstance(moment, datetime) and call.type.name == "timestamp":
        moment = datetime(moment.year, moment.month, moment.day)
    session = literals.zone_of(zone)
    if session is None:
        return _UNKNOWN
    try:
        if interval[0]:
            zoned = isinstance(moment, datetime) and moment.tzinfo is not None
            local = (
                moment.astimezone(session).replace(tzinfo=None) if zoned and isinstance(moment, datetime) else moment
            )
            moved = literals.add_months(local, sign * interval[0])
            moment = literals.from_local(moved, session) if zoned and isinstance(moved, datetime) else moved
        return True, moment + timedelta(microseconds=sign * interval[1])
    except (OverflowError, ValueError):
        return True, None


def _date_add(call: Call, values: list[Any], _zone: str) -> Folded:
    moment, days = values
    if isinstance(moment, str):
        moment = literals.parse_date(moment)
    if isinstance(moment, datetime) and moment.tzinfo:
        return _UNKNOWN
    if isinstance(moment, datetime):
        moment = moment.date()
    if moment is None or not isinstance(moment, date) or not isinstance(days, int):
        return (True, None) if moment is None else _UNKNOWN
    try:
        return True, moment + timedelta(days=days if call.op == "date_add" else -days)
    except OverflowError:
        return True, None


def _to_date(call: Call, values: list[Any], zone: str) -> Folded:
    return cast_value(values[0], call.args[0].type, call.type, zone)


def _negative(call: Call, values: list[Any], _zone: str) -> Folded:
    value = values[0]
    if isinstance(value, tuple):
        return True, (-value[0], -value[1])
    if isinstance(value, int) and call.type.is_integer:
        return True, wrap(-value, call.type)
    return (True, -value if value else abs(value)) if isinstance(value, float | Decimal) else _UNKNOWN


def _concat(_call: Call, values: list[Any], _zone: str) -> Folded:
    return (True, "".join(values)) if all(isinstance(v, str) for v in values) else _UNKNOWN


def _substring(_call: Call, values: list[Any], _zone: str) -> Folded:
    """Positions are 1-based, or count from the end if they are negative; 0 is 1."""
    text, start = values[:2]
    length = values[2] if len(values) > 2 else len(text) if isinstance(text, str) else 0
    if not isinstance(text, str) or not text.isascii() or not isinstance(start, int) or not isinstance(length, int):
        return _UNKNOWN
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return True, text[begin : begin + max(length, 0)] if 0 <= begin < len(text) else ""


def _pad(call: Call, values: list[Any], _zone: str) -> Folded:
    text, width, fill = values if len(values) == 3 else (*values, " ")
    if not isinstance(text, str) or not isinstance(fill, str) or not isinstance(width, int) or not fill or width < 0:
        return _UNKNOWN
    if not (text + fill).isascii() or width > 1000:
        return _UNKNOWN
    missing = (fill * width)[: max(width - len(text), 0)]
    return True, (missing + text if call.op == "lpad" else text + missing)[:width] if missing else text[:width]


def _letters(call: Call, values: list[Any], _zone: str) -> Folded:
    text = values[0]
    if not isinstance(text, str) or not text.isascii():
        return _UNKNOWN
    return True, text.upper() if call.op == "upper" else text.lower()


def _pmod(call: Call, values: list[Any], _zone: str) -> Folded:
    """((a % b) + b) % b with Java's %, whose sign is that of a."""
    a, b = values
    if not call.type.is_integer or not isinstance(a, int) or not isinstance(b, int):
        return _UNKNOWN
    return (True, None) if b == 0 else (True, _java_mod(_java_mod(a, b) + b, b))


def _java_mod(a: int, b: int) -> int:
    rest = abs(a) % abs(b)
    return rest if a >= 0 else -rest


def _extremum(call: Call, values: list[Any], _zone: str) -> Folded:
    kinds = {type(v) for v in values}
    if len(kinds) > 1 or not kinds <= {int, str, date, datetime} or len({a.type for a in call.args}) > 1:
        return _UNKNOWN
    key = (lambda v: v.encode()) if kinds == {str} else None
    return True, (max if call.op == "greatest" else min)(values, key=key)


def _case(call: Call) -> Rex:
    """CASE without branches that are never taken; the value if the first branch is always taken."""
    whens = list(zip(call.args[::2], call.args[1::2], strict=False))
    otherwise = call.args[-1] if len(call.args) % 2 else Literal(call.type, None)
    if not any(isinstance(condition, Literal) for condition, _ in whens):
        return call
    kept: list[Rex] = []
    for condition, value in whens:
        if isinstance(condition, Literal) and condition.value is not True:
            continue
        if isinstance(condition, Literal):
            otherwise = value
            break
        kept += [condition, value]
    if kept:
        return Call(call.type, "case", (*kept, otherwise))
    if isinstance(otherwise, Literal):
        return otherwise if otherwise.type == call.type else Literal(call.type, otherwise.value)
    return otherwise if otherwise.type == call.type else call


def _coalesce(call: Call) -> Rex:
    """COALESCE without NULL constants, up to the first constant."""
    rest: list[Rex] = []
    for arg in call.args:
        if not isinstance(arg, Literal):
            rest.append(arg)
        elif arg.value is not None:
            rest.append(arg)
            break
    if not rest:
        return Literal(call.type, None)
    if len(rest) > 1:
        return call if len(rest) == len(call.args) else Call(call.type, "coalesce", tuple(rest))
    only = rest[0]
    if only.type == call.type:
        return only
    return Literal(call.type, only.value) if isinstance(only, Literal) else Call(call.type, "cast", (only,))


_FOLDERS: dict[str, Any] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>"), _compare),
    **dict.fromkeys(("+", "-", "*", "%", "div"), _arithmetic),
    "date_add": _date_add,
    "date_sub": _date_add,
    "to_date": _to_date,
    "negative": _negative,
    "concat": _concat,
    "substring": _substring,
    "space": lambda _c, v, _z: (True, " " * v[0]) if isinstance(v[0], int) and 0 <= v[0] <= 10_000 else _UNKNOWN,
    "repeat": lambda _c, v, _z: (
        (True, v[0] * v[1])
        if isinstance(v[0], str) and isinstance(v[1], int) and v[1] >= 0 and len(v[0]) * v[1] <= 10_000
        else _UNKNOWN
    ),
    "lpad": _pad,
    "rpad": _pad,
    "upper": _letters,
    "lower": _letters,
    "pmod": _pmod,
    "greatest": _extremum,
    "least": _extremum,
    "not": lambda _c, v, _z: (True, not v[0]),
    "is_null": lambda _c, v, _z: (True, v[0] is None),
    "is_not_null": lambda _c, v, _z: (True, v[0] is not None),
}
_STRICT = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "div", "negative", "like", "rlike", "concat"}
)

NULL = Literal(VOID, None)
TRUE = Literal(BOOLEAN, True)
FALSE = Literal(BOOLEAN, False)


def utc(moment: datetime) -> datetime:
    """The statement's clock as an aware UTC datetime."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
