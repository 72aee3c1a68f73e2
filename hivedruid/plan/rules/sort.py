"""Rules about Sort."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import DruidQuery, Node, Project, Sort
from hivedruid.plan.rex import Literal, Rex, SortKey, substitute
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.nested import groups_of, joined_groups


def _mapping(node: Node) -> dict[str, Rex]:
    """The expressions of a node's columns, if it computes them."""
    if isinstance(node, DruidQuery):
        return node.mapping
    exprs = node.exprs if isinstance(node, Project) else ()
    return dict(zip([c.id for c in node.columns], exprs, strict=False))


def sort_remove_keys(node: Node, _context: RuleContext) -> Node | None:
    """Sort[a, 'x', a](x) => Sort[a](x)      constants and repeated keys do not affect the order

    Sort[](x) => x
    """
    if not isinstance(node, Sort):
        return None
    mapping = _mapping(node.input)
    kept: dict[Rex, SortKey] = {}
    for key in node.keys:
        behind = substitute(key.rex, mapping)
        if not isinstance(behind, Literal):
            kept.setdefault(behind, key)
    keys = tuple(kept.values())
    if not keys and node.fetch is None and not node.offset:
        return node.input
    return None if keys == node.keys else replace(node, keys=keys)


def sort_merge(node: Node, _context: RuleContext) -> Node | None:
    """Sort[a](Sort[b](x)) => Sort[a](x); Sort[limit](Sort[b](x)) => Sort[b, limit](x)      no limit inside"""
    if not isinstance(node, Sort) or not isinstance(node.input, Sort):
        return None
    inner = node.input
    if inner.fetch is not None or inner.offset:
        return None
    return replace(node, input=inner.input, keys=node.keys or inner.keys)


def push_sort(query: DruidQuery, node: Sort, context: RuleContext) -> DruidQuery:
    """The query with this order and this limit."""
    mapping = query.mapping
    keys = tuple(SortKey(substitute(k.rex, mapping), k.descending, k.nulls_first) for k in node.keys)
    if not query.is_limited:
        try:
            return context.exact(replace(query, sort=keys or query.sort, fetch=node.fetch, offset=node.offset))
        except NotExact:
            groups = joined_groups(query) if node.keys else None
            if groups is None:
                raise
            return context.exact(replace(groups, sort=node.keys, fetch=node.fetch, offset=node.offset))
    if keys == query.sort[: len(keys)]:  # already in this order
        fetches = [query.fetch - node.offset if query.fetch is not None else None, node.fetch]
        fetch = min((x for x in fetches if x is not None), default=None)
        return context.exact(
            replace(query, fetch=max(fetch, 0) if fetch is not None else None, offset=query.offset + node.offset)
        )
    rows = groups_of(query)
    if rows is None:
        raise NotExact("sorting rows after LIMIT")
    return context.exact(replace(rows, sort=node.keys, fetch=node.fetch, offset=node.offset))


def druid_sort(node: Node, context: RuleContext) -> Node | None:
    """Sort(DruidQuery) => DruidQuery with order and limit"""
    if not isinstance(node, Sort) or not isinstance(node.input, DruidQuery):
        return None
    query = node.input
    return pushed(lambda: push_sort(query, node, context))
