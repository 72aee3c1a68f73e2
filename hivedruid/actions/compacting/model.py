"""The actions that compact segments and list them."""

from __future__ import annotations

from dataclasses import dataclass, field

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import Json


@dataclass(frozen=True)
class CompactSegments(Action):
    """Merge the segments of a table into as few as its properties want. `task` is complete but for id and interval.

    Without a `task` there is nothing to merge, and a note says so. With `wait` rows are compared before and after.
    """

    table: Table
    task: Json | None = field(hash=False)
    wait: bool = False


@dataclass(frozen=True)
class ConfigureCompaction(Action):
    """What the coordinator does by itself with a table's segments from now on; without a `config` nothing.

    `is_possible`: whether there is a coordinator.
    """

    table: Table
    config: Json | None = field(hash=False)
    is_possible: bool = True


@dataclass(frozen=True)
class ListCompactions(Action):
    """Answer with the tasks that compact, and the state of automatic compaction; of all tables, or of one.

    `is_possible`: whether this Druid compacts anything.
    """

    table: Table | None
    is_possible: bool = True


@dataclass(frozen=True)
class ListSegments(Action):
    """Answer with the segments of a table, or of all Druid tables of a database. `asks`: a cluster is asked for them."""

    table: Table | None
    database: str
    asks: bool = True


CompactingAction = CompactSegments | ConfigureCompaction | ListCompactions | ListSegments
