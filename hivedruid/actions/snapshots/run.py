"""Run ALTER TABLE … EXECUTE: one procedure of Iceberg each, which is one commit."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.snapshots.model import MakeCurrent, RemoveOrphans, RemoveSnapshots, SnapshotsAction
from hivedruid.iceberg.expiry import OFFSETS
from hivedruid.spark import procedures


def run(action: Action, services: Services) -> None:
    assert isinstance(action, SnapshotsAction)
    match action:
        case RemoveSnapshots():
            _remove(action, services)
        case RemoveOrphans():
            _remove_orphans(action, services)
        case MakeCurrent():
            _make_current(action, services)
        case _:
            assert_never(action)


def _remove(action: RemoveSnapshots, services: Services) -> None:
    table, ids = action.table, [commit.id for commit in action.expired]
    needed = sum(1 for reason in action.kept.values() if reason.endswith(OFFSETS))
    if needed:
        services.note(f"{_count(needed, 'snapshot')} of {table.full_name} kept for the offsets of streams")
    if not ids:
        services.note(f"{table.full_name}: no snapshots to expire")
        return
    deleted = services.spark().maintain(table, lambda spark: procedures.expire(spark, table, ids), 0)
    services.info(f"{table.full_name}: {_count(len(ids), 'snapshot')} expired, {_count(deleted, 'file')} deleted")


def _remove_orphans(action: RemoveOrphans, services: Services) -> None:
    table, before = action.table, action.before
    deleted = services.spark().maintain(table, lambda spark: procedures.delete_orphans(spark, table, before), 0)
    services.info(f"{table.full_name}: {_count(deleted, 'orphan file')} deleted")


def _make_current(action: MakeCurrent, services: Services) -> None:
    table, commit = action.table, action.commit
    assert commit is not None
    services.spark().maintain(
        table,
        lambda spark: procedures.make_current(spark, table, commit.id, is_rollback=action.is_rollback),
        None,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
