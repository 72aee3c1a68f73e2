"""Rules about nodes that have no rows: they are not queried (Calcite's PruneEmptyRules)."""

from __future__ import annotations

from hivedruid.plan.nodes import Aggregate, DruidQuery, Filter, Node, Project, Sort, Values
from hivedruid.plan.rex import Literal
from hivedruid.plan.rules.context import RuleContext


def sort_limit_zero(node: Node, _context: RuleContext) -> Node | None:
    """Sort[LIMIT 0](x) => no rows; Sort[OFFSET n](Sort[LIMIT m](x)) => no rows      n >= m"""
    if not isinstance(node, Sort):
        return None
    inner = node.input
    beyond = isinstance(inner, Sort | DruidQuery) and inner.fetch is not None and node.offset >= inner.fetch
    return Values(node.columns, ()) if node.fetch == 0 or beyond else None


def empty_input(node: Node, _context: RuleContext) -> Node | None:
    """Project(no rows) => no rows; also Filter, Sort, and Aggregate with keys. Without keys: the row of a grand
    total"""
    if (
        not isinstance(node, Filter | Project | Sort | Aggregate)
        or not isinstance(node.input, Values)
        or node.input.rows
    ):
        return None
    if not isinstance(node, Aggregate) or (node.keys and node.grouping_sets is None):
        return Values(node.columns, ())
    if node.keys or any(c.op not in _OF_NOTHING for c in node.calls):
        return None
    return Values(node.columns, (tuple(Literal(c.type, _OF_NOTHING[c.op]) for c in node.calls),))


_OF_NOTHING = {
    "count": 0,
    **dict.fromkeys(("sum", "avg", "min", "max", "stddev_pop", "stddev_samp", "var_pop", "var_samp"), None),
}
"""Aggregates that are NULL over no rows; others may not be: collect_set() is an empty array."""
