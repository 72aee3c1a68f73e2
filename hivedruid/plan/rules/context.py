"""What a rule may know besides the node it looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hivedruid.catalog.types import HiveType
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.query import native_query
from hivedruid.plan.nodes import DruidQuery, Node, PlanColumn


@dataclass(frozen=True)
class RuleContext:
    """The session zone, and a source of fresh columns."""

    zone: str
    new_column: Callable[[str, HiveType], PlanColumn]

    def exact(self, candidate: DruidQuery) -> DruidQuery:
        """The candidate, once it is certain that Druid answers it exactly; else NotExact with the reason."""
        native_query(candidate, self.zone)
        return candidate


Rule = Callable[[Node, RuleContext], "Node | None"]
"""One rewrite: the node that replaces `node`, or None where the rule does not apply."""


def pushed(push: Callable[[], DruidQuery]) -> DruidQuery | None:
    """The result of a push, None where it is not exact."""
    try:
        return push()
    except NotExact:
        return None
