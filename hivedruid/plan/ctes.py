"""The CTEs of a plan that are computed once (`CteScan`), for the passes over whole plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from hivedruid.plan.nodes import CteScan, Node, TableScan, map_subqueries
from hivedruid.plan.rex import Subquery, has, walk


def cte_scans(node: Node) -> list[CteScan]:
    """One reference to each shared CTE, including those of subqueries; a CTE follows the CTEs that its plan reads."""
    found: dict[int, CteScan] = {}
    _collect(node, found)
    return list(found.values())


def with_ctes(node: Node) -> Iterator[Node]:
    """The node and the plan of each shared CTE."""
    yield node
    for scan in cte_scans(node):
        yield scan.plan


def table_scans(node: Node) -> Iterator[TableScan]:
    """The scans of a plan, including those of subqueries and shared CTEs; a scan may occur several times."""
    return (each for each in all_nodes(node) if isinstance(each, TableScan))


def all_nodes(node: Node, *, inside: bool = False) -> Iterator[Node]:
    """The nodes of a plan, including those of subqueries and shared CTEs; a node may occur several times. `inside`:
    also those that native queries consist of."""
    for plan in with_ctes(node):
        yield from _with_subqueries(plan, inside=inside)


def _with_subqueries(plan: Node, *, inside: bool) -> Iterator[Node]:
    stack = [plan]
    while stack:
        node = stack.pop()
        yield node
        below = [
            part.plan
            for rex in node.expressions()
            if has(rex, Subquery)
            for part in walk(rex)
            if isinstance(part, Subquery)
        ]
        below += node.inputs
        source = getattr(node, "source", None) if inside else None
        if isinstance(source, Node):
            below.append(source)
        stack += below[::-1]


def _collect(node: Node, found: dict[int, CteScan]) -> None:
    if isinstance(node, CteScan):
        if id(node.plan) not in found:
            _collect(node.plan, found)
            found[id(node.plan)] = node
        return
    for rex in node.expressions():
        if has(rex, Subquery):
            for part in walk(rex):
                if isinstance(part, Subquery):
                    _collect(part.plan, found)
    for child in node.inputs:
        _collect(child, found)


def map_ctes(node: Node, change: Callable[[Node], Node], done: dict[int, Node] | None = None) -> Node:
    """The node with the plan of each shared CTE changed, once for all references, the innermost first."""
    done = done if done is not None else {}
    if isinstance(node, CteScan):
        if id(node.plan) not in done:
            done[id(node.plan)] = change(map_ctes(node.plan, change, done))
        return replace(node, plan=done[id(node.plan)])
    inputs = tuple([map_ctes(i, change, done) for i in node.inputs])
    if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
        node = node.with_inputs(inputs)
    return map_subqueries(node, lambda plan: map_ctes(plan, change, done))
