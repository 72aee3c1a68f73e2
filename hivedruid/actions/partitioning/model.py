"""The actions that change the partitions of external tables."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.actions.model import Action
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import Table
from hivedruid.engine.archiving import Span
from hivedruid.engine.capabilities import Archiving, DeepStorage
from hivedruid.engine.segments import Segment
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.partitions import PartitionJob


@dataclass(frozen=True)
class ChangePartitions(Action):
    """Remove and add partitions in the catalog, in one transaction. With `makes_folders` the folders of added ones are
    created; with `delete_data` those of removed ones are deleted."""

    table: Table
    added: tuple[Partition, ...] = ()
    removed: tuple[Partition, ...] = ()
    delete_data: bool = False
    makes_folders: bool = True

    @property
    def names_only(self) -> Action:
        return replace(self, delete_data=False, makes_folders=False)


@dataclass(frozen=True)
class EmptyPartitions(Action):
    """Delete the files of partitions, which stay in the catalog."""

    table: Table
    partitions: tuple[Partition, ...]


@dataclass(frozen=True)
class ExchangePartitions(Action):
    """Make partitions of `source` those of `target`, with their files. `given` are the constants of PARTITION (…), by
    column."""

    target: Table
    source: Table
    partitions: tuple[Partition, ...]
    given: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class DropIntervals(Action):
    """Drop all segments of intervals of a Druid table. `segments` are those with rows when the statement is built; they
    are determined again under locks. The unused segments of the `purged` intervals are deleted afterwards.
    `is_kept`: the engine only marks dropped segments as unused.
    """

    table: Table
    intervals: tuple[Span, ...]
    segments: tuple[Segment, ...]
    purged: tuple[Span, ...] = ()
    is_kept: bool = True

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (Archiving,)


@dataclass(frozen=True)
class RestoreIntervals(Action):
    """Mark segments of a Druid table as used again."""

    table: Table
    segments: tuple[Segment, ...]

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (DeepStorage,)


@dataclass(frozen=True)
class CompleteMoves(Action):
    """Complete an interrupted INSERT: move its staged files into the folders of partitions."""

    job: PartitionJob


PartitioningAction = (
    ChangePartitions | EmptyPartitions | ExchangePartitions | DropIntervals | RestoreIntervals | CompleteMoves
)
