"""What a rule may know besides the node it looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hivedruid.catalog.types import HiveType
from hivedruid.druid.engine import NO_LIMITS, DruidLimits
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.query import native_query
from hivedruid.plan.nodes import DruidQuery, Node, PlanColumn


@dataclass(frozen=True)
class RuleContext:
    """The session zone, a source of fresh columns, and what the Druid at hand refuses beyond."""

    zone: str
    new_column: Callable[[str, HiveType], PlanColumn]
    limits: DruidLimits = NO_LIMITS

    def exact(self, candidate: DruidQuery) -> DruidQuery:
        """The candidate, once it is certain that Druid answers it exactly; else NotExact with the reason."""
        query = native_query(candidate, self.zone).query
        self._check_merge_buffers(query)
        return candidate

    def _check_merge_buffers(self, query: Mapping[str, Any]) -> None:
        """A broker holds one merge buffer for each groupBy over another one, two at most (GroupByResourcesReservationPool)."""
        available = self.limits.merge_buffers
        if available is None:
            return
        needed = min(2, max(0, _group_bys(query) - 1))
        if needed > available:
            raise NotExact(f"nested groupBys need {needed} merge buffers, this Druid has {available}")


def _group_bys(query: Mapping[str, Any]) -> int:
    """How many groupBys are nested in a query, itself included."""
    source = query["dataSource"]
    inner = _group_bys(source["query"]) if isinstance(source, Mapping) and source.get("type") == "query" else 0
    return inner + (1 if query["queryType"] == "groupBy" else 0)


Rule = Callable[[Node, RuleContext], "Node | None"]
"""One rewrite: the node that replaces `node`, or None where the rule does not apply."""


def pushed(push: Callable[[], DruidQuery]) -> DruidQuery | None:
    """The result of a push, None where it is not exact."""
    try:
        return push()
    except NotExact:
        return None
