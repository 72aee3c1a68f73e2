"""The actions that answer queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from hivedruid.actions.model import Action, OverJob
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.physical import Ask, DruidRead, SparkJob
from hivedruid.plan.segment_files import FileScan
from hivedruid.results import ResultColumn

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.evaluation.local import LocalPlan
    from hivedruid.plan.tiers import TierFacts


@dataclass(frozen=True)
class TieredTable:
    """A tiered table that a query reads, and what the query was planned with."""

    table: Table
    facts: TierFacts


@dataclass(frozen=True)
class RunDruidQuery(Action):
    """Return the rows of one native query; `tiers` are the tiered tables that it reads, here and below. With `scan` the
    query is not sent: this process reads these segment files."""

    read: DruidRead
    columns: tuple[ResultColumn, ...]
    zone: str = "UTC"
    tiers: tuple[TieredTable, ...] = ()
    scan: FileScan | None = None

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return (self.read,)

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        return replace(self, read=change(self.read))


@dataclass(frozen=True)
class AskValues(Action):
    """Run native queries that return one row each; the statement is then planned again with their results."""

    asks: tuple[Ask, ...]
    zone: str = "UTC"

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return tuple(ask.read for ask in self.asks)

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        return replace(self, asks=tuple(replace(ask, read=change(ask.read)) for ask in self.asks))


@dataclass(frozen=True)
class AnswerRows(Action):
    """Return rows that were computed while planning."""

    rows: tuple[tuple[Any, ...], ...]
    columns: tuple[ResultColumn, ...]
    tiers: tuple[TieredTable, ...] = ()


@dataclass(frozen=True)
class RunSparkJob(OverJob, Action):
    """Return the rows of a Spark job."""

    tiers: tuple[TieredTable, ...] = ()


@dataclass(frozen=True)
class EvaluateLocally(Action):
    """Evaluate the rows of native queries, and of small tables of Parquet files, in this process; `job` is the fallback
    if there are too many rows."""

    plan: LocalPlan
    job: SparkJob
    tiers: tuple[TieredTable, ...] = ()

    @property
    def evaluates(self) -> LocalPlan | None:
        return self.plan

    @property
    def jobs(self) -> tuple[SparkJob, ...]:
        return (self.job,)

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return self.plan.reads

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        return replace(self, plan=self.plan.with_reads(change), job=self.job.with_reads(change))


SelectAction = RunDruidQuery | AskValues | AnswerRows | RunSparkJob | EvaluateLocally
