"""EXPLAIN of ALTER TABLE … EXECUTE."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Fields, operator_explainer
from hivedruid.actions.snapshots.model import MakeCurrent, RemoveOrphans, RemoveSnapshots, SnapshotsAction
from hivedruid.iceberg.history import Snapshot

UNKNOWN = "determined at run time"


def _describe(action: Action) -> tuple[str, Fields]:
    assert isinstance(action, SnapshotsAction)
    name = ("name", action.table.full_name)
    match action:
        case RemoveSnapshots():
            expired = {str(commit.id): _text(commit) for commit in action.expired}
            kept = {str(id_): reason for id_, reason in action.kept.items()}
            known: Fields = [("expired", expired or "none"), ("kept", kept)]
            return "Expire Snapshots Operator", [name, *(known if action.is_known else [("expired", UNKNOWN)])]
        case RemoveOrphans():
            return "Delete Orphan Files Operator", [name, ("older than", _time(action.before))]
        case MakeCurrent():
            commit = f"{action.commit.id} {_text(action.commit)}" if action.commit is not None else UNKNOWN
            return "Set Snapshot Operator", [name, ("snapshot", commit)]
        case _:
            assert_never(action)


def _text(commit: Snapshot) -> str:
    return f"{_time(datetime.fromtimestamp(commit.at / 1000, UTC))} {commit.operation}"


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


EXPLAINER = operator_explainer(_describe)
