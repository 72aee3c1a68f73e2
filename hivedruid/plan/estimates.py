"""Which aggregates of a plan are estimates, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.druid.aggregators import BUILTIN_DISTINCT, UNIONS
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.ctes import all_nodes
from hivedruid.plan.nodes import DruidQuery
from hivedruid.plan.rex import Agg, Rex, walk
from hivedruid.plan.show import show

if TYPE_CHECKING:
    from hivedruid.plan.split import QueryPlan

DRUID: Mapping[str, str] = {
    "approx_distinct": "HLL sketch of Druid, standard error 1.6 %",
    BUILTIN_DISTINCT: "HyperLogLog of Druid, standard error 2.3 %",
}
"""The method and the error of the aggregates that Druid estimates: 1.04 / sqrt(k), with 4096 buckets of a sketch
(HllSketchAggregatorFactory.DEFAULT_LG_K) and 2048 of Druid's own collector."""
_THETA = "theta sketch, exact up to 4096 values (or the last argument), then standard error 1.6 % (1 / its square root)"
_HLL = "HLL sketch, standard error 1.6 % with lgK 12 (or the last argument)"
_QUANTILES = "quantiles sketch, exact up to 256 values (2 k), then a random sample: a rank within 1.7 %"
SKETCHES: Mapping[str, str] = {
    "ds_theta_sketch": _THETA, "ds_theta_union": _THETA, "theta_union": _THETA,
    "ds_hll_sketch": _HLL, "ds_hll_union": _HLL, "hll_union": _HLL,
    "ds_quantile_doubles_sketch": _QUANTILES, "ds_quantile_doubles_union": _QUANTILES,
}  # fmt: skip
"""The same for sketches of the default sizes: 1 / sqrt(4096), 1.04 / sqrt(4096), and the rank error of k = 128."""
SPARK: Mapping[str, str] = {
    "approx_distinct": "HyperLogLog++ of Spark, standard error 5 %",
    "percentile_approx": "sample of Spark, exact up to 10000 values, else a rank within 0.01 % (or the third argument)",
}
"""The same for Spark: the defaults of approx_count_distinct and percentile_approx."""


@dataclass(frozen=True)
class Estimate:
    """An aggregate, as the plan shows it, and the method with its error."""

    call: str
    method: str

    def __str__(self) -> str:
        return f"{self.call}: {self.method}"


def estimates(plan: QueryPlan) -> tuple[Estimate, ...]:
    """The estimates of a plan, each once."""
    return tuple(dict.fromkeys(_estimates(plan)))


def _estimates(plan: QueryPlan) -> Iterator[Estimate]:
    for node in all_nodes(plan.node, inside=True):
        methods = {**SKETCHES, **(DRUID if isinstance(node, DruidQuery) else SPARK)}
        for call in node.calls if isinstance(node, DruidQuery) else _aggregates(node.expressions()):
            if call.op in methods:
                yield Estimate(_shown(call), methods[call.op])


def _aggregates(expressions: Iterator[Rex]) -> Iterator[Agg]:
    return (part for rex in expressions for part in walk(rex) if isinstance(part, Agg))


def _shown(call: Agg) -> str:
    """The call by the name that a statement has for it."""
    names = {BUILTIN_DISTINCT: "approx_distinct"} | {name: union for union, name in UNIONS.items()}
    return show(replace(call, op=names.get(call.op, call.op)))
