"""The order of inner joins: a table comes after the tables with which an equality joins it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from hivedruid.plan.nodes import Join, Node, Project
from hivedruid.plan.rex import Call, Rex, Subquery, conjunction, conjuncts, has, is_deterministic, refs

_EQUALITIES = frozenset({"=", "<=>"})


def with_connected_joins(node: Node) -> Node:
    """Join[a.x = c.x AND b.y = c.y](a CROSS JOIN b, c) => Join[b.y = c.y](Join[a.x = c.x](a, c), b)

    The tables keep their order, unless another order avoids a cross join.
    """
    inputs = tuple([with_connected_joins(i) for i in _inputs(node)])
    if any(a is not b for a, b in zip(inputs, _inputs(node), strict=True)):
        node = _with_inputs(node, list(inputs))
    terms = _terms(node)
    neighbours = _neighbours(inputs, terms)
    if not neighbours or not all(is_deterministic(t) and not has(t, Subquery) for t in terms):
        return node
    crosses = _crosses(node)
    ordered = _ordered(inputs, neighbours, terms) if crosses else node
    if _crosses(ordered) >= crosses:
        return node
    return Project(node.columns, ordered, tuple(c.ref for c in node.columns))


def _is_inner(node: Node) -> bool:
    return isinstance(node, Join) and node.kind in ("inner", "cross")


def _inputs(node: Node) -> tuple[Node, ...]:
    """The inputs of a tree of inner joins, from left to right; of any other node its own."""
    return node.inputs if not _is_inner(node) else tuple([each for each in _tree(node) if not _is_inner(each)])


def _tree(node: Node) -> list[Node]:
    """A tree of inner joins and its inputs, from left to right, each join after its sides."""
    stack, found = [node], list[Node]()
    while stack:
        found.append(stack.pop())
        if _is_inner(found[-1]):
            stack += found[-1].inputs
    return found[::-1]


def _joins(node: Node) -> list[Join]:
    """The joins of a tree of inner joins, each after its sides; none of another node."""
    return [each for each in _tree(node) if isinstance(each, Join) and _is_inner(each)] if _is_inner(node) else []


def _with_inputs(node: Node, leaves: list[Node]) -> Node:
    """The same tree over other inputs, which it takes from the list."""
    if not _is_inner(node):
        return node.with_inputs(tuple(leaves))
    return node.with_inputs(tuple([_with_inputs(i, leaves) if _is_inner(i) else leaves.pop(0) for i in node.inputs]))


def _terms(node: Node) -> list[Rex]:
    """All conditions of a tree of inner joins."""
    return [term for join in _joins(node) for term in conjuncts(join.condition)]


def _crosses(node: Node) -> int:
    """The number of joins in a tree of inner joins that no equality makes smaller."""
    return sum(not any(_links(t, join.left, join.right) for t in conjuncts(join.condition)) for join in _joins(node))


def _links(term: Rex, left: Node, right: Node) -> bool:
    """Whether an equality of expressions over one side each."""
    if not isinstance(term, Call) or term.op not in _EQUALITIES:
        return False
    a, b = (refs(arg) for arg in term.args)
    return bool(a and b) and ((a <= left.ids and b <= right.ids) or (a <= right.ids and b <= left.ids))


def _ordered(leaves: tuple[Node, ...], neighbours: Mapping[int, set[int]], terms: list[Rex]) -> Node:
    """The leaves in their order, but each group of leaves that equalities connect as one tree."""
    remaining = dict(enumerate(leaves))
    groups: list[Node] = []
    while remaining:
        place = next(iter(remaining))
        group, reachable = remaining.pop(place), set(neighbours[place])
        while reachable := reachable & remaining.keys():
            place = min(reachable)
            group, terms = _joined(group, remaining.pop(place), terms)
            reachable |= neighbours[place]
        groups.append(group)
    whole = groups.pop(0)
    for group in groups:
        whole, terms = _joined(whole, group, terms)
    assert not terms
    return whole


def _neighbours(leaves: tuple[Node, ...], terms: list[Rex]) -> Mapping[int, set[int]]:
    """The places of the leaves that equalities connect with each leaf."""
    places = {id_: place for place, leaf in enumerate(leaves) for id_ in leaf.ids}
    neighbours: defaultdict[int, set[int]] = defaultdict(set)
    for term in terms:
        if isinstance(term, Call) and term.op in _EQUALITIES:
            a, b = ({places.get(id_) for id_ in refs(arg)} for arg in term.args)
            if len(a) == len(b) == 1 and a != b and None not in a | b:
                first, second = a.pop(), b.pop()
                assert first is not None
                assert second is not None
                neighbours[first].add(second)
                neighbours[second].add(first)
    return neighbours


def _joined(left: Node, right: Node, terms: list[Rex]) -> tuple[Node, list[Rex]]:
    """The join with all conditions that read only these columns, and the other conditions."""
    ids = left.ids | right.ids
    mine = [t for t in terms if refs(t) <= ids]
    condition = conjunction(mine)
    kind = "cross" if condition is None else "inner"
    join = Join((*left.columns, *right.columns), left, right, kind, condition)  # type: ignore[arg-type]
    return join, [t for t in terms if not refs(t) <= ids]


__all__ = ["with_connected_joins"]
