"""The actions of ARCHIVE TABLE, UNARCHIVE TABLE, VERIFY TABLE and SHOW ARCHIVES. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, assert_never

from hivedruid.actions.lookup import find_table
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.tiering.decisions import touched
from hivedruid.actions.tiering.model import (
    ArchiveRows,
    ListArchives,
    UnarchiveNothing,
    VerifyArchive,
    partition_count,
)
from hivedruid.actions.writing.model import ColdRows, IngestDruid, WriteTable
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.tiers import BATCH_COLUMN, cold_part, fits_orc, granularity, hot_period
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import ALL, MAX, MIN, IntervalSet, intersection
from hivedruid.engine.kinds import session_kind
from hivedruid.errors import SemanticError
from hivedruid.operations.archives import ArchiveJob
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.tiering import (
    ArchiveTable,
    Moment,
    ShowArchives,
    TieringStatement,
    UnarchiveTable,
    VerifyTable,
)
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.segment_files import PIECE, FileScan, pieces
from hivedruid.script import SourceStatement
from hivedruid.setting_types import seconds

if TYPE_CHECKING:
    from hivedruid.plan.facts import PlannerFacts
    from hivedruid.plan.nodes import Node
    from hivedruid.plan.rex import Agg
    from hivedruid.plan.split import QueryPlan

NOT_IN_ORC = "segments with the last second before 1970 stay in Druid, since ORC cannot store these times"
BATCH = "the id of the job"
"""The batch of the rows in EXPLAIN."""


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """Raises SemanticError for a table that is not tiered, and for an invalid time."""
    assert isinstance(statement, TieringStatement)
    match statement:
        case ArchiveTable():
            return _archive(statement, snapshot, note)
        case UnarchiveTable():
            return _unarchive(statement, snapshot)
        case ShowArchives():
            return StatementPlan((ListArchives(_tiered(statement.name, snapshot) if statement.name else None),))
        case VerifyTable():
            return _verify(statement, snapshot)
        case _:
            assert_never(statement)


def _tiered(name: TableName, snapshot: Snapshot) -> Table:
    table = find_table(name, snapshot)
    if not table.is_tiered:
        hint = f"make it one with ALTER TABLE {name.name} SET TIERED" if table.kind == "druid" else None
        raise SemanticError(f"{table.full_name} is not a tiered table", span=name.span, hint=hint)
    return table


def _archive(statement: ArchiveTable, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    table = _tiered(statement.name, snapshot)
    start, edge = _span(statement.partition, table) if statement.partition else (MIN, _edge(statement, table, snapshot))
    found = [s for s in snapshot.hot_segments if start <= s.start and s.end <= edge and not s.is_tombstone]
    segments = tuple(segment for segment in found if fits_orc(segment.start, segment.end))
    if note is not None and len(segments) < len(found):
        note(f"{table.full_name}: {NOT_IN_ORC}", None)
    unfinished = tuple(
        known.operation
        for known in snapshot.jobs
        if isinstance(known.operation, ArchiveJob)
        and known.operation.table_id == table.table_id
        and not known.operation.has_ended
    )
    action = ArchiveRows(table, edge, segments, None, unfinished)
    if not segments:
        return StatementPlan((action,))
    plan, write = archived(table, action.intervals, BATCH, snapshot)
    return StatementPlan((ArchiveRows(table, edge, segments, write, unfinished),), (plan,))


def _edge(statement: ArchiveTable, table: Table, snapshot: Snapshot) -> int:
    """The end of the times that are archived, a multiple of the granularity in UTC, in milliseconds."""
    if statement.up_to is None:
        at = round((snapshot.now.timestamp() - seconds(hot_period(table))) * 1000)
    else:
        at = _millis(statement.up_to)
    return granularities.floor(at, granularity(table).upper())


def _span(moment: Moment, table: Table) -> tuple[int, int]:
    """The span of the table's granularity with this time, in milliseconds."""
    unit = granularity(table).upper()
    return granularities.interval(granularities.number(_millis(moment), unit), unit)


def _millis(moment: Moment) -> int:
    """A time of a statement, in UTC unless it has a zone."""
    try:
        given = datetime.fromisoformat(moment.text)
    except ValueError:
        raise SemanticError(
            f"'{moment.text}' is not a valid time", span=moment.span, hint="write it like '2026-10-01'"
        ) from None
    return round((given if given.tzinfo is not None else given.replace(tzinfo=UTC)).timestamp() * 1000)


def _unarchive(statement: UnarchiveTable, snapshot: Snapshot) -> StatementPlan:
    """A write of the cold part's rows into Druid, which removes them from the cold part."""
    from hivedruid.actions.writing.insert import write
    from hivedruid.plan.build import Builder
    from hivedruid.plan.tiers import NO_FACTS, batch_rows

    table = _tiered(statement.name, snapshot)
    facts = snapshot.tiers.get((table.database, table.name), NO_FACTS)
    times = intersection(facts.times, _times(statement, table))
    if not times or not table.is_written:
        return StatementPlan((UnarchiveNothing(table),))
    builder = Builder(statement.source, snapshot)
    node = batch_rows(table, facts, times, builder)
    plan, action = write(table, node, list(range(len(node.columns))), builder, snapshot, "nothing")
    assert isinstance(action, IngestDruid)
    cold = ColdRows(cold_part(table), removal=facts.removal(of_others=False), times=times)
    return StatementPlan((replace(action, cold=cold),), (plan,))


def _times(statement: UnarchiveTable | VerifyTable, table: Table) -> IntervalSet:
    if isinstance(statement, UnarchiveTable) and statement.partition is not None:
        return (_span(statement.partition, table),)
    start = MIN if statement.start is None else _millis(statement.start)
    end = MAX if statement.end is None else _millis(statement.end)
    if start >= end:
        moment = statement.end
        raise SemanticError("the end of the times is not after their start", span=moment.span if moment else None)
    return ((start, end),)


def archived(table: Table, times: IntervalSet, batch: str, facts: Snapshot) -> tuple[QueryPlan, WriteTable]:
    """The plan of a table's rows in Druid of these times, and the action that adds them to the cold part as a batch."""
    from hivedruid.actions.writing.insert import write
    from hivedruid.plan.build import Builder
    from hivedruid.plan.computed_columns import scan_with_computed
    from hivedruid.plan.nodes import Project
    from hivedruid.plan.rex import Literal
    from hivedruid.plan.time_ranges import in_times

    builder = Builder(SourceStatement(f"ARCHIVE TABLE {table.full_name}"), facts)
    cold = cold_part(table)
    hot = scan_with_computed(table, builder) or builder.table_scan(table)
    named = builder.new_column(cold.columns[-1].name, cold.columns[-1].type)
    exprs = (*(c.ref for c in hot.columns), Literal(named.type, batch))
    columns = (*(builder.new_column(c.name, c.type) for c in hot.columns), named)
    node = Project(columns, in_times(hot, times), exprs)
    plan, action = write(cold, node, list(range(len(columns))), builder, facts, "nothing")
    assert isinstance(action, WriteTable)
    return plan, action


def keeps_pieces(write: WriteTable, table: Table, times: IntervalSet) -> bool:
    """Whether Spark writes the rows of each piece of a segment where it reads them. Small pieces of one partition of
    the cold part are brought together first, since each would be a file."""
    scans = [item.scan for item in write.job.inputs if isinstance(item, DruidInput)]
    if len(scans) != 1 or not isinstance(scans[0], FileScan):
        return False
    most = partition_count(table, times) + 2 * scans[0].bytes // PIECE
    return len(pieces(times, scans[0].files)) <= most


def summed(table: Table) -> tuple[Column, ...]:
    """The columns whose sums are recorded: sums of integers do not depend on the order of the rows."""
    return tuple(column for column in table.columns if column.type.is_integer)


def count_of(table: Table, times: IntervalSet, facts: PlannerFacts, columns: Sequence[Column] = ()) -> QueryPlan:
    """The plan of the number of a table's rows in Druid of these times, and of the sums of columns."""
    from hivedruid.catalog.types import BIGINT
    from hivedruid.plan.build import Builder
    from hivedruid.plan.nodes import Aggregate
    from hivedruid.plan.rex import Agg
    from hivedruid.plan.split import optimized
    from hivedruid.plan.time_ranges import in_times

    builder = Builder(SourceStatement(f"ARCHIVE TABLE {table.full_name}"), facts)
    hot = builder.table_scan(table)
    calls = (Agg(BIGINT, "count", ()), *_sums(hot, columns))
    names = tuple(builder.new_column(name, BIGINT) for name in ("rows", *(column.name for column in columns)))
    return optimized(Aggregate(names, in_times(hot, times), (), calls), builder)


def _sums(node: Node, columns: Sequence[Column]) -> tuple[Agg, ...]:
    from hivedruid.catalog.types import BIGINT
    from hivedruid.plan.rex import Agg

    by_name = {column.name: column for column in node.columns}
    return tuple(Agg(BIGINT, "sum", (by_name[column.name].ref,)) for column in columns)


def _verify(statement: VerifyTable, snapshot: Snapshot) -> StatementPlan:
    from hivedruid.plan.split import spark_job

    table = _tiered(statement.name, snapshot)
    times = _times(statement, table)
    batches = snapshot.tiers[table.database, table.name].batches
    chosen = frozenset(b.id for b in touched(batches, times))
    asks = not session_kind(snapshot.settings).is_in_home
    if not table.is_written and not batches:
        return StatementPlan((VerifyArchive(table, None, asks, times, chosen),))
    plan = counts_of_batches(replace(table, is_written=True), snapshot, times, chosen)
    job = spark_job(plan, facts=snapshot)
    return StatementPlan((VerifyArchive(table, job, asks, times, chosen),), (plan,))


def counts_of_batches(table: Table, facts: PlannerFacts, times: IntervalSet, batches: Collection[str]) -> QueryPlan:
    """The plan of the number of rows in the cold part of a table, their first and last time, and the sums of columns,
    by batch: the rows of these batches, and those of these times."""
    from hivedruid.catalog.types import BIGINT, BOOLEAN
    from hivedruid.plan.build import Builder
    from hivedruid.plan.nodes import Aggregate, Filter
    from hivedruid.plan.rex import Agg, Call, Literal
    from hivedruid.plan.split import optimized
    from hivedruid.plan.time_ranges import is_in_times

    builder = Builder(SourceStatement(f"VERIFY TABLE {table.full_name}"), facts)
    cold = cold_part(table)
    scan = builder.table_scan(cold)
    batch, time = scan.columns[-1], next(c for c in scan.columns if c.name == TIME_COLUMN)
    calls = (Agg(BIGINT, "count", ()), Agg(time.type, "min", (time.ref,)), Agg(time.type, "max", (time.ref,)))
    of_sums = summed(table)
    names = (BATCH_COLUMN, "rows", "first", "last", *(column.name for column in of_sums))
    types = (batch.type, BIGINT, time.type, time.type, *(BIGINT for _ in of_sums))
    rows: Node = scan
    if times != ALL:
        literals = (Literal(batch.type, id_) for id_ in sorted(batches))
        inside = is_in_times(time, times)
        among = Call(BOOLEAN, "in", (batch.ref, *literals))
        rows = Filter(scan.columns, scan, Call(BOOLEAN, "or", (among, inside)) if batches else inside)
    columns = tuple(map(builder.new_column, names, types))
    return optimized(Aggregate(columns, rows, (batch.ref,), (*calls, *_sums(scan, of_sums))), builder)
