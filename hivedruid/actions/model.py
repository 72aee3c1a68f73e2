"""The base class of actions: a statement is built into actions. EXPLAIN prints them and `execute` runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Self

from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.actions.writing.model import IngestDruid, WriteTable
    from hivedruid.catalog.table import Table
    from hivedruid.evaluation.local import LocalPlan
    from hivedruid.plan.physical import DruidRead, SparkJob


@dataclass(frozen=True)
class Action:
    """Base of all actions. Its properties describe an action independently of its class."""

    @property
    def writes(self) -> IngestDruid | WriteTable | None:
        """The write that it does: itself, or that of the materialized view that it builds."""
        return None

    @property
    def ingests(self) -> IngestDruid | None:
        """The write to Druid that it does."""
        return None

    def with_job(self, job_id: str) -> Self:
        """The same action, with its write to Druid assigned to this job."""
        del job_id
        return self

    @property
    def empties(self) -> tuple[Table, ...]:
        """The tables whose rows it deletes."""
        return ()

    @property
    def capabilities(self) -> tuple[type, ...]:
        """The capabilities that it needs of the session's engine; the statement is refused without them."""
        from hivedruid.engine.capabilities import Loading

        changes_rows = self.ingests is not None or any(table.has_data_source for table in self.empties)
        return (Loading,) if changes_rows else ()

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        """The native queries that it runs first, for EXPLAIN."""
        return ()

    @property
    def evaluates(self) -> LocalPlan | None:
        """The plan whose rows are evaluated in this process."""
        return None

    @property
    def jobs(self) -> tuple[SparkJob, ...]:
        """The Spark jobs whose rows it uses, also those of subqueries and of the view that it builds."""
        return self.writes.jobs if self.writes is not None and self.writes is not self else ()

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        """The same action with each of its native queries changed."""
        del change
        return self

    @property
    def by_version(self) -> tuple[str, ...]:
        """What the version of Druid decided, for EXPLAIN EXTENDED."""
        return ()

    @property
    def names_only(self) -> Action | None:
        """The part of the action that only concerns the catalog and settings: no data is read, written or deleted."""
        return None


@dataclass(frozen=True)
class OverJob:
    """For actions over the rows of a Spark job: their native queries are those of the job."""

    job: SparkJob

    @property
    def jobs(self) -> tuple[SparkJob, ...]:
        return (self.job,)

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return self.job.reads

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        return replace(self, job=self.job.with_reads(change))


@dataclass(frozen=True)
class WritesRows(OverJob):
    """For actions that write rows: those of `local`, evaluated in this process, else those of the Spark job; that is
    also the fallback if there are too many rows, or a value is in doubt."""

    local: LocalPlan | None = field(default=None, kw_only=True)

    @property
    def evaluates(self) -> LocalPlan | None:
        return self.local

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return self.local.reads if self.local is not None else self.job.reads

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        local = self.local.with_reads(change) if self.local is not None else None
        return replace(self, job=self.job.with_reads(change), local=local)
