"""The actions of CHANGE COLUMN, REPLACE COLUMNS and constraints. Pure: the snapshot holds all facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from hivedruid.actions.ddl.constraints import check_constraints
from hivedruid.actions.ddl.model import ReplaceTable
from hivedruid.actions.ingesting import build as ingestion
from hivedruid.actions.lookup import altered_table, refuse_if_streamed
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note
from hivedruid.catalog.constraints import Constraint
from hivedruid.catalog.druid_columns import with_stored_types
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.parser.statements import ddl as s
from hivedruid.tables import definition, hive_tables
from hivedruid.tables.column_changes import (
    ColumnChange,
    absent_in_files,
    check_change,
    check_partition_names,
    widens,
    with_stored_names,
)
from hivedruid.tables.constraints import with_constraints

Columns = s.ChangeColumn | s.ReplaceColumns | s.AddConstraint | s.DropConstraint


def build(statement: Columns, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    match statement:
        case s.ChangeColumn():
            return _change_column(statement, snapshot, note)
        case s.ReplaceColumns():
            return _replace_columns(statement, snapshot, note)
        case s.AddConstraint():
            return _add_constraint(statement, snapshot)
        case s.DropConstraint():
            return _drop_constraint(statement, snapshot)
        case _:
            assert_never(statement)


def _change_column(statement: s.ChangeColumn, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot)
    before = _find(table, statement.old)
    given = statement.new
    if given.name != before.name and table.column(given.name) is not None:
        raise SemanticError(f"Duplicate column name: {given.name}", span=given.span)
    comment = before.comment if statement.comment is None else statement.comment
    column = Column(given.name, given.type, comment, _field(table, before, given.name))
    rest = [c for c in table.columns if c is not before]
    if statement.first is not None:
        place = 0
    elif statement.after is not None:
        place = rest.index(_find(replace(table, columns=tuple(rest)), statement.after)) + 1
    else:
        place = table.columns.index(before)
    columns = (*rest[:place], column, *rest[place:])
    _check_partition_column(table, before, columns, given.span)
    moves = statement.first or (statement.after.span if statement.after is not None else None)
    span = given.span if given.name != before.name else moves or given.span
    spans = {given.name: given.span} if given.span else {}
    former = {given.name: before.name} if given.name != before.name else {}
    return _changed(ColumnChange(table, columns, spans, span, former), snapshot, note, given.constraints)


def _check_partition_column(table: Table, before: Column, after: tuple[Column, ...], span: Span | None) -> None:
    """The partition columns of an external table stay: their values are the names of folders."""
    columns = table.folder_columns
    if before in columns or [c.name for c in after[len(table.stored_columns) :]] != [c.name for c in columns]:
        raise SemanticError(
            f"partition columns of {table.full_name} cannot be changed or moved", span=span,
            hint=f"partition columns: {', '.join(column.name for column in columns)}",
        )  # fmt: skip


def _field(table: Table, column: Column, name: str) -> str | None:
    """The name of a column in the data if it gets a new name: Iceberg keeps the old one. Also before the first write,
    which another session may have begun."""
    if not table.has_snapshots:
        return column.field
    return column.field_name if column.field_name != name else None


def _replace_columns(statement: s.ReplaceColumns, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot)
    columns = definition.declared(statement.columns)
    spans = definition.column_spans(statement.columns)
    if table.has_snapshots or table.has_data_source:
        columns = _with_fields(table, columns)
    if table.has_topic:
        columns = hive_tables.kafka_columns(columns, spans)
    if table.has_partitions or (table.last_columns and not any(c.name in spans for c in table.last_columns)):
        columns = _with_partition_columns(table, columns, spans)
    added = [each for column in statement.columns for each in column.constraints]
    return _changed(ColumnChange(table, columns, spans, statement.span), snapshot, note, added)


def _with_partition_columns(table: Table, columns: tuple[Column, ...], spans: Mapping[str, Span]) -> tuple[Column, ...]:
    """REPLACE COLUMNS lists the other columns; the partition columns stay."""
    for column in table.last_columns:
        if column.name in spans:
            raise SemanticError(f"Duplicate column name: {column.name}", span=spans[column.name])
    return (*columns, *table.last_columns)


def _with_fields(table: Table, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns with their names in the data: those of the table keep them."""
    kept = {c.name: replace(c, field=before.field) for c in columns if (before := table.column(c.name)) is not None}
    added = with_stored_names(kept.values(), [c for c in columns if c.name not in kept])
    named = {**kept, **{column.name: column for column in added}}
    return tuple(named[column.name] for column in columns)


def _changed(
    change: ColumnChange, snapshot: Snapshot, note: Note | None, added: Iterable[s.ConstraintDef]
) -> tuple[Action, ...]:
    table = change.table
    stored = len(change.after) - len(table.folder_columns)
    columns = (*hive_tables.as_serde_reads(change.after[:stored], table.serde), *change.after[stored:])
    if table.has_data_source:
        columns = with_stored_types(columns, table.properties)
    change = change._replace(after=columns)
    check_change(change)
    _check_layout(change)
    if change.renamed:
        refuse_if_streamed(table, "rename columns of", change.span, snapshot)
    if note is not None and (absent := absent_in_files(change)):
        note(f"files that do not have the new columns return NULL for them: {', '.join(absent)}", None)
    after = replace(table, columns=columns, constraints=_changed_constraints(change, added))
    check_constraints(after, table, change.span, snapshot)
    changes: tuple[Action, ...] = (ReplaceTable(table, after),) if after != table else ()
    return *changes, *ingestion.altered(table, after, change.span, snapshot)


def _check_layout(change: ColumnChange) -> None:
    """The columns of the partition spec and of the sort order keep their names, and their types in Iceberg."""
    table = change.table
    after = {column.name: column for column in change.after}
    for name in (*(field.column for field in table.partition_spec), *(field.column for field in table.sort_order)):
        before, column = table.column(name), after.get(name)
        if before is not None and (
            column is None or not (column.type == before.type or widens(before.type, column.type))
        ):
            raise SemanticError(
                f"column '{name}' is part of the partition spec or of the sort order of {table.full_name}",
                span=change.span,
                hint="drop the table, and create it again",
            )
    check_partition_names(table, change.after, change.spans)


def _find(table: Table, name: s.ColumnName) -> Column:
    column = table.column(name.name)
    if column is None:
        raise _unknown(name.name, table, name.span)
    return column


def _unknown(name: str, table: Table, span: Span | None) -> SemanticError:
    hint = did_you_mean(name, [c.name for c in table.columns])
    return SemanticError(f"Invalid column reference {name}: {table.full_name} has no such column", span=span, hint=hint)


def _add_constraint(statement: s.AddConstraint, snapshot: Snapshot) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot)
    after = replace(table, constraints=with_constraints(table, (statement.constraint,)))
    check_constraints(after, table, statement.constraint.span, snapshot)
    return (ReplaceTable(table, after),)


def _drop_constraint(statement: s.DropConstraint, snapshot: Snapshot) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot)
    rest = tuple(each for each in table.constraints if each.name != statement.constraint)
    if len(rest) == len(table.constraints):
        names = [each.name for each in table.constraints]
        raise SemanticError(
            f"The constraint: {statement.constraint} does not exist for the associated table: {table.full_name}",
            span=statement.span,
            hint=did_you_mean(statement.constraint, names) or (f"constraints: {', '.join(names)}" if names else None),
        )
    return (ReplaceTable(table, replace(table, constraints=rest)),)


def _changed_constraints(change: ColumnChange, added: Iterable[s.ConstraintDef]) -> tuple[Constraint, ...]:
    """Those of the columns that remain, with their new names, and new ones."""
    renamed = {old: new for new, old in change.former.items()}
    kept = [replace(c, columns=tuple(renamed.get(name, name) for name in c.columns)) for c in change.table.constraints]
    names = {column.name for column in change.after}
    kept = [each for each in kept if names.issuperset(each.columns)]
    return with_constraints(replace(change.table, columns=change.after, constraints=tuple(kept)), added)
