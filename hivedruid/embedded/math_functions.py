"""Druid's numeric functions as SQL."""

from __future__ import annotations

import math
from collections.abc import Callable

from hivedruid.embedded.sql import (
    NULL,
    Sql,
    as_double,
    as_long,
    as_string,
    combine,
    common_type,
    refuse_constant_division,
    wrapped,
)
from hivedruid.errors import DruidError

Function = tuple[int, int, Callable[[list[Sql]], Sql]]

_DOUBLE_TO_DOUBLE = {
    "acos": "acos({0})",
    "asin": "asin({0})",
    "atan": "atan({0})",
    "cbrt": "druid_cbrt({0})",
    "ceil": "ceil({0})",
    "cos": "cos({0})",
    "cosh": "cosh({0})",
    "cot": "(cos({0}) / sin({0}))",
    "exp": "exp({0})",
    "expm1": "(CASE WHEN abs({0}) < 1e-5 THEN {0} + {0} * {0} / 2 ELSE exp({0}) - 1 END)",
    "floor": "floor({0})",
    "log": "ln({0})",
    "log10": "log10({0})",
    "log1p": "(CASE WHEN abs({0}) < 1e-5 THEN {0} - {0} * {0} / 2 ELSE ln(1 + {0}) END)",
    "rint": "round_even({0}, 0)",
    "signum": "CAST(sign({0}) AS DOUBLE)",
    "sin": "sin({0})",
    "sinh": "sinh({0})",
    "sqrt": "sqrt({0})",
    "tan": "tan({0})",
    "tanh": "tanh({0})",
    "todegrees": "({0} * 57.29577951308232)",
    "toradians": "({0} * 0.017453292519943295)",
}
_DOUBLES_TO_DOUBLE = {
    "atan2": "atan2({0}, {1})",
    "copysign": "(CASE WHEN signbit({0}) = signbit({1}) THEN {0} ELSE -({0}) END)",
    "hypot": "sqrt({0} * {0} + {1} * {1})",
    "pow": "pow({0}, {1})",
    "remainder": "druid_remainder({0}, {1})",
}


def _is_text(value: Sql) -> bool:
    return value.type in ("STRING", "NULL") or value.is_array


def _gives_null(arguments: list[Sql]) -> bool:
    """Whether a function of two numbers is always null: for a null literal, or for two texts."""
    return any(argument.type == "NULL" for argument in arguments) or all(map(_is_text, arguments))


def _double_function(template: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        if _is_text(arguments[0]):
            return NULL
        x = as_double(arguments[0])
        return combine(template.format(x.text), "DOUBLE", x)

    return build


def _doubles_function(template: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        if _gives_null(arguments):
            return NULL
        x, y = (as_double(argument) for argument in arguments)
        guard = f"({x.text} IS NULL OR {y.text} IS NULL)"
        return combine(f"(CASE WHEN NOT {guard} THEN {template.format(x.text, y.text)} END)", "DOUBLE", x, y)

    return build


def _abs(arguments: list[Sql]) -> Sql:
    x = arguments[0]
    if _is_text(x):
        return NULL
    if x.type in ("LONG", "BOOLEAN"):
        x = as_long(x)
        return combine(wrapped(f"abs(CAST({x.text} AS HUGEINT))"), "LONG", x)
    x = as_double(x)
    return combine(f"abs({x.text})", "DOUBLE", x)


def _round(arguments: list[Sql]) -> Sql:
    """Half away from zero on the shortest decimal text; longs stay longs."""
    x = arguments[0]
    scale = arguments[1] if len(arguments) > 1 else None
    if scale is not None and not (scale.is_literal and scale.type == "LONG"):
        raise DruidError("Function[round] is supported with a constant integer scale only")
    digits = int(scale.literal) if scale is not None else 0
    if x.type == "STRING":
        raise DruidError("Function[round] first argument should be a LONG or DOUBLE but got STRING instead")
    if _is_text(x):
        return NULL
    if x.type in ("LONG", "BOOLEAN"):
        x = as_long(x)
        if digits >= 0:
            return x
        unit = 10 ** min(-digits, 37)
        half = f"(abs(CAST({x.text} AS HUGEINT)) + {unit // 2}) // {unit} * {unit}"
        return combine(wrapped(f"CASE WHEN {x.text} < 0 THEN -({half}) ELSE {half} END"), "LONG", x)
    x = as_double(x)
    if digits >= 20:
        return x
    scaled = f"CAST(CAST({x.text} AS VARCHAR) AS DECIMAL(38, {max(digits, 0) if digits >= 0 else 20}))"
    if digits < 0:
        scaled = f"round({scaled}, {digits})"
    return combine(f"druid_round_special({x.text}, CAST(CAST({scaled} AS VARCHAR) AS DOUBLE))", "DOUBLE", x)


def _extreme(name: str) -> Callable[[list[Sql]], Sql]:
    """`greatest` and `least`: nulls are skipped; the common type decides how values compare."""

    def build(arguments: list[Sql]) -> Sql:
        values = [argument for argument in arguments if argument.type != "NULL"]
        if not values:
            return NULL
        match common_type(values):
            case "STRING":
                values = [as_string(value) for value in values]
            case "DOUBLE" | "FLOAT":
                values = [as_double(value) for value in values]
            case _:
                values = [as_long(value) for value in values]
        return combine(_with_nan(name, values), values[0].type, *values)

    return build


def _with_nan(name: str, values: list[Sql]) -> str:
    """`greatest` or `least` of SQL values; for doubles it is NaN if any value is NaN (DuckDB treats NaN as the highest
    value)."""
    plain = f"{name}({', '.join(value.text for value in values)})"
    watched = [
        value.text
        for value in values
        if value.type == "DOUBLE" and not (value.is_literal and math.isfinite(value.literal))
    ]
    if name == "greatest" or not watched:
        return plain
    nan = " OR ".join(f"isnan({text})" for text in watched)
    return f"(CASE WHEN {nan} THEN CAST('NaN' AS DOUBLE) ELSE {plain} END)"


def _bounded(name: str) -> Callable[[list[Sql]], Sql]:
    """`max` and `min` of two numbers: null if one is null."""

    def build(arguments: list[Sql]) -> Sql:
        x, y = arguments
        if _gives_null(arguments):
            return NULL
        longs = x.type in ("LONG", "BOOLEAN") and y.type in ("LONG", "BOOLEAN")
        x, y = (as_long(x), as_long(y)) if longs else (as_double(x), as_double(y))
        guarded = f"(CASE WHEN {x.text} IS NOT NULL AND {y.text} IS NOT NULL THEN {_with_nan(name, [x, y])} END)"
        return combine(guarded, x.type, x, y)

    return build


def _div(arguments: list[Sql]) -> Sql:
    x, y = arguments
    if _gives_null(arguments):
        return NULL
    if x.type in ("LONG", "BOOLEAN") and y.type in ("LONG", "BOOLEAN"):
        refuse_constant_division(x, y)
        return Sql(f"druid_divide({as_long(x).text}, {as_long(y).text})", "LONG", fails=True)
    x, y = as_double(x), as_double(y)
    return combine(f"druid_double_to_long({x.text} / {y.text})", "LONG", x, y)


def _safe_divide(arguments: list[Sql]) -> Sql:
    x, y = arguments
    if _gives_null(arguments):
        return NULL
    longs = x.type in ("LONG", "BOOLEAN") and y.type in ("LONG", "BOOLEAN")
    x, y = (as_long(x), as_long(y)) if longs else (as_double(x), as_double(y))
    if longs:
        return combine(f"(CASE WHEN {y.text} <> 0 THEN druid_divide({x.text}, {y.text}) END)", "LONG", x, y)
    # A double divided by zero or NaN is null, but zero divided by these is zero.
    of_nothing = f"CASE WHEN {x.text} = 0 AND {y.text} IS NOT NULL THEN CAST(0 AS DOUBLE) END"
    divisible = f"{y.text} <> 0 AND NOT isnan({y.text})"
    return combine(f"(CASE WHEN {divisible} THEN {x.text} / {y.text} ELSE {of_nothing} END)", "DOUBLE", x, y)


def _bitwise(template: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        values = [as_long(argument) for argument in arguments]
        return combine(template.format(*(value.text for value in values)), "LONG", *values)

    return build


MATH_FUNCTIONS: dict[str, Function] = {
    **{name: (1, 1, _double_function(template)) for name, template in _DOUBLE_TO_DOUBLE.items()},
    **{name: (2, 2, _doubles_function(template)) for name, template in _DOUBLES_TO_DOUBLE.items()},
    "abs": (1, 1, _abs),
    "round": (1, 2, _round),
    "greatest": (0, 99_999, _extreme("greatest")),
    "least": (0, 99_999, _extreme("least")),
    "max": (2, 2, _bounded("greatest")),
    "min": (2, 2, _bounded("least")),
    "div": (2, 2, _div),
    "safe_divide": (2, 2, _safe_divide),
    "pi": (0, 0, lambda _: Sql("CAST('3.141592653589793' AS DOUBLE)", "DOUBLE")),
    "bitwiseand": (2, 2, _bitwise("({0} & {1})")),
    "bitwiseor": (2, 2, _bitwise("({0} | {1})")),
    "bitwisexor": (2, 2, _bitwise("xor({0}, {1})")),
    "bitwisecomplement": (1, 1, _bitwise("(~{0})")),
    "bitwiseshiftleft": (2, 2, _bitwise("druid_wrap(CAST({0} AS HUGEINT) * (CAST(1 AS HUGEINT) << ({1} & 63)))")),
    "bitwiseshiftright": (2, 2, _bitwise("({0} >> ({1} & 63))")),
}
"""Function by lower-case name: minimum and maximum number of arguments, and its translation."""
