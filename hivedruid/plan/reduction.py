"""Semi-join reduction: for joins that Spark runs, the keys of the small side become a filter of the native query on the
other.

Hive does the same with min, max and a bloom filter (hive.tez.dynamic.semijoin.reduction); here the filter is the list
of keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from hivedruid.druid.exactness import NotExact
from hivedruid.druid.inputs import Inputs
from hivedruid.druid.query import native_query
from hivedruid.druid.sources import comparable
from hivedruid.plan.ctes import with_ctes
from hivedruid.plan.nodes import Aggregate, DruidQuery, Filter, Join, Node, Project, Sort, TableScan
from hivedruid.plan.physical import DruidRead, KeyFilter, SparkJob
from hivedruid.plan.rex import Call, Over, Ref, conjuncts, has, is_deterministic
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext

MAX_KEYS = "hivedruid.semijoin.max.keys"
WORTH = 10
"""The minimum ratio of rows of the other side to keys, by estimate, if it is known."""

Job = Callable[[Node], SparkJob]
"""How a node over a Hive-side table becomes a Spark job."""


def key_filters(node: Node, context: RuleContext, job: Job) -> dict[int, tuple[KeyFilter, ...]]:
    """The filters for the native queries of a plan, by the identity of their nodes."""
    most = context.most(MAX_KEYS)
    filters: dict[int, tuple[KeyFilter, ...]] = {}
    if most == 0:
        return filters
    every = [n for plan in with_ctes(node) for n in plan.walk()]
    queries = Counter(id(n) for n in every if isinstance(n, DruidQuery))
    for join in every:
        if not isinstance(join, Join) or join.condition is None:
            continue
        for big, small, column, key in _sides(join):
            target = _target(big, column) if _is_stable(small) else None
            if target is None or queries[id(target[0])] > 1 or not _is_worth(target[0], small, most, context):
                continue
            made = _key_filter(*target, small, key, most, context, job)
            if made is not None:
                filters[id(target[0])] = (*filters.get(id(target[0]), ()), made)
    return filters


def _sides(join: Join) -> Iterator[tuple[Node, Node, Ref, Ref]]:
    """(side that may lose rows, the other, the key on each) for each equality of columns."""
    left_ids, right_ids = {c.id for c in join.left.columns}, {c.id for c in join.right.columns}
    for term in conjuncts(join.condition):
        if not isinstance(term, Call) or term.op != "=":
            continue
        a, b = term.args
        if isinstance(a, Ref) and a.id in right_ids:
            a, b = b, a
        if not isinstance(a, Ref) or not isinstance(b, Ref) or a.id not in left_ids or b.id not in right_ids:
            continue
        if join.kind in ("inner", "right", "semi"):
            yield join.left, join.right, a, b
        if join.kind in ("inner", "left", "semi", "anti"):
            yield join.right, join.left, b, a


def _is_stable(node: Node) -> bool:
    """Whether the node has the same rows each time it runs: its keys are queried separately, before its rows."""
    for one in node.walk():
        if isinstance(one, Sort) or any(not is_deterministic(e) for e in one.expressions()):
            return False
        below: Node = one
        while isinstance(below, DruidQuery):
            if below.is_limited:
                return False
            below = below.source
    return True


def _target(node: Node, column: Ref) -> tuple[DruidQuery, Ref] | None:
    """The native query below whose column this is, unchanged, if filtering its rows there is the same as filtering
    here.
    """
    while not isinstance(node, DruidQuery):
        if any(has(e, Over) or not is_deterministic(e) for e in node.expressions()):
            return None  # the result of a window function depends on the other rows
        if isinstance(node, Filter):
            node = node.input
        elif isinstance(node, Project):
            rex = node.mapping.get(column.id)
            if not isinstance(rex, Ref):
                return None
            node, column = node.input, rex
        elif isinstance(node, Join):
            on_left = any(c.id == column.id for c in node.left.columns)
            keeps = ("inner", "cross", "left", "semi", "anti") if on_left else ("inner", "cross", "right")
            if node.kind not in keeps:
                return None
            node = node.left if on_left else node.right
        else:
            return None
    return node, column


def _is_worth(big: DruidQuery, small: Node, most: int, context: RuleContext) -> bool:
    keys, rows = context.rows(small), context.rows(big)
    if keys is None or keys > most:
        return False
    return rows is None or rows >= WORTH * keys


def _key_filter(
    big: DruidQuery, column: Ref, small: Node, key: Ref, most: int, context: RuleContext, job: Job
) -> KeyFilter | None:
    if big.is_limited or big.grouping_sets is not None or not isinstance(big.source, TableScan):
        return None
    rex = big.mapping.get(column.id)
    if big.grouped is not None and isinstance(rex, Ref):
        rex = dict(zip([c.id for c in big.grouped], big.keys, strict=False)).get(rex.id)
    inputs = Inputs(big, context.zone, lambda inner: native_query(inner, context.zone))
    if not isinstance(rex, Ref) or rex.id not in inputs.columns:
        return None
    try:
        comparable(column.type, key.type)
        keys = _keys(small, key, most, context, job)
        native = inputs.expressions.column(rex)
    except NotExact:
        return None
    if keys is None or native.type not in ("STRING", "LONG"):
        return None
    return KeyFilter(native.name, native.type, keys, most)


def _keys(small: Node, key: Ref, most: int, context: RuleContext, job: Job) -> DruidRead | SparkJob | None:
    """The query for the distinct keys, limited to one more than the maximum."""
    made = context.new_column("_k", key.type)
    distinct = Aggregate((made,), small, (key,), ())
    if isinstance(small, DruidQuery):
        query = push_aggregate(small, distinct, context)
        return native_query(context.exact(replace(query, fetch=most + 1)), context.zone)
    table = small
    while isinstance(table, Filter | Project):
        table = table.input
    if not isinstance(table, TableScan) or not (key.type.is_integer or key.type.is_string):
        return None
    return job(Sort((made,), distinct, (), most + 1))
