"""The actions of tiered tables."""

from __future__ import annotations

from hivedruid.actions.model import Action
from hivedruid.actions.writing.model import WriteTable
from hivedruid.catalog.table import Table
from hivedruid.catalog.tiers import granularity
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import ALL, IntervalSet, merged
from hivedruid.engine.capabilities import Archiving
from hivedruid.engine.segments import Segment
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.archives import ArchiveJob
from hivedruid.plan.physical import SparkJob

MOST_INTERVALS = 100
"""Of a batch: Druid needs a lock and a tombstone for each."""


def partition_count(table: Table, times: IntervalSet) -> int:
    """The number of partitions of the cold part with rows of these times, at most."""
    unit = granularity(table).upper()
    count, last = 0, None
    for start, end in times:
        first, through = granularities.number(start, unit), granularities.number(end - 1, unit)
        count += through - first + (first != last)
        last = through
    return count


@dataclass(frozen=True)
class ArchiveRows(Action):
    """Move the rows of segments that end before `edge` (milliseconds) to the cold part of a tiered table.

    `segments` are those that queries read when the statement is built; the job determines them again under locks.
    `write` adds the rows to the cold part; its batch is a placeholder. `unfinished` are interrupted jobs of the table,
    which are completed first.
    """

    table: Table
    edge: int
    segments: tuple[Segment, ...]
    write: WriteTable | None
    unfinished: tuple[ArchiveJob, ...] = ()

    @property
    def intervals(self) -> IntervalSet:
        return merged((segment.start, segment.end) for segment in self.segments)

    @property
    def partitions(self) -> int:
        """The greatest number of partitions of the cold part that receive rows: each of them at least one file."""
        return partition_count(self.table, self.intervals)

    @property
    def batches(self) -> tuple[IntervalSet, ...]:
        """The times that are archived together: the intervals of at most MOST_INTERVALS segments."""
        spans = sorted({(segment.start, segment.end) for segment in self.segments})
        starts = range(0, len(spans), MOST_INTERVALS)
        return tuple(merged(spans[start : start + MOST_INTERVALS]) for start in starts)

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (Archiving,)


@dataclass(frozen=True)
class ListArchives(Action):
    """Return the archive jobs, of all tables or of one."""

    table: Table | None


@dataclass(frozen=True)
class ResumeArchive(Action):
    """Complete an interrupted archive job."""

    job: ArchiveJob

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (Archiving,)


@dataclass(frozen=True)
class CancelArchive(Action):
    """Delete the rows that an interrupted archive job has added to the cold part, if Druid still has them; otherwise
    complete the job."""

    job: ArchiveJob

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (Archiving,)


@dataclass(frozen=True)
class VerifyArchive(Action):
    """Compare the parts of a tiered table with what the archive jobs have recorded.

    `job` counts the rows of each batch in the cold part, and has the sums of its columns; None if it has none. `asks`:
    segments are requested from a cluster. `batches` are those with rows of these `times`.
    """

    table: Table
    job: SparkJob | None
    asks: bool = True
    times: IntervalSet = ALL
    batches: frozenset[str] = frozenset()

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (Archiving,)


@dataclass(frozen=True)
class UnarchiveNothing(Action):
    """No archived rows of a tiered table are to be brought back into Druid."""

    table: Table


TieringAction = ArchiveRows | ListArchives | ResumeArchive | CancelArchive | VerifyArchive | UnarchiveNothing
