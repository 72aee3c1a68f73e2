"""Conditions that follow from the equalities of joins: what holds for a key holds for every column that equals it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from hivedruid.plan.fold import FALSE
from hivedruid.plan.implication import implied, normal
from hivedruid.plan.nodes import Filter, Join, Node, filterable_input
from hivedruid.plan.rex import Call, Literal, Ref, Rex, conjuncts, is_deterministic, refs, substitute
from hivedruid.plan.rules.conjunction import merged
from hivedruid.plan.rules.filter import filtered

ROUNDS = 3
"""How often conditions are inferred and moved. A condition passes all inner joins of a block in one round; further
rounds are for those of subqueries in FROM."""

_COMPARISONS = frozenset({"=", "<", "<=", ">", ">=", "in", "<>", "like"})

Memo = dict[tuple[int, str], tuple[Node, list[Rex]]]
"""The comparisons that hold for a column of a node, by the identity of the node, which is kept so that it is not
reused."""


def with_inferred(node: Node) -> Node:
    """Adds to every join the conditions on a key of one side that follow for the other side: a.k = b.k AND a.k = 5 =>
    b.k = 5. With b.k = c.k also c.k = 5.

    The node itself if nothing follows that its inputs do not have. To be repeated once the new conditions have moved.
    """
    return _with_inferred(node, {})


def _with_inferred(node: Node, memo: Memo) -> Node:
    inputs = tuple([_with_inferred(i, memo) for i in node.inputs])
    if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
        node = node.with_inputs(inputs)
    if not isinstance(node, Join):
        return node
    to_left: dict[Rex, None] = {}
    to_right: dict[Rex, None] = {}
    for left, right in equal_keys(node):
        if node.kind in ("inner", "left", "semi", "anti"):
            to_right |= dict.fromkeys(_moved(node.left, left, node.right, right, memo))
        if node.kind in ("inner", "right", "semi"):
            to_left |= dict.fromkeys(_moved(node.right, right, node.left, left, memo))
    if not to_left and not to_right:
        return node
    return replace(node, left=filtered(node.left, list(to_left)), right=filtered(node.right, list(to_right)))


def equal_keys(join: Join) -> Iterator[tuple[Ref, Ref]]:
    """The column of the left side and that of the right one for each equality of columns that have the same values:
    those of one type, or of integers."""
    for term in conjuncts(join.condition):
        if not isinstance(term, Call) or term.op != "=":
            continue
        a, b = term.args
        if not isinstance(a, Ref) or not isinstance(b, Ref):
            continue
        if a.type != b.type and not (a.type.is_integer and b.type.is_integer):
            continue
        if a.id in join.left.ids and b.id in join.right.ids:
            yield a, b
        elif b.id in join.left.ids and a.id in join.right.ids:
            yield b, a


def _moved(here: Node, of: Ref, there: Node, to: Ref, memo: Memo) -> list[Rex]:
    """The comparisons of a key with constants for the key that equals it, and for all columns there that equal that
    one, unless they hold there. What holds for the key there was moved to the other columns by the joins there."""
    held = [normal(t) for t in known(there, to, memo)]
    terms = [t for t in known(here, of, memo) if not _holds(t, of, to, held)]
    moved: list[Rex] = []
    for each in equal_columns(there, to) if terms else ():
        held = [normal(t) for t in known(there, each, memo)]
        moved += [t for t in _over(terms, of, each) if not implied(normal(t), held, frozenset(), "UTC")]
    return moved


def _holds(term: Rex, of: Ref, to: Ref, held: list[Rex]) -> bool:
    """Whether the conditions that hold for a column imply a comparison of one that equals it."""
    return any(implied(normal(t), held, frozenset(), "UTC") for t in _over([term], of, to))


def _strongest(terms: list[Rex]) -> list[Rex]:
    """The comparisons of a column without those that follow from the others: each passes all joins above."""
    made = merged(terms, "UTC") if len(terms) > 1 else terms
    return terms if made == [FALSE] else made


def _over(terms: list[Rex], of: Ref, to: Ref) -> list[Rex]:
    """The comparisons of a column for one that equals it. The type of an expression depends on that of its column."""
    if of == to:
        return terms
    same = [t for t in terms if of.type == to.type or (isinstance(t, Call) and t.args[0] == of)]
    return [substitute(t, {of.id: to}) for t in same]


def known(node: Node, column: Ref, memo: Memo) -> list[Rex]:
    """The comparisons of a column with constants that hold in every row of the node. Follows the column down to its
    table, and the columns that equal it to theirs."""
    key = (id(node), column.id)
    if key not in memo:
        terms = [t for t in conjuncts(node.condition) if _compares(t, column)] if isinstance(node, Filter) else []
        found = filterable_input(node, column)
        below = [] if found is None else [found]
        if isinstance(node, Join) and node.kind in ("inner", "semi"):
            below += equal_sides(node, column)
        for source, of in below:
            terms += _over(known(source, of, memo), of, column)
        memo[key] = (node, _strongest(list(dict.fromkeys(terms))))
    return memo[key][1]


def equal_sides(join: Join, column: Ref) -> list[tuple[Node, Ref]]:
    """The other side and its column for each equality with the column."""
    found: list[tuple[Node, Ref]] = []
    for left, right in equal_keys(join):
        if left == column:
            found.append((join.right, right))
        elif right == column:
            found.append((join.left, left))
    return found


def equal_columns(node: Node, column: Ref) -> tuple[Ref, ...]:
    """The columns of the node that have the same value in every row, the column itself first."""
    equal: defaultdict[Ref, list[Ref]] = defaultdict(list)
    for left, right in _equal_pairs(node):
        equal[left].append(right)
        equal[right].append(left)
    found = {column: None}
    stack = [column]
    for each in stack:
        new = [other for other in equal[each] if other not in found]
        found |= dict.fromkeys(new)
        stack += dict.fromkeys(new)
    return tuple(found)


def _equal_pairs(node: Node) -> Iterator[tuple[Ref, Ref]]:
    """The columns that joins make equal in every row of the node."""
    nodes = [node]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Filter):
            nodes.append(node.input)
        if not isinstance(node, Join):
            continue
        if node.kind == "inner":
            yield from equal_keys(node)
        if node.kind in ("inner", "cross", "right"):
            nodes.append(node.right)
        if node.kind not in ("right", "full"):
            nodes.append(node.left)


def _compares(term: Rex, column: Ref) -> bool:
    """Whether it compares the column with constants, so that it is true for equal values alike: 0.0 = -0.0, but not
    what they are converted to."""
    if not isinstance(term, Call) or term.op not in _COMPARISONS or refs(term) != {column.id}:
        return False
    if column.type.name in ("double", "float") and term.args[0] != column:
        return False
    return is_deterministic(term) and all(isinstance(a, Literal) for a in term.args[1:])


__all__ = ["equal_columns", "equal_keys", "equal_sides", "known", "with_inferred"]
