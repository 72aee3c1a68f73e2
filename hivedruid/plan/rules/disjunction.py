"""Rules about OR: conditions that all of its branches have, and conditions on one input that follow from it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from hivedruid.plan.implication import normal
from hivedruid.plan.nodes import Filter, Join, Node
from hivedruid.plan.rex import Call, Rex, Subquery, conjunction, conjuncts, disjunction, has, is_deterministic, refs
from hivedruid.plan.rules.context import RuleContext
from hivedruid.plan.rules.filter import filtered


def or_common_factors(node: Node, _context: RuleContext) -> Node | None:
    """Filter[(a AND b) OR (a AND c)](x) => Filter[a AND (b OR c)](x)      also the condition of a join, whose keys are
    then terms of their own
    """
    if not isinstance(node, Filter | Join) or node.condition is None:
        return None
    condition = _factored(node.condition)
    return None if condition is None else replace(node, condition=condition)


def _factored(condition: Rex) -> Rex | None:
    """The condition with the common terms of each OR beside it; None if no OR has any."""
    terms = conjuncts(condition)
    made = [part for term in terms for part in _common_and_rest(term)]
    return None if made == terms else conjunction(made)


def _common_and_rest(term: Rex) -> list[Rex]:
    """[a, b OR c] for (a AND b) OR (a AND c); [a] for a OR (a AND b); otherwise the term itself."""
    branches = [conjuncts(b) for b in _branches(term)]
    common = {normal(t): t for t in branches[0]} if branches else {}
    for branch in branches[1:]:
        keys = {normal(t) for t in branch}
        common = {key: t for key, t in common.items() if key in keys}
        if not common:
            break
    if not common or not is_deterministic(term) or has(term, Subquery):
        return [term]
    rest = [conjunction([t for t in branch if normal(t) not in common]) for branch in branches]
    left = None if None in rest else disjunction(dict.fromkeys(r for r in rest if r is not None))
    # a branch without other terms: the OR is true whenever the common terms are
    return [*common.values()] if left is None else [*common.values(), left]


def _branches(term: Rex) -> list[Rex]:
    """The alternatives of an OR, flattened; empty for any other condition."""
    if not isinstance(term, Call) or term.op != "or":
        return []
    found: list[Rex] = []
    stack = [*reversed(term.args)]
    while stack:
        branch = stack.pop()
        if isinstance(branch, Call) and branch.op == "or":
            stack += reversed(branch.args)
        else:
            found.append(branch)
    return found


def implied(term: Rex, ids: Set[str]) -> Rex | None:
    """What an OR implies for these columns: a OR c for (a AND b) OR (c AND d), if only a and c read nothing else.

    None if a branch has no condition on these columns alone, or if the whole OR reads nothing else.
    """
    if refs(term) <= ids or not is_deterministic(term) or has(term, Subquery):
        return None
    parts: list[Rex] = []
    for branch in _branches(term):
        own = conjunction([t for t in conjuncts(branch) if refs(t) and refs(t) <= ids])
        if own is None:
            return None
        parts.append(own)
    return disjunction(dict.fromkeys(parts))


def with_alternatives(node: Node) -> Node:
    """Adds to every join the conditions on each of its tables that an OR implies: (a.x AND b.x) OR (a.y AND b.y) =>
    a.x OR a.y, b.x OR b.y.

    Must run once, after the conditions have moved to their tables; a second run would add the same conditions again.
    """
    inputs = tuple([with_alternatives(i) for i in node.inputs])
    if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
        node = node.with_inputs(inputs)
    if not isinstance(node, Join) or node.condition is None or node.kind in ("full", "cross"):
        return node
    terms = [t for t in conjuncts(node.condition) if isinstance(t, Call) and t.op == "or"]
    if not terms:  # a chain of joins is not searched for nothing
        return node
    to_left, to_right = node.kind in ("inner", "right", "semi"), node.kind != "right"
    left = [made for t in terms for made in _alternatives(t, node.left)] if to_left else []
    right = [made for t in terms for made in _alternatives(t, node.right)] if to_right else []
    if not left and not right:
        return node
    return replace(node, left=filtered(node.left, left), right=filtered(node.right, right))


def _alternatives(term: Rex, side: Node) -> list[Rex]:
    """What an OR over both sides implies for each table on one side."""
    if isinstance(side, Join):
        return [made for input_ in side.inputs for made in _alternatives(term, input_)]
    made = implied(term, side.ids)
    return [] if made is None else [made]


__all__ = ["or_common_factors", "with_alternatives"]
