"""Folds the expressions of a complete plan that `Converter.fold` left as they were written. Pure."""

from __future__ import annotations

from hivedruid.plan.ctes import map_ctes
from hivedruid.plan.fold import refold
from hivedruid.plan.nodes import Node, map_expressions
from hivedruid.plan.rex import Rex, Subquery, has, transform


def fold_plan(node: Node, zone: str) -> Node:
    """The plan with its expressions folded, those of subqueries and shared CTEs, too."""
    done: dict[int, tuple[Node, Node]] = {}  # a plan that is read twice stays one; with each plan, which holds its id

    def change(plan: Node) -> Node:
        if id(plan) not in done:
            inputs = tuple([change(each) for each in plan.inputs])
            done[id(plan)] = plan, map_expressions(plan.with_inputs(inputs), changed)
        return done[id(plan)][1]

    def changed(rex: Rex) -> Rex:
        rex = refold(rex, zone)
        return transform(rex, subquery) if has(rex, Subquery) else rex

    def subquery(rex: Rex) -> Rex | None:
        if not isinstance(rex, Subquery):
            return None
        return Subquery(rex.type, rex.kind, change(rex.plan), tuple([changed(arg) for arg in rex.args]))

    return map_ctes(change(node), change)
