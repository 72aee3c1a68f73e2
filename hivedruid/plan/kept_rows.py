"""Subqueries of statements that change rows: the parts that do not depend on the changed row become views. Pure.

    EXISTS (SELECT 1 FROM u WHERE u.k = t.a)   =>   EXISTS (SELECT 1 FROM subquery_0 WHERE k = t.a)

The rows of a view are computed once, before the statement, with all rules of the planner. Iceberg computes a condition
several times; if rows of Druid, files or a topic changed in between, rows of the table could be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from hivedruid.errors import UnsupportedError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import Node, Project, Values, map_expressions
from hivedruid.plan.rex import Rex, Subquery, is_random, refs, transform, walk
from hivedruid.plan.spark_sql import View


@dataclass
class KeptRows:
    """Collects the parts of subqueries that become views; `used` are the ids of all columns that something reads."""

    used: frozenset[str] = frozenset()
    views: dict[str, Project] = field(default_factory=dict)
    """The parts, by the names of their views; the columns of a view are named by their ids."""
    _names: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, expressions: Sequence[Rex]) -> tuple[KeptRows, list[Rex]]:
        """The parts of the subqueries in expressions, and the expressions over their views."""
        kept = cls(frozenset().union(*map(_all_refs, expressions)))
        return kept, [kept._expression(rex) for rex in expressions]

    def view(self, node: Node) -> View | None:
        """The view of a node."""
        name = self._names.get(id(node))
        return None if name is None else View(name)

    def _expression(self, rex: Rex) -> Rex:
        def change(part: Rex) -> Rex | None:
            if not isinstance(part, Subquery):
                return None
            return replace(
                part, plan=self._plan(part.plan, is_whole=True), args=tuple(map(self._expression, part.args))
            )

        return transform(rex, change)

    def _plan(self, node: Node, *, is_whole: bool = False) -> Node:
        if not node.outer_refs():
            return node if isinstance(node, Values) and not node.columns else self._kept(node, is_whole=is_whole)
        if any(map(is_random, node.expressions())):
            raise UnsupportedError(
                "a subquery that reads columns of the table must have the same result whenever it is computed",
                hint="compute it in a subquery that does not read them",
            )
        inner = node.with_inputs(tuple(map(self._plan, node.inputs))) if node.inputs else node
        return map_expressions(inner, self._expression)

    def _kept(self, node: Node, *, is_whole: bool) -> Node:
        columns = {c.id: c for c in node.columns if is_whole or c.id in self.used} or {
            node.columns[0].id: node.columns[0]
        }
        made = Project(tuple(columns.values()), node, tuple(c.ref for c in columns.values()))
        name = f"subquery_{len(self.views)}"
        self.views[name] = made
        self._names[id(made)] = name
        return made


def _all_refs(rex: Rex) -> frozenset[str]:
    """The ids of the columns that an expression reads, and those that nodes of its subqueries read."""
    found = set(refs(rex))
    for part in walk(rex):
        if isinstance(part, Subquery):
            for node in part.plan.walk():
                found.update(*map(_all_refs, node.expressions()))
    return frozenset(found)
