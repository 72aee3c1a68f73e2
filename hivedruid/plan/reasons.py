"""Explains why an operator runs outside Druid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hivedruid.druid.exactness import NotExact
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import nodes
from hivedruid.plan.ctes import with_ctes
from hivedruid.plan.nodes import DruidQuery, Node
from hivedruid.plan.rex import Agg, Call, Over, Rex, Subquery, refs, walk
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext
from hivedruid.plan.rules.filter import push_filter
from hivedruid.plan.rules.join import push_join
from hivedruid.plan.rules.lateral_view import push_lateral_view
from hivedruid.plan.rules.project import push_project
from hivedruid.plan.rules.sort import push_sort

if TYPE_CHECKING:
    from hivedruid.plan.split import QueryPlan


@dataclass(frozen=True)
class Left:
    """An operator outside Druid, and the reason."""

    operator: str
    reason: str


def left_outside(plan: QueryPlan) -> tuple[Left, ...]:
    """Every operator that does not run in Druid, including those of subqueries, from the top down, with the reason."""
    nodes_outside = (node for root in with_ctes(plan.node) for node in _outside(root))
    return tuple(Left(type(node).__name__, _reason(node, plan.context)) for node in nodes_outside)


def _outside(node: Node) -> Iterator[Node]:
    if isinstance(node, DruidQuery):
        return
    yield node
    for subquery in _subqueries(node):
        yield from _outside(subquery.plan)
    for child in node.inputs:
        yield from _outside(child)


def _subqueries(node: Node) -> list[Subquery]:
    return [part for rex in node.expressions() for part in walk(rex) if isinstance(part, Subquery)]


def _reason(node: Node, context: RuleContext) -> str:
    if isinstance(node, nodes.TableScan):
        return f"{node.table.full_name} is not a Druid table"
    if isinstance(node, nodes.Values):
        return "constant rows"
    if isinstance(node, nodes.Transform):
        return "its rows are written by a program"
    if isinstance(node, nodes.CteScan):
        kind = "view" if node.is_view else "CTE"
        return f"the {kind} {node.name} is computed once for all its references"
    if isinstance(node, nodes.LateralView):
        return _refusal(lambda: push_lateral_view(node, context)) or "Druid does not compute the LATERAL VIEW exactly"
    if isinstance(node, nodes.SetOp):
        return _set_op_reason(node)
    if isinstance(node, nodes.Join):
        return _refusal(lambda: push_join(node, context)) or "Druid does not compute the join exactly"
    windows = [part.call for rex in node.expressions() for part in walk(rex) if isinstance(part, Over)]
    if windows:
        return f"native queries do not support window functions: {_names(windows)}"
    if _subqueries(node):
        return "its subquery cannot be rewritten as a join"
    read = {i for rex in node.expressions() for i in refs(rex)}
    if read - {c.id for child in node.inputs for c in child.columns}:
        return "it is correlated with an outer query"
    below = node.inputs[0]
    if not isinstance(below, DruidQuery):
        return f"its input, the {type(below).__name__} below, is computed outside Druid"
    reasons = [_refusal(attempt) for attempt in _attempts(node, below, context)]
    return "; ".join(dict.fromkeys(r for r in reasons if r)) or "Druid does not compute it exactly"


def _refusal(attempt: Callable[[], object]) -> str:
    """The reason why a pushdown is not exact; empty if it is exact."""
    try:
        attempt()
    except NotExact as no:
        return no.reason
    return ""


def _attempts(node: Node, query: DruidQuery, context: RuleContext) -> list[Callable[[], object]]:
    if isinstance(node, nodes.Filter):
        return [lambda: push_filter(query, node.condition, context)]
    if isinstance(node, nodes.Project):
        pairs = zip(node.columns, node.exprs, strict=True)
        return [lambda c=c, e=e: push_project(query, (c,), (e,), context) for c, e in pairs]  # type: ignore[misc]
    if isinstance(node, nodes.Aggregate):
        return [lambda: push_aggregate(query, node, context)]
    if isinstance(node, nodes.Sort):
        return [lambda: push_sort(query, node, context)]
    return []


def _set_op_reason(node: nodes.SetOp) -> str:
    words = f"{node.kind.upper()}{' ALL' if node.all else ''}"
    if not all(isinstance(branch, DruidQuery) for branch in node.branches):
        return f"a branch of the {words} is computed outside Druid"
    if node.kind == "union":
        return f"native queries cannot combine the rows of different queries: the {words} runs over their results"
    return f"native queries cannot compare the rows of different queries: the {words} runs over their results"


def _names(calls: list[Rex]) -> str:
    return ", ".join(dict.fromkeys(f"{_name(call)}()" for call in calls))


def _name(rex: Rex) -> str:
    return rex.op if isinstance(rex, Call | Agg) else "it"
