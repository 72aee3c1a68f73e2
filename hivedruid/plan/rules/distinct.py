"""DISTINCT aggregates: exact ones as two aggregations, as Druid's own SQL does them, or estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hivedruid.catalog.types import BIGINT, BOOLEAN
from hivedruid.druid.aggregators import BUILTIN_DISTINCT
from hivedruid.plan.functions import function_type
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node, PlanColumn, Project
from hivedruid.plan.nullability import COUNTS
from hivedruid.plan.rex import Agg, Call, Literal, Rex, conjunction
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext, pushed

PARTIAL = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}
"""Aggregates that can be computed from partial results, and the aggregate that combines them."""

ESTIMATES = {"sketches": "approx_distinct", "druid": BUILTIN_DISTINCT}
"""The aggregate that estimates count(DISTINCT …), by the values of hivedruid.approximate."""

Arguments = tuple[Rex, ...]


def aggregate_estimate_distinct(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, count(DISTINCT d), sum(x)](q) => DruidQuery[k, approx_distinct(d), sum(x)](q)

    Applies if the session accepts estimates (hivedruid.approximate), and the whole aggregate is a native query then: an
    estimate is no gain elsewhere.
    """
    estimate = ESTIMATES.get(context.settings.get("hivedruid.approximate", "never").lower())
    if estimate is None or not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery):
        return None
    query = node.input
    calls = tuple(
        replace(call, op=estimate, distinct=False) if call.distinct and call.op == "count" else call
        for call in node.calls
    )
    return pushed(lambda: push_aggregate(query, replace(node, calls=calls), context))


def aggregate_expand_distinct(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, count(DISTINCT d), sum(x)](q) => Aggregate[k, count(d), sum(s)](Aggregate[k, d, s := sum(x)](q))

    With several lists of distinct arguments the inner aggregate has a grouping set for each, and one for the other
    aggregates:

    Aggregate[k, count(DISTINCT d), count(DISTINCT e), sum(x)](q) =>
        Aggregate[k, count(d) FILTER (g = d), count(e) FILTER (g = e), sum(s) FILTER (g = none)](
            Aggregate[k, d, e, s := sum(x), g := grouping__id, GROUPING SETS ((k, d), (k, e), (k))](q))

    The same applies beside an aggregate that cannot be combined from partial results, and to grouping sets, which the
    outer aggregate distinguishes by the key `g DIV 2`:

    Aggregate[k, l, count(DISTINCT d), ROLLUP](q) =>
        Aggregate[k, l, g DIV 2, count(d)](
            Aggregate[k, l, d, g := grouping__id, GROUPING SETS ((k, l, d), (k, d), (d))](q))

    The rewrite applies only if the inner aggregate is a native query (Calcite's AggregateExpandDistinctAggregatesRule).
    """
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery):
        return None
    calls = [without_condition(c) if c.distinct else c for c in node.calls]
    distinct = list(dict.fromkeys(c.args for c in calls if c.distinct))
    if not distinct or any(c.op not in ("count", "sum", "avg") for c in calls if c.distinct):
        return None
    if node.grouping_sets is not None and not _has_distinct_sets(node, distinct):
        return None
    return _Expansion(node, node.input, calls, distinct, context).node()


def _has_distinct_sets(node: Aggregate, distinct: list[Arguments]) -> bool:
    """Whether no grouping set occurs twice and no key is itself counted: it would be null in sets that omit it."""
    sets = node.grouping_sets or ()
    return len(set(sets)) == len(sets) and not any(a in node.keys for args in distinct for a in args)


def without_condition(call: Agg) -> Agg:
    """count(DISTINCT d) FILTER (WHERE c) is count(DISTINCT CASE WHEN c THEN d END), since nulls are not counted."""
    if call.condition is None:
        return call
    condition = call.condition
    args = tuple([Call(a.type, "case", (condition, a)) for a in call.args])
    return replace(call, args=args, condition=None)


class _Expansion:
    """One such rewrite: the columns of the inner aggregation, and the calls of the outer one, added on demand."""

    def __init__(
        self, node: Aggregate, query: DruidQuery, calls: list[Agg], distinct: list[Arguments], context: RuleContext
    ) -> None:
        self.aggregate = node
        self.query = query
        self.calls = calls
        self.distinct = distinct
        self.context = context
        parts = dict.fromkeys(p for c in calls if not c.distinct for p in _parts(c))
        self.parts = {part: position for position, part in enumerate(parts)}
        keys = dict.fromkeys([*node.keys, *(a for args in distinct for a in args)])
        self.keys = {key: position for position, key in enumerate(keys)}
        self.key_columns = [context.new_column(f"_k{i}", k.type) for i, k in enumerate(self.keys)]
        self.part_columns = [context.new_column(f"_p{i}", p.type) for i, p in enumerate(self.parts)]
        self.lists = list(distinct)
        if self.parts and (len(distinct) > 1 or any(p.op not in PARTIAL for p in self.parts)):
            self.lists.append(())
        has_sets = node.grouping_sets is not None or len({self._sets(args) for args in self.lists}) > 1
        self.grouping_id = context.new_column("_g", BIGINT) if has_sets else None
        self.totals: dict[Agg, PlanColumn] = {}

    def _sets(self, arguments: Arguments) -> tuple[tuple[int, ...], ...]:
        """The inner grouping sets for a list of arguments: one for each set of keys."""
        added = {self.keys[a] for a in arguments}
        every = (tuple(range(len(self.aggregate.keys))),)
        return tuple(tuple(sorted({*kept, *added})) for kept in self.aggregate.grouping_sets or every)

    def node(self) -> Node | None:
        extra = (self.grouping_id,) if self.grouping_id is not None else ()
        columns = (*self.key_columns, *self.part_columns, *extra)
        sets = tuple(dict.fromkeys(kept for args in self.lists for kept in self._sets(args))) if extra else None
        inner = Aggregate(columns, self.query, tuple(self.keys), tuple(self.parts), sets, needs_total=False)
        native = pushed(lambda: push_aggregate(self.query, inner, self.context))
        if native is None:
            return None
        return self._outer(native) if self.aggregate.grouping_sets is None else self._outer_sets(native)

    def _outer(self, inner: DruidQuery) -> Node:
        """The second aggregation, and the projection that names the calls and completes the averages."""
        node = self.aggregate
        width = len(node.keys)
        outputs = [self._distinct(c) if c.distinct else _whole(c, self._part) for c in self.calls]
        names = [self.context.new_column(c.name, c.type) for c in node.columns[:width]]
        keys = tuple(c.ref for c in self.key_columns[:width])
        outer = Aggregate((*names, *self.totals.values()), inner, keys, tuple(self.totals))
        return Project(node.columns, outer, (*(c.ref for c in names), *outputs))

    def _outer_sets(self, inner: DruidQuery) -> Node | None:
        """The same for grouping sets, distinguished by the rest of the grouping id. None unless it is a native
        query."""
        node = self.aggregate
        width = len(node.keys)
        assert self.grouping_id is not None
        outputs = [self._distinct(c) if c.distinct else _whole(c, self._part) for c in self.calls]
        names = [self.context.new_column(c.name, c.type) for c in node.columns[:width]]
        id_ = self.context.new_column("_set", BIGINT)
        arguments = Literal(BIGINT, 1 << (len(self.keys) - width))
        keys = (*(c.ref for c in self.key_columns[:width]), Call(BIGINT, "div", (self.grouping_id.ref, arguments)))
        outer = Aggregate((*names, id_, *self.totals.values()), inner, keys, tuple(self.totals))
        exprs = (*(c.ref for c in names), *outputs, id_.ref)[: len(node.columns)]

        def push() -> DruidQuery:
            query = replace(push_aggregate(inner, outer, self.context), total=node.total)
            return self.context.exact(query)

        query = pushed(push)
        return None if query is None else Project(node.columns, query, exprs)

    def _distinct(self, call: Agg) -> Rex:
        """Whether a row counts: all its arguments are not null."""
        columns = [self.key_columns[self.keys[a]] for a in call.args]
        terms = self._of_set(call.args)
        if call.op == "count" and len(columns) > 1:
            terms += [Call(BOOLEAN, "is_not_null", (c.ref,)) for c in columns]
            return self._total(Agg(BIGINT, "count", (), condition=conjunction(terms)))
        return self._total(Agg(call.type, call.op, (columns[0].ref,), condition=conjunction(terms)))

    def _part(self, part: Agg) -> Rex:
        column = self.part_columns[self.parts[part]]
        op = PARTIAL.get(part.op, "max")  # of the single row of the set of the keys alone
        return self._total(Agg(part.type, op, (column.ref,), condition=conjunction(self._of_set(()))))

    def _of_set(self, arguments: Arguments) -> list[Rex]:
        """The condition for rows of the grouping sets of one list; none if there is one list only."""
        if self.grouping_id is None or len(self.lists) == 1:
            return []
        ids = [Literal(BIGINT, self._id(kept)) for kept in self._sets(arguments)]
        return [Call(BOOLEAN, "=" if len(ids) == 1 else "in", (self.grouping_id.ref, *ids))]

    def _id(self, kept: tuple[int, ...]) -> int:
        return (1 << len(self.keys)) - 1 - sum(1 << (len(self.keys) - 1 - i) for i in set(kept))

    def _total(self, call: Agg) -> Rex:
        """The column of a call of the outer aggregation, which contains each call once."""
        if call not in self.totals:
            self.totals[call] = self.context.new_column(f"_t{len(self.totals)}", call.type)
        return self.totals[call].ref


def _parts(call: Agg) -> list[Agg]:
    if call.op != "avg":
        return [call]
    total = Agg(function_type("sum", call.args), "sum", call.args, condition=call.condition)
    return [total, Agg(BIGINT, "count", call.args, condition=call.condition)]


def _whole(call: Agg, total: Callable[[Agg], Rex]) -> Rex:
    """An aggregate combined from its partial results; a count over no groups is 0, not NULL."""
    sums = [total(part) for part in _parts(call)]
    if call.op == "avg":
        return Call(call.type, "/", (sums[0], sums[1]))
    return Call(BIGINT, "coalesce", (sums[0], Literal(BIGINT, 0))) if call.op in COUNTS else sums[0]
