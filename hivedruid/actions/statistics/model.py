"""The action of ANALYZE TABLE."""

from __future__ import annotations

from dataclasses import dataclass

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Column, Table
from hivedruid.plan.physical import SparkJob


@dataclass(frozen=True)
class ComputeStatistics(Action):
    """Remember how many rows a table has, and how many values these columns.

    `job` counts the rows of a table outside Druid, None: they are not looked at. `taken_at` is the statement's clock.
    """

    table: Table
    columns: tuple[Column, ...]
    job: SparkJob | None
    taken_at: str


StatisticsAction = ComputeStatistics
