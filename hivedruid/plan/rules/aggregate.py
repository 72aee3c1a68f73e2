"""Rules about Aggregate."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import INT
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node, Project, Sort
from hivedruid.plan.rex import Agg, Literal, Over, Rex, Subquery, has, is_deterministic, substitute
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.nested import check_materialised


def aggregate_project_merge(node: Node, _context: RuleContext) -> Node | None:
    """Aggregate[k, a(e)](Project[e](x)) => Aggregate[k over e, a(e)](x)"""
    if not isinstance(node, Aggregate) or not isinstance(node.input, Project):
        return None
    project = node.input
    if any(has(e, Over, Subquery) or not is_deterministic(e) for e in project.exprs):
        return None
    mapping = project.mapping
    keys = tuple(substitute(k, mapping) for k in node.keys)
    calls = tuple(substituted(c, mapping) for c in node.calls)
    if len(set(keys)) != len(keys):
        return None
    return replace(node, input=project.input, keys=keys, calls=calls)


def substituted(call: Agg, mapping: dict[str, Rex]) -> Agg:
    """The call with its columns replaced by the expressions that compute them."""
    changed = substitute(call, mapping)
    assert isinstance(changed, Agg)
    return changed


def aggregate_sort_remove(node: Node, _context: RuleContext) -> Node | None:
    """Aggregate(Sort[no limit](x)) => Aggregate(x)"""
    if not isinstance(node, Aggregate) or not isinstance(node.input, Sort):
        return None
    sort = node.input
    return None if sort.fetch is not None or sort.offset else replace(node, input=sort.input)


ONE_GROUP = Literal(INT, 0)
"""The constant key that all rows share, if there is no other key: a group if there are rows, none otherwise."""


def aggregate_constant_keys(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, 'x', a](q) => Project[k, 'x', a](Aggregate[k, a](q))"""
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery) or node.grouping_sets is not None:
        return None
    if node.keys == (ONE_GROUP,) or not any(isinstance(k, Literal) for k in node.keys):
        return None
    kept = tuple(k for k in node.keys if not isinstance(k, Literal)) or (ONE_GROUP,)
    names = [context.new_column("_k", k.type) for k in kept]
    by_key = dict(zip(kept, names, strict=True))
    calls = node.columns[len(node.keys) :]
    aggregate = replace(node, columns=(*names, *calls), keys=kept)
    keys = [k if isinstance(k, Literal) else by_key[k].ref for k in node.keys]
    return Project(node.columns, aggregate, (*keys, *(c.ref for c in calls)))


def push_aggregate(query: DruidQuery, node: Aggregate, context: RuleContext) -> DruidQuery:
    """The aggregate as one native query: over the table, or over the query below."""
    if query.grouped is not None or query.is_limited:
        if query.is_limited:
            check_materialised(query, context)
        below = query if query.is_limited else replace(query, sort=())
        made = DruidQuery(node.columns, below, _outputs(node, node.keys), None, node.columns, node.keys, node.calls)
        return context.exact(replace(made, grouping_sets=node.grouping_sets, total=node.total))
    mapping = query.mapping
    keys = tuple(substitute(k, mapping) for k in node.keys)
    calls = tuple(substituted(c, mapping) for c in node.calls)
    made = DruidQuery(node.columns, query.source, _outputs(node, keys), query.filter, node.columns, keys, calls)
    return context.exact(replace(made, grouping_sets=node.grouping_sets, total=node.total))


def _outputs(node: Aggregate, keys: tuple[Rex, ...]) -> tuple[Rex, ...]:
    """The output columns in terms of the groups: a constant key is the constant, unless a grouping set omits it."""
    outputs: list[Rex] = [c.ref for c in node.columns]
    if node.grouping_sets is None:
        outputs[: len(keys)] = [
            k if isinstance(k, Literal) else c.ref for k, c in zip(keys, node.columns, strict=False)
        ]
    return tuple(outputs)


def druid_aggregate(node: Node, context: RuleContext) -> Node | None:
    """Aggregate(DruidQuery) => DruidQuery with keys and aggregators, nested where the query below has its own"""
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery):
        return None
    query = node.input
    return pushed(lambda: push_aggregate(query, node, context))
