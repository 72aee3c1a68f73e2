"""ALTER TABLE … PARTITION COLUMN: the type of a partition column. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.ddl.model import ReplaceTable
from hivedruid.actions.partitioning.values import partition_column, typed
from hivedruid.catalog.partitions import NULL_VALUE, Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError
from hivedruid.parser.statements.ddl import ChangeColumn, ColumnName
from hivedruid.parser.statements.partitioning import ChangePartitionColumn, PartitionValue

if TYPE_CHECKING:
    from hivedruid.actions.model import Action
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.actions.statement_plan import Note


def build(
    statement: ChangePartitionColumn, table: Table, known: Iterable[Partition], snapshot: Snapshot, note: Note | None
) -> tuple[Action, ...]:
    """The names of partitions stay, and their values must be values of the new type."""
    new = statement.column
    before = partition_column(PartitionValue(new.name, None, span=new.span), table)
    if table.has_snapshots:
        from hivedruid.actions.ddl.columns import build as change_column

        name = ColumnName(new.name, new.span)
        return change_column(
            ChangeColumn(statement.source, statement.name, name, new, statement.comment), snapshot, note
        )
    if new.type.children:
        raise SemanticError(
            f"PARTITIONED BY does not support column '{new.name}' of type {new.type}", span=new.span,
            hint="use a primitive type",
        )  # fmt: skip
    comment = before.comment if statement.comment is None else statement.comment
    after = Column(before.name, new.type, comment)
    place = table.partition_columns.index(before)
    for partition in known:
        text = partition.values[place]
        is_known, value = typed(text, after, snapshot.zone)
        if text != NULL_VALUE and is_known and value is None:
            raise SemanticError(
                f"column '{new.name}' cannot change from {before.type} to {new.type}: partition"
                f" {partition.name(table.partition_columns)} has no value of that type",
                span=new.span,
                hint="drop or rename that partition first",
            )
    columns = tuple(after if column is before else column for column in table.columns)
    return (ReplaceTable(table, replace(table, columns=columns)),)
