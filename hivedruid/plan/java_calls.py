"""Calls of Hive's functions in Java: what they return, and their Spark SQL.

Only Spark knows the types of a call. While the snapshot does not have them, planning stops with the question for Spark
(UnknownSignature), and begins again with the response; so it stays pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.functions import JAVA_PREFIXES, OF_JAVA, UserFunction
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.plan.common_types import precision_scale
from hivedruid.plan.rex import Agg, Call, Over, Ref, Rex, Subquery, has, walk

if TYPE_CHECKING:
    from hivedruid.plan.convert import Converter

Signature = tuple[tuple[str, HiveType], ...]
"""The names and types of the columns that a call returns: one, unless the function generates rows."""
Signatures = Mapping[str, Signature]
"""By the question."""


class UnknownSignature(Exception):  # noqa: N818 - a request, not a fault
    """What a call returns is not known. `question` is a query of one row with that call."""

    def __init__(self, question: str, function: UserFunction, types: tuple[HiveType, ...], span: Span | None) -> None:
        self.question, self.function, self.types, self.span = question, function, types, span


def java_call(c: Converter, function: UserFunction, e: exp.Expr) -> Rex:
    """The call. A function that generates rows has a struct of its columns as type."""
    given = list(e.expressions)
    is_distinct = bool(given) and isinstance(given[0], exp.Distinct)
    if is_distinct:
        given = given[0].expressions + given[1:]
    args = tuple(c.convert(each) for each in given)
    if function.kind == "generator" and not _is_at(c.generator_call, e):
        raise SemanticError(
            f"{function.name}() is a table-generating function and must be the whole SELECT item",
            span=c.span(e),
            hint=f"use LATERAL VIEW {function.name}(…) t AS x, and x here",
        )
    if function.kind == "aggregate" and not _is_at(c.window_call, e) and any(has(arg, Agg) for arg in args):
        raise SemanticError(
            "nested aggregate functions are not supported",
            span=c.span(e),
            hint="compute the inner aggregate in a subquery",
        )
    if is_distinct and function.kind != "aggregate":
        raise SemanticError(f"{function.name}() is not an aggregate function", span=c.span(e), hint="remove DISTINCT")
    _check_decimals(function, args, c.span(e))
    returned = _signature(c, function, args, c.span(e))
    if function.kind == "generator":
        names, types = zip(*returned, strict=True) if returned else ((), ())
        struct = HiveType("struct", children=tuple(types), fields=tuple(names)) if returned else t.UNKNOWN
        return Call(struct, function.spark_name, args)
    type_ = returned[0][1] if returned else t.UNKNOWN
    if function.kind == "aggregate":
        return Agg(type_, function.spark_name, args, is_distinct)
    return Call(type_, function.spark_name, args)


def _is_at(place: exp.Expr | None, e: exp.Expr) -> bool:
    """Whether the call, which a database may precede, is at that place."""
    return place is e or (isinstance(place, exp.Dot) and place.expression is e)


def _signature(c: Converter, function: UserFunction, args: tuple[Rex, ...], span: Span | None) -> Signature | None:
    """None if it cannot be asked for."""
    known = c.builder.snapshot.signatures
    if known is None or any(not arg.type.is_known for arg in args):
        return None
    question = _question(function, args, c.zone)
    if question not in known:
        raise UnknownSignature(question, function, tuple(arg.type for arg in args), span)
    return known[question]


_SHOWN = t.decimal(38, 18)
"""The type that Spark shows to a class in place of every DECIMAL."""


def _check_decimals(function: UserFunction, args: tuple[Rex, ...], span: Span | None) -> None:
    """A value that does not fit into _SHOWN would be NULL, or rounded."""
    if wide := next((each for arg in args for each in _decimals(arg.type) if not _fits(each)), None):
        raise UnsupportedError(
            f"Spark passes {wide} to the Java function {function.name}() as {_SHOWN}, in which its values may not fit",
            span=span,
            hint=f"CAST the argument to {_SHOWN} if its values fit, or to STRING",
        )


def _decimals(type_: HiveType) -> Iterator[HiveType]:
    """A type and those inside of it that are DECIMAL."""
    if type_.name == "decimal":
        yield type_
    for child in type_.children:
        yield from _decimals(child)


def _fits(type_: HiveType) -> bool:
    (precision, scale), (most, fraction) = precision_scale(type_), precision_scale(_SHOWN)
    return scale <= fraction and precision - scale <= most - fraction


def _question(function: UserFunction, args: tuple[Rex, ...], zone: str) -> str:
    """Constants are part of it, since the types may depend on them."""
    from hivedruid.plan.spark_rex import SparkRex

    items, given = [], []
    for place, arg in enumerate(args):
        if _is_constant(arg):
            given.append(arg)
        else:
            given.append(Ref(arg.type, f"a{place}"))
            items.append(f"CAST(NULL AS {spark_type(arg.type)}) AS `a{place}`")
    call = SparkRex(zone, lambda _: "").sql(Call(t.UNKNOWN, function.spark_name, tuple(given)), {})
    return f"SELECT {call} FROM (SELECT {', '.join(items) or '1'})"


def _is_constant(rex: Rex) -> bool:
    return not has(rex, Ref, Subquery, Agg, Over) and all(each.is_deterministic for each in walk(rex))


def is_java(rex: Rex) -> bool:
    """Whether it is a call of a function in Java, also over a window."""
    if isinstance(rex, Over):
        return is_java(rex.call)
    return isinstance(rex, Call | Agg) and rex.op.startswith(OF_JAVA)


def is_java_generator(rex: Rex) -> bool:
    return isinstance(rex, Call) and rex.op.startswith(JAVA_PREFIXES["generator"])


def java_sql(rex: Call | Agg, sql: Callable[[Rex], str]) -> str:
    """The call as Spark SQL. Hive's classes have one type of timestamps, in UTC, which is Spark's time zone."""
    args = (f"CAST({sql(a)} AS {_instants(a.type)})" if has_times(a.type) else sql(a) for a in rex.args)
    distinct = "DISTINCT " if isinstance(rex, Agg) and rex.distinct else ""
    filtered = f" FILTER (WHERE {sql(rex.condition)})" if isinstance(rex, Agg) and rex.condition else ""
    return f"{rex.op}({distinct}{', '.join(args)}){filtered}"


def returned(rex: Rex, text: str) -> str:
    """The value of a call of `text`, with timestamps as Hive's."""
    if is_java(rex) and not is_java_generator(rex) and rex.type.is_known and has_times(rex.type):
        return f"CAST({text} AS {spark_type(rex.type)})"
    return text


def has_times(type_: HiveType) -> bool:
    return type_ == t.TIMESTAMP or any(map(has_times, type_.children))


def _instants(type_: HiveType) -> str:
    return spark_type(type_).replace("TIMESTAMP_NTZ", "TIMESTAMP")
