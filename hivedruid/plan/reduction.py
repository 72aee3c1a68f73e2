"""Semi-join reduction: for joins that Spark runs, the keys of the small side become a filter of the native query on the
other.

Hive does the same with min, max and a bloom filter (hive.tez.dynamic.semijoin.reduction); here the filter is the list
of keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.time_references import TimeReference, time_reference
from hivedruid.catalog.types import DATE
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.inputs import Inputs
from hivedruid.druid.query import native_query
from hivedruid.druid.sources import comparable
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.ctes import all_nodes
from hivedruid.plan.nodes import (
    Aggregate,
    DruidJoin,
    DruidQuery,
    Filter,
    Join,
    Node,
    PlanColumn,
    Project,
    SetOp,
    Sort,
    TableScan,
    filterable_input,
)
from hivedruid.plan.physical import DruidRead, FileKeys, FileRows, KeyFilter, KeySource, SparkJob
from hivedruid.plan.rex import Call, Over, Ref, Rex, Subquery, conjuncts, has, is_deterministic, refs, substitute
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext
from hivedruid.plan.rules.filter import filtered
from hivedruid.plan.rules.inference import equal_sides

MAX_KEYS = "hivedruid.semijoin.max.keys"
WORTH = 10
"""The minimum ratio of rows of the other side to keys, by estimate, if it is known."""

Job = Callable[[Node], SparkJob]
"""How a node over a Hive-side table becomes a Spark job."""


def key_filters(node: Node, context: RuleContext, job: Job) -> dict[int, tuple[KeyFilter, ...]]:
    """The filters for the native queries of a plan, by the identity of their nodes."""
    most = context.most(MAX_KEYS)
    made: dict[int, dict[int, list[KeyFilter]]] = {}
    seen: set[tuple[int, int, Ref, int, Ref]] = set()
    if most == 0:
        return {}
    every = list(all_nodes(node))
    queries = Counter(id(n) for n in every if isinstance(n, DruidQuery))
    paths = _Paths(context, most)
    for join in every:
        if not isinstance(join, Join) or join.condition is None:
            continue
        for source, target in paths.pairs(join):
            pair = (id(target.query), target.place, target.column, id(source.node), source.key)
            if pair in seen:
                continue
            seen.add(pair)
            found = _key_filter(target.query, target.column, source.node, source.key, most, context, job)
            if found is not None:
                made.setdefault(id(target.query), {}).setdefault(target.place, []).append(found)
    return {
        query: _of_every_place(list(places.values())) for query, places in made.items() if len(places) == queries[query]
    }


def _of_every_place(places: list[list[KeyFilter]]) -> tuple[KeyFilter, ...]:
    """The filters of a query that is read in several places: by columns that each of them restricts, to all keys."""
    first, *others = places
    filters = []
    for each in first:
        same = [next((f for f in other if f == each), None) or _of_column(other, each.column) for other in others]
        if None not in same:
            filters.append(_union([each, *(f for f in same if f is not None)]))
    return tuple(filters)


def _of_column(filters: list[KeyFilter], column: str) -> KeyFilter | None:
    return next((f for f in filters if f.column == column), None)


def _union(filters: list[KeyFilter]) -> KeyFilter:
    queries: list[KeySource] = []
    for each in filters:
        queries += [query for query in each.keys if query not in queries]
    has_dates = all(f.has_dates for f in filters)
    share = min(1.0, sum(f.share for f in filters))
    return replace(filters[0], keys=tuple(queries), has_dates=has_dates, share=share)


def _sides(join: Join) -> Iterator[tuple[Node, Node, Ref, Ref]]:
    """(side that may lose rows, the other, the key on each) for each equality of columns."""
    left_ids, right_ids = join.left.ids, join.right.ids
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


@dataclass(frozen=True)
class _Source:
    """A table or native query with few keys by estimate."""

    node: Node
    key: Ref
    keys: int


@dataclass(frozen=True)
class _Target:
    """A native query, its column, and the node through which it is read: a shared query is read through several
    (`split.shared`). `rows` are those that the keys reduce, by estimate."""

    query: DruidQuery
    column: Ref
    place: int
    rows: int | None


class _Paths:
    """Where the keys of joins come from, and the native queries that they reduce: each node is examined once for each
    of its columns, however many joins are above it."""

    def __init__(self, context: RuleContext, most: int) -> None:
        self._context = context
        self._most = most
        self._sources: dict[tuple[int, Ref], tuple[_Source, ...]] = {}
        self._targets: dict[tuple[int, Ref], tuple[_Target, ...]] = {}

    def pairs(self, join: Join) -> Iterator[tuple[_Source, _Target]]:
        """The keys that probably reduce the rows of a native query of the other side."""
        for big, small, column, key in _sides(join):
            sources = self.sources(small, key)
            for source in sources:
                for target in self.targets(big, column):
                    if target.rows is None or target.rows >= WORTH * source.keys:
                        yield source, target

    def sources(self, node: Node, key: Ref) -> tuple[_Source, ...]:
        """The tables and native queries whose keys include those of the node: that of its column, and those of columns
        that must equal it."""
        place = (id(node), key)
        if place not in self._sources:
            found = {(id(each.node), each.key): each for each in self._sources_of(node, key)}
            self._sources[place] = tuple(found.values())
        return self._sources[place]

    def _sources_of(self, node: Node, key: Ref) -> Iterator[_Source]:
        table = node
        while isinstance(table, Filter | Project):
            table = table.input
        if isinstance(table, TableScan | DruidQuery):
            keys = self._context.rows(node)
            if keys is not None and keys <= self._most and not self._context.has_every_key(node, key):
                yield from (_Source(node, key, keys),) if _is_stable(node) else ()
            return
        found = filterable_input(node, key)
        if found is None:
            return
        yield from self.sources(*found)
        if isinstance(node, Join) and node.kind in ("inner", "semi"):
            for side, equal in equal_sides(node, key):
                yield from self.sources(side, equal)

    def targets(self, node: Node, column: Ref) -> tuple[_Target, ...]:
        """The native queries below whose column this is, unchanged, if filtering their rows there is the same as
        filtering here: of a set operation those of all branches, of a join also those of the column that must equal it.
        """
        place = (id(node), column)
        if place not in self._targets:
            found = {(id(each.query), each.place, each.column): each for each in self._targets_of(node, column)}
            self._targets[place] = tuple(found.values())
        return self._targets[place]

    def _targets_of(self, node: Node, column: Ref) -> Iterator[_Target]:
        if isinstance(node, DruidQuery):
            yield _Target(node, column, id(node), self._context.rows(_ungrouped(node)))
            return
        if any(has(e, Over) or not is_deterministic(e) for e in node.expressions()):
            return  # the result of a window function depends on the other rows
        if isinstance(node, SetOp):
            position = [c.id for c in node.columns].index(column.id)
            for branch in node.branches:
                yield from self.targets(branch, branch.columns[position].ref)
            return
        found = filterable_input(node, column)
        if found is None:
            return
        if isinstance(node, Join):
            for side, equal in equal_sides(node, column):
                if side is node.right or node.kind in ("inner", "right"):
                    yield from self.targets(side, equal)
        below = self.targets(*found)
        is_through = isinstance(found[0], DruidQuery) and not isinstance(node, Join)
        yield from (replace(each, place=id(node)) for each in below) if is_through else below


def _is_stable(node: Node) -> bool:
    """Whether the node has the same rows each time it runs: its keys are queried separately, before its rows. Those of
    a correlated subquery depend on the row of the outer query."""
    if node.outer_refs():
        return False
    for one in node.walk():
        if isinstance(one, Sort) or any(not is_deterministic(e) for e in one.expressions()):
            return False
        below: Node = one
        while isinstance(below, DruidQuery):
            if below.is_limited:
                return False
            below = below.source
    return True


def _ungrouped(query: DruidQuery) -> Node:
    """The rows of a native query before they are grouped: those are what the keys reduce."""
    return query if query.grouped is None else filtered(query.source, conjuncts(query.filter))


def _key_filter(
    big: DruidQuery, column: Ref, small: Node, key: Ref, most: int, context: RuleContext, job: Job
) -> KeyFilter | None:
    scan = big.source.first if isinstance(big.source, DruidJoin) else big.source
    if big.is_limited or big.grouping_sets is not None or not isinstance(scan, TableScan):
        return None
    rex = big.mapping.get(column.id)
    if big.grouped is not None and isinstance(rex, Ref):
        rex = dict(zip([c.id for c in big.grouped], big.keys, strict=False)).get(rex.id)
    inputs = Inputs(big, context.zone, lambda inner: native_query(inner, context.zone))
    if not isinstance(rex, Ref) or rex.id not in inputs.columns or rex.id not in scan.ids:
        return None
    reference = _reference(scan, rex)
    try:
        comparable(column.type, key.type)
        stored = _stored(small, key, reference)
        keys = _keys(small, key, most, context, job) if stored is None else _stored_keys(stored, most, context, job)
        native = inputs.expressions.column(rex)
    except NotExact:
        return None
    if keys is None or native.reading or native.type not in ("STRING", "LONG"):
        return None
    has_dates = stored is not None and stored.date is not None
    share = _share(small, _days(scan, context) if has_dates else None, context)
    return KeyFilter(native.name, native.type, (keys,), most, has_dates, share)


def _share(small: Node, days: float | None, context: RuleContext) -> float:
    """The estimated share of the rows that have one of the keys: as many as the keys have of those of the whole table,
    or of these days."""
    whole = small
    while not isinstance(whole, TableScan) and len(whole.inputs) == 1:
        whole = whole.inputs[0]
    keys, every = context.rows(small), days or context.rows(whole)
    return 1.0 if keys is None or not every else min(1.0, keys / every)


def _days(scan: TableScan, context: RuleContext) -> float | None:
    """The days between the first and the last row of a Druid table."""
    known = context.statistics.get((scan.table.database, scan.table.name))
    if known is None or known.start is None or known.end is None:
        return None
    return timedelta(milliseconds=known.end - known.start) / timedelta(days=1)


def _reference(scan: TableScan, column: Ref) -> TimeReference | None:
    """The reference of a Druid table, if this is its column."""
    reference = time_reference(scan.table)
    name = next((c.name for c in scan.columns if c.id == column.id), None)
    return reference if reference is not None and reference.column == name else None


@dataclass(frozen=True)
class _StoredKeys:
    """Keys of a table outside Druid: an expression over its columns, whose ids are their names, so that the same keys
    are the same query wherever a statement needs them. `date` determines the day of the time.
    """

    table: Table
    terms: tuple[Rex, ...]
    key: Rex
    date: PlanColumn | None


def _stored(node: Node, key: Ref, reference: TimeReference | None) -> _StoredKeys | None:
    """The keys of a filtered and projected table; None for any other node."""
    found: Rex = key
    terms: list[Rex] = []
    while not isinstance(node, TableScan):
        if not isinstance(node, Filter | Project) or any(has(e, Over, Subquery) for e in node.expressions()):
            return None
        if isinstance(node, Filter):
            terms += conjuncts(node.condition)
        else:
            found = substitute(found, node.mapping)
            terms = [substitute(t, node.mapping) for t in terms]
        node = node.input
    if node.table.has_data_source:
        return None
    names = node.by_name
    found, terms = substitute(found, names), [substitute(t, names) for t in terms]
    return _StoredKeys(node.table, tuple(terms), found, _date_of(node.table, found, reference))


def _date_of(table: Table, key: Rex, reference: TimeReference | None) -> PlanColumn | None:
    """The column of the dates, if the key is that of the referenced table."""
    if reference is None or not isinstance(key, Ref) or key.id != reference.key or not reference.is_to(table):
        return None
    date = table.column(reference.date)
    return _named(date) if date is not None and date.type == DATE else None


def _stored_keys(stored: _StoredKeys, most: int, context: RuleContext, job: Job) -> FileKeys | SparkJob | None:
    """The files with the keys and their dates, or the job for the distinct ones, limited to one more than the
    maximum."""
    if not (stored.key.type.is_integer or stored.key.type.is_string):
        return None
    keys = (stored.key,) if stored.date is None else (stored.key, stored.date.ref)
    read = frozenset().union(*(refs(rex) for rex in (*stored.terms, *keys)))
    columns = [c for c in stored.table.columns if c.name in read] or stored.table.columns[:1]
    rows = filtered(TableScan(tuple(map(_named, columns)), stored.table), list(stored.terms))
    made = tuple(PlanColumn(name, name, key.type) for name, key in zip(("_key", "_date"), keys, strict=False))
    by_spark = job(Sort(made, Aggregate(made, rows, keys, ()), (), most + 1))
    read_columns = tuple([key.id for key in keys if isinstance(key, Ref)])
    if stored.table.has_parquet_files and len(read_columns) == len(keys):
        return FileKeys(FileRows(stored.table, stored.terms, read_columns, context.zone), by_spark)
    return by_spark


def _named(column: Column) -> PlanColumn:
    """A column whose id is its name."""
    return PlanColumn(column.name, column.name, column.type)


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
