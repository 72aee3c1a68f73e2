"""Which snapshot of a table a statement names, and which there are. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span
from hivedruid.iceberg.history import Snapshot, TableHistory

_SHOWN = 5
"""The number of snapshots in a hint."""


def chosen(table: Table, history: TableHistory, version: int | str | datetime, span: Span | None) -> int:
    """The snapshot with an id, that of a tag or branch, or the one that was current at a time.

    Raises SemanticError, with a list of snapshots, if there is none.
    """
    if isinstance(version, datetime):
        found = history.at(int(version.timestamp() * 1000))
        what = f"at {version.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        if found is not None and found not in history.snapshots:
            what = f"{found}, which was current {what}: it has expired"
    elif isinstance(version, str):
        found, what = history.refs.get(version), f"of a tag or branch '{version}'"
    else:
        found, what = version, f"{version}"
    if found is None or found not in history.snapshots:
        raise SemanticError(f"{table.full_name} has no snapshot {what}", span=span, hint=listed(table, history))
    return found


def listed(table: Table, history: TableHistory) -> str:
    """The newest snapshots, for a hint."""
    newest = sorted(history.snapshots.values(), key=lambda each: each.at, reverse=True)
    if not newest:
        return f"{table.full_name} has no snapshots: nothing was ever committed"
    more = f" and {len(newest) - _SHOWN} older ones" if len(newest) > _SHOWN else ""
    return f"snapshots: {', '.join(map(_text, newest[:_SHOWN]))}{more}"


def _text(snapshot: Snapshot) -> str:
    return f"{snapshot.id} ({datetime.fromtimestamp(snapshot.at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC)"
