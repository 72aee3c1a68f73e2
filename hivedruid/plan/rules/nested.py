"""A native query over another one's rows: for what Druid cannot do in the same query."""

from __future__ import annotations

from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import DruidQuery
from hivedruid.plan.rex import Agg, Ref
from hivedruid.plan.rules.context import RuleContext

SUBQUERY_ROWS = 100_000
"""Druid's own default of the rows that a broker holds of an inner query (druid.server.http.maxSubqueryRows)."""


def rows_of(query: DruidQuery, context: RuleContext) -> DruidQuery:
    """A query over the rows of another one, ready for a condition or an order of its own.

    The rows of groups are groups again, which Druid can sort: each has a key of its own. Others are scanned.
    """
    groups = groups_of(query)
    if groups is None:
        check_materialised(query, context)
        groups = DruidQuery(query.columns, query, tuple(c.ref for c in query.columns))
    return groups


def groups_of(query: DruidQuery) -> DruidQuery | None:
    """The rows of groups as groups by all that tells them apart; None where the keys are not all among the columns.

    Doubles are no keys there, as -0.0 would become 0.0: they are the greatest of the one that there is.
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


def check_materialised(query: DruidQuery, context: RuleContext) -> None:
    """NotExact where the rows of an inner query, which a broker has to hold, may be too many."""
    most = context.limits.subquery_rows or SUBQUERY_ROWS
    if query.grouped is None and (query.fetch is None or query.fetch > most):
        raise NotExact(f"an inner query of more than {most} rows")
