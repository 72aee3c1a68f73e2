"""The actions of statements about materialized views. Pure: the snapshot holds the state of their sources."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, assert_never

from hivedruid.actions.ddl.model import ReplaceTable
from hivedruid.actions.ddl.new_table import new_table
from hivedruid.actions.ddl.removal import removal
from hivedruid.actions.ddl.retention import check_rules
from hivedruid.actions.ddl.views import qualified
from hivedruid.actions.lookup import find_table, may_be_missing, refuse_if_used, refuse_temporary
from hivedruid.actions.materialized.describe import facts_of, stale, yes_no
from hivedruid.actions.materialized.lossless import root_checks
from hivedruid.actions.materialized.model import BuildView, RootChecks
from hivedruid.actions.materialized.rebuild import Incremental, incremental, within
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.utility.model import Show
from hivedruid.actions.writing.insert import refuse_unknown_types, write
from hivedruid.actions.writing.model import IngestDruid, WriteTable
from hivedruid.catalog import types as t
from hivedruid.catalog.druid_columns import PATHS, STORED_AS
from hivedruid.catalog.materialized_views import TABLE_TIME_WINDOW, TIME_WINDOW, Built, ViewFacts
from hivedruid.catalog.properties import AUTO_COMPACTION, has_ingestion
from hivedruid.catalog.table import Column, Table
from hivedruid.druid.intervals import iso
from hivedruid.errors import HiveDruidError, SemanticError, Span, UnsupportedError
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements import materialized as m
from hivedruid.parser.statements.ddl import Property
from hivedruid.plan import materialize
from hivedruid.plan.blocks import definition_of
from hivedruid.plan.build import Builder
from hivedruid.plan.nodes import Node, TableScan
from hivedruid.results import ResultColumn
from hivedruid.setting_types import is_span, span_seconds

if TYPE_CHECKING:
    from sqlglot import exp


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """The actions of a statement about materialized views."""
    assert isinstance(statement, m.MaterializedStatement)
    match statement:
        case m.CreateMaterializedView():
            return _create(statement, snapshot, note)
        case m.AlterMaterializedView():
            return _rebuild(statement, snapshot, note) if statement.what == "rebuild" else _enable(statement, snapshot)
        case m.DropMaterializedView():
            return _drop(statement, snapshot)
        case m.ShowMaterializedViews():
            return StatementPlan((_show(statement, snapshot),))
        case _:
            assert_never(statement)


# --- CREATE ----------------------------------------------------------------------------------------------------


def _create(statement: m.CreateMaterializedView, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    quiet = replace(snapshot, settings={**snapshot.settings, **materialize.EXACT}, materialized_views=())
    builder = Builder(statement.source, quiet, note)
    node = builder.whole(statement.query)
    refuse_unknown_types(node, builder.span(statement.query))
    if any(isinstance(each, TableScan) and each.table.snapshot is not None for each in node.walk()):
        raise UnsupportedError(
            "a materialized view cannot read a former snapshot of a table: it is rebuilt from current rows",
            span=statement.name.span,
            hint="create a table with CREATE TABLE … AS SELECT",
        )
    for source in snapshot.tables.values():
        source.check("materialize", statement.name.span)
        if source.is_tiered:
            raise UnsupportedError(
                f"a materialized view cannot read a tiered table, {source.full_name}: whether its rows have changed is"
                " not tracked",
                span=statement.name.span,
                hint="create a table with CREATE TABLE … AS SELECT",
            )
    refuse_temporary("Materialized view definition", statement.name.span, snapshot)
    table = _table(statement, node, snapshot)
    if table is None:
        return StatementPlan(())
    unfit = _unfit(node, snapshot, statement.query, statement.source)
    built = _built(table, quiet, unfit)
    if statement.rewrite and note is not None:
        reason = unfit or materialize.fit_definition(table, node)
        if isinstance(reason, str):
            note(f"queries are never answered from {table.full_name}: {reason}", None)
    names = [c.name for c in node.columns]
    order = [names.index(c.name) for c in table.columns]
    plan, action = write(table, node, order, builder, quiet, "nothing")
    assert isinstance(action, IngestDruid | WriteTable)
    checks = _checks(node, builder) if statement.rewrite and not unfit else None
    return StatementPlan((BuildView(action, built, creates=True, why="the first build", checks=checks),), (plan,))


_CHANGES_VALUES = frozenset({STORED_AS, PATHS, "druid.columns.aggregators", "druid.metricsSpec"})


def _table(statement: m.CreateMaterializedView, node: Node, snapshot: Snapshot) -> Table | None:
    """The table that holds the view's rows; None for IF NOT EXISTS if it exists."""
    given = {item.key: item for item in statement.table.properties}
    clauses = statement.table
    check_rules(clauses.properties)
    if has_ingestion(dict.fromkeys(given, "")):
        raise SemanticError(
            "a materialized view cannot ingest from Kafka", span=statement.name.span, hint="remove the kafka properties"
        )
    if AUTO_COMPACTION in given:
        raise SemanticError(
            "a materialized view cannot be compacted automatically: each REBUILD rewrites it",
            span=given[AUTO_COMPACTION].key_span,
            hint=f"remove {AUTO_COMPACTION}; ALTER TABLE … COMPACT 'major' compacts it",
        )
    for key in _CHANGES_VALUES & given.keys():
        raise SemanticError(
            f"a materialized view stores the values of its query: '{key}' would change them",
            span=given[key].key_span,
            hint="remove it, and compute the stored values in the SELECT",
        )
    if clauses.storage_handler is not None and "kafka" in clauses.storage_handler.lower():
        raise SemanticError(
            "a materialized view cannot be stored in Kafka", span=clauses.storage_handler_span, hint="STORED BY druid"
        )
    window = given.get(TABLE_TIME_WINDOW)
    if window is not None and not is_span(window.value):
        raise SemanticError(
            f"'{window.value}' is not a valid {TABLE_TIME_WINDOW}: use a duration such as 10min, 2h or 1d",
            span=window.value_span,
            hint="0min: the view is not used after a source has changed",
        )
    if clauses.storage_handler is not None:
        granularity = snapshot.settings.get("hive.druid.indexer.segments.granularity", "DAY")
        own = {
            "druid.rollup": "false",
            "druid.segment.granularity": granularity,
        }  # rows must not be summed, and partitions must not change
        added = tuple(Property(key, value) for key, value in own.items() if key not in given)
        clauses = replace(clauses, properties=(*clauses.properties, *added))
    columns = tuple(Column(c.name, t.STRING if c.type is t.VOID else c.type) for c in node.columns)
    table = new_table(clauses, snapshot, columns)
    if table is None:
        return None
    if table.has_data_source and table.data_source in snapshot.discovered:
        raise SemanticError(
            f"Data source [{table.data_source}] already existing",
            span=statement.name.span,
            hint="choose another druid.datasource, or drop that data source first",
        )
    text = qualified(statement.query_text, snapshot.database, snapshot.functions)
    return replace(table, view_text=text, rewrite_enabled=statement.rewrite)


def _unfit(node: Node, snapshot: Snapshot, query: exp.Expr, source: Any) -> str:
    """Why other queries cannot use the rows of a build: the meaning of the view's query changes over time."""
    if materialize.changes_by_itself(node):
        return "its query calls functions whose results depend on the user or the time"
    later = replace(snapshot, now=snapshot.now + timedelta(days=400, hours=5, seconds=7), materialized_views=())
    then = replace(later, now=snapshot.now)
    if Builder(source, later).query(query, None) != Builder(source, then).query(query, None):
        return "its query depends on the current time"
    return ""


def _checks(node: Node, builder: Builder) -> RootChecks | None:
    """The checks whether the view's joins keep every row of a table; only for views without aggregation."""
    definition = definition_of(node)
    if isinstance(definition, str) or definition.keys is not None:
        return None
    return root_checks(definition, builder)


def _built(table: Table, snapshot: Snapshot, unfit: str) -> Built:
    states = {name: state for name, state in sorted(snapshot.source_states.items()) if name != table.full_name}
    settings = {key: snapshot.settings[key] for key in materialize.BUILT_WITH if key in snapshot.settings}
    return Built(tuple(states), states, None, settings, snapshot.now.isoformat(), unfit=unfit)


# --- ALTER, DROP -----------------------------------------------------------------------------------------------


def find_view(name: TableName, snapshot: Snapshot) -> Table:
    table = find_table(name, snapshot)
    if not table.is_materialized:
        what = "a view" if table.is_view else "a table"
        raise SemanticError(
            f"{table.full_name} is {what}, not a materialized view",
            span=name.span,
            hint="SHOW MATERIALIZED VIEWS lists them",
        )
    return table


def _enable(statement: m.AlterMaterializedView, snapshot: Snapshot) -> StatementPlan:
    table = find_view(statement.name, snapshot)
    after = replace(table, rewrite_enabled=statement.what == "enable")
    return StatementPlan(() if after == table else (ReplaceTable(table, after),))


def _drop(statement: m.DropMaterializedView, snapshot: Snapshot) -> StatementPlan:
    name = statement.name
    if may_be_missing(name, snapshot, if_exists=statement.if_exists):
        return StatementPlan(())
    table = find_view(name, snapshot)
    refuse_if_used(table, "drop", name.span, snapshot)
    return StatementPlan((removal(table, snapshot),))


# --- REBUILD ---------------------------------------------------------------------------------------------------


def _rebuild(statement: m.AlterMaterializedView, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    table = find_view(statement.name, snapshot)
    facts = facts_of(table, snapshot)
    settings = {key: snapshot.settings[key] for key in materialize.BUILT_WITH if key in snapshot.settings}
    builder, expression = materialize.view_builder(table, snapshot, settings)
    node = builder.complete(expression)  # type: ignore[arg-type]
    _check_columns(table, node, statement.name.span)
    same = dict(facts.built.settings) == settings
    if not facts.staleness and same and not facts.built.unfit:
        if note is not None:
            note(f"{table.full_name} is up to date; nothing to do", None)
        return StatementPlan(())
    unfit = _unfit(node, builder.snapshot, expression, builder.source)  # type: ignore[arg-type]
    built = _built(table, snapshot, unfit)
    other = not same and facts.built.sources is not None
    found = unfit or ("the session's settings differ" if other else incremental(facts, built, node))
    if isinstance(found, Incremental) and not found.intervals:
        found = "the changed rows cannot be determined"
    full = isinstance(found, str)
    if isinstance(found, Incremental):
        node = within(node, found)
    names = [c.name for c in node.columns]
    order = [names.index(c.name) for c in table.columns]
    plan, action = write(table, node, order, builder, snapshot, "all")
    assert isinstance(action, IngestDruid | WriteTable)
    if full:
        why = f"all rows, because {found}"
        checks = _checks(node, builder) if table.rewrite_enabled and not unfit else None
        return StatementPlan(
            (BuildView(action, built, creates=False, why=why, base=facts.built, checks=checks),), (plan,)
        )
    assert isinstance(found, Incremental)
    assert isinstance(action, IngestDruid)
    spans = [f"{iso(start)}/{iso(end)}" for start, end in found.intervals]
    action = replace(action, spec=_in_intervals(action.spec, spans), replaces="intervals")
    built = replace(built, rows=facts.built.rows)
    why = f"incremental, the intervals that have changed: {', '.join(spans)}"
    return StatementPlan(
        (BuildView(action, built, creates=False, why=why, base=facts.built, intervals=found.intervals),), (plan,)
    )


def _check_columns(table: Table, node: Node, span: Span | None) -> None:
    if [(c.name, c.type) for c in node.columns] != [(c.name, c.type) for c in table.columns]:
        raise SemanticError(
            f"the columns of the query of {table.full_name} have changed since it was created",
            span=span,
            hint="drop it with DROP MATERIALIZED VIEW and create it again",
        )


def _in_intervals(spec: Any, spans: list[str]) -> dict[str, Any]:
    task = {**spec, "spec": {**spec["spec"], "dataSchema": {**spec["spec"]["dataSchema"]}}}
    schema = task["spec"]["dataSchema"]
    schema["granularitySpec"] = {**schema["granularitySpec"], "intervals": spans}
    return task


# --- SHOW ------------------------------------------------------------------------------------------------------

COLUMNS = ("mv_name", "rewriting_enabled", "mode", "incremental_rebuild", "stale")


def _show(statement: m.ShowMaterializedViews, snapshot: Snapshot) -> Show:
    from hivedruid.actions.utility.show import matches, require_database

    database = statement.database or snapshot.database
    require_database(database, statement.span, snapshot)
    rows = [
        (
            facts.table.name,
            yes_no(facts.table.rewrite_enabled),
            _mode(facts, snapshot),
            _rebuilds(facts, snapshot),
            stale(facts),
        )
        for facts in snapshot.materialized_views
        if statement.like is None or matches(statement.like, facts.table.name)
    ]
    return Show(tuple(ResultColumn(name, t.STRING) for name in COLUMNS), tuple(rows))


def _mode(facts: ViewFacts, snapshot: Snapshot) -> str:
    """As Hive formats it (ShowMaterializedViewsFormatter)."""
    window = facts.table.properties.get(TABLE_TIME_WINDOW) or snapshot.settings.get(TIME_WINDOW) or "0min"
    seconds = span_seconds(window)
    if seconds == 0:
        return "Manual refresh"
    return "Manual refresh (Valid always)" if seconds < 0 else f"Manual refresh (Valid for {seconds:g}s)"


def _rebuilds(facts: ViewFacts, snapshot: Snapshot) -> str:
    try:
        node = materialize.view_node(facts.table, snapshot, facts.built.settings)
    except HiveDruidError:
        return "Unknown"
    found = incremental(facts, replace(facts.built, sources=dict(facts.sources)), node)
    if isinstance(found, str):
        return "Not available"
    return "Available"
