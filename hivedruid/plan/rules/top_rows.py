"""The first rows of a table in an order other than time: Druid sorts groups, but not scanned rows."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE
from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import DruidJoin, DruidQuery, DruidUnion, Node, PlanColumn, Sort, TableScan
from hivedruid.plan.nullability import never_null
from hivedruid.plan.rex import Call, Literal, Rex, SortKey, conjunction, is_deterministic, substitute
from hivedruid.plan.rules.context import RuleContext, pushed

_KEYS = (
    *("tinyint", "smallint", "int", "bigint", "double", "boolean", "string", "varchar"),
    *("date", "timestamp", "timestamp with local time zone"),
)
"""Types whose values Druid groups and joins as Hive compares them."""

MOST = 10_000
"""The maximum number of requested rows: more are not sorted in this process."""
FIRST = "_first"


def sort_first_keys(node: Node, context: RuleContext) -> Node | None:
    """Sort[a, b, limit 5](DruidQuery[e](t)) => Sort[a, b, limit 5](DruidQuery[e](t JOIN DruidQuery[groups a, b, sort a,
    b, limit 5](t)))

    The first five rows have the first five keys, so rows with other keys are not read. Order and limit are applied
    again above.
    """
    if not isinstance(node, Sort) or not isinstance(node.input, DruidQuery) or node.fetch is None or not node.keys:
        return None
    query, most = node.input, node.fetch + node.offset
    if query.grouped is not None or query.is_limited or query.sort or not 0 < most <= MOST or _has_first_keys(query):
        return None
    rows = context.rows(query) if isinstance(query.source, TableScan) else None  # an estimate for joins
    if rows is not None and rows <= most:
        return None
    joined = pushed(lambda: _joined(query, node, most, context))
    return None if joined is None else replace(node, input=joined)


def _has_first_keys(query: DruidQuery) -> bool:
    return isinstance(query.source, DruidJoin) and query.source.right.columns[0].name == FIRST


def _joined(query: DruidQuery, sort: Sort, most: int, context: RuleContext) -> DruidQuery:
    """The rows of the query that have the first keys."""
    mapping = query.mapping
    keys: dict[Rex, SortKey] = {}
    for key in sort.keys:
        behind = substitute(key.rex, mapping)
        if key.rex.type.name not in _KEYS or not is_deterministic(behind):
            break  # the keys before it select more rows, which is right as well
        keys.setdefault(behind, key)
    source = query.source
    if not keys or not isinstance(source, TableScan | DruidUnion | DruidJoin):
        raise NotExact("ORDER BY an expression that Druid does not group by")
    first = _first_keys(query, keys, most, context)
    pairs = zip(keys, first.columns, strict=True)
    same = conjunction([Call(BOOLEAN, "<=>", (_without_sign(rex), c.ref)) for rex, c in pairs])
    joined = DruidJoin((*source.columns, *first.columns), source, first, "inner", same)
    return context.exact(replace(query, source=joined))


def _first_keys(query: DruidQuery, keys: dict[Rex, SortKey], most: int, context: RuleContext) -> DruidQuery:
    """The first keys in this order. If nulls are not in Druid's order (lowest first), an additional key orders them:
    Druid discards groups early only if it sorts by keys alone (DefaultLimitSpec.sortingOrderHasNonGroupingFields).
    """
    columns = tuple(context.new_column(FIRST, rex.type) for rex in keys)
    flags: dict[Rex, PlanColumn] = {}
    order: list[SortKey] = []
    for (rex, key), column in zip(keys.items(), columns, strict=True):
        if key.nulls_first == key.descending and not never_null(query, key.rex):
            flag = Call(BIGINT, "is_null", (rex,))
            flags[flag] = context.new_column("_null", BIGINT)
            order.append(SortKey(flags[flag].ref, key.descending, not key.descending))
        order.append(SortKey(column.ref, key.descending, not key.descending))
    grouped = (*columns, *flags.values())
    outputs = tuple(c.ref for c in columns)
    by = (*keys, *flags)
    return DruidQuery(columns, query.source, outputs, query.filter, grouped, by, sort=tuple(order), fetch=most)


def _without_sign(rex: Rex) -> Rex:
    """Druid's joins distinguish -0.0 from 0.0; its groups contain 0.0."""
    return Call(DOUBLE, "+", (rex, Literal(DOUBLE, 0.0))) if rex.type == DOUBLE else rex
