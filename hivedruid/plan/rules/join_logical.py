"""Rules about Join that do not depend on Druid: conditions, and keys that are null."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BOOLEAN
from hivedruid.plan.nodes import DruidQuery, Filter, Join, JoinKind, Node
from hivedruid.plan.nullability import never_null, rejects_null
from hivedruid.plan.rex import (
    Call,
    Ref,
    Rex,
    Subquery,
    conjunction,
    conjuncts,
    has,
    is_deterministic,
    refs,
)
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.filter import push_filter

# --- conditions -------------------------------------------------------------------------------------------------------


def filter_join_merge(node: Node, _context: RuleContext) -> Node | None:
    """Filter[l.a = r.b AND p](l CROSS JOIN r) => Filter[p](Join[l.a = r.b](l, r))      p does not read both sides"""
    if not isinstance(node, Filter) or not isinstance(node.input, Join) or node.input.kind not in ("inner", "cross"):
        return None
    join = node.input
    sides = (join.left.ids, join.right.ids)
    both: list[Rex] = []
    rest: list[Rex] = []
    for term in conjuncts(node.condition):
        used = refs(term)
        movable = used & sides[0] and used & sides[1] and used <= sides[0] | sides[1]
        (both if movable and is_deterministic(term) and not has(term, Subquery) else rest).append(term)
    if not both:
        return None
    condition = conjunction([*conjuncts(join.condition), *both])
    merged = replace(join, kind="inner", condition=condition)
    remaining = conjunction(rest)
    return merged if remaining is None else Filter(node.columns, merged, remaining)


def outer_join_reduce(node: Node, _context: RuleContext) -> Node | None:
    """Filter[p](l LEFT JOIN r) => Filter[p](l JOIN r)      p is false for null-extended rows"""
    if not isinstance(node, Filter) or not isinstance(node.input, Join):
        return None
    join = node.input
    terms = conjuncts(node.condition)

    def rejected(side: Node) -> bool:
        return any(rejects_null(t, c.id) for t in terms for c in side.columns)

    kind: JoinKind = join.kind
    if kind in ("left", "full") and rejected(join.right):
        kind = "inner" if kind == "left" else "right"
    if kind in ("right", "full") and rejected(join.left):
        kind = "inner" if kind == "right" else "left"
    if kind == join.kind:
        return None
    return replace(node, input=replace(join, kind=kind))


# --- keys that are null -----------------------------------------------------------------------------------------------


def join_keys_not_null(node: Node, context: RuleContext) -> Node | None:
    """Join[l.a = r.b](l, r) => Join[l.a = r.b](DruidQuery l with a IS NOT NULL, r)      a null equals nothing

    For joins that stay on Spark, on the side that the join does not preserve: rows without a match need not be
    transferred.
    """
    if not isinstance(node, Join) or node.condition is None:
        return None
    left = _without_null_keys(node, node.left, context) if node.kind in ("inner", "right", "semi") else node.left
    right = (
        _without_null_keys(node, node.right, context) if node.kind in ("inner", "left", "semi", "anti") else node.right
    )
    return None if left is node.left and right is node.right else replace(node, left=left, right=right)


def _without_null_keys(join: Join, side: Node, context: RuleContext) -> Node:
    own = side.ids
    for term in conjuncts(join.condition):
        if isinstance(term, Call) and term.op == "=":
            for key in term.args:
                if isinstance(key, Ref) and key.id in own:
                    side = _not_null(side, key, context)
    return side


def _not_null(node: Node, key: Ref, context: RuleContext) -> Node:
    """The node without rows whose key is null, if a native query below can drop them."""
    if isinstance(node, DruidQuery):
        return _not_null_in_druid(node, key, context)
    side = node.filterable_input(key.id) if isinstance(node, Join) else None
    if side is None or _has_key(node, key):
        return node
    changed = _not_null(side, key, context)
    return node if changed is side else node.with_inputs(tuple([changed if i is side else i for i in node.inputs]))


def _has_key(join: Node, key: Ref) -> bool:
    """Whether it is a key of an inner join, below which its nulls are dropped already."""
    if not isinstance(join, Join) or join.kind not in ("inner", "semi"):
        return False
    terms = conjuncts(join.condition)
    return any(isinstance(term, Call) and term.op == "=" and key in term.args for term in terms)


def _not_null_in_druid(query: DruidQuery, key: Ref, context: RuleContext) -> DruidQuery:
    if query.is_limited or never_null(query, key):
        return query
    made = pushed(lambda: push_filter(query, Call(BOOLEAN, "is_not_null", (key,)), context))
    return made if made is not None and never_null(made, key) else query


__all__ = ["filter_join_merge", "join_keys_not_null", "outer_join_reduce"]
