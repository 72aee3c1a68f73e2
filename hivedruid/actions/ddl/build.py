"""The actions of DDL statements. Pure: the snapshot holds all facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from hivedruid.actions.compacting import build as compaction
from hivedruid.actions.ddl import retention
from hivedruid.actions.ddl.in_metastore import in_its_catalog
from hivedruid.actions.ddl.model import AddTable, ReplaceTable, UseDatabaseAction
from hivedruid.actions.ddl.new_table import new_table
from hivedruid.actions.ingesting.check import checks
from hivedruid.actions.lookup import (
    already_exists,
    database_of,
    refuse_loose_files,
    refuse_temporary,
    require_database,
    table_of_name,
    verb_of,
)
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.properties import RETENTION_RULES
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, Span, listed_names
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements import ddl as s
from hivedruid.script import SourceStatement
from hivedruid.tables import definition, druid_tables, hive_tables
from hivedruid.tables.placement import placed
from hivedruid.tables.property_checks import validate

MOST_LISTED = 5
"""The number of missing columns that a note names."""

ViewColumns = Callable[[exp.Expr], tuple[Column, ...]]
"""The output columns of a query, as the planner sees them."""


def build(
    statement: Statement, snapshot: Snapshot, note: Note | None = None, *, view_columns: ViewColumns | None = None
) -> StatementPlan:
    """The actions of a statement of `parser.statements.ddl`. Empty if there is nothing to do (IF [NOT] EXISTS).

    `note` receives notes on what a change of a table does not affect. `view_columns` returns the output columns of a
    view's query; by default the planner does.
    Raises SemanticError and UnsupportedError, with the position, if Hive's rules forbid the statement.
    """
    assert isinstance(statement, s.DdlStatement)
    if isinstance(statement, s.CreateTable | s.SetTableProperties):
        retention.check_rules(statement.properties)
    if isinstance(statement, s.CreateTable):
        database = database_of(statement.name, snapshot)
        statement, moved = placed(statement, snapshot.warehouse, database, snapshot.database_location)
        for text, span in (
            *([moved] if moved else ()), *hive_tables.without_effect(statement, definition.table_kind(statement))
        ):  # fmt: skip
            if note is not None:
                note(text, span)
    if isinstance(statement, s.CreateTable) and statement.query is not None:
        from hivedruid.actions.writing.insert import create_as

        return create_as(statement, snapshot, note)
    actions = _actions(statement, snapshot, view_columns or _planned_columns(statement.source, snapshot), note)
    if note is not None:
        if isinstance(statement, s.CreateTable) and statement.supervisor is not None and actions:
            from hivedruid.actions.ddl.supervisors import notes

            for text, span in notes(statement, snapshot):
                note(text, span)
        for change in actions:
            for text, span in _notes(statement, change, snapshot):
                note(text, span)
    return StatementPlan(actions)


def _notes(statement: Statement, change: Action, snapshot: Snapshot) -> Iterator[tuple[str, Span | None]]:
    if isinstance(change, ReplaceTable):
        from hivedruid.actions.ddl import alter

        yield from ((text, None) for text in alter.unaffected_row_notes(change))
    elif isinstance(change, AddTable) and isinstance(statement, s.CreateTable) and change.table.format == "textfile":
        from hivedruid.actions.ddl.text_notes import text_notes

        yield from text_notes(statement, change.table, snapshot.first_lines)


def _actions(
    statement: s.DdlStatement, snapshot: Snapshot, view_columns: ViewColumns, note: Note | None
) -> tuple[Action, ...]:
    match statement:
        case s.CreateTable():
            return _create_table(statement, snapshot, note)
        case s.DropTable() | s.TruncateTable() | s.DropDatabase() | s.DropView():
            from hivedruid.actions.ddl import removal

            return removal.build(statement, snapshot, note)
        case s.ChangeColumn() | s.ReplaceColumns() | s.AddConstraint() | s.DropConstraint():
            from hivedruid.actions.ddl import columns

            return columns.build(statement, snapshot, note)
        case (
            s.SetTableProperties()
            | s.UnsetTableProperties()
            | s.AddColumns()
            | s.SetPartitionSpec()
            | s.ChangeStorage()
            | s.RenameTable()
        ):
            from hivedruid.actions.ddl import alter

            return alter.build(statement, snapshot)
        case s.CreateDatabase() | s.AlterDatabase():
            from hivedruid.actions.ddl import databases

            return databases.build(statement, snapshot, note)
        case s.UseDatabase():
            return _use(statement, snapshot)
        case s.CreateView():
            return _create_view(statement, snapshot, view_columns)
        case s.CreateFunction() | s.DropFunction():
            from hivedruid.actions.ddl import user_functions

            return user_functions.build(statement, snapshot)
        case _:
            assert_never(statement)


def _planned_columns(source: SourceStatement, snapshot: Snapshot) -> ViewColumns:
    def columns(query: exp.Expr) -> tuple[Column, ...]:
        from hivedruid.plan.split import plan_query

        plan = plan_query(query, source, snapshot)
        return tuple(Column(c.name, c.type) for c in plan.columns)

    return columns


def _create_table(statement: s.CreateTable, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    table = new_table(statement, snapshot)
    if table is None:
        if note is not None and (text := _without_columns(statement, snapshot)):
            note(text, statement.name.span)
        return ()
    table = in_its_catalog(table, statement.name.span, snapshot)
    supervisor = statement.supervisor.id if statement.supervisor is not None else ""
    configured = *compaction.changed(None, table, snapshot), *retention.changed(None, table, snapshot, _span(statement))
    # a running supervisor shows by itself whether the ingestion works
    checked = *(() if supervisor else checks(table, snapshot.settings)), *configured
    verb = verb_of(statement.properties)
    if verb is None:
        return *checked, AddTable(table, supervisor=supervisor)
    from hivedruid.actions.ingesting import build as ingestion

    table = replace(table, table_id=snapshot.fresh_id)
    return *checked, AddTable(table, supervisor=supervisor), *ingestion.with_verb(table, verb, snapshot)


def _without_columns(statement: s.CreateTable, snapshot: Snapshot) -> str:
    """A note on the declared columns that the table of IF NOT EXISTS does not have; empty if it has them."""
    existing = snapshot.table(database_of(statement.name, snapshot), statement.name.name)
    names = {column.name for column in existing.columns} if existing is not None else set()
    missing = [column.name for column in statement.columns if column.name not in names]
    if existing is None or not missing:
        return ""
    return f"{existing.full_name} exists with other columns and is kept: it has no {listed_names(missing, MOST_LISTED)}"


def _span(statement: s.CreateTable) -> Span | None:
    """The position of the retention rules."""
    return next((item.value_span for item in statement.properties if item.key == RETENTION_RULES), None)


def _use(statement: s.UseDatabase, snapshot: Snapshot) -> tuple[Action, ...]:
    require_database(statement.name, statement.span, snapshot)
    return (UseDatabaseAction(statement.name),)


def _create_view(statement: s.CreateView, snapshot: Snapshot, view_columns: ViewColumns) -> tuple[Action, ...]:
    database = database_of(statement.name, snapshot)
    existing = snapshot.table(database, statement.name.name)
    is_temporary = statement.temporary or (statement.alters and existing is not None and existing.is_temporary)
    if existing is not None and statement.if_not_exists:
        return ()
    existing = table_of_name(database, statement.name.name, snapshot, temporary=is_temporary)
    if existing is None and statement.alters:
        raise SemanticError(
            f"Cannot ALTER VIEW AS SELECT if view currently does not exist: {database}.{statement.name.name}",
            span=statement.name.span,
            hint="use CREATE VIEW",
        )
    if existing is not None:
        if not statement.or_replace:
            raise already_exists(existing, statement.name.span)
        if not existing.is_view:
            raise SemanticError(
                f"{existing.full_name} is not a view", span=statement.name.span, hint="choose another name"
            )
    refuse = refuse_loose_files if is_temporary else refuse_temporary
    refuse("View definition", statement.name.span, snapshot)
    columns = _renamed(statement, view_columns(statement.query))
    properties = validate(statement.properties, "view")
    comment = statement.comment or properties.pop("comment", "")
    if statement.alters and existing is not None:
        comment, properties = existing.comment, dict(existing.properties)
    from hivedruid.actions.ddl.views import qualified

    table = Table(
        database, statement.name.name, "view", columns, comment=comment, properties=properties,
        view_text=qualified(statement.query_text, snapshot.database, snapshot.functions),
        table_id=existing.table_id if existing else "", in_session=is_temporary,
    )  # fmt: skip
    table = in_its_catalog(table, statement.name.span, snapshot) if existing is None else table
    return (AddTable(table, replace=existing is not None),)


def _renamed(statement: s.CreateView, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    plain = druid_tables.plain_columns(columns)
    if not statement.columns:
        names = [column.name for column in plain]
        for name in names:
            if names.count(name) > 1:
                raise SemanticError(
                    f"Duplicate column name {name} in the view definition.",
                    span=statement.name.span,
                    hint="name the columns of the SELECT with AS",
                )
        return plain
    if len(plain) != len(statement.columns):
        raise SemanticError(
            f"the view lists {len(statement.columns)} columns, but its query returns {len(plain)}",
            span=statement.name.span,
            hint="list one name for each column of the SELECT, or none",
        )
    named = zip(plain, statement.columns, statement.column_comments, strict=True)
    return tuple(replace(column, name=name, comment=comment) for column, name, comment in named)
