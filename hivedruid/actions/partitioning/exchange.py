"""ALTER TABLE … EXCHANGE PARTITION: partitions of one table become those of another one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.actions.lookup import altered_table
from hivedruid.actions.partitioning import values
from hivedruid.actions.partitioning.model import ExchangePartitions
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.filesystems import local_path

if TYPE_CHECKING:
    from hivedruid.parser.statements import TableName
    from hivedruid.parser.statements.partitioning import ExchangePartition


def build(statement: ExchangePartition, snapshot: Snapshot) -> tuple[ExchangePartitions, ...]:
    """Raises SemanticError and UnsupportedError, with the position, in Hive's order."""
    target, source = _table(statement.name, statement, snapshot), _table(statement.other, statement, snapshot)
    constants = values.texts(statement.spec, source, snapshot.zone)
    _check_columns(target, source, statement)
    found = values.matching(statement.spec, source, _known(source, snapshot), snapshot.zone)
    if not found:
        raise SemanticError(
            f"Partition not found in {source.full_name}", span=statement.spec.span,
            hint=f"run SHOW PARTITIONS {source.name} to list them",
        )  # fmt: skip
    _check_continuous(source, statement)
    there = {each.values for each in _known(target, snapshot)}
    for partition in found:
        if partition.values in there:
            hint = "drop that partition first, or use INSERT OVERWRITE TABLE … PARTITION"
            raise values.already_exists(partition, target, statement.spec, hint)
    if not target.metastore:
        for table in (target, source):
            _check_local(table, statement)
    return (ExchangePartitions(target, source, found, tuple(constants.items())),)


def _known(table: Table, snapshot: Snapshot) -> tuple[Partition, ...]:
    return snapshot.partitions.get((table.database, table.name), ())


def _table(name: TableName, statement: ExchangePartition, snapshot: Snapshot) -> Table:
    """One of the tables. Managed tables are refused, as Hive refuses transactional ones: no commit is about two."""
    table = altered_table(name, snapshot)
    if table.has_snapshots:
        raise UnsupportedError(
            f"EXCHANGE PARTITION is not supported: {table.full_name} is a managed table, and Iceberg has no commit that"
            " changes two tables",
            span=name.span,
            hint=f"use INSERT OVERWRITE TABLE {statement.name.name} PARTITION (…) SELECT … FROM {statement.other.name},"
            f" then ALTER TABLE {statement.other.name} DROP PARTITION (…)",
        )
    if not table.has_partitions:
        from hivedruid.actions.partitioning.build import not_partitioned

        raise not_partitioned(table, name.span)
    return table


def _check_columns(target: Table, source: Table, statement: ExchangePartition) -> None:
    def layout(table: Table) -> list[tuple[str, str]]:
        return [(column.name, str(column.type)) for column in table.columns]

    if layout(target) != layout(source) or len(target.partition_columns) != len(source.partition_columns):
        raise SemanticError(
            "Tables have incompatible schemas and their partitions cannot be exchanged",
            span=statement.other.span, hint=f"{target.full_name} and {source.full_name} need the same columns",
        )  # fmt: skip
    if target.metastore != source.metastore:
        raise UnsupportedError(
            "partitions cannot be exchanged between two catalogs: one of the tables is in the Hive metastore"
            f" {target.metastore or source.metastore}",
            span=statement.other.span,
            hint="use INSERT OVERWRITE TABLE … PARTITION (…) SELECT",
        )
    if not target.metastore and (target.format, target.serde) != (source.format, source.serde):
        raise UnsupportedError(
            f"the files of {source.full_name} have another format than those of {target.full_name}",
            span=statement.other.span, hint="use INSERT OVERWRITE TABLE … PARTITION (…) SELECT",
        )  # fmt: skip


def _check_continuous(table: Table, statement: ExchangePartition) -> None:
    """The constants are those of the first partition columns, as folders contain each other."""
    given = {each.column for each in statement.spec.values}
    names = [column.name for column in table.partition_columns]
    if {*names[: len(given)]} != given:
        raise SemanticError(
            "Partition values specified are not continuous. A subpartition value is specified without specifying the"
            " parent partition's value",
            span=statement.spec.span,
            hint=f"give values of the first partition columns: {', '.join(names)}",
        )


def _check_local(table: Table, statement: ExchangePartition) -> None:
    if local_path(table.location or "") is None:
        raise UnsupportedError(
            f"EXCHANGE PARTITION of {table.full_name} at {table.location} is not supported: its folders cannot be moved"
            " in one step",
            span=statement.name.span,
            hint="use INSERT OVERWRITE TABLE … PARTITION (…) SELECT, then ALTER TABLE … DROP PARTITION",
        )
