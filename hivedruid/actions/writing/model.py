"""The actions that write rows, and those of the jobs that write them to Druid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from hivedruid.actions.model import Action, OverJob
from hivedruid.catalog.table import Table

if TYPE_CHECKING:
    from hivedruid.druid.ingestion import Replaces
    from hivedruid.jobs.job import Job


@dataclass(frozen=True)
class IngestDruid(OverJob, Action):
    """Run `job`, stage its rows as JSON, and let Druid ingest them with one index_parallel task.

    `spec` is complete but for the staging folder, in whose place it has `druid.ingestion.STAGING`. `job_id` is given when
    it is run.
    """

    table: Table
    spec: Mapping[str, Any]
    replaces: Replaces = "nothing"
    job_id: str = ""

    @property
    def writes(self) -> IngestDruid | WriteTable:
        return self

    @property
    def ingests(self) -> IngestDruid:
        return self

    def with_job(self, job_id: str) -> Self:
        return replace(self, job_id=job_id)


@dataclass(frozen=True)
class WriteTable(OverJob, Action):
    """Run `job` and append its rows to a Hive-side table, or replace the table's rows by them."""

    table: Table
    overwrite: bool

    @property
    def writes(self) -> IngestDruid | WriteTable:
        return self


@dataclass(frozen=True)
class ContinueJob(Action):
    """Carry a job on from where it stands to its end. `said_again`: because its own statement was said again."""

    job: Job
    said_again: bool = False


@dataclass(frozen=True)
class WithdrawJob(Action):
    """Take back what Druid has of a job, and delete its staged rows.

    `asked`: a person did, so that it is answered. `with_table`: all rows go, so that it does not matter whose they are.
    """

    job: Job
    asked: bool = False
    with_table: bool = False


@dataclass(frozen=True)
class LeaveTarget(Action):
    """The target of a multi-insert whose job has ended already, when the statement was said before."""

    job: Job


VIEW = "MATERIALIZED VIEW"
"""The kind of a job that builds one: only its own statement knows what else has to be remembered, so nobody goes on with it."""


WritingAction = IngestDruid | WriteTable | ContinueJob | WithdrawJob | LeaveTarget
