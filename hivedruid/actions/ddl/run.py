"""Run DDL actions: change the catalog, and the data and ingestion of its tables."""

from __future__ import annotations

from contextlib import suppress
from typing import assert_never

from hivedruid.actions.ddl.model import (
    AddDatabase,
    AddFunction,
    AddTable,
    ChangeDatabase,
    ConfigureRetention,
    DdlAction,
    EmptyTable,
    RemoveColdPart,
    RemoveDatabase,
    RemoveFunction,
    RemoveTable,
    ReplaceTable,
    UseDatabaseAction,
)
from hivedruid.actions.ddl.retention import NOT_HERE
from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.catalog.archives import Batches
from hivedruid.catalog.databases import set_details
from hivedruid.catalog.functions import add_function, remove_function
from hivedruid.catalog.iceberg_place import place_of
from hivedruid.catalog.metastore import StoredDatabase
from hivedruid.catalog.statistics import StatisticsStore
from hivedruid.catalog.table import Table
from hivedruid.catalog.tiers import cold_part
from hivedruid.druid.retention import text
from hivedruid.engine.capabilities import DeepStorage, Loading, Retention
from hivedruid.engine.kinds import find
from hivedruid.filesystems import local_path
from hivedruid.private import private_folder
from hivedruid.scratch import remove_rows
from hivedruid.tables.placement import EXTERNAL


def run(action: Action, services: Services) -> None:
    assert isinstance(action, DdlAction)
    match action:
        case AddTable():
            _add_table(action, services)
        case RemoveTable():
            _remove_table(action, services)
        case ReplaceTable():
            _replace_table(action, services)
        case RemoveColdPart():
            _remove_cold_part(action.table, services)
        case ConfigureRetention():
            _configure_retention(action, services)
        case EmptyTable():
            _empty_table(action, services)
        case AddDatabase():
            _add_database(action, services)
        case ChangeDatabase():
            set_details(services.catalog, action.name, action.details)
        case RemoveDatabase():
            _remove_database(action, services)
        case AddFunction(function):
            if function.database:
                add_function(services.catalog, function)
            else:
                services.functions[(function.database, function.name)] = function
        case RemoveFunction(function):
            if function.database:
                remove_function(services.catalog, function.database, function.name)
            else:
                services.functions.pop((function.database, function.name), None)
        case UseDatabaseAction():
            services.use_database(action.name)
        case _:
            assert_never(action)


def _add_database(action: AddDatabase, services: Services) -> None:
    if action.metastore:
        services.metastore.create_database(StoredDatabase(action.name, action.comment, action.details))
        return
    if action.details.uses_iceberg and action.makes_namespace:
        services.catalogs.iceberg(place_of(action.name, action.details.properties)).make_namespace()
    with services.catalog.transaction():
        services.catalog.add_database(action.name, action.comment)
        set_details(services.catalog, action.name, action.details)


def _replace_table(action: ReplaceTable, services: Services) -> None:
    """Statistics of columns or files that have changed are those of other values."""
    before, after = action.before, action.after
    services.catalog.replace(after)
    kept = [(column.name, column.type) for column in after.columns[: len(before.columns)]]
    changes = kept != [(column.name, column.type) for column in before.columns]
    changes = changes or (after.location, after.format, after.serde) != (before.location, before.format, before.serde)
    if changes and not after.has_data_source:
        StatisticsStore(services.catalog).forget("", after.table_id)


def _add_table(action: AddTable, services: Services) -> None:
    if action.table.metastore:
        services.metastore.create_table(action.table)
    elif action.table.iceberg:
        services.spark().create(action.table)
    elif action.replace and action.table.is_temporary:
        services.catalog.replace(action.table)
    elif action.replace:
        with services.catalog.transaction():
            existing = services.catalog.find(action.table.database, action.table.name)
            if existing is not None:
                services.catalog.remove(existing)
            services.catalog.add(action.table)
    else:
        services.catalog.add(action.table)
    if action.makes_folder:
        _make_folder(action.table, services)


def _make_folder(table: Table, services: Services) -> None:
    """Create the folder of an external table, as Hive does, so that it can be read before it is written. Without the
    folder above it the LOCATION is probably wrong, and reading the table says so."""
    path = local_path(table.location or "") if table.kind == "files" else None
    if path is None or path.exists():
        return
    own = services.home / EXTERNAL
    with suppress(OSError):
        if path.is_relative_to(own):
            private_folder(own)
            path.mkdir(parents=True)
        elif path.parent.is_dir() and not path.suffix:
            path.mkdir()


def _remove_table(action: RemoveTable, services: Services) -> None:
    """Remove the table from the catalog before its files: after a crash files may be left over, but no table lacks
    them.

    Druid comes before the catalog: if it cannot be reached, nothing is changed and DROP can be rerun.
    """
    if action.table.metastore:
        services.metastore.drop_table(action.table, delete_data=action.delete_data)
        return
    if action.table.iceberg:
        services.spark().drop(action.table)
        return
    in_druid = action.table.has_data_source
    if action.ingestion is not None:
        from hivedruid.actions.ingesting.run import change_ingestion

        change_ingestion(action.ingestion, services)
    if action.compaction is not None:
        from hivedruid.actions.compacting.run import configure

        configure(action.compaction, services)
    if action.retention is not None:
        _configure_retention(action.retention, services)
    if action.delete_data and in_druid:
        _drop_rows(action.table, services, purge=action.purge)
    services.catalog.remove(action.table)
    if action.delete_data and not in_druid:
        _delete_data(action.table, services)
    if action.table.is_tiered and action.table.is_written:
        services.spark().drop(cold_part(action.table))


def _configure_retention(action: ConfigureRetention, services: Services) -> None:
    table = action.table
    if not action.is_possible:
        services.note(NOT_HERE)
    elif action.others:
        services.note(
            f"data source '{table.data_source}' keeps retention rules that {table.full_name} did not set:"
            f" {text(action.others)}"
        )
    else:
        verb = "set" if action.rules else "removed"
        services.engine(Retention).set_retention_rules(table.data_source, action.rules, f"{verb} by {table.full_name}")


def _delete_data(table: Table, services: Services, *, purge: bool = False) -> None:
    if table.has_data_source:
        _drop_rows(table, services, purge=purge)
    elif table.is_temporary:
        remove_rows(table.location)
    elif table.has_folder:
        services.spark().drop(table)


def _drop_rows(table: Table, services: Services, *, purge: bool) -> None:
    services.engine(Loading).drop(table.data_source)
    storage = find(services.druid(), DeepStorage) if purge else None
    if storage is not None:
        storage.delete_unused(table.data_source)


def _remove_cold_part(table: Table, services: Services) -> None:
    services.spark().drop(cold_part(table))
    Batches(services.catalog).remove(table.table_id)


def _empty_table(action: EmptyTable, services: Services) -> None:
    table = action.table
    if table.iceberg:
        services.spark().delete_rows(table)
        return
    _delete_data(table, services, purge=action.purge)
    if table.is_tiered:
        _remove_cold_part(table, services)
    if table.is_written:
        services.catalog.mark_written(table, written=False)


def _remove_database(action: RemoveDatabase, services: Services) -> None:
    if action.metastore:
        services.metastore.drop_database(action.name)
        return
    for removal in action.tables:
        _remove_table(removal, services)
    services.catalog.remove_database(action.name)
