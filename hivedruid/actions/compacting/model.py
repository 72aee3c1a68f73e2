"""The actions that compact and list segments."""

from __future__ import annotations

from dataclasses import dataclass, field

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import Json
from hivedruid.engine.capabilities import Compaction, Merging, SegmentLists
from hivedruid.operations.compactions import CompactionJob


@dataclass(frozen=True)
class CompactSegments(Action):
    """Merge the segments of a table according to its properties. `task` is complete except for id and interval.

    Without a `task` the engine merges them itself. With `wait` the rows before and after are compared.
    """

    table: Table
    task: Json | None = field(hash=False)
    wait: bool = False

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (Merging,) if self.task is None else (Compaction,)


@dataclass(frozen=True)
class ConfigureCompaction(Action):
    """Set the automatic compaction of a table; without a `config` it is removed.

    `is_possible`: whether the engine has a coordinator.
    """

    table: Table
    config: Json | None = field(hash=False)
    is_possible: bool = True


@dataclass(frozen=True)
class ListCompactions(Action):
    """Return the compaction tasks and the state of automatic compaction, of all tables or of one.

    `is_possible`: whether the engine supports compaction.
    """

    table: Table | None
    is_possible: bool = True


@dataclass(frozen=True)
class ListSegments(Action):
    """Return the segments of a table, or of all Druid tables of a database. `asks`: they are requested from a
    cluster."""

    table: Table | None
    database: str
    asks: bool = True

    @property
    def capabilities(self) -> tuple[type, ...]:
        return (SegmentLists,)


@dataclass(frozen=True)
class ResumeCompaction(Action):
    """Wait for the tasks of an interrupted COMPACT."""

    job: CompactionJob


@dataclass(frozen=True)
class CancelCompaction(Action):
    """Stop the tasks of a COMPACT."""

    job: CompactionJob


CompactingAction = (
    CompactSegments | ResumeCompaction | CancelCompaction | ConfigureCompaction | ListCompactions | ListSegments
)
