"""Druid expressions as DuckDB SQL, typed as Druid types them.

Druid determines types per value, the translation once from the column types. Both agree if all branches of an
expression have the same type; otherwise the `outputType` of the virtual column decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from hivedruid.embedded.binding import once
from hivedruid.embedded.sql import (
    LONG_MAX,
    NULL,
    Sql,
    all_of,
    any_of,
    as_condition,
    as_double,
    as_long,
    bind,
    cast,
    combine,
    common_type,
    double,
    long,
    multi_value,
    refuse_constant_division,
    string,
    wrapped,
)
from hivedruid.errors import DruidError, ResourceError, did_you_mean
from hivedruid.parser.druid_expression import Node, parse

Resolve = Callable[[str], Sql]
Function = tuple[int, int, Callable[[list[Sql]], Sql]]

_ARITHMETIC = {
    "+": ("CAST({0} AS HUGEINT) + {1}", "({0} + {1})"),
    "-": ("CAST({0} AS HUGEINT) - {1}", "({0} - {1})"),
    "*": ("CAST({0} AS HUGEINT) * {1}", "({0} * {1})"),
    "/": ("druid_divide({0}, {1})", "({0} / {1})"),
    "%": ("druid_modulo({0}, {1})", "({0} % {1})"),
    "^": ("druid_power({0}, {1})", "pow({0}, {1})"),
}
"""Operator: its SQL for two longs (a HUGEINT that is to be wrapped, or a BIGINT), and for two doubles."""

_LAZY = frozenset({"nvl", "coalesce", "if", "case_searched", "case_simple"})
"""Functions that do not evaluate all arguments, because an unneeded argument may fail."""

_COMPARISONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "<>"}


def translate(text: str, resolve: Resolve) -> Sql:
    """An expression as SQL; `resolve` gives the SQL of a column. Raises DruidError for expressions that Druid
    refuses."""
    try:
        return translate_node(parse(text), resolve)
    except RecursionError as error:
        raise ResourceError("the expression is nested too deeply") from error
    except ResourceError:
        raise
    except DruidError as error:
        if "expression [" in error.message:
            raise
        raise DruidError(f"{error.message} (in expression [{text}])", hint=error.hint) from error


def translate_node(node: Node, resolve: Resolve) -> Sql:
    match node.kind:
        case "null":
            return NULL
        case "long":
            if node.value > LONG_MAX:
                raise DruidError(f"{node.value} is out of the range of LONG")
            return long(node.value)
        case "double":
            return double(node.value)
        case "string":
            return string(node.value)
        case "identifier":
            value = resolve(node.value)
            if value.type == "ARRAY<STRING>":
                return combine(multi_value(value.text), value.type, value)
            return as_double(value) if value.type == "FLOAT" else value
        case "array":
            elements = [cast(translate_node(child, resolve), node.value).text for child in node.children]
            type_ = {"LONG": "BIGINT", "DOUBLE": "DOUBLE", "STRING": "VARCHAR"}[node.value]
            return Sql(f"CAST([{', '.join(elements)}] AS {type_}[])", f"ARRAY<{node.value}>")
        case "unary":
            return _unary(node, resolve)
        case "lambda":
            raise DruidError("lambda expressions are not supported by the embedded store")
        case "binary":
            left, right = (translate_node(child, resolve) for child in node.children)
            return binary(node.value, left, right)
    return _call(node, resolve)


def _unary(node: Node, resolve: Resolve) -> Sql:
    child = node.children[0]
    if node.value == "-" and child.kind == "long" and child.value <= LONG_MAX + 1:
        return long(-child.value)
    operand = translate_node(child, resolve)
    if node.value == "!":
        condition = as_condition(operand)
        return combine(f"(NOT {condition.text})", "BOOLEAN", condition)
    match operand.type:
        case "NULL":
            return NULL
        case "LONG" | "BOOLEAN":
            value = as_long(operand)
            if value.is_literal:
                return long(-value.literal if value.literal != -LONG_MAX - 1 else value.literal)
            return combine(wrapped(f"-CAST({value.text} AS HUGEINT)"), "LONG", value)
        case "DOUBLE":
            return double(-operand.literal) if operand.is_literal else combine(f"(-{operand.text})", "DOUBLE", operand)
        case "STRING" if not operand.is_literal:
            failure = "error('operator ''-'' does not work on a value of type STRING')"
            return Sql(f"(CASE WHEN {operand.text} IS NOT NULL THEN {failure} END)", "STRING", fails=True)
    raise DruidError(f"operator '-' does not work on a value of type {operand.type}")


def binary(operator: str, left: Sql, right: Sql) -> Sql:
    """One binary operator: two strings as strings, two longs as longs, everything else as doubles."""
    if operator == "&&":
        return all_of([as_condition(left), as_condition(right)])
    if operator == "||":
        return any_of([as_condition(left), as_condition(right)])
    if left.type == "NULL" or right.type == "NULL":
        return NULL
    if operator in _COMPARISONS:
        return bind([left, right], lambda operands: _compared(operator, *operands))
    if left.type == "STRING" and right.type == "STRING":
        if operator == "+":
            return combine(f"({left.text} || {right.text})", "STRING", left, right)
        raise DruidError(f"operator '{operator}' is not supported on type STRING")
    for_longs, for_doubles = _ARITHMETIC[operator]
    if _is_integral(left) and _is_integral(right):
        left, right = as_long(left), as_long(right)
        if operator in "/%":
            refuse_constant_division(left, right)
        fails = operator in "/%^" and not (right.is_literal and right.literal > 0)
        text = once([left.text, right.text], lambda texts: for_longs.format(*texts))
        return Sql(wrapped(text) if operator in "+-*" else text, "LONG", fails=fails or left.fails or right.fails)
    left, right = as_double(left), as_double(right)
    return combine(for_doubles.format(left.text, right.text), "DOUBLE", left, right)


def _compared(operator: str, left: Sql, right: Sql) -> Sql:
    left, right, not_a_number = _comparable(left, right)
    text = f"({left.text} {_COMPARISONS[operator]} {right.text})"
    if not_a_number and operator in ("==", "!="):
        text = f"(CASE WHEN {_both_nan(left, right)} THEN {'FALSE' if operator == '==' else 'TRUE'} ELSE {text} END)"
    return combine(text, "BOOLEAN", left, right)


def _both_nan(left: Sql, right: Sql) -> str:
    """NaN is not equal to itself in Java, but it is in DuckDB; beside NULL and numbers both have the same result."""
    return f"isnan({left.text}) AND isnan({right.text})"


def _is_integral(value: Sql) -> bool:
    return value.type in ("LONG", "BOOLEAN")


def _comparable(left: Sql, right: Sql) -> tuple[Sql, Sql, bool]:
    """The two operands in their common comparison type, and whether NaN must be handled."""
    if left.is_array or right.is_array:
        if left.type != right.type:
            raise DruidError(f"cannot compare a value of type {left.type} with one of type {right.type}")
        return left, right, False
    if left.type == "STRING" and right.type == "STRING":
        return left, right, False
    if _is_integral(left) and _is_integral(right):
        return as_long(left), as_long(right), False
    finite = any(
        value.is_literal and not math.isnan(float(value.literal)) for value in (left, right) if value.is_numeric
    )
    return as_double(left), as_double(right), not finite


def _call(node: Node, resolve: Resolve) -> Sql:
    arguments = [translate_node(child, resolve) for child in node.children]
    fewest, most, build = _function(node.value)
    if not fewest <= len(arguments) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise DruidError(f"Function[{node.value.lower()}] requires {wanted} argument{'s' if wanted != '1' else ''}")
    return build(arguments) if node.value.lower() in _LAZY else bind(arguments, build)


def _function(written: str) -> Function:
    """A function by name. The function tables are separate modules, loaded when needed."""
    name = written.lower()
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    from hivedruid.embedded.math_functions import MATH_FUNCTIONS

    if name in MATH_FUNCTIONS:
        return MATH_FUNCTIONS[name]
    from hivedruid.embedded.time_functions import TIME_FUNCTIONS

    if name in TIME_FUNCTIONS:
        return TIME_FUNCTIONS[name]
    from hivedruid.embedded.string_functions import STRING_FUNCTIONS

    if name in STRING_FUNCTIONS:
        return STRING_FUNCTIONS[name]
    from hivedruid.embedded.array_functions import ARRAY_FUNCTIONS

    if name in ARRAY_FUNCTIONS:
        return ARRAY_FUNCTIONS[name]
    known = [*_FUNCTIONS, *TIME_FUNCTIONS, *STRING_FUNCTIONS, *MATH_FUNCTIONS, *ARRAY_FUNCTIONS]
    raise DruidError(f"function '{written}' is not defined.", hint=did_you_mean(name, known))


def _cast(arguments: list[Sql]) -> Sql:
    value, type_ = arguments
    if not (type_.is_literal and isinstance(type_.literal, str)):
        raise DruidError("Function[cast] second argument must be a literal type")
    wanted = type_.literal.upper()
    if wanted not in ("LONG", "DOUBLE", "STRING", "ARRAY<LONG>", "ARRAY<DOUBLE>", "ARRAY<STRING>"):
        raise DruidError(f"Function[cast] does not support the type '{type_.literal}'")
    return cast(value, wanted)


def _unified(values: list[Sql]) -> tuple[list[Sql], str]:
    type_ = common_type(values)
    return [value if type_ == "NULL" else cast(value, type_) for value in values], type_


def _nvl(arguments: list[Sql]) -> Sql:
    values, type_ = _unified(arguments)
    return combine(f"coalesce({', '.join(value.text for value in values)})", type_, *values)


def _case(conditions: list[Sql], results: list[Sql]) -> Sql:
    """CASE WHEN over `conditions`; `results` has one more element, the ELSE."""
    results, type_ = _unified(results)
    branches = [f"WHEN {c.text} THEN {r.text}" for c, r in zip(conditions, results, strict=False)]
    return combine(f"(CASE {' '.join(branches)} ELSE {results[-1].text} END)", type_, *conditions, *results)


def _if(arguments: list[Sql]) -> Sql:
    return _case([as_condition(arguments[0])], arguments[1:])


def _case_searched(arguments: list[Sql]) -> Sql:
    arguments = arguments if len(arguments) % 2 else [*arguments, NULL]
    return _case([as_condition(c) for c in arguments[:-1:2]], [*arguments[1:-1:2], arguments[-1]])


def _case_simple(arguments: list[Sql]) -> Sql:
    rest = arguments[1:] if len(arguments) % 2 == 0 else [*arguments[1:], NULL]

    def build(values: list[Sql]) -> Sql:
        conditions = [as_condition(binary("==", values[0], candidate)) for candidate in rest[:-1:2]]
        return _case(conditions, [*rest[1:-1:2], rest[-1]])

    return bind(arguments[:1], build, beside=rest)


def _is_null(negated: bool) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        return combine(f"({arguments[0].text} IS {'NOT ' if negated else ''}NULL)", "BOOLEAN", arguments[0])

    return build


def _is_truth(test: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        condition = as_condition(arguments[0])
        return combine(f"({condition.text} IS {test})", "BOOLEAN", condition)

    return build


def _is_distinct(operator: str) -> Callable[[list[Sql]], Sql]:
    def build(arguments: list[Sql]) -> Sql:
        left, right = arguments
        if "NULL" not in (left.type, right.type):
            left, right, not_a_number = _comparable(left, right)
            if not_a_number:
                distinct = str(operator == "IS DISTINCT FROM").upper()
                plain = f"{left.text} {operator} {right.text}"
                text = f"(CASE WHEN {_both_nan(left, right)} THEN {distinct} ELSE {plain} END)"
                return combine(text, "BOOLEAN", left, right)
        return combine(f"({left.text} {operator} {right.text})", "BOOLEAN", left, right)

    return build


_FUNCTIONS: dict[str, Function] = {
    "cast": (2, 2, _cast),
    "nvl": (2, 2, _nvl),
    "coalesce": (1, 99_999, _nvl),
    "if": (3, 3, _if),
    "case_searched": (2, 99_999, _case_searched),
    "case_simple": (3, 99_999, _case_simple),
    "isnull": (1, 1, _is_null(False)),
    "notnull": (1, 1, _is_null(True)),
    "istrue": (1, 1, _is_truth("TRUE")),
    "isfalse": (1, 1, _is_truth("FALSE")),
    "nottrue": (1, 1, _is_truth("NOT TRUE")),
    "notfalse": (1, 1, _is_truth("NOT FALSE")),
    "isdistinctfrom": (2, 2, _is_distinct("IS DISTINCT FROM")),
    "notdistinctfrom": (2, 2, _is_distinct("IS NOT DISTINCT FROM")),
}
