"""Run DROP and RESTORE PARTITION of Druid tables."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from hivedruid.actions.partitioning.intervals import listed
from hivedruid.actions.partitioning.model import DropIntervals, RestoreIntervals
from hivedruid.actions.services import Services
from hivedruid.druid.interval_sets import merged
from hivedruid.engine.archiving import Span
from hivedruid.engine.capabilities import Archiving, DeepStorage
from hivedruid.engine.kinds import find
from hivedruid.errors import ExecutionError

MOST_AT_ONCE = 100
"""Intervals that are locked together: Druid needs a lock for each."""


def drop(action: DropIntervals, services: Services) -> None:
    """Drop the intervals, oldest first. A failure leaves the rest as it is, and the statement can be rerun."""
    table, count, rows = action.table, 0, 0
    for first in range(0, len(action.intervals), MOST_AT_ONCE):
        segments, some = _drop(action, action.intervals[first : first + MOST_AT_ONCE], services)
        count, rows = count + segments, rows + some
    if action.intervals:
        services.info(f"{table.full_name}: {rows} rows of {count} segments dropped")
    storage = find(services.druid(), DeepStorage)
    if storage is None:
        return
    if action.purged:
        storage.delete_unused(table.data_source, action.purged)
    else:
        services.info(
            f"deep storage keeps them: ALTER TABLE {table.name} RESTORE PARTITION (…) undoes it; {storage.kill_duty()}"
        )


def _drop(action: DropIntervals, spans: Sequence[Span], services: Services) -> tuple[int, int]:
    """Returns the numbers of segments and rows."""
    source = action.table.data_source
    task = f"hivedruid_drop_{uuid4().hex}"
    with services.engine(Archiving).hold(source, merged(spans), task) as held:
        if left_out := held.holding.left_out:
            raise ExecutionError(
                f"{action.table.full_name}: cannot drop {listed((each.start, each.end) for each in left_out)} now:"
                f" {left_out[0].reason}",
                hint=f"run SHOW TASKS FOR {action.table.name}, and rerun the statement when they have ended",
            )
        held.drop()
        found = held.holding.segments
        return len(found), sum(segment.rows or 0 for segment in found)


def restore(action: RestoreIntervals, services: Services) -> None:
    services.engine(DeepStorage).restore(action.table.data_source, action.segments)
    services.info(f"{action.table.full_name}: {len(action.segments)} segments restored")
