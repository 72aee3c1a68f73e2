"""Cut a plan where Druid's part ends: one native query, or Spark SQL over native queries and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from hivedruid.druid.engine import DruidLimits
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.query import native_query
from hivedruid.errors import Span
from hivedruid.plan import nodes
from hivedruid.plan.build import Builder
from hivedruid.plan.literals import zone_of
from hivedruid.plan.nodes import DruidQuery, Node, PlanColumn, TableScan
from hivedruid.plan.optimizer import Trace, optimize
from hivedruid.plan.physical import DruidInput, DruidRead, SparkJob, TableInput
from hivedruid.plan.rex import Literal, Over, Rex, SortKey, has
from hivedruid.plan.rules import RULES, SCANS, Rule, RuleContext
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.filter import push_filter
from hivedruid.plan.rules.project import push_project
from hivedruid.plan.rules.sort import push_sort
from hivedruid.results import ResultColumn
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.actions.snapshot import Snapshot


@dataclass(frozen=True)
class QueryPlan:
    """An optimised query: its nodes, the columns it answers with, and what made it so: the rules, and Druid's limits."""

    node: Node
    columns: tuple[ResultColumn, ...]
    zone: str
    fired: tuple[str, ...]
    new_column: Callable[..., PlanColumn]
    limits: DruidLimits


@dataclass(frozen=True)
class Left:
    """An operator that stayed outside Druid, and why."""

    operator: str
    reason: str


def plan_query(
    expression: exp.Expr,
    source: SourceStatement,
    snapshot: Snapshot,
    note: Callable[[str, Span | None], None] | None = None,
    rules: tuple[Rule, ...] | None = None,
) -> QueryPlan:
    """Resolve, type and optimise a query."""
    builder = Builder(source, snapshot, note)
    return optimized(builder.query(expression, None), builder, rules)


def optimized(node: Node, builder: Builder, rules: tuple[Rule, ...] | None = None) -> QueryPlan:
    """The node after the rules: all of them, or what the snapshot leaves of them."""
    if rules is None:
        rules = SCANS if builder.snapshot.scans_only else RULES
    trace = Trace()
    columns = tuple(ResultColumn(c.name, c.type) for c in node.columns)
    context = RuleContext(builder.zone, builder.new_column, builder.snapshot.limits)
    node = optimize(node, context, rules, trace)
    return QueryPlan(node, columns, builder.zone, tuple(trace.fired), builder.new_column, context.limits)


def druid_read(plan: QueryPlan) -> DruidRead | None:
    """The native query that answers the whole query, None where something is left for Spark."""
    return native_query(plan.node, plan.zone) if isinstance(plan.node, DruidQuery) else None


def _shown(value: object, zone: str) -> object:
    """A constant as results hold it: zoned timestamps in the session's zone."""
    session = zone_of(zone)
    return value.astimezone(session) if isinstance(value, datetime) and value.tzinfo is not None else value


def constant_rows(plan: QueryPlan) -> tuple[tuple[object, ...], ...] | None:
    """The answer of a query that reads nothing and that folding has already computed."""
    node = plan.node
    exprs = node.exprs if isinstance(node, nodes.Project) else ()
    values = node.input if isinstance(node, nodes.Project) else node
    if isinstance(node, nodes.Project) and isinstance(values, nodes.Values) and not values.columns:
        return (_values_of(exprs, plan.zone),) if _all_plain(exprs) else None
    if isinstance(node, nodes.Values) and node.columns and all(_all_plain(row) for row in node.rows):
        return tuple(_values_of(row, plan.zone) for row in node.rows)
    return None


def _values_of(exprs: tuple[Rex, ...], zone: str) -> tuple[object, ...]:
    return tuple(_shown(e.value, zone) for e in exprs if isinstance(e, Literal))


def _all_plain(exprs: tuple[Rex, ...]) -> bool:
    return all(isinstance(e, Literal) and not isinstance(e.value, tuple) for e in exprs)


def spark_job(plan: QueryPlan, names: tuple[str, ...] | None = None) -> SparkJob:
    """The plan as Spark SQL; native queries and tables are its inputs. `names` are the output's, else the columns' ids."""
    from hivedruid.plan.spark_sql import to_spark_sql

    inputs: list[DruidInput | TableInput] = []
    views: dict[int, str] = {}

    def leaf(node: Node) -> str | None:
        if isinstance(node, DruidQuery):
            if id(node) not in views:
                views[id(node)] = f"druid_{len(views)}"
                read = native_query(node, plan.zone)
                inputs.append(DruidInput(views[id(node)], read, tuple(c.id for c in node.columns)))
            return views[id(node)]
        if isinstance(node, TableScan):
            if id(node) not in views:
                views[id(node)] = f"{node.table.name}_{len(views)}"
                inputs.append(TableInput(views[id(node)], node.table, tuple(c.name for c in node.columns)))
            return views[id(node)]
        return None

    sql = to_spark_sql(ordered_outside(plan.node, plan.new_column), plan.zone, leaf, names)
    return SparkJob(sql, tuple(inputs), plan.columns)


def ordered_outside(node: Node, new_column: Callable[..., PlanColumn]) -> Node:
    """Say the order again above operators that Spark runs over ordered rows of Druid: Spark keeps no input's order."""
    below: list[nodes.Project | nodes.Filter] = []
    bottom = node
    while isinstance(bottom, nodes.Project | nodes.Filter):
        below.append(bottom)
        bottom = bottom.input
    if not below or not isinstance(bottom, DruidQuery) or not bottom.sort:
        return node
    hidden = tuple(new_column(f"_s{i}", k.rex.type) for i, k in enumerate(bottom.sort))
    rebuilt: Node = replace(
        bottom, columns=(*bottom.columns, *hidden), exprs=(*bottom.exprs, *(k.rex for k in bottom.sort))
    )
    for step in reversed(below):
        columns = (*step.columns, *hidden)
        if isinstance(step, nodes.Project):
            rebuilt = nodes.Project(columns, rebuilt, (*step.exprs, *(h.ref for h in hidden)))
        else:
            rebuilt = nodes.Filter(rebuilt.columns, rebuilt, step.condition)
    keys = tuple(SortKey(h.ref, k.descending, k.nulls_first) for h, k in zip(hidden, bottom.sort, strict=True))
    rebuilt = nodes.Sort(rebuilt.columns, rebuilt, keys)
    return nodes.Project(node.columns, rebuilt, tuple(c.ref for c in node.columns))


def left_outside(plan: QueryPlan) -> tuple[Left, ...]:
    """Every operator that Druid does not run, from the top down, with the reason."""
    context = RuleContext(plan.zone, plan.new_column, plan.limits)
    found: list[Left] = []

    def visit(node: Node) -> None:
        if isinstance(node, DruidQuery):
            return
        found.append(Left(type(node).__name__, _reason(node, context)))
        for child in node.inputs:
            visit(child)

    visit(plan.node)
    return tuple(found)


def _reason(node: Node, context: RuleContext) -> str:
    fixed = _REASONS.get(type(node))
    if fixed is not None:
        return fixed
    query = node.inputs[0] if node.inputs else None
    if any(has(e, Over) for e in node.expressions()):
        return "window functions run on Spark"
    if not isinstance(query, DruidQuery):
        return "its input is computed outside Druid"
    reasons: list[str] = []
    for attempt in _attempts(node, query, context):
        try:
            attempt()
        except NotExact as no:
            if no.reason not in reasons:
                reasons.append(no.reason)
    return "; ".join(reasons) or "not exact in Druid"


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


_REASONS: dict[type[Node], str] = {
    nodes.Join: "joins run on Spark over what each side can push",
    nodes.SetOp: "UNION, INTERSECT and EXCEPT run on Spark over what each branch can push",
    nodes.LateralView: "LATERAL VIEW runs on Spark",
    nodes.TableScan: "not a Druid table",
    nodes.Values: "literal rows",
}

__all__ = ["Left", "QueryPlan", "constant_rows", "druid_read", "left_outside", "optimized", "plan_query", "spark_job"]
