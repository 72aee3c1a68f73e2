"""Splits a plan at the end of Druid's part: one native query, or Spark SQL over native queries and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Column
from hivedruid.druid.limits import DruidLimits
from hivedruid.druid.query import native_query
from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import nodes
from hivedruid.plan.binary_inputs import Binaries, decoded_inputs
from hivedruid.plan.build import Builder
from hivedruid.plan.ctes import all_nodes, map_ctes, with_ctes
from hivedruid.plan.literals import in_zone, zone_of
from hivedruid.plan.nodes import CteScan, DruidQuery, Node, PlanColumn, TableScan, Transform, map_subqueries
from hivedruid.plan.optimizer import Trace, optimize
from hivedruid.plan.physical import Ask, CteInput, DruidInput, DruidRead, KeyFilter, ScriptInput, SparkJob, TableInput
from hivedruid.plan.rex import Literal, Rex, SortKey, Subquery, has
from hivedruid.plan.rules import LOGICAL, RULES, SCANS, Rule, RuleContext
from hivedruid.plan.segment_scans import NO_SEGMENTS, SegmentScans
from hivedruid.plan.table_views import TableViews, view_name
from hivedruid.plan.topic_scans import TopicScan, TopicState, topic_scan
from hivedruid.results import ResultColumn
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.druid.interval_sets import IntervalSet
    from hivedruid.plan.facts import PlannerFacts
    from hivedruid.plan.tier_parts import TierPart
    from hivedruid.plan.tiers import TierPruning


@dataclass(frozen=True)
class QueryPlan:
    """An optimised query: its nodes, its output columns, and how it was planned: the rules that fired, and their
    context.

    `after_rules` is the plan after each rule of `fired`, if the facts contain `traces_rules`; else it is empty.
    `views` lists the materialized views that are used, and why others are not.
    `tier_spans` are the times that the query reads of the hot part of each tiered table, by (database, name).
    `tier_parts` are the parts of tiered tables as the query reads them.
    `asks` are the native queries whose results are needed first; until then the plan contains the clock in their place.
    """

    node: Node
    columns: tuple[ResultColumn, ...]
    zone: str
    fired: tuple[str, ...]
    new_column: Callable[..., PlanColumn]
    context: RuleContext
    views: tuple[str, ...] = ()
    asks: tuple[Ask, ...] = ()
    after_rules: tuple[Node, ...] = ()
    tier_spans: Mapping[tuple[str, str], IntervalSet] = field(default_factory=dict)
    tier_parts: tuple[TierPart, ...] = ()

    @property
    def limits(self) -> DruidLimits:
        return self.context.limits


def plan_query(
    expression: exp.Expr,
    source: SourceStatement,
    snapshot: PlannerFacts,
    note: Callable[[str, Span | None], None] | None = None,
    rules: tuple[Rule, ...] | None = None,
) -> QueryPlan:
    """Resolve, type and optimise a query."""
    builder = Builder(source, snapshot, note)
    return optimized(builder.whole(expression), builder, rules)


def optimized(node: Node, builder: Builder, rules: tuple[Rule, ...] | None = None) -> QueryPlan:
    """The node after the rules: all of them, or those that the snapshot allows."""
    if rules is None:
        rules = SCANS if builder.snapshot.scans_only else RULES
    trace = Trace(keeps_plans=builder.snapshot.traces_rules)
    columns = tuple(ResultColumn(c.name, c.type) for c in node.columns)
    facts = builder.snapshot
    context = RuleContext(builder.zone, builder.new_column, facts.limits, facts.statistics, facts.settings)
    passes = _Passes(builder, context, rules, trace)
    node = map_ctes(node, passes.run) if builder.has_cte_scans else node
    node = passes.run(node)
    return QueryPlan(
        node,
        columns,
        builder.zone,
        tuple(trace.fired),
        builder.new_column,
        context,
        tuple(dict.fromkeys(passes.views)),
        tuple(passes.asks),
        tuple(trace.plans),
        passes.tiers.spans if passes.tiers is not None else {},
        tuple(passes.tiers.parts) if passes.tiers is not None else (),
    )


@dataclass
class _Passes:
    """The passes over a plan, in order; `views` and `asks` as in QueryPlan."""

    builder: Builder
    context: RuleContext
    rules: tuple[Rule, ...]
    trace: Trace
    views: list[str] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    tiers: TierPruning | None = None

    def run(self, node: Node) -> Node:
        if self.builder.snapshot.materialized_views:
            from hivedruid.plan.materialize import answered_from_views

            node = answered_from_views(node, self.builder, self.context, self.views)
        if _has_parts(node):
            node = _narrowed(node, self.context, tuple(r for r in self.rules if r in LOGICAL), self.trace)
        if self.builder.snapshot.tiers:
            node = self._pruned(node)
        return optimize(self._with_answers(node), self.context, self.rules, self.trace)

    def _pruned(self, node: Node) -> Node:
        from hivedruid.plan.tiers import TierPruning

        if self.tiers is None:
            self.tiers = TierPruning(self.builder.snapshot, self.builder.zone)
        return self.tiers.prune(node)

    def _with_answers(self, node: Node) -> Node:
        """The plan with constants for the totals that are queried first."""
        facts = self.builder.snapshot
        if (
            facts.answers is None
            or facts.tiers
            or self.rules == SCANS
            or not any(isinstance(n, nodes.Join) for n in node.walk())
        ):
            return node
        from hivedruid.plan.ask_first import AskFirst

        first = AskFirst(self.context, self.rules, facts.now, facts.answers)
        node = first.plan(node)
        self.asks += first.asks
        return node


def _narrowed(node: Node, context: RuleContext, logical: tuple[Rule, ...], trace: Trace) -> Node:
    """The plan with its conditions at the tables, including those that follow from joins."""
    if not logical:
        return node
    moved = optimize(node, context, logical, trace)
    from hivedruid.plan.rules.disjunction import with_alternatives
    from hivedruid.plan.rules.inference import ROUNDS, with_inferred
    from hivedruid.plan.rules.join_order import with_connected_joins

    inferred = with_inferred(with_alternatives(with_connected_joins(moved)))
    for _ in range(ROUNDS):
        if inferred is moved:
            break
        moved = optimize(inferred, context, logical, trace)
        inferred = with_inferred(moved)
    return moved


def _has_parts(node: Node) -> bool:
    """Whether a plan has more than one input."""
    return any(
        isinstance(n, nodes.Join | nodes.SetOp) or any(has(e, Subquery) for e in n.expressions()) for n in node.walk()
    )


def druid_read(plan: QueryPlan) -> DruidRead | None:
    """The native query for the whole query, None if a part must run elsewhere."""
    return native_query(plan.node, plan.zone) if isinstance(plan.node, DruidQuery) else None


def constant_rows(plan: QueryPlan) -> tuple[tuple[object, ...], ...] | None:
    """The result of a query without inputs that constant folding has computed."""
    node = plan.node
    exprs = node.exprs if isinstance(node, nodes.Project) else ()
    values = node.input if isinstance(node, nodes.Project) else node
    if isinstance(node, nodes.Project) and isinstance(values, nodes.Values) and not values.columns:
        return (_values_of(exprs, plan.zone),) if _all_plain(exprs) else None
    if isinstance(node, nodes.Values) and node.columns and all(_all_plain(row) for row in node.rows):
        return tuple(_values_of(row, plan.zone) for row in node.rows)
    return None


def _values_of(exprs: tuple[Rex, ...], zone: str) -> tuple[object, ...]:
    session = zone_of(zone)
    return tuple(in_zone(e.value, session) for e in exprs if isinstance(e, Literal))


def _all_plain(exprs: tuple[Rex, ...]) -> bool:
    return all(isinstance(e, Literal) and not isinstance(e.value, tuple) for e in exprs)


def spark_job(plan: QueryPlan, names: tuple[str, ...] | None = None, facts: PlannerFacts | None = None) -> SparkJob:
    """The plan as Spark SQL; native queries and tables are its inputs. `names` are the output's, else the columns'
    ids. `facts` have the segments of data sources that may be read in place of queries, and the offsets of topics.
    """
    from hivedruid.plan.reduction import key_filters

    node = shared(plan.node, plan.zone)
    reducers = key_filters(node, plan.context, lambda keys: _job(keys, _Inputs(plan.zone, facts=facts), None))
    node = ordered_outside(node, plan.new_column)
    scans = SegmentScans(plan, (facts.segments if facts is not None else None) or NO_SEGMENTS, reducers)
    if scans.segments:
        node = _replaced(node, scans.replacements(node))
    topics = facts.topics if facts is not None else {}
    node, binaries = decoded_inputs(node, _replaced)
    known = _Inputs(plan.zone, reducers, scans, topics, _conditions(node), facts, binaries)
    return replace(_job(node, known, names), columns=plan.columns)


def _conditions(node: Node) -> dict[int, Rex]:
    """The conditions on all rows that are read of a table, by the identity of the scan."""
    every = [n for plan in with_ctes(node) for n in plan.walk()]
    readers = Counter(id(below) for n in every for below in n.inputs)
    filters = (n for n in every if isinstance(n, nodes.Filter) and isinstance(n.input, TableScan))
    return {id(each.input): each.condition for each in filters if readers[id(each.input)] == 1}


def shared(node: Node, zone: str) -> Node:
    """The plan with every native query run once, even if it is read twice, such as that of a CTE; the second time under
    other names.
    """
    queries = list(native_queries(node))
    if len(queries) < 2:
        return node
    first: dict[str, DruidQuery] = {}
    replacements: dict[int, Node] = {}
    for query in queries:
        read = native_query(query, zone)
        same = first.setdefault(repr((read.query, read.fields)), query)
        if same is not query:
            replacements[id(query)] = nodes.Project(query.columns, same, tuple(c.ref for c in same.columns))
    return _replaced(node, replacements) if replacements else node


def native_queries(node: Node) -> Iterator[DruidQuery]:
    """The native queries of a plan as they are sent: only the outermost of nested ones; including those of
    subqueries and of shared CTEs."""
    return (each for each in all_nodes(node) if isinstance(each, DruidQuery))


def _replaced(node: Node, replacements: dict[int, Node]) -> Node:
    if id(node) in replacements:
        return replacements[id(node)]
    if isinstance(node, CteScan):
        replacements[id(node.plan)] = plan = _replaced(node.plan, replacements)
        return node if plan is node.plan else replace(node, plan=plan)
    inputs = tuple(_replaced(i, replacements) for i in node.inputs)
    node = node if all(a is b for a, b in zip(inputs, node.inputs, strict=True)) else node.with_inputs(inputs)
    return map_subqueries(node, lambda plan: _replaced(plan, replacements))


@dataclass(frozen=True)
class _Inputs:
    """What is known of the native queries of a job, by the identity of their nodes; of topics by their tables, and the
    conditions on their records by the identity of the scan."""

    zone: str
    reducers: Mapping[int, tuple[KeyFilter, ...]] = field(default_factory=dict)
    scans: SegmentScans | None = None
    topics: Mapping[tuple[str, str], TopicState] = field(default_factory=dict)
    conditions: Mapping[int, Rex] = field(default_factory=dict)
    facts: PlannerFacts | None = None
    binaries: Mapping[int, Binaries] = field(default_factory=dict)

    def table_input(self, node: TableScan) -> TableInput:
        condition = self.conditions.get(id(node))
        topic = self.topic(node) if node.table.kind == "kafka" else None
        files = self.facts.file_count(node, condition) if self.facts is not None else None
        is_whole = self.facts is not None and self.facts.reads_whole_files and node.table.has_snapshots
        ids = {column.id: column.name for column in node.columns}
        chosen = self.facts.partition_choice(node.table, ids, condition) if self.facts is not None else None
        columns = tuple(c.name for c in node.columns)
        return TableInput("", node.table, columns, topic, files, is_whole=is_whole, partitions=chosen)

    def topic(self, node: TableScan) -> TopicScan:
        state = self.topics.get((node.table.database, node.table.name))
        return topic_scan(node, self.conditions.get(id(node)), state)

    def druid_input(self, node: DruidQuery, view: str) -> DruidInput:
        read, columns = native_query(node, self.zone), tuple(c.id for c in node.columns)
        binaries = self.binaries.get(id(node), {})
        made = DruidInput(view, read, columns, self.reducers.get(id(node), ()), binaries=binaries)
        return made if self.scans is None else self.scans.applied(made, node)


def _job(node: Node, known: _Inputs, names: tuple[str, ...] | None) -> SparkJob:
    from hivedruid.plan.spark_sql import View, to_spark_sql

    inputs: list[DruidInput | TableInput] = []
    views: dict[int, str] = {}
    tables = TableViews(node, known.table_input)
    table_views: dict[int, str] = {}
    computed: list[ScriptInput | CteInput] = []

    def number_of_views() -> int:
        return len(inputs) + len(computed)

    def text_of(node: Node, names: tuple[str, ...] | None = None) -> str:
        return to_spark_sql(node, known.zone, leaf, names, tables.pruning)

    def leaf(node: Node) -> View | None:
        if isinstance(node, DruidQuery):
            if id(node) not in views:
                views[id(node)] = f"druid_{number_of_views()}"
                inputs.append(known.druid_input(node, views[id(node)]))
            return View(views[id(node)])
        if isinstance(node, TableScan):
            number = tables.number(node)
            if number not in table_views:
                table_views[number] = name = f"{view_name(node.table)}_{number_of_views()}"
                inputs.append(tables.input(number, name))
            return View(table_views[number], tables.has_more(node))
        if isinstance(node, Transform):
            if id(node) not in views:
                read = node.input.columns
                text = text_of(node.input, tuple(f"_{i}" for i in range(len(read))))
                views[id(node)] = view = f"script_{number_of_views()}"
                made = tuple(Column(c.id, c.type) for c in node.columns)
                computed.append(ScriptInput(view, text, tuple(c.type for c in read), node.script, made))
            return View(views[id(node)])
        if isinstance(node, CteScan):
            if id(node.plan) not in views:
                text = text_of(node.plan)
                views[id(node.plan)] = view = f"cte_{number_of_views()}"
                computed.append(CteInput(view, node.name, text))
            return View(views[id(node.plan)])
        return None

    sql = text_of(node, names)
    columns = tuple(ResultColumn(c.name, c.type) for c in node.columns)
    return SparkJob(sql, tuple(inputs), columns, tuple(computed))


def ordered_outside(node: Node, new_column: Callable[..., PlanColumn]) -> Node:
    """Repeat the order above operators that Spark runs over ordered rows of Druid: Spark does not keep its inputs'
    order.
    """
    below: list[nodes.Project | nodes.Filter] = []
    bottom = node
    while isinstance(bottom, nodes.Project | nodes.Filter):
        below.append(bottom)
        bottom = bottom.input
    if not below or not isinstance(bottom, DruidQuery) or not bottom.sort:
        return node
    hidden = tuple(new_column(f"_s{i}", k.rex.type) for i, k in enumerate(bottom.sort))
    rebuilt: Node = replace(
        bottom, columns=(*bottom.columns, *hidden), exprs=(*bottom.exprs, *(k.rex for k in bottom.sort))
    )
    for step in reversed(below):
        columns = (*step.columns, *hidden)
        if isinstance(step, nodes.Project):
            rebuilt = nodes.Project(columns, rebuilt, (*step.exprs, *(h.ref for h in hidden)))
        else:
            rebuilt = nodes.Filter(rebuilt.columns, rebuilt, step.condition)
    keys = tuple(SortKey(h.ref, k.descending, k.nulls_first) for h, k in zip(hidden, bottom.sort, strict=True))
    rebuilt = nodes.Sort(rebuilt.columns, rebuilt, keys)
    return nodes.Project(node.columns, rebuilt, tuple(c.ref for c in node.columns))


__all__ = [
    "QueryPlan",
    "constant_rows",
    "druid_read",
    "native_queries",
    "optimized",
    "plan_query",
    "shared",
    "spark_job",
]
