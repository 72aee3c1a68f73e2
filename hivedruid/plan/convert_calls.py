"""Converts calls of functions, aggregates and windows to `Rex`, and checks names and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType
from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.parser.cast_formats import CAST_FORMAT
from hivedruid.parser.functions import called_name
from hivedruid.plan import literals, operands, sketch_calls
from hivedruid.plan.common_types import common_type
from hivedruid.plan.functions import (
    AGGREGATES,
    ALIASES,
    FUNCTIONS,
    GENERATORS,
    TESTS,
    WINDOW_FUNCTIONS,
    XPATHS,
    function_type,
)
from hivedruid.plan.rex import Agg, Call, Literal, Over, Rex, SortKey
from hivedruid.plan.signatures import KINDS, accepts
from hivedruid.plan.spark_windows import has_distinct_form
from hivedruid.plan.user_functions import user_call

if TYPE_CHECKING:
    from hivedruid.plan.convert import Converter


_NOT_ALWAYS_LOWERED = frozenset({"hash", "murmur_hash", "instr", "parse_url_tuple"} | XPATHS)
"""Functions that Spark does not support for all arguments."""

CAST_FUNCTIONS = frozenset(
    {"date", "timestamp", "boolean", "string", "tinyint", "smallint", "int", "bigint", "float", "double"}
    | {"binary", "interval_year_month", "interval_day_time"}
)
"""Types whose names are also cast functions."""


def anonymous(c: Converter, e: exp.Expr) -> Rex:
    if e.this == CAST_FORMAT:
        from hivedruid.plan.convert_formats import cast_format

        return cast_format(c, e)
    name = called_name(e)
    user = c.builder.snapshot.function(None, name) if c.builder.snapshot.functions else None
    if user is not None and (not user.database or not _is_built_in(name)):
        return user_call(c, user, e)
    if name in CAST_FUNCTIONS and len(e.expressions) == 1:
        return cast_function(c, HiveType(name), c.convert(e.expressions[0]), e)
    written, name = name, ALIASES.get(name, name)
    check_count(c, written, name, len(e.expressions), e)
    if name == "if":
        condition, *values = e.expressions
        return c.case([c.boolean(condition)], [c.convert(value) for value in values])
    if name in AGGREGATES:
        return _aggregate(c, name, e)
    if name in WINDOW_FUNCTIONS and e is not c.window_call:
        raise SemanticError(
            f"{written}() requires a window", span=c.span(e), hint=f"use {written}(…) OVER (ORDER BY …)"
        )
    if name in GENERATORS and e is not c.generator_call:
        raise SemanticError(
            f"{written}() is a table-generating function and must be the whole SELECT item",
            span=c.span(e),
            hint=f"use LATERAL VIEW {written}(…) t AS x, and x here",
        )
    return function(c, name, [c.convert(arg) for arg in e.expressions], e)


def _is_built_in(name: str) -> bool:
    return ALIASES.get(name, name) in FUNCTIONS or name in CAST_FUNCTIONS or ALIASES.get(name) in TESTS


def cast_function(c: Converter, to: HiveType, value: Rex, e: exp.Expr) -> Rex:
    takes = value.type.is_string or value.type in (to, t.UNKNOWN, t.VOID)
    if not takes and (to == t.BINARY or to in literals.INTERVAL_TEXTS):
        raise SemanticError(f"{to}() takes a string, not {value.type}", span=c.span(e))
    return c.cast(value, to)


def check_count(c: Converter, written: str, name: str, given: int, e: exp.Expr) -> None:
    function = FUNCTIONS.get(name)
    if function is None:
        if name in TESTS and given == 1:
            return
        if name in TESTS:
            raise SemanticError(f"{written}() takes 1 argument, not {given}", span=c.span(e))
        from hivedruid.plan.refused_functions import no_such_function

        texts = [str(arg.this) if arg.is_string else "" for arg in e.expressions[:2]]
        raise no_such_function(written, c.span(e), c.builder.snapshot.function_names, texts)
    if not function.least <= given <= function.most:
        raise SemanticError(f"{written}() takes {function.wanted()}, not {given}", span=c.span(e))


def _arguments(c: Converter, name: str, args: list[Rex], e: exp.Expr) -> list[Rex]:
    """The arguments cast to the function's parameter types; unsuitable arguments are rejected."""
    function = FUNCTIONS.get(name)
    if function is None:
        return args
    return [_argument(c, name, function.parameter(i), i, arg, e) for i, arg in enumerate(args)]


def _argument(c: Converter, name: str, kind: str, position: int, arg: Rex, e: exp.Expr) -> Rex:
    if not accepts(kind, arg.type):
        raise SemanticError(
            f"{name.removeprefix('extract_')}() takes {KINDS[kind][0]} as argument {position + 1}, not {arg.type}",
            span=c.span(e), hint=operands.hint_for(arg.type),
        )  # fmt: skip
    if kind == "text" or (kind == "bytes" and arg.type.name != "binary"):
        return c.text(arg)
    return c.cast(arg, t.DOUBLE) if kind in ("double", "number") and arg.type.is_string else arg


def _aggregate(c: Converter, name: str, e: exp.Expr) -> Rex:
    arguments = list(e.expressions)
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        arguments = arguments[0].expressions + arguments[1:]
    if name == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        return Agg(t.BIGINT, "count", ())
    given = [c.convert(arg) for arg in arguments]
    if (estimate := sketch_calls.estimate(c, name, given, e)) is not None:
        return estimate
    args = tuple(_arguments(c, name, given, e))
    if name in ("percentile", "percentile_approx") and len(args) > 1:
        _check_fractions(c, name, args[1], arguments[1])
    if name in ("percentile", "percentile_approx") and len(args) > 1 and args[1].type.name == "array":
        args = (args[0], c.cast(args[1], t.array_of(t.DOUBLE)), *args[2:])
    if sketch_calls.is_aggregate(name):
        args = sketch_calls.aggregate_arguments(c, name, args, e)
    if e is not c.window_call and any(isinstance(x, Agg) for arg in args for x in _inside(arg)):
        raise SemanticError(
            "nested aggregate functions are not supported",
            span=c.span(e),
            hint="compute the inner aggregate in a subquery",
        )
    if name == "count" and args and not distinct and all(isinstance(a, Literal) and a.value is not None for a in args):
        return Agg(t.BIGINT, "count", ())
    if not args:
        raise SemanticError(f"{name}() requires an argument", span=c.span(e))
    return Agg(function_type(name, args), name, args, distinct and name not in ("min", "max"))


def _check_fractions(c: Converter, name: str, fractions: Rex, e: exp.Expr) -> None:
    """Constant fractions must be between 0 and 1: Hive's job fails, and Spark does not analyse the statement."""
    for item in fractions.args if isinstance(fractions, Call) and fractions.op == "array" else (fractions,):
        while isinstance(item, Call) and item.op == "cast":
            item = item.args[0]  # noqa: PLW2901 - what is cast
        if isinstance(item, Literal) and item.type.is_numeric and item.value is not None and not 0 <= item.value <= 1:
            raise SemanticError(f"{name}() takes a fraction between 0 and 1, not {item.value}", span=c.span(e))


def filtered(c: Converter, e: exp.Expr) -> Rex:
    agg = c.convert(e.this)
    if not isinstance(agg, Agg) and sketch_calls.is_estimate(e.this):
        raise _of_estimate("FILTER", c, e)
    if not isinstance(agg, Agg):
        raise SemanticError("FILTER is only allowed after an aggregate function", span=c.span(e))
    return Agg(agg.type, agg.op, agg.args, agg.distinct, c.boolean(e.expression.this))


def _of_estimate(clause: str, c: Converter, e: exp.Expr) -> UnsupportedError:
    return UnsupportedError(
        f"{clause} after an estimate of sketches is not supported", span=c.span(e),
        hint=f"use the function of the union, such as ds_theta_estimate(ds_theta_union(s) {clause} (…))",
    )  # fmt: skip


def within_group(c: Converter, e: exp.Expr) -> Rex:
    from hivedruid.plan import ordered_sets

    name = called_name(e.this) if isinstance(e.this, exp.Anonymous) else ""
    keys = [c.sort_key(item) for item in e.expression.expressions]
    args = [c.convert(arg) for arg in e.this.expressions] if name else []
    if name in ordered_sets.PERCENTILES and len(args) == len(keys) == 1:
        _check_fractions(c, name, args[0], e.this)
        return ordered_sets.percentile(name, args[0], keys[0])
    if name in ordered_sets.RANKS and len(args) == len(keys):
        return ordered_sets.hypothetical_rank(name, args, keys, c.compare)
    known = ", ".join(sorted(ordered_sets.PERCENTILES | ordered_sets.RANKS))
    raise SemanticError(
        "WITHIN GROUP requires an ordered-set function with one argument for each sort key",
        span=c.span(e),
        hint=f"functions: {known}",
    )


def function(c: Converter, name: str, args: list[Rex], e: exp.Expr) -> Rex:
    from hivedruid.plan.special_functions import SPECIAL

    check_count(c, name, name, len(args), e)
    args = _arguments(c, name, args, e)
    _check_pattern(c, name, args, e)
    special = SPECIAL.get(name)
    if special is not None:
        return special(c, args, e)
    if name.startswith("floor_") and len(args) == 1:
        from hivedruid.plan.convert_times import time_unit

        return time_unit(c, "floor", name[6:], args[0], e)
    if name.startswith("extract_") and len(args) == 1:
        args = [_moment(c, name, args[0])]
    if name in _NOT_ALWAYS_LOWERED or any(operands.is_interval(arg.type) for arg in args):
        from hivedruid.plan.spark_rex import SparkRex

        SparkRex(c.zone, lambda _: "").sql(Call(t.UNKNOWN, name, tuple(args)))  # rejected here, with its position
    return c.call(name, *args)


def _check_pattern(c: Converter, name: str, args: list[Rex], e: exp.Expr) -> None:
    from hivedruid.plan import time_patterns

    position = time_patterns.PATTERN_OF.get(name, len(args))
    pattern = args[position] if position < len(args) else None
    known_null = any(isinstance(arg, Literal) and arg.value is None for arg in args)
    if isinstance(pattern, Literal) and isinstance(pattern.value, str) and not known_null:
        try:
            time_patterns.check(name, pattern.value)
        except HiveDruidError as error:
            raise error.at(c.span(e)) from None


def _moment(c: Converter, name: str, rex: Rex) -> Rex:
    """The argument of a time part: a string is cast to a timestamp for time-of-day parts, to a date for the others."""
    read = t.TIMESTAMP if name[8:] in ("hour", "minute", "second") else t.DATE
    return c.cast(rex, read) if rex.type.is_string else rex


def window(c: Converter, e: exp.Expr) -> Rex:
    inner = e.this
    suffix = ""
    if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls):
        suffix = " IGNORE NULLS" if isinstance(inner, exp.IgnoreNulls) else ""
        inner = inner.this
    c.window_call = inner
    call = c.convert(inner)
    if not isinstance(call, Agg) and sketch_calls.is_estimate(inner):
        raise _of_estimate("OVER", c, e)
    if not isinstance(call, Agg) and not (isinstance(call, Call) and call.op in WINDOW_FUNCTIONS):
        raise SemanticError(
            "OVER is only allowed after an aggregate or window function", span=c.span(e), hint="remove it"
        )
    if isinstance(call, Agg) and call.distinct and not has_distinct_form(call):
        raise UnsupportedError(
            f"{call.op}(DISTINCT …) is not supported over a window", span=c.span(e),
            hint="compute it in a subquery with GROUP BY, and join its rows",
        )  # fmt: skip
    partition_by, order_by, frame = _window_spec(c, e)
    saved, c.scope.aliases = c.scope.aliases, {**c.aliases, **c.scope.aliases}
    try:
        partition = tuple(c.convert(p) for p in partition_by)
        order = tuple(c.sort_key(o) for o in order_by)
    finally:
        c.scope.aliases = saved
    if not order and isinstance(call, Call):  # all rows are peers; Spark wants an order of ranks, and of lag and lead
        order = tuple(SortKey(p, False, True) for p in partition) or (SortKey(Literal(t.INT, 1), False, True),)
    return Over(call.type, call, partition, order, f"{suffix}|{frame.sql('spark') if frame else ''}")


def _window_spec(c: Converter, e: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr], exp.Expr | None]:
    """PARTITION BY, ORDER BY and frame of a window; missing parts come from the named window."""
    partition_by = list(e.args.get("partition_by") or ())
    order_by = list(e.args["order"].expressions) if e.args.get("order") else []
    frame = e.args.get("spec")
    if e.args.get("alias"):
        name = e.args["alias"].name
        named = c.windows.get(name.lower())
        if named is None or named is e:
            raise SemanticError(f"unknown window '{name}'", span=c.span(e))
        base = _window_spec(c, named)
        return partition_by or base[0], order_by or base[1], frame or base[2]
    return partition_by, order_by, frame


def _inside(rex: Rex) -> list[Rex]:
    from hivedruid.plan.rex import walk

    return list(walk(rex))


def named(name: str, *keys: str) -> Callable[[Converter, Any], Rex]:
    """A function with special syntax, whose arguments sqlglot stores under `keys`."""

    def convert(c: Converter, e: exp.Expr) -> Rex:
        args = [c.convert(e.args[key]) for key in keys if e.args.get(key) is not None]
        return function(c, name, args, e)

    return convert


def trim(c: Converter, e: exp.Expr) -> Rex:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(e.args.get("position") or "").upper(), "trim")
    args = [c.convert(e.this)] + ([c.convert(e.expression)] if e.args.get("expression") else [])
    return function(c, name, args, e)


def array(c: Converter, e: exp.Expr) -> Rex:
    items = _alike_structs(c, [c.convert(item) for item in e.expressions])
    type_ = c.common(items, "array elements")
    return c.call("array", *(c.branch(item, t.STRING if type_ is t.VOID else type_) for item in items))


def _alike_structs(c: Converter, items: list[Rex]) -> list[Rex]:
    """Structs with the same fields, each field of the common type of its values: an untyped NULL has none of its
    own."""
    structs = [item for item in items if isinstance(item, Call) and item.op == "named_struct"]
    names = {tuple(str(a.value).lower() if isinstance(a, Literal) else None for a in s.args[::2]) for s in structs}
    if len(structs) < max(len(items), 1) or len(names) > 1 or None in next(iter(names)):
        return items
    width = len(structs[0].args)
    types = [common_type([s.args[place].type for s in structs]) for place in range(1, width, 2)]
    types = [t.STRING if type_ is t.VOID else type_ for type_ in types]
    return [
        c.call("named_struct", *(c.branch(a, types[i // 2]) if i % 2 else a for i, a in enumerate(struct.args)))
        for struct in structs
    ]


def var_map(c: Converter, e: exp.Expr) -> Rex:
    keys, values = e.args["keys"].expressions, e.args["values"].expressions
    if len(keys) != len(values):
        raise SemanticError("map() takes pairs of a key and a value", span=c.span(e))
    args = [c.convert(x) for pair in zip(keys, values, strict=True) for x in pair]
    if any(isinstance(key, Literal) and key.value is None for key in args[::2]):
        raise UnsupportedError("NULL map keys are not supported", span=c.span(e), hint="use another key")
    types = [c.common(args[::2], "map keys"), c.common(args[1::2], "map values")]
    if operands.has_map(types[0]):
        raise UnsupportedError("maps as map keys are not supported", span=c.span(e), hint="use another key")
    return c.call("map", *(c.branch(arg, types[place % 2]) for place, arg in enumerate(args)))
