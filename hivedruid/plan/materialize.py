"""Automatic rewriting: replaces blocks of a query with materialized views that contain their rows.

Hive's rewriting is Calcite's (MaterializedViewRule: a block of joined tables, with or without GROUP BY, from a view of
the same tables). This one works in the same way; it matches views before any other rule runs, and uses only columns
that the view stores exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog.functions import SPARK_PREFIXES, shown_name
from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.errors import HiveDruidError
from hivedruid.plan.blocks import Block, Definition, block_of, definition_of
from hivedruid.plan.build import Builder
from hivedruid.plan.nodes import Aggregate, Filter, Join, Node, Project, TableScan, map_subqueries
from hivedruid.plan.optimizer import optimize, prune
from hivedruid.plan.rex import Agg, Call, Literal, Rex, substitute, walk
from hivedruid.plan.rules.context import Rule, RuleContext
from hivedruid.plan.rules.filter import (
    filter_aggregate_transpose,
    filter_into_join,
    filter_merge,
    filter_project_transpose,
    filter_set_op_transpose,
    filter_true,
    join_condition_push,
)
from hivedruid.plan.view_columns import MissingError
from hivedruid.plan.view_match import (
    MaterializedView,
    groups_from_groups,
    groups_from_rows,
    match,
    rows_from,
)
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from hivedruid.catalog.materialized_views import ViewFacts
    from hivedruid.plan.facts import PlannerFacts

EXACT: Mapping[str, str] = {"hivedruid.approximate": "never"}
"""Settings of builds: a view that has estimates would change the answers of exact queries."""

_BEFORE: tuple[Rule, ...] = (
    filter_true,
    filter_merge,
    filter_project_transpose,
    filter_aggregate_transpose,
    filter_into_join,
    filter_set_op_transpose,
    join_condition_push,
)
"""Push conditions down to their tables, so that blocks contain all conditions on their rows."""


def answered_from_views(node: Node, builder: Builder, context: RuleContext, messages: list[str]) -> Node:
    """The query rewritten with the usable materialized views of the snapshot that contain its rows.

    `messages` receives one sentence per view: which tables it replaces, or why it is not used.
    """
    from hivedruid.catalog.materialized_views import is_within_window

    views: list[MaterializedView] = []
    for facts in builder.snapshot.materialized_views:
        name, stale = facts.table.full_name, facts.staleness
        if not facts.table.rewrite_enabled:
            messages.append(f"{name} is not used: its rewriting is disabled")
            continue
        if stale and not is_within_window(facts, builder.snapshot.settings, builder.snapshot.now):
            messages.append(f"{name} is not used: it is stale, {stale}")
            continue
        view = view_of(facts, builder)
        if isinstance(view, str):
            messages.append(f"{name} is not used: {view}")
        else:
            views.append(view)
    return rewrite(node, views, context, messages) if views else node


def view_of(facts: ViewFacts, builder: Builder) -> MaterializedView | str:
    """A view as of its last build, or the reason why it cannot be used."""
    table, built = facts.table, facts.built
    try:
        node = view_node(table, builder.snapshot, built.settings, builder.ids)
    except HiveDruidError as error:
        return f"its query can no longer be planned: {error.message}"
    zone = built.settings.get(ZONE, "UTC")
    if zone != builder.zone and depends_on_zone(node):
        return f"it was built in the time zone {zone}"
    definition = fit_definition(table, node)
    if built.unfit or isinstance(definition, str):
        return built.unfit or str(definition)
    return MaterializedView(table, definition, builder.zone, built.rows, built.root)


ZONE = "hive.local.time.zone"
BUILT_WITH = (ZONE, "hive.groupby.position.alias", "hive.orderby.position.alias")
"""The settings that affect the meaning of a query."""


def view_node(
    table: Table, snapshot: PlannerFacts, settings: Mapping[str, str], ids: dict[str, int] | None = None
) -> Node:
    """The plan of a view's query as the settings of a build make it. Raises HiveDruidError if it can no longer be
    planned."""
    builder, expression = view_builder(table, snapshot, settings, ids)
    return builder.complete(expression)  # type: ignore[arg-type]


def view_builder(
    table: Table, snapshot: PlannerFacts, settings: Mapping[str, str], ids: dict[str, int] | None = None
) -> tuple[Builder, object]:
    """A builder for a view's query, and the query. Other views are not used for it."""
    from hivedruid.parser import parse

    source = SourceStatement(table.view_text or "", file=f"materialized view {table.full_name}")
    exact = {**snapshot.settings, **settings, **EXACT}
    quiet = replace(snapshot.within(table.database), settings=exact, materialized_views=())
    return Builder(source, quiet, None, ids), parse(source).expression  # type: ignore[attr-defined]


def fit_definition(table: Table, node: Node) -> Definition | str:
    """The definition of a view's rows, or the reason why it cannot be used for rewriting."""
    if [c.type for c in node.columns] != [c.type for c in table.columns]:
        return "the columns of its query have changed since it was built"
    if table.properties.get("druid.rollup", "false").lower() == "true":
        return "druid.rollup merges its rows"
    if table.properties.get("druid.query.granularity", "NONE").upper() != "NONE":
        return f"druid.query.granularity rounds its {TIME_COLUMN}"
    for rex in (part for inner in node.walk() for e in inner.expressions() for part in walk(e)):
        if isinstance(rex, Call | Agg) and rex.op.startswith(SPARK_PREFIXES):
            return f"it calls {shown_name(rex.op)}(), whose code may change"
    return definition_of(node)


def depends_on_zone(node: Node) -> bool:
    """Whether a plan depends on the time zone: it truncates or casts zoned times, or contains zoned literals."""
    return any(_is_zoned(rex) for inner in node.walk() for e in inner.expressions() for rex in walk(e))


_SAME_EVERYWHERE = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "is_null", "is_not_null", "in", "and", "or"})


def _is_zoned(rex: Rex) -> bool:
    if isinstance(rex, Literal):
        return rex.type.name.endswith("zone")
    if not isinstance(rex, Call) or rex.op in _SAME_EVERYWHERE:
        return False
    return rex.type.name.endswith("zone") or any(a.type.name.endswith("zone") for a in rex.args)


_CONSTANTS = frozenset({"pi", "e", "array", "map"})


def changes_by_itself(node: Node) -> bool:
    """Whether a plan calls functions that depend on the session or the clock."""
    return any(
        isinstance(rex, Call) and not rex.args and rex.op not in _CONSTANTS
        for inner in node.walk()
        for e in inner.expressions()
        for rex in walk(e)
    )


def rewrite(node: Node, views: Sequence[MaterializedView], context: RuleContext, messages: list[str]) -> Node:
    """The query over views if they contain what it needs, otherwise unchanged. `messages` receives the outcome.

    The smallest view is preferred, then the first by name.
    """
    order = sorted(views, key=lambda v: (v.rows is None, v.rows or 0, v.table.full_name))
    rewriter = _Rewriter(order, context)
    required = {c.id for c in node.columns}
    prepared = prune(optimize(node, context, _BEFORE), required)
    rewritten = rewriter.visit(prepared)
    for view in order:
        name = view.table.full_name
        if name in rewriter.used:
            messages.append(f"{name} is used instead of {_listed(_names(view))}")
        elif name in rewriter.reasons:
            messages.append(f"{name} is not used: {rewriter.reasons[name]}")
    return rewritten if rewriter.used else node


def _names(view: MaterializedView) -> list[str]:
    return [scan.table.full_name for scan in view.definition.block.scans]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


class _Rewriter:
    def __init__(self, views: Sequence[MaterializedView], context: RuleContext) -> None:
        self.views = views
        self.context = context
        self.used: set[str] = set()
        self.reasons: dict[str, str] = {}

    def visit(self, node: Node) -> Node:
        """The largest blocks first."""
        rewritten = self._answer(node)
        if rewritten is not None:
            return rewritten
        inputs = tuple(self.visit(i) for i in node.inputs)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            node = node.with_inputs(inputs)
        return map_subqueries(node, lambda plan: self.visit(prune(plan, {c.id for c in plan.columns})))

    def _answer(self, node: Node) -> Node | None:
        if isinstance(node, Aggregate):
            below = block_of(node.input)
            return None if below is None else self._first(node, below)
        if isinstance(node, Project | Filter | Join | TableScan):
            block = block_of(node)
            return None if block is None else self._first(node, block)
        return None

    def _first(self, node: Node, block: Block) -> Node | None:
        for view in self.views:
            try:
                answered = _answered(node, block, view, self.context)
            except MissingError as missing:
                self.reasons.setdefault(view.table.full_name, missing.reason)
                continue
            self.used.add(view.table.full_name)
            return answered
        return None


def _answered(node: Node, block: Block, view: MaterializedView, context: RuleContext) -> Node:
    view_match = match(block, view, context.new_column)
    if not isinstance(node, Aggregate):
        return rows_from(view_match, node, block)
    exprs = dict(block.exprs)
    keys = [substitute(k, exprs) for k in node.keys]
    calls = [c for c in (substitute(c, exprs) for c in node.calls) if isinstance(c, Agg)]
    if view_match.keys is None:
        return groups_from_rows(view_match, node, keys, calls)
    return groups_from_groups(view_match, node, keys, calls, context.new_column)
