"""Which aggregates of a plan are estimates, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivedruid.druid.aggregators import BUILTIN_DISTINCT
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
        methods = DRUID if isinstance(node, DruidQuery) else SPARK
        for call in node.calls if isinstance(node, DruidQuery) else _aggregates(node.expressions()):
            if call.op in methods:
                yield Estimate(show(call).replace(BUILTIN_DISTINCT, "approx_distinct"), methods[call.op])


def _aggregates(expressions: Iterator[Rex]) -> Iterator[Agg]:
    return (part for rex in expressions for part in walk(rex) if isinstance(part, Agg))
