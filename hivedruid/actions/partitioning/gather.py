"""The partitions of the tables of a statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivedruid.actions.partitioning.folders import PartitionFolders, partition_folders
from hivedruid.catalog.partitions import Partition, Partitions
from hivedruid.errors import SemanticError
from hivedruid.iceberg import catalog

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.catalog.store import Catalog
    from hivedruid.catalog.table import Table
    from hivedruid.parser.statements import Statement

DISCOVER = "discover.partitions"
Key = tuple[str, str]


def gather_partitions(
    statement: Statement, tables: Mapping[Key, Table], facts: Facts
) -> tuple[Mapping[Key, tuple[Partition, ...]], Mapping[Key, PartitionFolders]]:
    """The partitions of each partitioned table, and what is found at the LOCATION if the statement needs that."""
    known: dict[Key, tuple[Partition, ...]] = {}
    folders: dict[Key, PartitionFolders] = {}
    for key, table in tables.items():
        if table.has_snapshots:
            partitions = _managed(table, facts) if _needs_partitions(statement) else None
            if partitions is not None:
                known[key] = partitions
        elif not table.has_partitions or (table.metastore and not _needs_partitions(statement)):
            continue
        elif table.metastore:
            assert facts.names.metastore is not None
            known[key] = facts.names.metastore.partitions(table, None)
        elif "partition folders" in statement.needs:
            known[key] = Partitions(facts.catalog).of(table)
            folders[key] = partition_folders(table, known[key], facts.settings)
        else:
            known[key] = partitions_of(table, facts.catalog, facts.settings)
    return known, folders


def _needs_partitions(statement: Statement) -> bool:
    from hivedruid.parser.statements.writing import Insert

    is_conditional = isinstance(statement, Insert) and any(target.if_not_exists for target in statement.targets)
    return is_conditional or "partitions" in statement.needs


def _managed(table: Table, facts: Facts) -> tuple[Partition, ...] | None:
    """The partitions of a managed table; None if they are not known without Spark, and are only explained. Raises
    ExecutionError if they are not known."""
    if not table.partition_columns or (facts.plan_only and not catalog.is_own(facts.settings, table)):
        return None
    from hivedruid.actions.partitioning.managed import listed

    return listed(table, facts.spark().iceberg_partitions(table))


def partitions_of(table: Table, catalog: Catalog, settings: Mapping[str, str]) -> tuple[Partition, ...]:
    """The partitions of a table: those of the catalog, or with discovery those whose folders exist."""
    known = Partitions(catalog).of(table)
    if not _discovers(table, settings):
        return known
    folders = partition_folders(table, (), settings)
    if folders.twice:
        raise SemanticError(
            f"Found two paths for same partition '{table.name}:{folders.twice[0]}' for table {table.name}",
            hint="remove or rename one of the folders",
        )
    return _discovered(table, known, folders)


def _discovers(table: Table, settings: Mapping[str, str]) -> bool:
    return table.properties.get(DISCOVER, settings.get("hivedruid.discover.partitions", "false")).lower() == "true"


def _discovered(table: Table, known: tuple[Partition, ...], folders: PartitionFolders) -> tuple[Partition, ...]:
    """The partitions at the LOCATION, and those of the catalog that are elsewhere."""
    elsewhere = [each for each in known if each.location is not None]
    values = {each.values for each in elsewhere}
    found = [each for each in folders.found if each.values not in values]
    columns = table.partition_columns
    return tuple(sorted((*elsewhere, *found), key=lambda each: each.name(columns)))
