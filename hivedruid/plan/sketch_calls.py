"""Hive's functions of sketches (`ds_…`): their arguments, and where they run. `sketches.functions` computes them, in
this process and in Spark's workers; Druid merges sketches where that is exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.errors import SemanticError, Span
from hivedruid.parser.functions import called_name
from hivedruid.plan.functions import ALIASES, FUNCTIONS
from hivedruid.plan.rex import Agg, Call, Literal, Rex
from hivedruid.plan.sketch_kinds import PREFIXES

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.plan.convert import Converter

_SIZES: dict[str, tuple[str, Callable[[int], bool]]] = {
    "ds_hll_": ("lgK, from 4 to 21", lambda size: 4 <= size <= 21),
    "ds_theta_": ("a number of entries, from 32 to 67108864", lambda size: 32 <= size <= 1 << 26),
    "ds_quantile_": ("k, a power of 2 from 2 to 32768", lambda size: size in [1 << n for n in range(1, 16)]),
}
"""The sizes of sketches that the library accepts."""


def _scalar(name: str) -> Callable[[Converter, list[Rex], exp.Expr], Rex]:
    def convert(c: Converter, args: list[Rex], e: exp.Expr) -> Rex:
        _check_kinds(c, name, args, e)
        if name.endswith("_union_f"):
            check_size(name, args[2:], c.span(e))
            return c.call(name, *args)
        is_of_steps = name == "ds_quantile_doubles_quantiles" and len(args) == 2 and _is_int(args[1])
        numbers = name.startswith("ds_quantile_") and not is_of_steps
        return c.call(name, args[0], *(c.cast(arg, t.DOUBLE) if numbers else arg for arg in args[1:]))

    return convert


def _is_int(rex: Rex) -> bool:
    """Whether Hive passes it as a Java int; it passes a BIGINT as a double."""
    return rex.type.is_integer and rex.type != t.BIGINT


def aggregate_arguments(c: Converter, name: str, args: Sequence[Rex], e: exp.Expr) -> tuple[Rex, ...]:
    """The arguments of an aggregate. Raises SemanticError for a size that is not a constant, or not valid."""
    if not name.endswith("_sketch"):
        _check_kinds(c, name, args, e)
    check_size(name, args[1:], c.span(e))
    value = args[0]
    if name == "ds_quantile_doubles_sketch":
        value = c.cast(value, t.DOUBLE)
    elif value.type is t.VOID:
        value = Literal(t.STRING, None)
    return value, *args[1:]


def _check_kinds(c: Converter, name: str, args: Sequence[Rex], e: exp.Expr) -> None:
    """Raise SemanticError if an argument has sketches of another kind. That is not always known."""
    wanted = next(kind for prefix, kind in PREFIXES.items() if name.startswith(prefix))
    for kind in map(c.scope.sketch_kind, args):
        if kind is not None and kind.name != wanted:
            raise SemanticError(f"{name}() cannot read sketches of {kind.build}", span=c.span(e))


def estimate(c: Converter, name: str, args: Sequence[Rex], e: exp.Expr) -> Rex | None:
    """approx_distinct() and percentile_approx() of a column of sketches: the estimate of their union. None for other
    values."""
    value, *rest = args or [Literal(t.VOID, None)]
    kind = c.scope.sketch_kind(value) if name in ESTIMATES else None
    if kind is None:
        return None
    if kind.counts_distinct != (name == "approx_distinct") or kind.name not in PREFIXES.values():
        raise SemanticError(f"{called_name(e)}() cannot read sketches of {kind.build}", span=c.span(e))
    if name == "approx_distinct":
        union = Agg(t.BINARY, f"ds_{kind.name}_union", (value, Literal(t.INT, kind.default_size)))
        count = c.call("round", c.call(f"ds_{kind.name}_estimate", union))
        return c.cast(c.call("coalesce", count, Literal(t.DOUBLE, 0.0)), t.BIGINT)
    union = Agg(t.BINARY, "ds_quantile_doubles_union", (value,))
    is_list = isinstance(rest[0], Call) and rest[0].op == "array"
    fractions = rest[0].args if isinstance(rest[0], Call) and is_list else (rest[0],)
    values = c.call("ds_quantile_doubles_quantiles", union, *(c.cast(each, t.DOUBLE) for each in fractions))
    return values if is_list else Call(t.DOUBLE, "element", (values, Literal(t.INT, 0)))


ESTIMATES = frozenset({"approx_distinct", "percentile_approx"})


def is_estimate(e: exp.Expr) -> bool:
    """Whether it calls one of ESTIMATES."""
    name = called_name(e)
    return ALIASES.get(name, name) in ESTIMATES


def check_size(name: str, size: Sequence[Rex], span: Span | None) -> None:
    for each in size:
        wanted, is_valid = next(found for prefix, found in _SIZES.items() if name.startswith(prefix))
        if not isinstance(each, Literal) or each.value is None or not is_valid(each.value):
            raise SemanticError(f"the last argument of {name}() must be a constant: {wanted}", span=span)


PREFIX = "ds_"
SCALARS, AGGREGATES = (
    frozenset(name for name, function in FUNCTIONS.items() if name.startswith(PREFIX) and function.kind == kind)
    for kind in ("scalar", "aggregate")
)
SPECIAL = {name: _scalar(name) for name in SCALARS}


def is_aggregate(op: str) -> bool:
    return op in AGGREGATES


def of_list(agg: Agg, sql: Callable[[Rex], str], clause: str) -> str:
    """The Spark SQL of an aggregate: the function of the list of a group's values. `clause` is FILTER or OVER. Sketches
    of distinct values ignore repetitions."""
    value, *size = map(sql, agg.args)
    collect = "collect_list" if agg.op.startswith("ds_quantile_") and not agg.distinct else "collect_set"
    return f"{agg.op}({', '.join([f'{collect}({value}){clause}', *size])})"
