"""The base of all actions: what statements come down to. EXPLAIN prints them, `execute` runs them; neither decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from hivedruid.actions.writing.model import IngestDruid, WriteTable
    from hivedruid.catalog.table import Table
    from hivedruid.plan.physical import DruidRead, SparkJob


@dataclass(frozen=True)
class Action:
    """Base of all actions. Its properties say what others have to know of an action without knowing its kind."""

    @property
    def writes(self) -> IngestDruid | WriteTable | None:
        """The rows that it writes: itself, or those of the materialized view that it builds."""
        return None

    @property
    def ingests(self) -> IngestDruid | None:
        """The rows that it writes to Druid."""
        return None

    def with_job(self, job_id: str) -> Self:
        """The same action, whose rows for Druid belong to this job."""
        del job_id
        return self

    @property
    def empties(self) -> tuple[Table, ...]:
        """The tables whose rows it deletes."""
        return ()

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        """The native queries that it asks first, for EXPLAIN."""
        return ()

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        """The same action with each of its native queries changed."""
        del change
        return self

    @property
    def names_only(self) -> Action | None:
        """What of it concerns the catalog, the settings and answers from them: no data is read, written or deleted."""
        return None


@dataclass(frozen=True)
class OverJob:
    """For actions over the rows of a Spark job: their native queries are those of the job."""

    job: SparkJob

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return self.job.reads

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        return replace(self, job=self.job.with_reads(change))
