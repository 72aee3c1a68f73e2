"""Rules about Join: as a native `join` data source if the right side is small, and rewrites that make joins small."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal as Choice

from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE
from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import Aggregate, DruidJoin, DruidQuery, Join, Node, PlanColumn, TableScan, Values
from hivedruid.plan.rex import (
    Agg,
    Call,
    Literal,
    Ref,
    Rex,
    Subquery,
    conjunction,
    conjuncts,
    has,
    is_deterministic,
    refs,
    substitute,
)
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.predicates import is_time
from hivedruid.plan.rules.project import push_project

MAX_ROWS = "hivedruid.join.max.rows"


def druid_join(node: Node, context: RuleContext) -> Node | None:
    """Join(DruidQuery l, DruidQuery r) => DruidQuery over a `join` data source      r is small: Druid holds it in
    memory"""
    if not isinstance(node, Join):
        return None
    return pushed(lambda: push_join(node, context))


def push_join(node: Join, context: RuleContext) -> DruidQuery:
    """The join as one native query; raises NotExact with the reason if it must run on Spark."""
    if node.kind == "full":
        raise NotExact("Druid joins each segment separately, which is not possible for a FULL JOIN")
    if node.kind == "right":
        return _joined(node, node.right, node.left, context)
    if node.kind in ("inner", "cross") and _is_better_swapped(node, context):
        return _joined(node, node.right, node.left, context)
    try:
        return _joined(node, node.left, node.right, context)
    except NotExact as no:
        if node.kind not in ("inner", "cross"):
            raise
        swapped = pushed(lambda: _joined(node, node.right, node.left, context))
        if swapped is None:
            raise no from None
        return swapped


def _is_better_swapped(node: Join, context: RuleContext) -> bool:
    left, right = context.rows(node.left), context.rows(node.right)
    return left is not None and right is not None and left < right


def _joined(node: Join, big: Node, small: Node, context: RuleContext) -> DruidQuery:
    """The rows of `big` joined with the rows of `small` that satisfy the condition."""
    if not isinstance(big, DruidQuery):
        raise NotExact("one side is not a Druid query")
    if not isinstance(small, DruidQuery | Values):
        raise NotExact("the smaller side is not a Druid query")
    if any(has(t, Subquery) for t in _terms(node)):
        raise NotExact("a subquery in the join condition")
    left = _as_source(big, context)
    equalities, rest = _equalities(node, big, small)
    if not equalities:
        _check_single(small)
    if node.kind in ("left", "right", "anti"):
        equalities, rest = _guarded(equalities, rest, big)
    if rest and node.kind not in ("inner", "cross"):
        raise NotExact("a join on a condition other than column equality")
    if not isinstance(small, Values):
        small = _with_keys(small, equalities, context)
    if node.kind in ("semi", "anti"):
        small, marker = _distinct(small, equalities, node.kind, context)
        if marker is not None:
            rest = [Call(BOOLEAN, "is_null", (marker,))]
    _check_size(small, context)
    condition = conjunction([Call(BOOLEAN, op, (substitute(a, left.mapping), b)) for op, a, b in equalities])
    kind: Choice["inner", "left"] = "left" if node.kind in ("left", "right", "anti") else "inner"
    source = DruidJoin((*left.source.columns, *small.columns), left.source, small, kind, condition)
    mapping: dict[str, Rex] = {**left.mapping, **{c.id: c.ref for c in small.columns}}
    made = [substitute(t, mapping) for t in rest]
    exprs = tuple([mapping[c.id] for c in node.columns])
    joined = DruidQuery(node.columns, source, exprs, conjunction([*conjuncts(left.filter), *made]))
    # in a chain of joins, the columns and conditions of the joins below would be checked again with every join above
    new = small.columns or node.columns[:1]
    condition = conjunction([*_times(left), *made])
    checked = replace(joined, columns=new, exprs=tuple([mapping[c.id] for c in new]), filter=condition)
    context.exact(checked, whole=True)
    return joined


def _times(query: DruidQuery) -> list[Rex]:
    """The conditions on the time of the rows: whether other conditions are exact may depend on it."""
    first: Node = query.source.first if isinstance(query.source, DruidJoin) else query.source
    while not isinstance(first, TableScan | DruidQuery):
        first = first.inputs[0]
    times = {c.id for c in first.columns if isinstance(first, TableScan) and is_time(first, c.name)}
    return [t for t in conjuncts(query.filter) if refs(t) & times]


def _terms(node: Join) -> list[Rex]:
    return conjuncts(node.condition)


def _as_source(query: DruidQuery, context: RuleContext) -> DruidQuery:
    """The query as a side of a join: a scan unchanged, any other query as the source of a scan."""
    if query.grouped is None and not query.is_limited and not query.sort:
        return query
    if query.sort and not query.is_limited:
        query = replace(query, sort=())
    _check_size(query, context)
    return DruidQuery(query.columns, query, tuple(c.ref for c in query.columns))


Equality = tuple[str, Rex, Rex]
"""The operator, the side over the big input, and the side over the small one."""


def _equalities(node: Join, big: Node, small: Node) -> tuple[list[Equality], list[Rex]]:
    """The equalities between both sides in the condition, and the rest of it."""
    big_ids, small_ids = big.ids, small.ids
    equalities: list[Equality] = []
    rest: list[Rex] = []
    for term in _terms(node):
        if isinstance(term, Call) and term.op in ("=", "<=>"):
            a, b = term.args
            if refs(a) <= small_ids and refs(b) <= big_ids:
                a, b = b, a
            if refs(a) and refs(a) <= big_ids and refs(b) and refs(b) <= small_ids:
                equalities.append((term.op, _key(a), _key(b)))
                continue
        rest.append(term)
    return equalities, rest


def _guarded(equalities: list[Equality], rest: list[Rex], big: Node) -> tuple[list[Equality], list[Rex]]:
    """[l.k = r.k AND p(l)] => [CASE WHEN p(l) THEN l.k END = r.k]      a row of `l` with p false matches none, and is
    kept
    """
    mine = {c.id for c in big.columns}
    guards = [t for t in rest if refs(t) and refs(t) <= mine and is_deterministic(t)]
    place = next((i for i, (op, _, _) in enumerate(equalities) if op == "="), None)
    condition = conjunction(guards)
    if condition is None or place is None:
        return equalities, rest
    op, left, right = equalities[place]
    guarded = (op, Call(left.type, "case", (condition, left)), right)
    return [*equalities[:place], guarded, *equalities[place + 1 :]], [t for t in rest if t not in guards]


def _key(rex: Rex) -> Rex:
    """A double with -0.0 replaced by 0.0: they are equal in Hive, but not in Druid's hash table."""
    return Call(DOUBLE, "+", (rex, Literal(DOUBLE, 0.0))) if rex.type == DOUBLE else rex


def _with_keys(query: DruidQuery, equalities: list[Equality], context: RuleContext) -> DruidQuery:
    """The query with a column for every key that is an expression, and the equalities in terms of these columns."""
    columns: list[PlanColumn] = list(query.columns)
    exprs: list[Rex] = [c.ref for c in columns]
    for place, (op, mine, key) in enumerate(equalities):
        if not isinstance(key, Ref):
            if key not in exprs:
                columns.append(context.new_column("_k", key.type))
                exprs.append(key)
            equalities[place] = (op, mine, columns[exprs.index(key)].ref)
    if len(columns) == len(query.columns):
        return query
    return push_project(query, tuple(columns), tuple(exprs), context)


def _distinct(
    small: DruidQuery | Values, equalities: list[Equality], kind: str, context: RuleContext
) -> tuple[DruidQuery, Rex | None]:
    """Each combination of keys once, so that no row is matched twice; for an anti-join, a column that is null without a
    match.
    """
    if isinstance(small, Values) or not equalities:
        raise NotExact(f"a {kind} join with constant rows or without keys")
    keys = tuple(dict.fromkeys(key for _, _, key in equalities))
    by_key = next((key for op, _, key in equalities if op == "="), None)
    if _is_unique(small, keys) and (kind == "semi" or by_key is not None):
        return small, by_key if kind == "anti" else None
    key_columns = [context.new_column("_k", k.type) for k in keys]
    marker = context.new_column("_m", BIGINT) if kind == "anti" and by_key is None else None
    calls = (Agg(BIGINT, "count", ()),) if marker is not None else ()
    columns = (*key_columns, *((marker,) if marker is not None else ()))
    made = push_aggregate(small, Aggregate(columns, small, keys, calls), context)
    for place, (op, mine, key) in enumerate(equalities):
        equalities[place] = (op, mine, key_columns[keys.index(key)].ref)
    if kind == "semi":
        return made, None
    return made, marker.ref if marker is not None else key_columns[keys.index(by_key)].ref


def _is_unique(query: DruidQuery, keys: tuple[Rex, ...]) -> bool:
    """Whether the keys are unique in the query: it groups by them."""
    if query.grouped is None or not query.keys or query.grouping_sets is not None:
        return False
    mapping = query.mapping
    given = {mapping[k.id] for k in keys if isinstance(k, Ref) and k.id in mapping}
    return all(c.ref in given for c in query.grouped[: len(query.keys)])


def _check_single(small: Node) -> None:
    if isinstance(small, DruidQuery) and small.grouped is not None and not small.keys:
        return
    if isinstance(small, Values):
        return
    raise NotExact("a join without equal columns")


def _check_size(side: DruidQuery | Values, context: RuleContext) -> None:
    """NotExact if the side may have more rows than Druid should hold; a side of unknown size must be grouped or
    limited.
    """
    most = context.most(MAX_ROWS)
    if context.limits.subquery_rows is not None:
        most = min(most, context.limits.subquery_rows)
    if most == 0:
        raise NotExact(f"{MAX_ROWS} is 0")
    rows = context.most_rows(side)
    if rows is None and isinstance(side, DruidQuery):
        if side.fetch is not None:
            rows = side.fetch
        elif side.grouped is None:
            raise NotExact(
                f"the number of rows of the smaller side is unknown and may exceed {most:,}; run ANALYZE TABLE"
            )
    if rows is not None and rows > most:
        raise NotExact(f"the smaller side has about {rows:,} rows, more than the limit of {most:,} ({MAX_ROWS})")
