"""The context of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.types import HiveType
from hivedruid.druid.aggregators import SKETCHES
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.limits import NO_LIMITS, DruidLimits
from hivedruid.druid.query import exact_outputs, native_query
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import DruidQuery, Node, PlanColumn
from hivedruid.plan.rex import Ref, Rex

if TYPE_CHECKING:
    from hivedruid.catalog.statistics import Statistics
    from hivedruid.plan.statistics import Estimator


@dataclass(frozen=True)
class RuleContext:
    """The session's time zone, a source of column ids, and the limits of the engine.

    `statistics` describes the rows of tables, by database and name; `settings` are the session's.
    """

    zone: str
    new_column: Callable[[str, HiveType], PlanColumn]
    limits: DruidLimits = NO_LIMITS
    statistics: Statistics = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _estimator(self) -> Estimator:
        from hivedruid.plan.statistics import Estimator

        return Estimator(self.statistics, self.zone)

    def rows(self, node: Node) -> int | None:
        """The estimated number of rows of a node; None if unknown."""
        return self._estimator.rows(node)

    @cached_property
    def _cautious(self) -> Estimator:
        from hivedruid.plan.statistics import Estimator

        return Estimator(self.statistics, self.zone, groups_by_row=1.0)

    def most_rows(self, node: Node) -> int | None:
        """The same, with as many groups as rows if the number of values of a key is unknown: for what fails if there
        are too many."""
        return self._cautious.rows(node)

    def distinct(self, rex: Rex) -> int | None:
        """The estimated number of values of an expression over nodes whose rows were estimated; None if unknown."""
        return self._estimator.distinct(rex)

    def has_every_key(self, node: Node, key: Ref) -> bool:
        """Whether the node probably has a row for each key."""
        return self._estimator.has_every_key(node, key)

    def most(self, key: str) -> int:
        """A numeric setting, of the session or its default."""
        from hivedruid.settings import SETTINGS

        return int(self.settings.get(key) or SETTINGS[key].default)

    def exact(self, candidate: DruidQuery, *, whole: bool = False) -> DruidQuery:
        """The candidate, if Druid computes it exactly; otherwise raises NotExact with the reason. `whole`: with all
        columns of its joins, also those that it does not read."""
        query = native_query(candidate, self.zone, whole=whole).query
        self._check_merge_buffers(query)
        if not self.limits.sketches and _has_sketches(query):
            raise NotExact("Druid has not loaded the extension druid-datasketches")
        return candidate

    def exact_outputs(self, query: DruidQuery, exprs: Sequence[Rex]) -> list[bool]:
        """Whether Druid computes each of the expressions exactly in a scan with the rows of `query`."""
        return exact_outputs(query, exprs, self.zone)

    def _check_merge_buffers(self, query: Mapping[str, Any]) -> None:
        available = self.limits.merge_buffers
        if available is None:
            return
        needed = merge_buffers(query)
        if needed > available:
            raise NotExact(f"nested groupBy queries require {needed} merge buffers, Druid has {available}")


def _has_sketches(query: Mapping[str, Any]) -> bool:
    natives = [a.get("aggregator", a) for a in query.get("aggregations", ())]
    source = query["dataSource"]
    inner = source["query"] if isinstance(source, Mapping) and source.get("type") == "query" else None
    return any(native["type"] in SKETCHES for native in natives) or (inner is not None and _has_sketches(inner))


def merge_buffers(query: Mapping[str, Any]) -> int:
    """The number of merge buffers that a broker needs for a query (GroupByQueryResources).

    One for each groupBy over another one, at most two. Grouping sets need one more, or two if one of them is not a
    prefix of the dimensions.
    """
    nested, subtotals = _group_bys(query)
    return min(2, max(0, nested - 1)) + subtotals


def _group_bys(query: Mapping[str, Any]) -> tuple[int, int]:
    """The nesting depth of groupBys in a query, including itself, and the largest number that their grouping sets
    need.
    """
    source = query["dataSource"]
    is_nested = isinstance(source, Mapping) and source.get("type") == "query"
    nested, subtotals = _group_bys(source["query"]) if is_nested else (0, 0)
    if query["queryType"] != "groupBy":
        return nested, subtotals
    names = [d["outputName"] for d in query["dimensions"]]
    sets = query.get("subtotalsSpec") or ()
    if sets:
        subtotals = max(subtotals, 1 if all(kept == names[: len(kept)] for kept in sets) else 2)
    return nested + 1, subtotals


Rule = Callable[[Node, RuleContext], "Node | None"]
"""One rewrite: the node that replaces `node`, or None if the rule does not apply."""


def pushed(push: Callable[[], DruidQuery]) -> DruidQuery | None:
    """The result of a pushdown; None if it is not exact."""
    try:
        return push()
    except NotExact:
        return None
