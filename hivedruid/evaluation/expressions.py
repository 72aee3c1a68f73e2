"""Compiles row expressions to Python functions of a row. Functions that are not in the table `FUNCTIONS` are not
supported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from inspect import CO_VARARGS, signature
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any

from hivedruid.catalog.functions import shown_name
from hivedruid.catalog.types import BINARY, BOOLEAN, DOUBLE, FLOAT, STRING, UNKNOWN, HiveType, array_of
from hivedruid.evaluation.exactness import NotLocal
from hivedruid.evaluation.functions import FUNCTIONS, NULLS, Given
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.rex import Agg, Call, Literal, Over, Ref, Rex, Subquery
from hivedruid.plan.sketch_calls import SCALARS

Row = tuple[Any, ...]
Compiled = Callable[[Row], Any]

_TYPES = frozenset(
    ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "varchar", "char",
     "date", "timestamp", "timestamp with local time zone", "void", "binary")
)  # fmt: skip
"""The supported types; nested values other than ARRAYS and DOUBLES are left to Spark."""

ARRAYS = array_of(STRING)
"""The type of Druid's multi-value columns, represented as tuples."""
DOUBLES = array_of(DOUBLE)
"""The type of quantiles, represented as tuples."""


@dataclass(frozen=True)
class Scope:
    """The context of an expression: column positions in the row, the session's time zone, subqueries."""

    slots: Mapping[str, int]
    given: Given
    subquery: Callable[[Subquery, Scope], Compiled]
    computed: Mapping[Rex, int] = field(default_factory=dict)
    """Expressions whose values are already in the row: window functions."""


def compiled(rex: Rex, scope: Scope) -> Compiled:
    """The expression as a function of a row. Raises NotLocal."""
    if rex in scope.computed:
        return itemgetter(scope.computed[rex])
    if isinstance(rex, Literal):
        value = rex.value
        return lambda _row: value
    check_type(rex.type)
    if isinstance(rex, Ref):
        if rex.id not in scope.slots:
            raise NotLocal("it is correlated with an outer query")
        return itemgetter(scope.slots[rex.id])
    if isinstance(rex, Subquery):
        return scope.subquery(rex, scope)
    if isinstance(rex, Over | Agg):
        raise NotLocal(f"{rex.call.op if isinstance(rex, Over) else rex.op}() in this position")  # type: ignore[attr-defined]
    assert isinstance(rex, Call)
    return _call(rex, scope)


def check_type(type_: HiveType) -> None:
    if type_.name not in _TYPES and type_ not in (ARRAYS, DOUBLES):
        raise NotLocal("a value of unknown type" if type_ == UNKNOWN else f"values of type {type_}")


_OF_CHARS = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "in", "is_null", "is_not_null", "and", "or", "case", "coalesce", "like",
    "substring", "upper", "lower",
})  # fmt: skip
"""The functions of CHAR that Hive and Spark compute as for strings: values have no trailing blanks until they are
displayed (`cells.padded`)."""


_OF_BYTES = frozenset({"is_null", "is_not_null", "case", "coalesce", "unbase64"}) | SCALARS
"""The functions of BINARY."""


def _call(rex: Call, scope: Scope) -> Compiled:
    if rex.op not in _OF_BYTES and any(a.type == BINARY for a in (rex, *rex.args)):
        raise NotLocal(f"{shown_name(rex.op)}() of BINARY")
    if rex.op not in _OF_CHARS and any(a.type.name == "char" for a in rex.args):
        raise NotLocal(f"{shown_name(rex.op)}() of CHAR")
    if rex.op not in _OF_ANY and any(a.type == FLOAT for a in rex.args):
        rex = _in_doubles(rex)
    special = _SPECIAL.get(rex.op)
    if special is not None:
        return special(rex, scope)
    build = FUNCTIONS.get(rex.op)
    if build is None:
        raise NotLocal(f"{shown_name(rex.op)}() is not evaluated locally")
    function = build(rex, scope.given)
    _check_count(function, rex)
    args = [compiled(arg, scope) for arg in rex.args]
    if rex.op in NULLS:
        return lambda row: function(*[arg(row) for arg in args])
    if len(args) == 1:
        return _strict_one(function, args[0])
    if len(args) == 2:
        return _strict_two(function, args[0], args[1])
    return _strict(function, args)


_OF_ANY = frozenset({"is_null", "is_not_null", "cast", "case", "coalesce", "in"})
"""What does not compute with the values of floats, or takes them apart itself."""
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
_IN_DOUBLES = _ARITHMETIC | {"negative", "abs", "floor", "ceil", "sqrt", "=", "<>", "<", "<=", ">", ">=", "<=>"}
"""For floats these are computed in double precision and rounded once to single precision if the result is a float.
An integer is compared with a float in single precision."""


def _in_doubles(rex: Call) -> Call:
    """The call over doubles."""
    is_single, is_arithmetic = rex.type == FLOAT, rex.op in _ARITHMETIC
    if rex.op not in _IN_DOUBLES or not all(
        a.type in (FLOAT, DOUBLE) or a.type.is_integer or (is_single and a.type.is_numeric) for a in rex.args
    ):
        raise NotLocal(f"{rex.op}() of floats")
    rounds = is_single or (not is_arithmetic and not any(a.type == DOUBLE for a in rex.args))
    singles = [Call(FLOAT, "cast", (a,)) if rounds and a.type != FLOAT else a for a in rex.args]
    args = tuple([Call(DOUBLE, "cast", (a,)) if a.type != DOUBLE else a for a in singles])
    return Call(FLOAT, "cast", (Call(DOUBLE, rex.op, args),)) if is_single else Call(rex.type, rex.op, args)


def _check_count(function: Callable[..., Any], rex: Call) -> None:
    """Reject calls with a number of arguments that the table does not support."""
    if isinstance(function, type):
        return
    if isinstance(function, FunctionType) and not function.__code__.co_kwonlyargcount:
        code = function.__code__
        least = code.co_argcount - len(function.__defaults__ or ())
        if least <= len(rex.args) and (len(rex.args) <= code.co_argcount or code.co_flags & CO_VARARGS):
            return
    elif isinstance(function, BuiltinFunctionType) and function.__module__ == "_operator":
        return  # an operator: the number of arguments is always right
    try:
        signature(function).bind(*rex.args)
    except TypeError:
        raise NotLocal(f"{rex.op}() with {len(rex.args)} arguments") from None


def _strict_one(function: Callable[..., Any], arg: Compiled) -> Compiled:
    def value(row: Row) -> Any:
        a = arg(row)
        return None if a is None else function(a)

    return value


def _strict_two(function: Callable[..., Any], left: Compiled, right: Compiled) -> Compiled:
    def value(row: Row) -> Any:
        a = left(row)
        b = right(row)
        return None if a is None or b is None else function(a, b)

    return value


def _strict(function: Callable[..., Any], args: list[Compiled]) -> Compiled:
    def value(row: Row) -> Any:
        values = [arg(row) for arg in args]
        return None if None in values else function(*values)

    return value


# --- what does not look at all its arguments -------------------------------------------------------------------------


def _and(rex: Call, scope: Scope) -> Compiled:
    return _logic(rex, scope, absorbing=False)


def _or(rex: Call, scope: Scope) -> Compiled:
    return _logic(rex, scope, absorbing=True)


def _logic(rex: Call, scope: Scope, *, absorbing: bool) -> Compiled:
    terms = [_condition(arg, scope) for arg in rex.args]

    def value(row: Row) -> bool | None:
        unknown = False
        for term in terms:
            truth: bool | None = term(row)
            if truth is absorbing:
                return absorbing
            unknown = unknown or truth is None
        return None if unknown else not absorbing

    return value


def _condition(rex: Rex, scope: Scope) -> Compiled:
    if rex.type.name not in ("boolean", "void"):
        raise NotLocal(f"a condition of type {rex.type}")
    return compiled(rex, scope)


def _case(rex: Call, scope: Scope) -> Compiled:
    _check_branches(rex, (*rex.args[1::2], *(rex.args[-1:] if len(rex.args) % 2 else ())))
    pairs = [(_condition(rex.args[i], scope), compiled(rex.args[i + 1], scope)) for i in range(0, len(rex.args) - 1, 2)]
    default = compiled(rex.args[-1], scope) if len(rex.args) % 2 else None

    def value(row: Row) -> Any:
        for condition, result in pairs:
            if condition(row) is True:
                return result(row)
        return default(row) if default else None

    return value


def _coalesce(rex: Call, scope: Scope) -> Compiled:
    _check_branches(rex, rex.args)
    args = [compiled(arg, scope) for arg in rex.args]
    return lambda row: next((v for v in (arg(row) for arg in args) if v is not None), None)


def _check_branches(rex: Call, values: tuple[Rex, ...]) -> None:
    """Check that a value needs no conversion: the planner has inserted casts between different types."""
    for value in values:
        same = value.type == rex.type or value.type.name == "void"
        both = (value.type.is_integer and rex.type.is_integer) or (value.type.is_string and rex.type == value.type)
        text = value.type.name in ("string", "varchar") and rex.type.name == "string"
        if not (same or both or text):
            raise NotLocal(f"{rex.op} of {value.type} and {rex.type}")


def _in(rex: Call, scope: Scope) -> Compiled:
    if any(a.type == FLOAT for a in rex.args):
        return _or(Call(BOOLEAN, "or", tuple([Call(BOOLEAN, "=", (rex.args[0], a)) for a in rex.args[1:]])), scope)
    equal = [FUNCTIONS["="](Call(BOOLEAN, "=", (rex.args[0], item)), scope.given) for item in rex.args[1:]]
    value, items = compiled(rex.args[0], scope), [compiled(item, scope) for item in rex.args[1:]]

    def is_member(row: Row) -> bool | None:
        wanted = value(row)
        if wanted is None:
            return None
        unknown = False
        for same, item in zip(equal, items, strict=True):
            other = item(row)
            if other is None:
                unknown = True
            elif same(wanted, other):
                return True
        return None if unknown else False

    return is_member


_SPECIAL: dict[str, Callable[[Call, Scope], Compiled]] = {
    "and": _and,
    "or": _or,
    "case": _case,
    "coalesce": _coalesce,
    "in": _in,
}
