"""Rules about nodes that have no rows: they are not queried (Calcite's PruneEmptyRules)."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.plan.nodes import (
    Aggregate,
    DruidQuery,
    Filter,
    Join,
    LateralView,
    Node,
    Project,
    SetOp,
    Sort,
    Values,
)
from hivedruid.plan.rex import Literal, conjuncts
from hivedruid.plan.rules.context import RuleContext


def sort_limit_zero(node: Node, _context: RuleContext) -> Node | None:
    """Sort[LIMIT 0](x) => no rows; Sort[OFFSET n](Sort[LIMIT m](x)) => no rows      n >= m"""
    if not isinstance(node, Sort):
        return None
    inner = node.input
    beyond = isinstance(inner, Sort | DruidQuery) and inner.fetch is not None and node.offset >= inner.fetch
    return Values(node.columns, ()) if node.fetch == 0 or beyond else None


def filter_false(node: Node, _context: RuleContext) -> Node | None:
    """Filter[FALSE](x) => no rows; also if one of several terms is FALSE or NULL"""
    if not isinstance(node, Filter):
        return None
    is_never = any(isinstance(term, Literal) and term.value is not True for term in conjuncts(node.condition))
    return Values(node.columns, ()) if is_never else None


def _is_empty(node: Node) -> bool:
    return isinstance(node, Values) and not node.rows


def empty_input(node: Node, _context: RuleContext) -> Node | None:
    """Project(no rows) => no rows; also Filter, Sort, LateralView, and Aggregate with keys. Without keys: the row of a
    grand total"""
    if not isinstance(node, Filter | Project | Sort | LateralView | Aggregate) or not _is_empty(node.input):
        return None
    if not isinstance(node, Aggregate) or (node.keys and node.grouping_sets is None):
        return Values(node.columns, ())
    if node.keys or any(c.op not in _OF_NOTHING for c in node.calls):
        return None
    return Values(node.columns, (tuple(Literal(c.type, _OF_NOTHING[c.op]) for c in node.calls),))


def join_empty_side(node: Node, _context: RuleContext) -> Node | None:
    """Join(no rows, r) => no rows; l LEFT JOIN no rows => Project[l, NULL](l)"""
    if not isinstance(node, Join):
        return None
    left, right = _is_empty(node.left), _is_empty(node.right)
    if not left and not right:
        return None
    if (left and node.kind not in ("right", "full")) or (right and node.kind in ("inner", "cross", "semi", "right")):
        return Values(node.columns, ())
    if left and right:
        return Values(node.columns, ())
    kept = node.right if left else node.left
    exprs = tuple(c.ref if c.id in kept.ids else Literal(c.type, None) for c in node.columns)
    return Project(node.columns, kept, exprs)


def set_op_empty_branch(node: Node, _context: RuleContext) -> Node | None:
    """UNION ALL(a, no rows) => a; INTERSECT(a, no rows) => no rows; EXCEPT(a, no rows) => a"""
    if not isinstance(node, SetOp) or not any(map(_is_empty, node.branches)):
        return None
    kept = tuple(b for b in node.branches if not _is_empty(b))
    if not kept or node.kind == "intersect" or (node.kind == "except" and _is_empty(node.branches[0])):
        return Values(node.columns, ())
    if len(kept) > 1:
        return replace(node, branches=kept)
    refs = tuple(c.ref for c in kept[0].columns)
    return Project(node.columns, kept[0], refs) if node.all else Aggregate(node.columns, kept[0], refs, ())


_OF_NOTHING = {
    "count": 0,
    **dict.fromkeys(("sum", "avg", "min", "max", "stddev_pop", "stddev_samp", "var_pop", "var_samp"), None),
}
"""Aggregates that are NULL over no rows; others may not be: collect_set() is an empty array."""
