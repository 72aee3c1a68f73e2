"""DDL and utility statements to actions. Pure: what they need to know is in the snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from hivedruid.actions import alter, compaction, ingestion, removal
from hivedruid.actions.changes import (
    AddDatabase,
    AddTable,
    ChangeSetting,
    ReplaceTable,
    ResetSetting,
    UseDatabaseAction,
)
from hivedruid.actions.check_ingestion import checks
from hivedruid.actions.lookup import already_exists, database_of, find_table, require_database
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog import definition, druid_tables, hive_tables
from hivedruid.catalog.kafka_feed import check_druid_properties
from hivedruid.catalog.properties import COLUMN_MAPPING, KAFKA_INGESTION, is_fed
from hivedruid.catalog.property_checks import validate
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import PlanError, SemanticError, Span, UnsupportedError
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements import ddl as s
from hivedruid.parser.statements import utility as u

Note = Callable[[str, Span | None], None]
ViewColumns = Callable[[exp.Expr], tuple[Column, ...]]
"""The output columns of a query, as the planner sees them."""


def build(
    statement: Statement,
    snapshot: Snapshot,
    view_columns: ViewColumns | None = None,
    note: Note | None = None,
) -> tuple[Action, ...]:
    """The actions of a statement of `parser.statements.ddl` or `.utility` (SOURCE is the session's).

    Empty where there is nothing to do (IF [NOT] EXISTS). CREATE TABLE … AS SELECT is the insert builder's, by `new_table`.
    `note` hears what a change of a table does not do.
    Raises SemanticError and UnsupportedError, with the place, where Hive's rules forbid it.
    """
    if isinstance(statement, s.CreateView):
        return _create_view(statement, snapshot, view_columns)
    builder = _BUILDERS.get(type(statement))
    if builder is not None:
        actions = builder(statement, snapshot)
        for change in actions if note is not None else ():
            if isinstance(change, ReplaceTable) and note is not None:
                for text in alter.left_as_it_is(change):
                    note(text, None)
        return actions
    from hivedruid.actions import show

    return (show.build(statement, snapshot),)


def new_table(statement: s.CreateTable, snapshot: Snapshot, columns: tuple[Column, ...] | None = None) -> Table | None:
    """The table that CREATE TABLE makes; `columns` are the output of its AS SELECT. None: IF NOT EXISTS, and it exists."""
    database = database_of(statement.name, snapshot)
    existing = snapshot.table(database, statement.name.name)
    if existing is not None:
        if statement.if_not_exists:
            return None
        raise already_exists(existing, statement.name.span)
    if statement.like is not None:
        table = _like(statement, statement.like, database, snapshot)
    else:
        table = definition.define_table(statement, database, snapshot.settings, snapshot.discovered, columns)
        if snapshot.unreachable is not None and any(item.key == "druid.datasource" for item in statement.properties):
            table = replace(table, owns_data_source=False)  # nobody knows whether there is one already
    return table


def _create_table(statement: s.CreateTable, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.query is not None:
        raise PlanError("CREATE TABLE … AS SELECT reached the builder of plain DDL")
    table = new_table(statement, snapshot)
    if table is None:
        return ()
    checked = *checks(table, snapshot.settings), *compaction.changed(None, table, snapshot)
    verb = ingestion.verb_of(statement.properties)
    if verb is None:
        return *checked, AddTable(table)
    table = replace(table, table_id=snapshot.fresh_id)
    return *checked, AddTable(table), *ingestion.with_verb(table, verb, snapshot)


def _like(statement: s.CreateTable, like: TableName, database: str, snapshot: Snapshot) -> Table:
    """CREATE TABLE … LIKE: columns, format and properties of the other table, none of its data."""
    other = find_table(like, snapshot)
    if other.kind == "view" or other.is_materialized:
        raise UnsupportedError(
            "CREATE TABLE … LIKE a view is not supported", span=like.span, hint="use CREATE TABLE … AS SELECT … LIMIT 0"
        )
    external = statement.external or (other.external and other.kind == "kafka")
    kind = other.kind
    if kind in ("files", "iceberg"):
        kind = "files" if external else "iceberg"
    properties = {**other.properties, **validate(statement.properties, kind)}
    if kind == "druid":
        definition.check_verb(properties, statement.name.span)
        dropped = {KAFKA_INGESTION} if is_fed(properties) else {COLUMN_MAPPING}  # records keep their fields
        properties = {key: value for key, value in properties.items() if key not in dropped}
        check_druid_properties(properties, other.columns, statement.name.span)
        properties["druid.datasource"] = f"{database}.{statement.name.name}"  # a new one, the table's own
    location, found, serde = None, other.format, other.serde
    if kind == "files":
        found = statement.stored_as or other.format
        serde = other.serde if found == other.format else {}
        location = hive_tables.check_external(statement, other.columns)
    elif kind == "iceberg":
        found, serde = "orc", {}
        hive_tables.check_managed(statement, statement.stored_as or "orc")
    columns = tuple(replace(column, field=None) for column in other.columns)
    return Table(
        database, statement.name.name, kind, columns, external, statement.comment or other.comment,
        properties, serde, found, location, owns_data_source=kind == "druid",
    )  # fmt: skip


def _create_database(statement: s.CreateDatabase, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.name not in snapshot.databases:
        return (AddDatabase(statement.name, statement.comment),)
    if statement.if_not_exists:
        return ()
    raise SemanticError(
        f"Database {statement.name} already exists",
        span=statement.span,
        hint="write IF NOT EXISTS to leave it as it is",
    )


def _use(statement: s.UseDatabase, snapshot: Snapshot) -> tuple[Action, ...]:
    require_database(statement.name, statement.span, snapshot)
    return (UseDatabaseAction(statement.name),)


def _create_view(statement: s.CreateView, snapshot: Snapshot, view_columns: ViewColumns | None) -> tuple[Action, ...]:
    database = database_of(statement.name, snapshot)
    existing = snapshot.table(database, statement.name.name)
    if existing is not None:
        if statement.if_not_exists:
            return ()
        if not statement.or_replace:
            raise already_exists(existing, statement.name.span)
        if existing.kind != "view":
            raise SemanticError(
                f"{existing.full_name} is not a view", span=statement.name.span, hint="choose another name"
            )
    if view_columns is None:
        raise PlanError("CREATE VIEW needs the planner to name its columns")
    columns = _renamed(statement, view_columns(statement.query))
    properties = validate(statement.properties, "view")
    comment = statement.comment or properties.pop("comment", "")
    from hivedruid.actions.views import qualified

    table = Table(
        database, statement.name.name, "view", columns, comment=comment, properties=properties,
        view_text=qualified(statement.query_text, snapshot.database),
        table_id=existing.table_id if existing else "",
    )  # fmt: skip
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
            f"the view names {len(statement.columns)} columns, its query has {len(plain)}",
            span=statement.name.span,
            hint="give as many names as the SELECT has columns, or none",
        )
    named = zip(plain, statement.columns, statement.column_comments, strict=True)
    return tuple(replace(column, name=name, comment=comment) for column, name, comment in named)


def _set(statement: u.SetSetting, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.key is None or statement.value is None:
        from hivedruid.actions import show

        return (show.settings(statement, snapshot),)
    from hivedruid.settings import check

    key = statement.key.removeprefix("hiveconf:")
    if key.startswith("hivevar:"):
        return (ChangeSetting(key, statement.value),)
    for prefix in ("system:", "env:"):
        if key.startswith(prefix):
            raise SemanticError(
                f"'{prefix}' variables cannot be set", span=statement.span, hint="use SET hivevar:name=value"
            )
    return (ChangeSetting(key, check(key, statement.value, statement.span)),)


def _reset(statement: u.ResetSettings, _: Snapshot) -> tuple[Action, ...]:
    return (ResetSetting(statement.key),)


_BUILDERS: dict[type[Statement], Callable[[Any, Snapshot], tuple[Action, ...]]] = {
    s.CreateTable: _create_table,
    s.DropTable: removal.drop_table,
    s.DropView: removal.drop_view,
    s.SetTableProperties: alter.set_properties,
    s.UnsetTableProperties: alter.unset_properties,
    s.AddColumns: alter.add_columns,
    s.RenameTable: alter.rename,
    s.TruncateTable: removal.truncate,
    s.CreateDatabase: _create_database,
    s.DropDatabase: removal.drop_database,
    s.UseDatabase: _use,
    u.SetSetting: _set,
    u.ResetSettings: _reset,
}
