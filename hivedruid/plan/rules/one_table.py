"""Rules about set operations whose branches all read the same table: as one native query over it."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE
from hivedruid.druid.exactness import NotExact
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node, PlanColumn, SetOp, TableScan
from hivedruid.plan.rex import Agg, Call, Literal, Rex, both, conjunction, substitute
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.filter import push_filter
from hivedruid.plan.rules.partial import as_double, substituted
from hivedruid.plan.rules.predicates import are_disjoint, either
from hivedruid.plan.rules.project import push_project
from hivedruid.plan.rules.set_op import is_union_all


@dataclass(frozen=True)
class _Parts:
    """Queries over the same table, with their expressions over the columns of one scan of it.

    `filter` holds for the rows that belong to any of them; `own[i]` selects the rows of the i-th (None: all of them).
    """

    scan: TableScan
    filter: Rex | None
    own: tuple[Rex | None, ...]
    exprs: tuple[tuple[Rex, ...], ...]

    def query(self) -> DruidQuery:
        """Distinct rows of the branches."""
        return DruidQuery(self.scan.columns, self.scan, tuple(c.ref for c in self.scan.columns), self.filter)

    @property
    def are_disjoint(self) -> bool:
        return are_disjoint(self.own)

    @property
    def have_same_exprs(self) -> bool:
        return all(e == self.exprs[0] for e in self.exprs[1:])


def _parts(node: Node, context: RuleContext, *, distinct: bool) -> _Parts | None:
    """The branches of a set operation as parts of one table; with `distinct`, a GROUP BY without aggregates is treated
    as its rows.
    """
    queries: list[tuple[DruidQuery, tuple[Rex, ...]]] = []
    for branch in node.inputs:
        exprs = _row_exprs(branch, distinct)
        if exprs is None or not isinstance(branch, DruidQuery):
            return None
        queries.append((branch, exprs))
    scans = [q.source for q, _ in queries if isinstance(q.source, TableScan)]
    if len(scans) != len(queries) or any(s.table != scans[0].table for s in scans):
        return None
    columns: dict[str, PlanColumn] = {}
    for scan in scans:
        for column in scan.columns:
            columns.setdefault(column.name, column)
    filters, outputs = [], []
    for (query, exprs), scan in zip(queries, scans, strict=True):
        mapping: dict[str, Rex] = {c.id: columns[c.name].ref for c in scan.columns}
        filters.append(substitute(query.filter, mapping) if query.filter is not None else None)
        outputs.append(tuple(substitute(e, mapping) for e in exprs))
    merged = replace(scans[0], columns=tuple(columns.values()))
    whole, own = either(filters, merged, context.zone)
    return _Parts(merged, whole, tuple(own), tuple(outputs))


def _row_exprs(node: Node, distinct: bool) -> tuple[Rex, ...] | None:
    """The outputs over the source's columns, of a query that returns its rows unchanged."""
    if not isinstance(node, DruidQuery) or node.is_limited:
        return None
    if node.grouped is None:
        return node.exprs
    if not distinct or node.calls or node.having is not None or node.grouping_sets is not None:
        return None
    keys = dict(zip([c.id for c in node.grouped], node.keys, strict=True))
    return tuple(substitute(e, keys) for e in node.exprs)


def union_one_table(node: Node, context: RuleContext) -> Node | None:
    """t[p] + t[q] => t[p OR q]      no row satisfies p and q"""
    if not isinstance(node, SetOp) or not is_union_all(node):
        return None
    parts = _parts(node, context, distinct=False)
    if parts is None or not parts.have_same_exprs or not parts.are_disjoint:
        return None
    return pushed(lambda: context.exact(replace(parts.query(), columns=node.columns, exprs=parts.exprs[0])))


def intersect_one_table(node: Node, context: RuleContext) -> Node | None:
    """t[p] INTERSECT t[q] => Aggregate[every column] with count(p) > 0 AND count(q) > 0;      EXCEPT: count(q) = 0"""
    if not isinstance(node, SetOp) or node.kind == "union" or node.all:
        return None
    parts = _parts(node, context, distinct=True)
    if parts is None or not parts.have_same_exprs:
        return None
    keys = tuple(dict.fromkeys(parts.exprs[0]))
    key_columns = [context.new_column(f"_k{i}", k.type) for i, k in enumerate(keys)]
    counts = [context.new_column(f"_c{i}", BIGINT) for i in range(len(parts.own))]
    calls = tuple(Agg(BIGINT, "count", (), condition=own) for own in parts.own)
    zero = Literal(BIGINT, 0)
    terms: list[Rex] = [
        Call(BOOLEAN, "=" if node.kind == "except" and place else ">", (count.ref, zero))
        for place, (count, own) in enumerate(zip(counts, parts.own, strict=True))
        if own is not None or (node.kind == "except" and place)
    ]
    exprs = tuple(key_columns[keys.index(e)].ref for e in parts.exprs[0])

    def push() -> DruidQuery:
        aggregate = Aggregate((*key_columns, *counts), node, keys, calls)
        query = push_aggregate(parts.query(), aggregate, context)
        having = conjunction(terms)
        query = push_filter(query, having, context) if having is not None else query
        return push_project(query, node.columns, exprs, context)

    return pushed(push)


# --- aggregates over UNION ALL ----------------------------------------------------------------------------------------


def aggregate_union_one_table(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, count(*)](t[p] + t[q]) => Project[c + d](Aggregate[k, c := count(p), d := count(q)](t[p OR q]))"""
    if not isinstance(node, Aggregate) or not is_union_all(node.input) or node.grouping_sets is not None:
        return None
    parts = _parts(node.input, context, distinct=not node.calls)
    if parts is None:
        return None
    ids = [c.id for c in node.input.columns]
    mappings = [dict(zip(ids, exprs, strict=True)) for exprs in parts.exprs]
    keys = [tuple(substitute(k, m) for k in node.keys) for m in mappings]
    if any(k != keys[0] for k in keys[1:]) or len(set(keys[0])) != len(keys[0]):
        return None
    totals = _Totals(parts, context)
    try:
        outputs = [totals.of([substituted(call, m) for m in mappings]) for call in node.calls]
    except NotExact:
        return None
    key_columns = [context.new_column(c.name, c.type) for c in node.columns[: len(node.keys)]]
    aggregate = Aggregate((*key_columns, *totals.calls.values()), node.input, keys[0], tuple(totals.calls))
    exprs = (*(c.ref for c in key_columns), *outputs)
    return pushed(lambda: push_project(push_aggregate(parts.query(), aggregate, context), node.columns, exprs, context))


class _Totals:
    """Aggregates over all parts, computed from aggregates over each; a row that is in two parts counts twice."""

    def __init__(self, parts: _Parts, context: RuleContext) -> None:
        self.parts = parts
        self.context = context
        self.disjoint = parts.are_disjoint
        self.calls: dict[Agg, PlanColumn] = {}

    def of(self, calls: list[Agg]) -> Rex:
        """The result of one call over all parts, computed from its results over each part."""
        first = calls[0]
        alike = all(c == first for c in calls[1:])
        if alike and (self.disjoint or first.distinct or first.op in ("min", "max")):
            return self._call(first)
        if first.distinct or first.op not in ("count", "sum", "avg"):
            raise NotExact(f"{first.op}() over a UNION ALL of overlapping subsets of a table")
        if first.op != "avg":
            return _sum([self._call(_within(c, own)) for c, own in zip(calls, self.parts.own, strict=True)], first.op)
        if first.type != DOUBLE:
            raise NotExact(f"avg() of {first.args[0].type} over a UNION ALL")
        sums = [Agg(DOUBLE, "sum", (as_double(c.args[0]),), condition=c.condition) for c in calls]
        counts = [Agg(BIGINT, "count", c.args, condition=c.condition) for c in calls]
        return Call(DOUBLE, "/", (self.of(sums), as_double(self.of(counts))))

    def _call(self, call: Agg) -> Rex:
        if call not in self.calls:
            self.calls[call] = self.context.new_column(f"_p{len(self.calls)}", call.type)
        return self.calls[call].ref


def _within(call: Agg, own: Rex | None) -> Agg:
    return replace(call, condition=both(own, call.condition))


def _sum(values: list[Rex], op: str) -> Rex:
    """The sum of the partial results; for `sum`, null if all of them are null, otherwise null counts as 0."""
    if op == "count":
        return _plus(values)
    zero = Literal(values[0].type, 0.0 if values[0].type == DOUBLE else 0)
    filled: list[Rex] = [Call(v.type, "coalesce", (v, zero)) for v in values]
    nothing = conjunction([Call(BOOLEAN, "is_null", (v,)) for v in values])
    assert nothing is not None
    return Call(values[0].type, "case", (nothing, Literal(values[0].type, None), _plus(filled)))


def _plus(values: list[Rex]) -> Rex:
    total = values[0]
    for value in values[1:]:
        total = Call(total.type, "+", (total, value))
    return total
