"""The actions that compact and list segments."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import Json
from hivedruid.engine.capabilities import Compaction, Merging, SegmentLists
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.iceberg.compaction import CompactionType
    from hivedruid.iceberg.files import TableFile, TableFiles
    from hivedruid.operations.compactions import CompactionJob
    from hivedruid.operations.rewrites import RewriteJob


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
class CompactFiles(Action):
    """Rewrite files of a managed table into files of `target` bytes. `files` are all of its files and `chosen` those to
    be rewritten, None if they are not known without Spark.
    """

    table: Table
    type: CompactionType
    target: int
    files: TableFiles | None = None
    chosen: tuple[TableFile, ...] = ()


@dataclass(frozen=True)
class ResumeRewrite(Action):
    """Run an interrupted COMPACT of a managed table again."""

    job: RewriteJob


@dataclass(frozen=True)
class ForgetRewrite(Action):
    """Mark an interrupted COMPACT of a managed table as cancelled."""

    job: RewriteJob


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
    CompactSegments
    | CompactFiles
    | ResumeRewrite
    | ForgetRewrite
    | ResumeCompaction
    | CancelCompaction
    | ConfigureCompaction
    | ListCompactions
    | ListSegments
)
