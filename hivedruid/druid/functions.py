"""Hive operators and functions that Druid computes exactly; others run on Spark."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.types import DOUBLE, HiveType
from hivedruid.druid import arrays
from hivedruid.druid.decimals import decimal_units
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.syntax import (
    MAX_CHAIN,
    MAX_LONG,
    MIN_LONG,
    NO_STRING,
    chain,
    may_be_nan,
    quote,
    string_literal,
    zeros_twice,
)
from hivedruid.plan.rex import Call, Literal

if TYPE_CHECKING:
    from hivedruid.druid.expressions import DruidExpressions, Translate


def _function(name: str) -> Translate:
    return lambda d, rex: f"{name}({','.join(d.text(a) for a in rex.args)})"


def _of_null(name: str) -> Translate:
    def translate(d: DruidExpressions, rex: Call) -> str:
        value = rex.args[0]
        if (scanned := d.scanned(value)) is not None:
            return f"{name}({quote(scanned.name)})"
        return f"{name}({arrays.array(d, value) if value.type.name == 'array' else d.text(value)})"

    return translate


def _case(d: DruidExpressions, rex: Call) -> str:
    return f"case_searched({','.join(d.text(a) for a in rex.args)})"


def _refuse_mixed_floats(rex: Call) -> None:
    """Hive rounds the other arguments to the single precision of a float, Druid uses doubles."""
    if rex.type.name == "float" and any(a.type.name != "float" or isinstance(a, Literal) for a in rex.args):
        raise NotExact(f"{rex.op}() of floats and other numbers")


def _any_null(d: DruidExpressions, rex: Call) -> str:
    """Hive returns NULL if any argument is NULL; Druid skips nulls."""
    _refuse_mixed_floats(rex)
    if rex.type.name == "boolean":
        raise NotExact(f"{rex.op}() of {rex.type}")
    args = [d.text(a) for a in rex.args]
    nothing = NO_STRING if rex.type.is_string else "null"
    value = f"{rex.op}({','.join(args)})"
    if rex.op == "least" and any(may_be_nan(a) for a in rex.args):
        value = _least_number(rex, args)
    return f"if({' && '.join(f'notnull({a})' for a in args)},{value},{nothing})"


def _least_number(rex: Call, args: list[str]) -> str:
    """Druid's least() is NaN if an argument is; Hive orders NaN last."""
    numbers = [f"if({a} == {a},{a},Infinity)" if may_be_nan(r) else a for r, a in zip(rex.args, args, strict=True)]
    least = f"least({','.join(numbers)})"
    if not all(map(may_be_nan, rex.args)):
        return least
    return f"if({' || '.join(f'({a} == {a})' for a in args)},{least},{args[0]})"


def _in(d: DruidExpressions, rex: Call) -> str:
    value, *items = rex.args
    values = [i.value for i in items if isinstance(i, Literal) and i.value is not None]
    if len(values) < len(items):
        raise NotExact("IN with NULL in its list")
    if len(items) > MAX_CHAIN and (listed := _array_of(value.type, values)) is not None:
        with suppress(NotExact):  # a comparison may require less than the value
            return f"scalar_in_array({d.text(value)},array({','.join(listed)}))"
    return chain("||", [d.comparison(Call(rex.type, "=", (value, item))) for item in items])


def _array_of(type_: HiveType, values: list[Any]) -> list[str] | None:
    """The elements of an array that contains a value where `=` is true for one of the constants; None if comparisons
    are more than that."""
    if type_.is_string and all(isinstance(v, str) for v in values):
        return [string_literal(v) for v in values]
    if type_.is_integer and all(isinstance(v, int) and MIN_LONG <= v <= MAX_LONG for v in values):
        return [str(v) for v in values]
    if type_ == DOUBLE and all(isinstance(v, int | float) and isfinite(v) for v in values):
        return [repr(v).replace("e+", "e") for v in zeros_twice(values)]
    return None


def _coalesce(d: DruidExpressions, rex: Call) -> str:
    _refuse_mixed_floats(rex)
    return f"coalesce({','.join(d.text(a) for a in rex.args)})"


def _cast(d: DruidExpressions, rex: Call) -> str:
    from hivedruid.druid.casts import cast

    return cast(d, rex)


def _get_json_object(d: DruidExpressions, rex: Call) -> str:
    from hivedruid.druid.nested import get_json_object

    return get_json_object(d, rex)


DRUID: dict[str, Translate] = {
    "not": lambda d, rex: f"!({d.text(rex.args[0])})",
    "is_null": _of_null("isnull"),
    "is_not_null": _of_null("notnull"),
    "is_true": _function("istrue"),
    "is_false": _function("isfalse"),
    "is_not_true": _function("nottrue"),
    "is_not_false": _function("notfalse"),
    "grouping_bit": lambda d, rex: f"bitwiseAnd(bitwiseShiftRight({d.text(rex.args[0])},{d.text(rex.args[1])}),1)",
    "decimal_units": decimal_units,
    "in": _in,
    "case": _case,
    "coalesce": _coalesce,
    "size": arrays.size,
    "array_contains": arrays.contains,
    "cast": _cast,
    "get_json_object": _get_json_object,
    "greatest": _any_null,
    "least": _any_null,
}


def translation(op: str) -> Translate | None:
    """How Druid writes an operator or a function; None if it does not compute it exactly."""
    if op in DRUID:
        return DRUID[op]
    from hivedruid.druid.math_functions import MATH
    from hivedruid.druid.string_functions import STRINGS
    from hivedruid.druid.time_functions import TIMES

    return STRINGS.get(op) or MATH.get(op) or TIMES.get(op)
