"""Rules about Join that do not depend on Druid: conditions on one side also apply to the other."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BOOLEAN
from hivedruid.plan.nodes import Aggregate, DruidQuery, Filter, Join, JoinKind, Node, Project
from hivedruid.plan.nullability import never_null, rejects_null
from hivedruid.plan.rex import (
    Call,
    Literal,
    Ref,
    Rex,
    Subquery,
    conjunction,
    conjuncts,
    has,
    is_deterministic,
    refs,
    substitute,
)
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.filter import filtered, push_filter

# --- conditions -------------------------------------------------------------------------------------------------------


def filter_join_merge(node: Node, _context: RuleContext) -> Node | None:
    """Filter[l.a = r.b AND p](l CROSS JOIN r) => Filter[p](Join[l.a = r.b](l, r))      p does not read both sides"""
    if not isinstance(node, Filter) or not isinstance(node.input, Join) or node.input.kind not in ("inner", "cross"):
        return None
    join = node.input
    sides = ({c.id for c in join.left.columns}, {c.id for c in join.right.columns})
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


# --- derived conditions
# ---------------------------------------------------------------------------------------------------


def with_inferred(node: Node) -> Node:
    """Adds to every join the conditions on a key of one side that follow for the other side: a.k = b.k AND a.k = 5 =>
    b.k = 5.

    Must run once, after the conditions have moved to their tables; a second run would add the same conditions again.
    """
    return _with_inferred(node, {})


def _with_inferred(node: Node, memo: Memo) -> Node:
    inputs = tuple([_with_inferred(i, memo) for i in node.inputs])
    if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
        node = node.with_inputs(inputs)
    if not isinstance(node, Join) or node.condition is None or node.kind in ("full", "cross"):
        return node
    left_ids, right_ids = {c.id for c in node.left.columns}, {c.id for c in node.right.columns}
    to_left: list[Rex] = []
    to_right: list[Rex] = []
    for term in conjuncts(node.condition):
        if not isinstance(term, Call) or term.op != "=":
            continue
        a, b = term.args
        if isinstance(a, Ref) and a.id in right_ids:
            a, b = b, a
        if not isinstance(a, Ref) or not isinstance(b, Ref) or a.type != b.type:
            continue
        if a.id not in left_ids or b.id not in right_ids:
            continue
        if node.kind in ("inner", "left", "semi", "anti"):
            to_right += _moved(node.left, a, node.right, b, memo)
        if node.kind in ("inner", "right", "semi"):
            to_left += _moved(node.right, b, node.left, a, memo)
    if not to_left and not to_right:
        return node
    return replace(
        node,
        left=filtered(node.left, list(dict.fromkeys(to_left))),
        right=filtered(node.right, list(dict.fromkeys(to_right))),
    )


_COMPARISONS = frozenset({"=", "<", "<=", ">", ">=", "in", "<>", "like"})


Memo = dict[tuple[int, str], tuple[Node, list[Rex]]]
"""The comparisons that hold for a column of a node, by the identity of the node, which is kept so that it is not
reused."""


def _moved(here: Node, of: Ref, there: Node, to: Ref, memo: Memo) -> list[Rex]:
    """The comparisons of a column with constants, rewritten for the column that equals it, unless they hold there."""
    terms = [substitute(term, {of.id: to}) for term in known(here, of, memo)]
    held = set(known(there, to, memo)) if terms else set()
    return [term for term in terms if term not in held]


def known(node: Node, column: Ref, memo: Memo) -> list[Rex]:
    """The comparisons of a column with constants that hold in every row of the node. Follows the column down to its
    table."""
    key = (id(node), column.id)
    if key not in memo:
        terms = [t for t in conjuncts(node.condition) if _compares(t, column)] if isinstance(node, Filter) else []
        below = _below(node, column)
        if below is not None:
            source, of = below
            deeper = known(source, of, memo)
            terms += deeper if of == column else [substitute(t, {of.id: column}) for t in deeper]
        memo[key] = (node, terms)
    return memo[key][1]


def _compares(term: Rex, column: Ref) -> bool:
    if not isinstance(term, Call) or term.op not in _COMPARISONS or refs(term) != {column.id}:
        return False
    return is_deterministic(term) and all(isinstance(a, Literal) for a in term.args[1:])


def _below(node: Node, column: Ref) -> tuple[Node, Ref] | None:
    """The input whose rows all rows of the node contain, with the column; None if there is none."""
    if isinstance(node, Filter):
        return node.input, column
    if isinstance(node, Project):
        return _passed(node.input, node.mapping.get(column.id))
    if isinstance(node, Aggregate) and node.grouping_sets is None:
        keys = {c.id: k for c, k in zip(node.columns, node.keys, strict=False)}
        return _passed(node.input, keys.get(column.id))
    if isinstance(node, Join):
        if any(c.id == column.id for c in node.right.columns) and node.kind not in ("semi", "anti"):
            return (node.right, column) if node.kind in ("inner", "cross", "right") else None
        return (node.left, column) if node.kind in ("inner", "cross", "left", "semi", "anti") else None
    return None


def _passed(input_: Node, rex: Rex | None) -> tuple[Node, Ref] | None:
    return (input_, rex) if isinstance(rex, Ref) else None


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
    if not isinstance(side, DruidQuery) or side.is_limited:
        return side
    own = {c.id for c in side.columns}
    for term in conjuncts(join.condition):
        if not isinstance(term, Call) or term.op != "=":
            continue
        for key in term.args:
            if isinstance(key, Ref) and key.id in own and not never_null(side, key):
                wanted = Call(BOOLEAN, "is_not_null", (key,))
                made = pushed(lambda w=wanted, s=side: push_filter(s, w, context))  # type: ignore[misc]
                if made is not None and never_null(made, key):
                    side = made
    return side


__all__ = ["filter_join_merge", "join_keys_not_null", "known", "outer_join_reduce", "with_inferred"]
