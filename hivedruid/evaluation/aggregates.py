"""Aggregate functions over the values of a group or of a window's frame."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from hivedruid.catalog.types import HiveType
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.numbers import EXACT, as_decimal, hive_decimal, real, rounded
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.fold import wrap
from hivedruid.plan.rex import Agg
from hivedruid.plan.sketch_calls import is_aggregate


@dataclass(frozen=True)
class Fold:
    """An aggregate as a fold over its values, without NULLs. The state for no values is `start`."""

    step: Callable[[Any, Any], Any]
    finish: Callable[[Any], Any]
    start: Any = None

    def __call__(self, values: Iterable[Any]) -> Any:
        state = self.start
        for value in values:
            state = self.step(state, value)
        return self.finish(state)


def aggregate(agg: Agg) -> Fold:
    """The aggregate function for a call. Raises NotLocal."""
    if is_aggregate(agg.op):
        return _sketch(agg)
    build = AGGREGATES.get(agg.op)
    if build is None:
        raise NotLocal(f"{agg.op}() is not evaluated locally")
    if agg.op != "count" and len(agg.args) != 1:
        raise NotLocal(f"{agg.op}() with several arguments")
    return build(agg.args[0].type if agg.args else agg.type, agg.type)


def _or_null(finish: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda state: None if state is None else finish(state)


def _plus(add: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda state, value: value if state is None else add(state, value)


def _count(_source: HiveType, _type: HiveType) -> Fold:
    return Fold(lambda count, _value: count + 1, int, 0)


def _sum(source: HiveType, type_: HiveType) -> Fold:
    if source.is_integer:
        return Fold(_plus(operator.add), _or_null(lambda total: wrap(total, type_)))
    if source.is_approximate:  # in double precision
        return Fold(lambda state, value: (state or 0.0) + value, _or_null(real))
    if source.name == "decimal":
        return Fold(_plus(EXACT.add), _or_null(lambda total: as_decimal(hive_decimal(total), type_)))
    raise NotLocal(f"sum() of {source}")


def _avg(source: HiveType, type_: HiveType) -> Fold:
    if (source.is_integer or source.is_approximate) and type_.name == "double":
        return Fold(
            lambda state, value: (state[0] + float(value), state[1] + 1),
            lambda state: real(state[0] / state[1]) if state[1] else None,
            (0.0, 0),
        )
    if source.name == "decimal" and type_.name == "decimal":
        return Fold(
            lambda state, value: (EXACT.add(state[0], value), state[1] + 1),
            lambda state: _mean(state[0], state[1], type_) if state[1] else None,
            (Decimal(0), 0),
        )
    raise NotLocal(f"avg() of {source}")


def _mean(total: Decimal, count: int, type_: HiveType) -> Decimal | None:
    held = hive_decimal(total)
    if held is None:
        return None
    return as_decimal(hive_decimal(rounded(EXACT.divide(held, Decimal(count)), 38)), type_)


def _sketch(agg: Agg) -> Fold:
    """A function of the list of values; those with a size come as pairs."""
    from hivedruid.sketches.functions import SketchFunction

    function, has_size = SketchFunction(agg.op), len(agg.args) > 1

    def add(state: list[Any] | None, value: Any) -> list[Any]:
        if state is None:
            return [value]
        state.append(value)
        return state

    def finish(values: list[Any] | None) -> Any:
        if values is None:
            return None
        return function([value for value, _ in values], values[0][1]) if has_size else function(values)

    return Fold(add, finish)


def _extremum(choose: Callable[[Any, Any], Any]) -> Callable[[HiveType, HiveType], Fold]:
    def build(source: HiveType, _type: HiveType) -> Fold:
        if source.name in ("unknown", "binary") or source.children:
            raise NotLocal(f"min() or max() of {source}")
        return Fold(
            lambda state, value: key(value) if state is None else choose(state, key(value)), lambda state: state
        )

    return build


def key(value: Any) -> Any:
    """Check that a value can be compared or grouped: engines differ on negative zero."""
    if isinstance(value, float) and (not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)):
        raise Unsure("negative zero or a non-finite double in the values to compare")
    return value


AGGREGATES: dict[str, Callable[[HiveType, HiveType], Fold]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _extremum(min),
    "max": _extremum(max),
}
