"""Calls of functions that users created. They are evaluated by Spark, where the statement has them.

`Rex` treats them as non-deterministic, so that no rule moves, repeats or removes them, and no other engine has a
function of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError
from hivedruid.plan.common_types import precision_scale
from hivedruid.plan.java_calls import java_call
from hivedruid.plan.rex import Call, Rex

if TYPE_CHECKING:
    from hivedruid.plan.convert import Converter


def qualified_call(c: Converter, e: exp.Expr) -> Rex:
    """`database.function(…)`."""
    from hivedruid.parser.functions import called_name
    from hivedruid.plan.refused_functions import no_such_function

    call = e.expression
    if not isinstance(e.this, exp.Identifier):
        raise SemanticError("only a database may precede the name of a function", span=c.span(e))
    name = f"{e.this.name.lower()}.{called_name(call)}"
    function = c.builder.snapshot.function(e.this.name, called_name(call))
    if function is None:
        raise no_such_function(name, c.span(call), c.builder.snapshot.function_names)
    return user_call(c, function, call)


def user_call(c: Converter, function: UserFunction, e: exp.Expr) -> Rex:
    """The call with its arguments cast to the types of the parameters, as far as that loses nothing."""
    if function.language == "java":
        return java_call(c, function, e)
    args = [c.convert(each) for each in e.expressions]
    most = None if function.is_variadic else len(function.parameters)
    if len(args) < function.least or (most is not None and len(args) > most):
        raise SemanticError(
            f"{function.name}() takes {_count(function)}, not {len(args)}",
            span=c.span(e),
            hint=f"its signature is {function.signature}",
        )
    kinds = [function.parameters[min(i, len(function.parameters) - 1)] for i in range(len(args))]
    for place, (arg, kind) in enumerate(zip(args, kinds, strict=True), 1):
        if not fits(arg.type, kind):
            raise SemanticError(
                f"{function.name}() takes a value of type {kind} as argument {place}, not {arg.type}",
                span=c.span(e),
                hint=f"use CAST(… AS {kind})",
            )
    cast = (c.cast(arg, kind) for arg, kind in zip(args, kinds, strict=True))
    return Call(function.returns, function.spark_name, tuple(cast))


def _count(function: UserFunction) -> str:
    least, most = function.least, len(function.parameters)
    if function.is_variadic:
        return f"at least {least} argument{'' if least == 1 else 's'}"
    number = f"{least}" if least == most else f"{least} to {most}"
    return f"{number} argument{'' if number == '1' else 's'}"


_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


def fits(given: HiveType, wanted: HiveType) -> bool:
    """Whether Hive converts an argument by itself: numbers to wider ones, values to strings, strings to doubles,
    decimals and times."""
    if given == wanted or given in (t.VOID, t.UNKNOWN) or wanted.is_string:
        return given == wanted or not given.children
    if given.name == wanted.name == "decimal":
        (precision, scale), (most, places) = precision_scale(given), precision_scale(wanted)
        return scale <= places and precision - scale <= most - places
    if given.is_numeric and wanted.is_numeric:
        return _NUMBERS.index(given.name) <= _NUMBERS.index(wanted.name)
    if given.is_string:
        return wanted.name in ("double", "decimal", "date", "timestamp")
    if given.children and given.name == wanted.name and given.fields == wanted.fields:
        pairs = zip(given.children, wanted.children, strict=True)
        return all(a == b or (a.is_numeric and b.is_numeric and fits(a, b)) or a is t.VOID for a, b in pairs)
    return given == t.DATE and wanted == t.TIMESTAMP
