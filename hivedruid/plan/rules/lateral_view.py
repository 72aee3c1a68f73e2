"""Rules about LateralView."""

from __future__ import annotations

from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import DruidJoin, DruidQuery, DruidUnnest, LateralView, Node
from hivedruid.plan.rex import Call, Ref, substitute
from hivedruid.plan.rules.context import RuleContext, pushed


def druid_unnest(node: Node, context: RuleContext) -> Node | None:
    """LateralView[explode(a)](DruidQuery) => DruidQuery over an `unnest` data source      a is a column of its table"""
    if not isinstance(node, LateralView):
        return None
    return pushed(lambda: push_lateral_view(node, context))


def push_lateral_view(node: LateralView, context: RuleContext) -> DruidQuery:
    """The rows of the view as one native query; NotExact with the reason if Spark must compute them."""
    query, generator = node.input, node.generator
    if not isinstance(generator, Call) or generator.op != "explode":
        raise NotExact(
            f"native queries do not support LATERAL VIEW {generator.op if isinstance(generator, Call) else ''}()"
        )
    if not isinstance(query, DruidQuery):
        raise NotExact("its input is computed outside Druid")
    if query.grouped is not None or query.is_limited or query.sort:
        raise NotExact("explode() of grouped, sorted or limited rows")
    source = query.source
    if isinstance(source, DruidQuery | DruidJoin):
        raise NotExact("explode() over a join or a subquery")
    array = substitute(generator.args[0], query.mapping)
    if not isinstance(array, Ref):
        raise NotExact("explode() of an array that is not a column")
    element = node.generated[0]
    unnest = DruidUnnest((*source.columns, element), source, array, node.outer, element)
    return context.exact(DruidQuery(node.columns, unnest, (*query.exprs, element.ref), query.filter))
