"""Change partitions in the catalog, and their folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.partitioning.model import (
    ChangePartitions,
    CompleteMoves,
    DropIntervals,
    EmptyPartitions,
    ExchangePartitions,
    PartitioningAction,
    RestoreIntervals,
)
from hivedruid.actions.services import Services
from hivedruid.catalog.partitions import Partition, Partitions
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError
from hivedruid.filesystems import Access, open_location


def run(action: Action, services: Services) -> None:
    assert isinstance(action, PartitioningAction)
    match action:
        case ChangePartitions():
            _change(action, services)
        case EmptyPartitions():
            for partition in action.partitions:
                _remove_files(action.table, partition, services, keep_folder=True)
        case ExchangePartitions():
            from hivedruid.actions.partitioning.moves import exchange

            exchange(action, services)
        case DropIntervals():
            from hivedruid.actions.partitioning.interval_runs import drop

            drop(action, services)
        case RestoreIntervals():
            from hivedruid.actions.partitioning.interval_runs import restore

            restore(action, services)
        case CompleteMoves():
            from hivedruid.actions.partitioning.moves import resume

            resume(action.job, services)
        case _:
            assert_never(action)


def _change(action: ChangePartitions, services: Services) -> None:
    """Folders are created before the catalog lists them, and deleted after it no longer does."""
    if action.delete_data and action.removed and not action.table.is_temporary:
        from hivedruid.actions.partitioning.moves import drop

        drop(action, services)
        return
    for partition in action.added if action.makes_folders else ():
        with _errors(action.table, partition):
            open_location(partition.folder(action.table), Access.of(services.settings)).create_folder()
    Partitions(services.catalog).replace(action.table, action.removed, action.added)
    for partition in action.removed if action.delete_data else ():
        _remove_files(action.table, partition, services)


def _remove_files(table: Table, partition: Partition, services: Services, *, keep_folder: bool = False) -> None:
    with _errors(table, partition):
        location = open_location(partition.folder(table), Access.of(services.settings))
        location.remove()
        if keep_folder:
            location.create_folder()


@contextmanager
def _errors(table: Table, partition: Partition) -> Iterator[None]:
    """Raise OSError as ExecutionError."""
    try:
        yield
    except OSError as error:
        raise ExecutionError(
            f"cannot change the folder {partition.folder(table)} of {table.full_name}: {error.strerror or error}",
            hint="check its permissions, then rerun the statement",
        ) from error
