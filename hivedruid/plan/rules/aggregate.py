"""Rules about Aggregate."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BIGINT, BOOLEAN
from hivedruid.druid.exactness import NotExact
from hivedruid.plan.functions import function_type
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node, PlanColumn, Project
from hivedruid.plan.rex import Agg, Call, Literal, Over, Rex, Subquery, has, is_deterministic, substitute, transform
from hivedruid.plan.rules.context import RuleContext, pushed


def aggregate_project_merge(node: Node, _context: RuleContext) -> Node | None:
    """Aggregate[k, a(e)](Project[e](x)) => Aggregate[k over e, a(e)](x)"""
    if not isinstance(node, Aggregate) or not isinstance(node.input, Project) or node.grouping_sets is not None:
        return None
    project = node.input
    if any(has(e, Over, Subquery) or not is_deterministic(e) for e in project.exprs):
        return None
    mapping = dict(zip([c.id for c in project.columns], project.exprs, strict=True))
    keys = tuple(substitute(k, mapping) for k in node.keys)
    calls = tuple(_substituted(c, mapping) for c in node.calls)
    if len(set(keys)) != len(keys):
        return None
    return replace(node, input=project.input, keys=keys, calls=calls)


def _substituted(call: Agg, mapping: dict[str, Rex]) -> Agg:
    changed = substitute(call, mapping)
    assert isinstance(changed, Agg)
    return changed


def push_aggregate(query: DruidQuery, node: Aggregate, context: RuleContext) -> DruidQuery:
    """The aggregate as one native query: over the table, or over the query that is below."""
    if node.grouping_sets is not None:
        raise NotExact("GROUPING SETS, ROLLUP and CUBE")
    outputs = tuple(c.ref for c in node.columns)
    if query.grouped is not None or query.is_limited:
        candidate = DruidQuery(node.columns, query, outputs, None, node.columns, node.keys, node.calls)
        return context.exact(candidate)
    mapping = query.mapping
    keys = tuple(substitute(k, mapping) for k in node.keys)
    calls = tuple(_substituted(c, mapping) for c in node.calls)
    candidate = DruidQuery(node.columns, query.source, outputs, query.filter, node.columns, keys, calls)
    return context.exact(candidate)


def druid_aggregate(node: Node, context: RuleContext) -> Node | None:
    """Aggregate(DruidQuery) => DruidQuery with keys and aggregators, nested where the query below has its own"""
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery):
        return None
    query = node.input
    return pushed(lambda: push_aggregate(query, node, context))


_PARTIAL = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}
"""Aggregates that can be taken of parts, and what puts the parts together."""


def aggregate_expand_distinct(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, count(DISTINCT d), sum(x)](q) => Aggregate[k, count(d), sum(s)](Aggregate[k, d, s := sum(x)](q))

    Exact count distinct, as Druid's own SQL does it: an inner group by on keys and argument. For one distinct
    argument list, over a native query.
    """
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery) or node.grouping_sets is not None:
        return None
    distinct = [c for c in node.calls if c.distinct]
    plain = [c for c in node.calls if not c.distinct]
    if not distinct or len({c.args for c in distinct}) != 1 or any(c.condition for c in distinct):
        return None
    if any(c.op not in ("count", "sum", "avg") for c in distinct) or any(
        c.op not in _PARTIAL and c.op != "avg" for c in plain
    ):
        return None
    return _expand(node, distinct[0].args, plain, context)


def _expand(node: Aggregate, arguments: tuple[Rex, ...], plain: list[Agg], context: RuleContext) -> Node:
    parts: list[Agg] = []
    for call in plain:
        for part in _parts(call):
            if part not in parts:
                parts.append(part)
    inner_keys = (*node.keys, *(a for a in arguments if a not in node.keys))
    key_columns = [context.new_column(f"_k{i}", k.type) for i, k in enumerate(inner_keys)]
    part_columns = [context.new_column(f"_p{i}", p.type) for i, p in enumerate(parts)]
    inner = Aggregate((*key_columns, *part_columns), node.input, inner_keys, tuple(parts))
    by_part = dict(zip(parts, part_columns, strict=True))
    outer_args = tuple(key_columns[inner_keys.index(a)].ref for a in arguments)
    calls: list[Agg] = []
    outputs: list[Rex] = []

    def total(call: Agg) -> Rex:
        if call not in calls:
            calls.append(call)
        return Call(call.type, "_call", (Literal(BIGINT, calls.index(call)),))

    for call in node.calls:
        if call.distinct:
            outputs.append(total(_over_distinct(call, outer_args)))
        else:
            outputs.append(_whole(call, by_part, total))
    return _outer(node, inner, key_columns, calls, outputs, context)


def _outer(
    node: Aggregate,
    inner: Aggregate,
    key_columns: list[PlanColumn],
    calls: list[Agg],
    outputs: list[Rex],
    context: RuleContext,
) -> Node:
    """The second aggregation, and the projection that gives the calls their names and finishes the averages."""
    width = len(node.keys)
    outer_keys = tuple(c.ref for c in key_columns[:width])
    names = [context.new_column(c.name, c.type) for c in node.columns[:width]]
    totals = [context.new_column(f"_t{i}", c.type) for i, c in enumerate(calls)]
    outer = Aggregate((*names, *totals), inner, outer_keys, tuple(calls))

    def named(rex: Rex) -> Rex | None:
        if isinstance(rex, Call) and rex.op == "_call" and isinstance(rex.args[0], Literal):
            return _at(totals, rex.args[0].value)
        return None

    exprs = (*(c.ref for c in names), *(transform(o, named) for o in outputs))
    return Project(node.columns, outer, exprs)


def _at(columns: list[PlanColumn], position: int) -> Rex:
    return columns[position].ref


def _over_distinct(call: Agg, args: tuple[Rex, ...]) -> Agg:
    if call.op == "count" and len(args) > 1:  # a row counts where all its arguments are not null
        terms = tuple(Call(BOOLEAN, "is_not_null", (a,)) for a in args)
        return Agg(BIGINT, "count", (), condition=Call(BOOLEAN, "and", terms))
    return Agg(call.type, call.op, args)


def _parts(call: Agg) -> list[Agg]:
    if call.op != "avg":
        return [call]
    total = Agg(function_type("sum", call.args), "sum", call.args, condition=call.condition)
    return [total, Agg(BIGINT, "count", call.args, condition=call.condition)]


def _whole(call: Agg, by_part: dict[Agg, PlanColumn], total: object) -> Rex:
    """An aggregate put together from its parts; a count over no groups at all is 0, not NULL."""
    assert callable(total)
    sums = [total(Agg(p.type, _PARTIAL[p.op], (by_part[p].ref,))) for p in _parts(call)]
    if call.op == "avg":
        result: Rex = Call(call.type, "/", (sums[0], sums[1]))
        return result
    return Call(BIGINT, "coalesce", (sums[0], Literal(BIGINT, 0))) if call.op == "count" else sums[0]
