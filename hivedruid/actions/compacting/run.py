"""Run the compaction actions: requests to Druid, and the rows of SHOW COMPACTIONS and SHOW SEGMENTS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, assert_never

from hivedruid.actions.compacting.build import NOT_HERE, NOTHING_HERE
from hivedruid.actions.compacting.model import (
    CompactingAction,
    CompactSegments,
    ConfigureCompaction,
    ListCompactions,
    ListSegments,
)
from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.watching.run import table_names
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP_LTZ
from hivedruid.clients.compaction import ISSUED
from hivedruid.druid.interval_sets import iso
from hivedruid.engine.capabilities import Compaction, SegmentLists
from hivedruid.engine.compaction import AutomaticCompaction, CompactionAmount, CompactionLimits
from hivedruid.ingestion import overview as o
from hivedruid.ingestion.model import Task
from hivedruid.plan.literals import rows_in_zone
from hivedruid.results import Result, ResultColumn
from hivedruid.settings import seconds

if TYPE_CHECKING:
    from hivedruid.engine.segments import Segment

TASK_COLUMNS = (ResultColumn("task", STRING),)
COMPACTION_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "type": STRING, "state": STRING, "task": STRING, "created": TIMESTAMP_LTZ, "duration": DOUBLE,
        "error": STRING, "awaiting": STRING, "compacted": STRING, "skipped": STRING,
    }.items()
)  # fmt: skip
SEGMENT_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "interval_start": STRING, "interval_end": STRING, "version": STRING, "partition": BIGINT,
        "rows": BIGINT, "bytes": BIGINT, "state": STRING, "replicas": BIGINT,
    }.items()
)  # fmt: skip


def run(action: Action, services: Services) -> Result | None:
    assert isinstance(action, CompactingAction)
    match action:
        case ListSegments():
            return _segments(action, services)
        case CompactSegments():
            return _compact(action, services)
        case ListCompactions():
            return _compactions(action, services)
        case ConfigureCompaction():
            configure(action, services)
            return None
        case _:
            assert_never(action)


def configure(action: ConfigureCompaction, services: Services) -> None:
    if action.is_possible:
        services.engine(Compaction).configure_compaction(action.table.data_source, action.config)
    elif action.config is not None:
        services.note(NOT_HERE)


def _compact(action: CompactSegments, services: Services) -> Result:
    """Returns the ids of the tasks, with or without `wait`."""
    if action.task is None:
        services.note(NOTHING_HERE)
        return Result(TASK_COLUMNS)
    slot, load = (
        seconds(services.setting(f"hivedruid.{key}")) for key in ("task.slot.timeout", "segment.load.timeout")
    )
    tasks = services.engine(Compaction).compact(action.task, CompactionLimits(slot, load) if action.wait else None)
    if not tasks:
        services.note(f"{action.table.full_name} has no queryable segments: nothing to compact")
    return Result(TASK_COLUMNS, iter([(task,) for task in tasks]))


def _compactions(action: ListCompactions, services: Services) -> Result:
    if not action.is_possible:
        return Result(COMPACTION_COLUMNS)
    engine = services.engine(Compaction)
    names = table_names(services.catalog)
    source = None
    if action.table is not None:
        source = action.table.data_source
        names[source] = action.table.full_name
    watched = [one for one in engine.automatic_compactions() if source in (None, one.data_source)]
    rows = compaction_rows(watched, engine.compaction_tasks(source), names, datetime.now(UTC))
    return Result(COMPACTION_COLUMNS, rows_in_zone(rows, services.zone()))


def compaction_rows(
    watched: Iterable[AutomaticCompaction], tasks: Iterable[Task], names: Mapping[str, str], now: datetime
) -> Iterator[o.Row]:
    """The tables with automatic compaction, by name; then the tasks, newest first."""
    for one in sorted(watched, key=lambda w: names.get(w.data_source, w.data_source)):
        amounts = (None if a is None else _amount(a) for a in (one.awaiting, one.compacted, one.skipped))
        name = names.get(one.data_source, one.data_source)
        yield (name, "automatic", one.state, None, None, None, one.problem or None, *amounts)
    for task in tasks:
        id_, _, table, state, created, duration, _, error = o.task_row(
            task, names.get(task.data_source, task.data_source), now
        )
        kind = "automatic" if task.id.startswith(ISSUED) else "major"
        yield (table, kind, state, id_, created, duration, error, None, None, None)


def _amount(amount: CompactionAmount) -> str:
    return f"{amount.segments} segment(s), {amount.intervals} interval(s), {amount.size} bytes"


def _segments(action: ListSegments, services: Services) -> Result:
    tables = [action.table] if action.table is not None else services.catalog.tables(action.database)
    engine = services.engine(SegmentLists)
    rows = [
        segment_row(table.full_name, segment)
        for table in sorted((table for table in tables if table.has_data_source), key=lambda t: t.full_name)
        for segment in engine.listed_segments(table.data_source)
    ]
    return Result(SEGMENT_COLUMNS, iter(rows))


def segment_row(table: str, segment: Segment) -> o.Row:
    """Intervals are text: Druid's eternity is beyond any timestamp."""
    return (
        table, iso(segment.start), iso(segment.end), segment.version, segment.number, segment.rows, segment.size,
        segment.state, segment.replicas,
    )  # fmt: skip
