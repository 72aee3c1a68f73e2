"""Rules about Sort."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import DruidQuery, Node, Sort
from hivedruid.plan.rex import SortKey, substitute
from hivedruid.plan.rules.context import RuleContext, pushed


def push_sort(query: DruidQuery, node: Sort, context: RuleContext) -> DruidQuery:
    """The query in that order, with that limit."""
    if query.is_limited and (node.keys or query.offset or node.offset):
        raise NotExact("ordering the rows that a LIMIT left")
    if query.is_limited:
        fetch = min(x for x in (query.fetch, node.fetch) if x is not None)
        return context.exact(replace(query, fetch=fetch))
    mapping = query.mapping
    keys = tuple(SortKey(substitute(k.rex, mapping), k.descending, k.nulls_first) for k in node.keys)
    return context.exact(replace(query, sort=keys or query.sort, fetch=node.fetch, offset=node.offset))


def druid_sort(node: Node, context: RuleContext) -> Node | None:
    """Sort(DruidQuery) => DruidQuery with order and limit"""
    if not isinstance(node, Sort) or not isinstance(node.input, DruidQuery):
        return None
    query = node.input
    return pushed(lambda: push_sort(query, node, context))
