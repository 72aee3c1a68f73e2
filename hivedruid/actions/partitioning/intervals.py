"""DROP and RESTORE PARTITION of Druid tables: whole intervals of segments, by bounds of `__time`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime

from hivedruid.actions.lookup import ignores_missing, refuse_if_streamed
from hivedruid.actions.partitioning.model import DropIntervals, RestoreIntervals
from hivedruid.actions.partitioning.values import typed
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.druid.interval_sets import MAX, MIN, Cover, iso, merged
from hivedruid.engine.archiving import Span, together, within
from hivedruid.engine.capabilities import DeepStorage
from hivedruid.engine.kinds import session_kind
from hivedruid.engine.segments import Segment
from hivedruid.errors import SemanticError, UnsupportedError, listed_names
from hivedruid.errors import Span as Position
from hivedruid.parser.statements import partitioning as p
from hivedruid.plan.literals import to_micros

MOST_LISTED = 5
"""The number of intervals that a message lists."""


def drop(statement: p.DropPartitions, table: Table, snapshot: Snapshot) -> tuple[DropIntervals, ...]:
    """Raises SemanticError if a bound cuts a segment, or a task adds rows to one."""
    _refuse_tiered(table, "DROP PARTITION", statement.name.span)
    refuse_if_streamed(table, "drop partitions of", statement.name.span, snapshot)
    known = snapshot.source_segments.get(table.data_source, ())
    stored = [s for s in known if s.state != "unused"]
    chosen: list[Span] = []
    dropped_before: list[Span] = []
    for spec in statement.specs:
        span = bounds(spec, table, snapshot.zone)
        inside, beyond = within(stored, [span])
        unused = _unused_within(known, span) if statement.purge else []
        if beyond:
            raise SemanticError(
                f"the bounds cut segments of {table.full_name}: {listed((cut.start, cut.end) for cut in beyond)}",
                span=spec.span,
                hint=f"choose bounds where segments begin or end: run SHOW SEGMENTS FOR {table.name} to list them",
            )
        if not inside and not unused and not ignores_missing(snapshot, if_exists=statement.if_exists):
            raise SemanticError(
                f"no segment of {table.full_name} is within the bounds", span=spec.span,
                hint=f"run SHOW SEGMENTS FOR {table.name} to list them, or use DROP IF EXISTS PARTITION",
            )  # fmt: skip
        chosen += inside
        dropped_before += unused
    cover = Cover(chosen)
    segments = tuple(s for s in stored if cover.contains(s.start, s.end) and not s.is_tombstone)
    growing = [s for s in segments if s.is_growing]
    if growing:
        raise SemanticError(
            f"tasks add rows to segments of {table.full_name}: {listed((s.start, s.end) for s in growing)}",
            span=statement.name.span,
            hint=f"run SHOW TASKS FOR {table.name}, and wait until they have published their segments",
        )
    is_kept = session_kind(snapshot.settings).has(DeepStorage)
    purged = merged([*chosen, *dropped_before]) if statement.purge and is_kept else ()
    return (DropIntervals(table, tuple(sorted({*chosen})), segments, purged, is_kept),) if chosen or purged else ()


def _unused_within(known: Iterable[Segment], span: Span) -> list[Span]:
    """The intervals of unused segments, which PURGE deletes, too."""
    return [(s.start, s.end) for s in known if s.state == "unused" and span[0] <= s.start and s.end <= span[1]]


def restore(statement: p.RestorePartitions, table: Table, snapshot: Snapshot) -> tuple[RestoreIntervals, ...]:
    """Raises SemanticError if nothing can be restored, or if later rows would hide what is."""
    _refuse_tiered(table, "RESTORE PARTITION", statement.name.span)
    session_kind(snapshot.settings).check("RESTORE PARTITION is not supported", DeepStorage, span=statement.name.span)
    known = snapshot.source_segments.get(table.data_source, ())
    used = Cover((s.start, s.end) for s in known if s.state not in ("unused", "tombstone"))
    chosen: dict[Segment, None] = {}
    for spec in statement.specs:
        cover = Cover([bounds(spec, table, snapshot.zone)])
        unused = [s for s in known if s.state == "unused" and cover.contains(s.start, s.end)]
        last = last_marked(unused)
        later = [s for s in last if used.overlaps(s.start, s.end)]
        if later:
            raise SemanticError(
                f"{table.full_name} has rows where segments would be restored:"
                f" {listed((s.start, s.end) for s in later)}",
                span=spec.span,
                hint=f"choose other bounds, or run ALTER TABLE {table.name} DROP PARTITION (…) first",
            )
        if not last:
            raise SemanticError(
                f"Druid has no unused segments of {table.full_name} within the bounds", span=spec.span,
                hint="segments that were deleted from deep storage cannot be restored",
            )  # fmt: skip
        chosen.update(dict.fromkeys(last))
    return (RestoreIntervals(table, tuple(chosen)),)


def last_marked(unused: Iterable[Segment]) -> list[Segment]:
    """In each interval the segments that were marked as unused last, which is what queries read before. Earlier ones
    were replaced by them."""
    found: list[Segment] = []
    for _, group in together(unused):
        latest = max(segment.marked for segment in group)
        found += [segment for segment in group if segment.marked == latest]
    return found


def bounds(spec: p.PartitionSpec, table: Table, zone: str) -> Span:
    """The times that satisfy all comparisons. Raises SemanticError if they do not bound a span of time."""
    start, end = MIN, MAX
    time = table.column(TIME_COLUMN)
    assert time is not None, "every Druid table has it"
    for each in spec.values:
        if each.column != TIME_COLUMN:
            raise SemanticError(
                f"'{each.column}' does not divide the rows of {table.full_name}: Druid divides them by {TIME_COLUMN}",
                span=each.span, hint=f"compare {TIME_COLUMN}",
            )  # fmt: skip
        if each.op not in ("<", "<=", ">", ">="):
            raise SemanticError(
                f"{TIME_COLUMN} {each.op} a time is not an interval of segments", span=each.span,
                hint=f"use PARTITION ({TIME_COLUMN} >= '…', {TIME_COLUMN} < '…')",
            )  # fmt: skip
        edge = _edge(each, time, zone)
        if each.op in ("<", "<="):
            end = min(end, edge)
        else:
            start = max(start, edge)
    if start >= end:
        raise SemanticError("no time is within the bounds", span=spec.span, hint="the lower bound must be the earlier")
    return start, end


def _edge(given: p.PartitionValue, time: Column, zone: str) -> int:
    """The first millisecond for which `<` and `>=` of the comparison change."""
    _, value = typed(given.value, time, zone) if given.value is not None else (True, None)
    if not isinstance(value, date | datetime):
        raise SemanticError(
            f"invalid {str(time.type).upper()} literal '{given.value}'", span=given.span,
            hint="use the form '2026-01-01' or '2026-01-01 12:00:00'",
        )  # fmt: skip
    micros = to_micros(value)
    return micros // 1000 + 1 if given.op in ("<=", ">") else -(-micros // 1000)


def _refuse_tiered(table: Table, verb: str, span: Position | None) -> None:
    if table.is_tiered:
        raise UnsupportedError(
            f"{verb} of the tiered table {table.full_name} is not supported: its archive records which part has a row",
            span=span, hint=f"run ARCHIVE TABLE {table.name}, and delete archived rows with DELETE",
        )  # fmt: skip


def listed(spans: Iterable[Span]) -> str:
    """Intervals for a message, or the first of them."""
    return listed_names([f"{iso(start)}/{iso(end)}" for start, end in sorted({*spans})], MOST_LISTED)


def described(segments: Sequence[Segment]) -> list[tuple[str, object]]:
    """The number of segments with their rows and bytes, for EXPLAIN."""
    rows = [segment.rows for segment in segments if segment.rows is not None]
    return [
        ("intervals", [f"{iso(start)}/{iso(end)}" for start, end in merged((s.start, s.end) for s in segments)]),
        ("segments", len(segments)),
        ("rows", sum(rows) if len(rows) == len(segments) else None),
        ("bytes", sum(segment.size for segment in segments)),
    ]
