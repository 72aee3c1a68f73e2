"""The functions and operators of local evaluation, in one table. An entry compiles a call to a Python function of its
argument values, which are not NULL except for functions in `NULLS`; it raises NotLocal for arguments that it does not
support exactly. `and`, `or`, `case`, `coalesce` and `in`, which do not evaluate all their arguments, are in
`evaluation.expressions`.
"""

from __future__ import annotations

import math
import operator
from base64 import b64decode
from collections.abc import Callable
from datetime import tzinfo
from functools import cached_property
from typing import Any

from hivedruid.evaluation import casts, numbers, texts, times
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.texts import strings
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.cast_patterns import READ_TIME
from hivedruid.plan.common_types import comparison_type
from hivedruid.plan.literals import zone_of
from hivedruid.plan.rex import Call
from hivedruid.plan.sketch_calls import SCALARS


@dataclass(frozen=True)
class Given:
    """The context of functions: the name of the session's time zone."""

    zone_name: str

    @cached_property
    def zone(self) -> tzinfo:
        time_zone = zone_of(self.zone_name)
        if time_zone is None:
            raise NotLocal(f"the time zone {self.zone_name}")
        return time_zone


Function = Callable[..., Any]
Build = Callable[[Call, Given], Function]


def _typed(build: Callable[[Call], Function]) -> Build:
    return lambda call, _given: build(call)


def _timed(build: Callable[[Call, tzinfo], Function]) -> Build:
    return lambda call, given: build(call, given.zone)


def _as_is(value: Any) -> Any:
    return value


def _number(value: Any) -> float:
    number = float(value)
    if math.isnan(number):
        raise Unsure("NaN in a comparison")
    return number


def _sides(call: Call) -> tuple[Function, Function]:
    """The conversions of both sides to the type in which Hive compares them."""
    a, b = call.args[0].type, call.args[1].type
    if a == b and a.name != "unknown" and not a.children:
        return (_number, _number) if a.is_approximate else (_as_is, _as_is)
    if (a.is_string and b.is_string) or (a.is_integer and b.is_integer):
        return _as_is, _as_is
    target = comparison_type(a, b)
    if not (a.is_numeric and b.is_numeric) or target.name == "float":
        raise NotLocal(f"a comparison of {a} and {b}")
    return (_number, _number) if target.name == "double" else (_as_is, _as_is)


def _compare(compare: Callable[[Any, Any], bool]) -> Build:
    def build(call: Call, _given: Given) -> Function:
        left, right = _sides(call)
        if left is _as_is:
            return compare
        return lambda a, b: compare(left(a), right(b))

    return build


def _null_safe(call: Call, _given: Given) -> Function:
    left, right = _sides(call)
    return lambda a, b: a is b if a is None or b is None else left(a) == right(b)


def _plus_minus(call: Call, given: Given) -> Function:
    if any(a.type.name.startswith("interval") for a in call.args):
        return times.plus_interval(call, given.zone)
    return numbers.arithmetic(call)


def _extremum(choose: Callable[..., Any]) -> Build:
    """greatest() and least(): NULL if any argument is NULL."""

    def build(call: Call, _given: Given) -> Function:
        if any(a.type != call.type and not (a.type.is_integer and call.type.is_integer) for a in call.args):
            raise NotLocal(f"{call.op}() of mixed types")
        if call.type.name in ("float", "double"):
            raise NotLocal(f"{call.op}() of doubles")
        return lambda *values: choose(values)

    return build


def _boolean(function: Function) -> Build:
    def build(call: Call, _given: Given) -> Function:
        if call.args[0].type.name not in ("boolean", "void"):
            raise NotLocal(f"{call.op} of {call.args[0].type}")
        return function

    return build


def _is_null(negate: bool) -> Build:
    return lambda _call, _given: (lambda v: v is not None) if negate else (lambda v: v is None)


def _array(call: Call, _given: Given) -> Function:
    if any((a.type,) != call.type.children for a in call.args):
        raise NotLocal("an array of mixed types")
    return lambda *items: items


def _array_contains(call: Call, _given: Given) -> Function:
    """False if the array or the value is NULL."""
    array, value = call.args
    if array.type.children != (value.type,) or value.type.is_approximate:
        raise NotLocal(f"array_contains() of {array.type} and {value.type}")
    return lambda items, sought: items is not None and sought is not None and sought in items


def _cast(call: Call, given: Given) -> Function:
    return casts.cast(call, given.zone_name)


def _grouping_bit(_call: Call, _given: Given) -> Function:
    return lambda number, shift: number >> shift & 1


def _bytes_of(call: Call) -> Function:
    """Spark and Hive read some strings that are not base64 in ways of their own."""
    if not call.args[0].type.is_string:
        raise NotLocal(f"unbase64() of {call.args[0].type}")

    def read(text: str, _column: str = "") -> bytes:
        try:
            return b64decode(text, validate=True)
        except ValueError as error:
            raise Unsure("a string that is not base64") from error

    return read


def _sketch_function(call: Call) -> Function:
    from hivedruid.sketches.functions import SketchFunction

    function = SketchFunction(call.op)
    if not call.type.children:
        return function

    def doubles(*args: Any) -> tuple[float, ...] | None:
        values = function(*args)
        return None if values is None else tuple(values)

    return doubles


def _repeated(names: str, build: Build) -> dict[str, Build]:
    return dict.fromkeys(names.split(), build)


FUNCTIONS: dict[str, Build] = {
    "=": _compare(operator.eq),
    "<>": _compare(operator.ne),
    "<": _compare(operator.lt),
    "<=": _compare(operator.le),
    ">": _compare(operator.gt),
    ">=": _compare(operator.ge),
    "<=>": _null_safe,
    "not": _boolean(operator.not_),
    "is_null": _is_null(negate=False),
    "is_not_null": _is_null(negate=True),
    "is_true": _boolean(lambda v: v is True),
    "is_false": _boolean(lambda v: v is False),
    "is_not_true": _boolean(lambda v: v is not True),
    "is_not_false": _boolean(lambda v: v is not False),
    **_repeated("+ -", _plus_minus),
    **_repeated("* / %", _typed(numbers.arithmetic)),
    "div": _typed(numbers.integer_division),
    "pmod": _typed(numbers.positive_modulo),
    **_repeated("& | ^", _typed(numbers.bits)),
    "negative": _typed(numbers.negative),
    "abs": _typed(numbers.absolute),
    "sign": _typed(numbers.sign),
    "sqrt": _typed(numbers.square_root),
    **_repeated("floor ceil", _typed(numbers.whole)),
    "round": _typed(numbers.round_half_up),
    "greatest": _extremum(max),
    "least": _extremum(min),
    "cast": _cast,
    "grouping_bit": _grouping_bit,
    "upper": _typed(strings(texts.upper)),
    "lower": _typed(strings(texts.lower)),
    "initcap": _typed(strings(texts.initcap)),
    "concat": _typed(strings(texts.concat)),
    "concat_ws": _typed(strings(texts.concat_ws)),
    "length": _typed(strings(lambda text: len(texts.plain(text)))),
    "reverse": _typed(strings(lambda text: texts.plain(text)[::-1])),
    "substring": _typed(strings(texts.substring, 1, 2)),
    "lpad": _typed(strings(texts.pad(left=True), 1)),
    "rpad": _typed(strings(texts.pad(left=False), 1)),
    "repeat": _typed(strings(texts.repeat, 1)),
    **{side: _typed(strings(texts.trim(side))) for side in ("trim", "ltrim", "rtrim")},
    "replace": _typed(strings(texts.replace)),
    "instr": _typed(strings(texts.instr)),
    "locate": _typed(strings(texts.locate, 2)),
    "space": _typed(strings(texts.space, 0)),
    "format_number": _typed(texts.format_number),
    "array": _array,
    "size": lambda _call, _given: lambda items: -1 if items is None else len(items),
    "element": lambda _call, _given: lambda items, place: items[place] if 0 <= place < len(items) else None,
    "array_contains": _array_contains,
    "like": _typed(texts.like),
    "rlike": _typed(texts.rlike),
    "regexp_replace": _typed(texts.regexp_replace),
    **{f"extract_{unit}": _timed(times.extract) for unit in times.UNITS},
    **{f"floor_{unit}": _timed(times.floor) for unit in times.FLOOR_UNITS},
    **_repeated("date_add date_sub", _timed(times.shift_days)),
    "datediff": _typed(times.days_between),
    "add_months": _timed(times.add_months),
    "last_day": _timed(times.last_day),
    "trunc": _timed(times.trunc),
    "date_format": _timed(times.date_format),
    "from_unixtime": _timed(times.from_unixtime),
    "unix_timestamp": _timed(times.unix_timestamp),
    "to_millis": _typed(times.to_millis),
    READ_TIME: _typed(times.read_time),
    "unbase64": _typed(_bytes_of),
    **{name: _typed(_sketch_function) for name in SCALARS},
}

NULLS = frozenset(
    {
        "<=>",
        "is_null",
        "is_not_null",
        "is_true",
        "is_false",
        "is_not_true",
        "is_not_false",
        "concat_ws",
        "array",
        "size",
        "array_contains",
        *SCALARS,
    }
)
"""Functions that handle NULL themselves."""
