"""A native query over the rows of another one, for operations that Druid cannot perform in the same query."""

from __future__ import annotations

from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import DruidJoin, DruidQuery, Node
from hivedruid.plan.rex import Agg, Ref, conjuncts, walk
from hivedruid.plan.rules.context import RuleContext

SUBQUERY_ROWS = 100_000
"""Druid's default limit of rows of an inner query that a broker holds (druid.server.http.maxSubqueryRows)."""


def rows_of(query: DruidQuery, context: RuleContext) -> DruidQuery:
    """A query over the rows of another one, to which a condition or an order can be added.

    The rows of groups become groups again, which Druid can sort: each has a unique key. Other rows are scanned.
    """
    groups = groups_of(query)
    if groups is None:
        check_materialised(query, context)
        groups = DruidQuery(query.columns, query, tuple(c.ref for c in query.columns))
    return groups


def groups_of(query: DruidQuery) -> DruidQuery | None:
    """The rows of groups as groups by a unique key; None if not all keys are among the columns.

    Doubles cannot be keys there, since -0.0 would become 0.0: they are the maximum over their only value.
    """
    if query.grouped is None or not query.keys or query.grouping_sets is not None:
        return None
    unique = {c.id for c in query.grouped[: len(query.keys)]}
    outputs = {e.id for e in query.exprs if isinstance(e, Ref)}
    if not unique <= outputs:
        return None
    pairs = list(zip(query.columns, query.exprs, strict=True))
    is_key = [not c.type.is_approximate or (isinstance(e, Ref) and e.id in unique) for c, e in pairs]
    keys = tuple(c for (c, _), k in zip(pairs, is_key, strict=True) if k)
    values = tuple(c for (c, _), k in zip(pairs, is_key, strict=True) if not k)
    calls = tuple(Agg(c.type, "max", (c.ref,)) for c in values)
    outputs_ = tuple(c.ref for c in query.columns)
    return DruidQuery(query.columns, query, outputs_, None, (*keys, *values), tuple(c.ref for c in keys), calls)


def joined_groups(query: DruidQuery) -> DruidQuery | None:
    """The rows of a join of groups as groups, which Druid can sort; None if two of its rows can be equal.

    DruidQuery[a.k, a.s, b.s](a JOIN b) => DruidQuery[groups a.k, a.s, b.s](a JOIN b)      one row of `b` for each of
    `a`
    """
    unique = _unique_ids(query.source) if query.grouped is None else None
    if unique is None or not unique <= {e.id for e in query.exprs if isinstance(e, Ref)}:
        return None
    pairs = list(zip(query.columns, query.exprs, strict=True))
    is_key = [not c.type.is_approximate or (isinstance(e, Ref) and e.id in unique) for c, e in pairs]
    keys = [pair for pair, k in zip(pairs, is_key, strict=True) if k]
    values = [pair for pair, k in zip(pairs, is_key, strict=True) if not k]
    if len({e for _, e in keys}) < len(keys):
        return None
    calls = tuple(Agg(c.type, "max", (e,)) for c, e in values)
    grouped = tuple(c for c, _ in (*keys, *values))
    outputs = tuple(c.ref for c in query.columns)
    return DruidQuery(query.columns, query.source, outputs, query.filter, grouped, tuple(e for _, e in keys), calls)


def _unique_ids(source: Node) -> set[str] | None:
    """Columns that are unique in a source."""
    if isinstance(source, DruidJoin):
        given = {r.id for t in conjuncts(source.condition) for r in walk(t) if isinstance(r, Ref)}
        right = _unique_ids(source.right)
        return _unique_ids(source.left) if right is not None and right <= given else None
    if not isinstance(source, DruidQuery) or source.grouped is None or source.grouping_sets is not None:
        return None
    by_key = {e.id: c.id for c, e in zip(source.columns, source.exprs, strict=True) if isinstance(e, Ref)}
    keys = [c.id for c in source.grouped[: len(source.keys)]]
    return {by_key[k] for k in keys} if all(k in by_key for k in keys) else None


def check_materialised(query: DruidQuery, context: RuleContext) -> None:
    """NotExact if the rows of an inner query, which a broker has to hold, may be too many."""
    most = context.limits.subquery_rows or SUBQUERY_ROWS
    if query.grouped is None and (query.fetch is None or query.fetch > most):
        raise NotExact(f"a subquery with more than {most} rows")
