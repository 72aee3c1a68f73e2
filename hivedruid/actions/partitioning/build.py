"""The actions of statements about partitions. Pure: the snapshot holds all facts."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from hivedruid.actions.lookup import (
    altered_table,
    check_truncated,
    find_table,
    ignores_missing,
    purges,
    refuse_if_materialized,
)
from hivedruid.actions.model import Action
from hivedruid.actions.partitioning import managed, show
from hivedruid.actions.partitioning.folders import PartitionFolders
from hivedruid.actions.partitioning.model import ChangePartitions, EmptyPartitions
from hivedruid.actions.partitioning.values import already_exists, find, matching, not_found, whole
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements import partitioning as p
from hivedruid.tables.hive_tables import normalized_location


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """Raises SemanticError, with the position, for a table without partitions, or an unknown column or partition."""
    assert isinstance(statement, p.PartitioningStatement)
    return StatementPlan(_actions(statement, snapshot, note))


def _actions(statement: p.PartitioningStatement, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    match statement:
        case p.AddPartitions():
            return _add(statement, snapshot, note)
        case p.DropPartitions():
            return _drop(statement, snapshot)
        case p.RestorePartitions():
            return _restore(statement, snapshot)
        case p.ExchangePartition():
            from hivedruid.actions.partitioning import exchange

            return exchange.build(statement, snapshot)
        case p.RenamePartition():
            return _rename(statement, snapshot)
        case p.ChangePartitionColumn():
            from hivedruid.actions.partitioning import columns

            return columns.build(statement, *_partitioned(statement, snapshot, alters=True), snapshot, note)
        case p.SetPartitionLocation():
            return _set_location(statement, snapshot)
        case p.RepairTable():
            return _repair(statement, snapshot)
        case p.TruncatePartitions():
            return _truncate(statement, snapshot)
        case p.ShowPartitions():
            table, known = _partitioned(statement, snapshot)
            return (show.partitions(statement, table, known, snapshot),)
        case p.DescribePartition():
            table, known = _partitioned(statement, snapshot)
            return (show.described(statement, table, find(statement.spec, table, known, snapshot.zone)),)
        case _:
            assert_never(statement)


def _partitioned(
    statement: p.PartitioningStatement, snapshot: Snapshot, *, alters: bool = False
) -> tuple[Table, tuple[Partition, ...]]:
    """A table with partitions, and those."""
    name = statement.name
    table = altered_table(name, snapshot) if alters else find_table(name, snapshot)
    if table.has_snapshots and table.partition_spec:
        managed.check(table, statement)
    elif not table.has_partitions:
        raise not_partitioned(table, name.span)
    return table, snapshot.partitions.get((table.database, table.name), ())


def not_partitioned(table: Table, span: Span | None) -> SemanticError:
    """The error of a statement about the partitions of a table that has none."""
    if table.has_data_source:
        return SemanticError(
            f"table {table.full_name} is not a partitioned table: Druid divides its rows by {TIME_COLUMN}",
            span=span, hint=f"use conditions on {TIME_COLUMN}; SHOW SEGMENTS FOR {table.name} lists the segments",
        )  # fmt: skip
    if table.has_topic:
        return SemanticError(
            f"table {table.full_name} is not a partitioned table: its rows are the records of a topic",
            span=span, hint="use conditions on __partition and __offset",
        )  # fmt: skip
    kind = {"files": "EXTERNAL TABLE", "temporary": "TEMPORARY TABLE"}.get(table.kind, "TABLE")
    hint = "name the table that it reads" if table.is_view else f"use CREATE {kind} … PARTITIONED BY (column type)"
    return SemanticError(f"table {table.full_name} is not a partitioned table", span=span, hint=hint)


def _add(statement: p.AddPartitions, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    table, known = _partitioned(statement, snapshot, alters=True)
    present = {each.values for each in known}
    added: dict[tuple[str, ...], Partition] = {}
    for new in statement.partitions:
        partition = whole(new.spec, table, snapshot.zone)
        if partition.values in present or partition.values in added:
            if statement.if_not_exists:
                continue
            raise already_exists(partition, table, new.spec, "use ADD IF NOT EXISTS PARTITION to keep it")
        location = None if new.location is None else normalized_location(new.location)
        added[partition.values] = replace(partition, location=location)
    if table.has_snapshots:
        managed.add(statement, added.values(), table, note)
        return ()
    return (ChangePartitions(table, added=tuple(added.values())),) if added else ()


def _restore(statement: p.RestorePartitions, snapshot: Snapshot) -> tuple[Action, ...]:
    from hivedruid.actions.partitioning import intervals

    table = altered_table(statement.name, snapshot)
    if not table.has_data_source:
        raise UnsupportedError(
            f"RESTORE PARTITION is not supported: {table.full_name} is not in Druid", span=statement.name.span,
            hint="only Druid keeps the rows of dropped partitions",
        )  # fmt: skip
    return intervals.restore(statement, table, snapshot)


def _drop(statement: p.DropPartitions, snapshot: Snapshot) -> tuple[Action, ...]:
    if (druid := altered_table(statement.name, snapshot)).has_data_source:
        from hivedruid.actions.partitioning import intervals

        return intervals.drop(statement, druid, snapshot)
    table, known = _partitioned(statement, snapshot, alters=True)
    if table.has_snapshots:
        return managed.drop(statement, table, snapshot)
    dropped: dict[Partition, None] = {}
    for spec in statement.specs:
        found = matching(spec, table, known, snapshot.zone)
        if not found and not ignores_missing(snapshot, if_exists=statement.if_exists):
            raise not_found(spec, table)
        dropped.update(dict.fromkeys(found))
    return (ChangePartitions(table, removed=tuple(dropped), delete_data=purges(table)),) if dropped else ()


def _rename(statement: p.RenamePartition, snapshot: Snapshot) -> tuple[Action, ...]:
    """As in Hive, the folder of an external table's partition keeps its name."""
    table, known = _partitioned(statement, snapshot, alters=True)
    old = find(statement.old, table, known, snapshot.zone)
    new = whole(statement.new, table, snapshot.zone)
    if any(each.values == new.values for each in known):
        raise already_exists(new, table, statement.new, "choose other values, or drop that partition first")
    if table.has_snapshots:
        return managed.rename(old, new, table, snapshot)
    return (ChangePartitions(table, added=(replace(new, location=old.folder(table)),), removed=(old,)),)


def _set_location(statement: p.SetPartitionLocation, snapshot: Snapshot) -> tuple[Action, ...]:
    table, known = _partitioned(statement, snapshot, alters=True)
    old = find(statement.spec, table, known, snapshot.zone)
    location = normalized_location(statement.location)
    if not location:
        raise SemanticError("the LOCATION is empty", span=statement.location_span, hint="specify a folder")
    return (ChangePartitions(table, added=(replace(old, location=location),), removed=(old,)),)


def _repair(statement: p.RepairTable, snapshot: Snapshot) -> tuple[Action, ...]:
    table = altered_table(statement.name, snapshot)
    if table.kind == "files" and not table.has_partitions:  # as in Hive, nothing is repaired
        return (show.repaired(table, (), (), shows=statement.shows),)
    table, known = _partitioned(statement, snapshot, alters=True)
    folders = snapshot.partition_folders.get((table.database, table.name), PartitionFolders())
    _check_folders(table, folders, statement.name.span, snapshot)
    present = {each.values for each in known}
    added = tuple(each for each in folders.found if statement.adds and each.values not in present)
    removed = tuple(each for each in known if each in folders.missing and (statement.drops or statement.shows))
    if statement.spec is not None:
        added, removed = (matching(statement.spec, table, each, snapshot.zone) for each in (added, removed))
    shown = show.repaired(table, added, removed, shows=statement.shows)
    if statement.shows or not (added or removed):
        return (shown,)
    return ChangePartitions(table, added=added, removed=removed), shown


def _check_folders(table: Table, folders: PartitionFolders, span: Span | None, snapshot: Snapshot) -> None:
    """Raises SemanticError for folders that are not those of partitions, unless hive.msck.path.validation excludes
    them."""
    if folders.twice:
        raise SemanticError(
            f"Found two paths for same partition '{table.name}:{folders.twice[0]}' for table {table.name}", span=span,
            hint="remove or rename one of the folders",
        )  # fmt: skip
    if folders.others and snapshot.settings.get("hive.msck.path.validation", "throw").lower() == "throw":
        raise SemanticError(
            f"Invalid partition name {table.location}/{folders.others[0]}", span=span,
            hint="remove or rename the folder, or SET hive.msck.path.validation=skip",
        )  # fmt: skip


def _truncate(statement: p.TruncatePartitions, snapshot: Snapshot) -> tuple[Action, ...]:
    table, known = _partitioned(statement, snapshot)
    refuse_if_materialized(table, "truncate", statement.name.span)
    if table.has_snapshots:
        found = matching(statement.spec, table, known, snapshot.zone)
        return managed.removal((statement.spec,), table, snapshot) if found else ()
    check_truncated(table, statement.name.span)
    return (EmptyPartitions(table, matching(statement.spec, table, known, snapshot.zone)),)
