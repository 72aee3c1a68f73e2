"""The actions that remove snapshots and files of managed tables, or make another snapshot current."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.iceberg.history import Snapshot
from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True)
class RemoveSnapshots(Action):
    """Expire snapshots, and delete the files that no other snapshot contains. `kept` are the reasons why others that
    the statement names do not expire, by id. Without `is_known`, the snapshots are determined when the statement runs.
    """

    table: Table
    expired: tuple[Snapshot, ...] = ()
    kept: Mapping[int, str] = field(default_factory=dict, hash=False)
    is_known: bool = True


@dataclass(frozen=True)
class RemoveOrphans(Action):
    """Delete the files in the table's folder that belong to no snapshot and were changed before a time."""

    table: Table
    before: datetime


@dataclass(frozen=True)
class MakeCurrent(Action):
    """Make a snapshot the current one; None if it is determined when the statement runs."""

    table: Table
    commit: Snapshot | None
    is_rollback: bool = True


SnapshotsAction = RemoveSnapshots | RemoveOrphans | MakeCurrent
