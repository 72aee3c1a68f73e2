"""Unions of sketches in Druid."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BIGINT, BINARY, BOOLEAN, INT, STRING
from hivedruid.druid.aggregators import UNIONS
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node, PlanColumn, Project, TableScan
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.sketch_kinds import kind_of


def aggregate_sketch_union(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, ds_theta_union(unbase64(s))](q) =>
        Project[k, CASE WHEN n > 0 THEN ds_theta_union_f(unbase64(u), NULL) END](
            Aggregate[k, u := union(s), n := count(s)](q))

    Druid returns a sketch of no values for a group without sketches. Its union has the same values in other bytes: the
    union with nothing has those of this process. Unions of quantiles sketches are random.
    """
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery) or not context.limits.unions:
        return None
    query, width = node.input, len(node.keys)
    columns: list[PlanColumn] = []
    calls: list[Agg] = []
    exprs: list[Rex] = [column.ref for column in node.columns]
    for place, call in enumerate(node.calls, start=width):
        union = _union(call, query)
        if union is None:
            columns.append(node.columns[place])
            calls.append(call)
            continue
        sketch, count = context.new_column("union", STRING), context.new_column("sketches", BIGINT)
        columns += sketch, count
        calls += union, Agg(BIGINT, "count", union.args[:1], False, call.condition)
        exprs[place] = _normalized(call, sketch.ref, count.ref)
    if len(calls) == len(node.calls):
        return None
    keys, extra = node.columns[:width], node.columns[width + len(node.calls) :]
    made = replace(node, columns=(*keys, *columns, *extra), calls=tuple(calls))
    below = pushed(lambda: push_aggregate(query, made, context))
    return Project(node.columns, below, tuple(exprs)) if below is not None else None


def _union(call: Agg, query: DruidQuery) -> Agg | None:
    """The union as Druid computes it, over the column as it is stored; None for other calls, and other values."""
    name = UNIONS.get(call.op)
    value = call.args[0] if call.args else None
    if name is None or not (isinstance(value, Call) and value.op == "unbase64" and isinstance(value.args[0], Ref)):
        return None
    stored = query.mapping.get(value.args[0].id)
    if not isinstance(query.source, TableScan) or not isinstance(stored, Ref):
        return None
    kind = kind_of(Call(BINARY, "unbase64", (stored,)), query.source)
    return Agg(STRING, name, (value.args[0], *call.args[1:]), False, call.condition) if kind is not None else None


def _normalized(call: Agg, sketch: Rex, count: Rex) -> Rex:
    value = Call(BINARY, "unbase64", (sketch,))
    union = Call(BINARY, f"{call.op}_f", (value, Literal(BINARY, None), *call.args[1:]))
    return Call(BINARY, "case", (Call(BOOLEAN, ">", (count, Literal(INT, 0))), union))
