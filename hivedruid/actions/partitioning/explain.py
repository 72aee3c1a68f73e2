"""EXPLAIN of changes of partitions."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Fields, operator_explainer
from hivedruid.actions.partitioning.intervals import described, listed
from hivedruid.actions.partitioning.model import (
    ChangePartitions,
    CompleteMoves,
    DropIntervals,
    EmptyPartitions,
    ExchangePartitions,
    PartitioningAction,
    RestoreIntervals,
)
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import Table
from hivedruid.druid.paths import mark_unused_path, mark_used_path


def _describe(action: Action) -> tuple[str, Fields]:
    assert isinstance(action, PartitioningAction)
    match action:
        case ChangePartitions():
            table = action.table
            return "Alter Partitions Operator", [
                ("name", table.full_name),
                ("remove", _names(action.removed, table)),
                ("add", _names(action.added, table)),
                ("locations", {e.name(table.partition_columns): e.location for e in action.added if e.location}),
                ("delete data", action.delete_data or None),
            ]
        case EmptyPartitions():
            partitions = _names(action.partitions, action.table)
            return "Truncate Partitions Operator", [("name", action.table.full_name), ("partitions", partitions)]
        case ExchangePartitions():
            return "Exchange Partitions Operator", [
                ("name", action.target.full_name),
                ("from", action.source.full_name),
                ("partitions", _names(action.partitions, action.source)),
            ]
        case DropIntervals():
            return "Drop Intervals Operator", _drop_fields(action)
        case RestoreIntervals():
            request = f"POST {mark_used_path(action.table.data_source)}"
            fields: Fields = [("name", action.table.full_name), ("data source", action.table.data_source)]
            return "Restore Intervals Operator", [*fields, *described(action.segments), ("request", request)]
        case CompleteMoves():
            effect = "its staged files are moved into the folders of partitions"
            return "Resume Job Operator", [("job", action.job.id), ("effect", effect)]
        case _:
            assert_never(action)


def _drop_fields(action: DropIntervals) -> Fields:
    name = action.table.data_source
    effect = f"POST {mark_unused_path(name)}, in intervals that no task has locked"
    return [
        ("name", action.table.full_name),
        ("data source", name),
        *described(action.segments),
        ("effect", effect if action.is_kept else "their files are deleted"),
        ("purge", f"kill tasks delete all unused segments of {listed(action.purged)}" if action.purged else None),
    ]


def _names(partitions: tuple[Partition, ...], table: Table) -> list[str]:
    return [each.name(table.partition_columns) for each in partitions]


EXPLAINER = operator_explainer(_describe)
