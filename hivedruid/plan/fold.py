"""Constant folding: the scalar operators that can be computed exactly while planning, and CAST of literals."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from hivedruid.catalog.types import BOOLEAN, VOID, HiveType
from hivedruid.plan import literals
from hivedruid.plan.functions import precision_scale
from hivedruid.plan.rex import Call, Literal, Rex

_INTEGER_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def wrap(value: int, type_: HiveType) -> int:
    """An integer cut to its type's width, as Java does."""
    bits = _INTEGER_BITS[type_.name]
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def cast(rex: Rex, to: HiveType, zone: str) -> Rex:
    """CAST(rex AS to), folded where `rex` is a literal whose cast is known; no cast where the type is the same."""
    if rex.type == to:
        return rex
    if isinstance(rex, Literal):
        known, value = cast_value(rex.value, rex.type, to, zone)
        if known:
            return Literal(to, value)
    return Call(to, "cast", (rex,))


def cast_value(value: Any, source: HiveType, to: HiveType, zone: str) -> tuple[bool, Any]:
    """(True, the value cast) or (False, None) where only Spark should say."""
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
    return False, None


def _cast_time(value: Any, to: HiveType, zone: str) -> tuple[bool, Any]:
    if isinstance(value, str):
        if to.name == "date":
            return True, literals.parse_date(value)
        if to.name == "timestamp":
            return True, literals.parse_timestamp(value)
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
    if isinstance(value, str) and source.is_string and re.fullmatch(r"[+-]?\d{1,18}", value):
        number = int(value)
        return True, number if wrap(number, to) == number else None
    return False, None


def _cast_double(value: Any, to: HiveType) -> tuple[bool, Any]:
    if to.name == "float" or isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return False, None
    if isinstance(value, str) and not re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", value):
        return False, None
    return True, float(value)


def _cast_decimal(value: Any, to: HiveType) -> tuple[bool, Any]:
    if isinstance(value, bool | float) or not isinstance(value, int | Decimal | str):
        return False, None
    precision, scale = precision_scale(to)
    try:
        number = Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    except InvalidOperation:
        return True, None
    return True, number if len(number.as_tuple().digits) - scale <= precision - scale else None


def _cast_string(value: Any, source: HiveType, to: HiveType) -> tuple[bool, Any]:
    text: str
    if isinstance(value, (bool, float)) or (isinstance(value, datetime) and value.tzinfo):
        return False, None
    if isinstance(value, datetime):
        text = literals.timestamp_text(value)
    elif isinstance(value, str | int | date) or (isinstance(value, Decimal) and source.name == "decimal"):
        text = str(value)
    else:
        return False, None
    if to.name == "varchar" and to.params:
        text = text[: to.params[0]]
    return (False, None) if to.name == "char" else (True, text)


def fold(call: Call, zone: str) -> Rex:
    """The call itself, or the literal it always is."""
    values = [arg.value for arg in call.args if isinstance(arg, Literal)]
    if call.op in ("and", "or"):
        return _logic(call)
    if len(values) != len(call.args):
        return _with_null(call)
    folder = _FOLDERS.get(call.op)
    if folder is None:
        return call
    if any(value is None for value in values) and call.op not in ("is_null", "is_not_null", "<=>"):
        return Literal(call.type, None)
    known, value = folder(call, values, zone)
    return Literal(call.type, value) if known else call


def _with_null(call: Call) -> Rex:
    """Strict operators are NULL as soon as one side is."""
    if call.op in _STRICT and any(isinstance(a, Literal) and a.value is None for a in call.args):
        return Literal(call.type, None)
    return call


def _logic(call: Call) -> Rex:
    """AND and OR without their neutral constants, decided by an absorbing one."""
    neutral = call.op == "and"
    rest: dict[Rex, None] = {}
    for arg in call.args:
        if isinstance(arg, Literal) and isinstance(arg.value, bool):
            if arg.value is not neutral:
                return Literal(BOOLEAN, not neutral)
        else:
            rest[arg] = None
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
    """Exact, since the result's type has room for every digit."""
    if (
        not all(isinstance(v, int | Decimal) and not isinstance(v, bool) for v in (a, b))
        or precision_scale(call.type)[0] >= 38
    ):
        return _UNKNOWN
    x, y = Decimal(a), Decimal(b)
    result = x + y if call.op == "+" else x - y if call.op == "-" else x * y
    if len(result.as_tuple().digits) > 28:
        return _UNKNOWN
    return True, result.quantize(Decimal(1).scaleb(-precision_scale(call.type)[1]))


def _add_interval(call: Call, a: Any, b: Any, zone: str) -> Folded:
    """Time plus or minus an interval; months of a zoned timestamp move in the session's local time."""
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
    return (True, -value) if isinstance(value, float | Decimal) else _UNKNOWN


def _from_unixtime(_call: Call, values: list[Any], zone: str) -> Folded:
    session = literals.zone_of(zone)
    if session is None or len(values) > 1 or not isinstance(values[0], int):
        return _UNKNOWN
    try:
        local = (literals.EPOCH + timedelta(seconds=values[0])).replace(tzinfo=UTC).astimezone(session)
    except OverflowError:
        return _UNKNOWN
    return True, literals.timestamp_text(local.replace(tzinfo=None))


def _unix_timestamp(_call: Call, values: list[Any], zone: str) -> Folded:
    """Of a time, or of a text in the pattern that goes without saying."""
    session = literals.zone_of(zone)
    moment = values[0]
    if isinstance(moment, str) and len(values) == 1 and session is not None:
        shape = literals.unix_shape(literals.UNIX_PATTERN)
        moment = literals.parse_timestamp(moment) if shape and re.fullmatch(shape, moment) else None
        if moment is None:
            return True, None
    if not isinstance(moment, datetime) or session is None:
        return _UNKNOWN
    instant = moment if moment.tzinfo else literals.from_local(moment, session)
    return True, literals.to_micros(instant) // 1_000_000


def _concat(_call: Call, values: list[Any], _zone: str) -> Folded:
    return (True, "".join(values)) if all(isinstance(v, str) for v in values) else _UNKNOWN


_FOLDERS: dict[str, Any] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>"), _compare),
    **dict.fromkeys(("+", "-", "*", "%", "div"), _arithmetic),
    "date_add": _date_add,
    "date_sub": _date_add,
    "to_date": _to_date,
    "negative": _negative,
    "concat": _concat,
    "from_unixtime": _from_unixtime,
    "unix_timestamp": _unix_timestamp,
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
    """A clock reading as an aware UTC datetime."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
