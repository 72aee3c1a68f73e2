"""Evaluates totals of times before planning: `(SELECT max(t) FROM x)` becomes a constant, and a comparison with it an
interval.

Planning stays pure. While the snapshot does not contain a total's value, the plan uses the statement's clock instead
and lists the native query to run; the statement is planned again with its result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from hivedruid.catalog.types import TIMESTAMP_LTZ
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.query import native_query
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import fold, nodes
from hivedruid.plan.nodes import Aggregate, DruidQuery, Filter, Join, Node, Project, map_expressions
from hivedruid.plan.optimizer import optimize
from hivedruid.plan.physical import Ask
from hivedruid.plan.rex import Agg, Literal, Ref, Rex, substitute, walk
from hivedruid.plan.rules import Rule, RuleContext

Constants = dict[str, Rex]
"""Constant columns, by id."""


@dataclass
class AskFirst:
    """One pass over a plan. `answers` are the rows of native queries that have run, by the text of the query."""

    context: RuleContext
    rules: Sequence[Rule]
    now: datetime
    answers: Mapping[str, Sequence[Any]]
    asks: list[Ask] = field(default_factory=list)

    def plan(self, node: Node) -> Node:
        """The plan with constants for totals of times; afterwards `asks` contains the unknown ones."""
        return self._visit(node)[0]

    def _visit(self, node: Node) -> tuple[Node, Constants]:
        if isinstance(node, Join) and node.kind in ("inner", "cross"):
            for total, other in ((node.right, node.left), (node.left, node.right)):
                values = self._values(total)
                if values is not None:
                    return self._without_join(node, other, values)
        visited = [self._visit(i) for i in node.inputs]
        inputs = tuple(made for made, _ in visited)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            node = node.with_inputs(inputs)
        given: Constants = {}
        for _, constants in visited:
            given |= constants
        if given:
            node = map_expressions(node, lambda rex: self._with(rex, given))
        return node, _handed_on(node, given)

    def _without_join(self, join: Join, other: Node, values: Constants) -> tuple[Node, Constants]:
        """Join[c](x, total) => Project[x, values](Filter[c over values](x))"""
        below, constants = self._visit(other)
        constants = constants | values
        if join.condition is not None:
            below = Filter(below.columns, below, self._with(join.condition, constants))
        return Project(join.columns, below, tuple(values.get(c.id, c.ref) for c in join.columns)), constants

    def _with(self, rex: Rex, constants: Constants) -> Rex:
        changed = substitute(rex, constants)
        return rex if changed == rex else fold.refold(changed, self.context.zone)

    # --- totals ------------------------------------------------------------------------------------------------

    def _values(self, node: Node) -> Constants | None:
        """The constants that the columns of a total of times are replaced by."""
        if isinstance(node, Project):
            below = self._values(node.input)
            if below is None:
                return None
            exprs = [self._with(e, below) for e in node.exprs]
            known = all(isinstance(e, Literal) for e in exprs)
            return dict(zip([c.id for c in node.columns], exprs, strict=True)) if known else None
        if not isinstance(node, Aggregate) or node.keys or not node.calls or node.grouping_sets is not None:
            return None
        return self._answer(node) if all(_is_of_times(c) for c in node.calls) else None

    def _answer(self, node: Aggregate) -> Constants | None:
        below = self._known(node.input)
        if below is None:
            return None
        total = optimize(node.with_inputs((below,)), self.context, self.rules)
        if not isinstance(total, DruidQuery):
            return None
        try:
            read = native_query(total, self.context.zone)
        except NotExact:
            return None
        key = json.dumps(read.query, sort_keys=True)
        row = self.answers.get(key)
        stand_ins = [self._stand_in(c) for c in node.calls]
        if row is None:
            if not all(isinstance(s, Literal) for s in stand_ins):
                return None
            if all(ask.key != key for ask in self.asks):
                self.asks.append(Ask(key, read))
            return dict(zip([c.id for c in node.columns], stand_ins, strict=True))
        values = [Literal(c.type, fold.plain(value)) for c, value in zip(node.columns, row, strict=True)]
        return dict(zip([c.id for c in node.columns], values, strict=True))

    def _known(self, node: Node) -> Node | None:
        """The input of a total; None if it depends on another unknown total."""
        inner = AskFirst(self.context, self.rules, self.now, self.answers)
        made = inner.plan(node)
        return made if not inner.asks else None

    def _stand_in(self, call: Agg) -> Rex:
        """The value computed with the statement's clock as the only time."""
        zone = self.context.zone
        clock = Literal(TIMESTAMP_LTZ, fold.utc(self.now))
        times = {r.id: fold.cast(clock, r.type, zone) for r in walk(call.args[0]) if isinstance(r, Ref)}
        return fold.refold(substitute(call.args[0], times), zone)


def _is_of_times(call: Agg) -> bool:
    """Whether it is min() or max() of an expression over times only."""
    if call.op not in ("min", "max") or len(call.args) != 1 or call.distinct:
        return False
    type_ = call.type
    columns = [r for r in walk(call.args[0]) if isinstance(r, Ref)]
    return (
        bool(columns)
        and all(r.type.is_time for r in columns)
        and (type_.is_time or type_.is_string or type_.is_integer)
    )


def _handed_on(node: Node, constants: Constants) -> Constants:
    """Which columns of a node are constants."""
    if isinstance(node, Project):
        return {c.id: e for c, e in zip(node.columns, node.exprs, strict=True) if isinstance(e, Literal)}
    if isinstance(node, Join) and node.kind not in ("inner", "cross"):
        left = {c.id for c in node.left.columns}
        return {i: c for i, c in constants.items() if i in left} if node.kind in ("left", "semi", "anti") else {}
    if isinstance(node, Filter | Join | nodes.Sort | nodes.LateralView):
        return constants
    return {}
