"""What statements come down to: frozen actions. EXPLAIN prints them, `execute` runs them; neither decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import Table
from hivedruid.plan.physical import DruidInput, DruidRead, SparkJob
from hivedruid.results import ResultColumn

if TYPE_CHECKING:
    from hivedruid.jobs.load import Replaces


@dataclass(frozen=True)
class Action:
    """Base of all actions."""


@dataclass(frozen=True)
class RunDruidQuery(Action):
    """Answer with the rows of one native query."""

    read: DruidRead
    columns: tuple[ResultColumn, ...]
    zone: str = "UTC"


@dataclass(frozen=True)
class AnswerRows(Action):
    """Answer with rows that planning has already computed."""

    rows: tuple[tuple[Any, ...], ...]
    columns: tuple[ResultColumn, ...]


@dataclass(frozen=True)
class RunSparkJob(Action):
    """Answer with the rows of a Spark job."""

    job: SparkJob


@dataclass(frozen=True)
class IngestDruid(Action):
    """Run `job`, stage its rows as JSON, and let Druid ingest them with one index_parallel task.

    `spec` is complete but for the staging folder, in whose place it has `druid.ingestion.STAGING`. `job_id` is given when
    it is run.
    """

    job: SparkJob
    table: Table
    spec: Mapping[str, Any]
    replaces: Replaces = "nothing"
    job_id: str = ""


@dataclass(frozen=True)
class WriteTable(Action):
    """Run `job` and append its rows to a Hive-side table, or replace the table's rows by them."""

    job: SparkJob
    table: Table
    overwrite: bool


def ingest_of(action: object) -> IngestDruid | None:
    """What an action writes to Druid: itself, or the rows of the materialized view that it builds."""
    found = getattr(action, "write", action)
    return found if isinstance(found, IngestDruid) else None


def needs_druid(action: Action) -> bool:
    """Whether an action reads from Druid, or changes what is there."""
    if isinstance(action, RunDruidQuery | IngestDruid):
        return True
    if isinstance(action, RunSparkJob | WriteTable):
        return any(isinstance(source, DruidInput) for source in action.job.inputs)
    table: Table | None = getattr(action, "table", None)
    deletes = type(action).__name__ == "EmptyTable" or getattr(action, "delete_data", False)
    return table is not None and table.kind == "druid" and deletes
