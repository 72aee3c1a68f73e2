"""The action of ANALYZE TABLE."""

from __future__ import annotations

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Column, Table
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.physical import SparkJob


@dataclass(frozen=True)
class ComputeStatistics(Action):
    """Store the number of rows of a table, and of values in these columns.

    `job` scans a table outside Druid; None: its rows are not scanned. `taken_at` is the time of the statement.
    """

    table: Table
    columns: tuple[Column, ...]
    job: SparkJob | None
    taken_at: str


StatisticsAction = ComputeStatistics
