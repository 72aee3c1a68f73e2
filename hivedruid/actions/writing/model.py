"""The actions that write rows, and those that resume or roll back jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from hivedruid.actions.model import Action, OverJob, WritesRows
from hivedruid.catalog.table import Table
from hivedruid.iceberg.partitions import ALL_ROWS
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.actions.writing.jobs import Origin
    from hivedruid.catalog.archives import Removal
    from hivedruid.catalog.partitions import Partition
    from hivedruid.druid.ingestion import Replaces
    from hivedruid.druid.interval_sets import IntervalSet
    from hivedruid.druid.planned_segments import SegmentPlan
    from hivedruid.operations.loads import LoadJob
    from hivedruid.operations.topics import TopicJob
    from hivedruid.plan.file_columns import FileColumns
    from hivedruid.plan.file_counts import FileCount
    from hivedruid.plan.physical import DruidRead, SparkJob


@dataclass(frozen=True)
class SegmentWriting:
    """How segments are built, and the root folder of deep storage. `is_required`: the setting requires segments, so
    that the statement fails if they cannot be published. `columns`: those of Parquet files, if the statement only
    copies columns."""

    plan: SegmentPlan
    root: str
    is_required: bool
    because: str
    columns: FileColumns | None = None


@dataclass(frozen=True)
class ColdRows:
    """What a write to a tiered table does to its cold part, the Iceberg table `table`.

    Rows before `edge` (milliseconds) are added to it, and the others to Druid. Or rows of it are removed, since Druid
    has others instead: those of `times`, or of the intervals of segments with new rows if that is None.
    """

    table: Table
    edge: int | None = None
    removal: Removal | None = None
    times: IntervalSet | None = None


@dataclass(frozen=True)
class IngestDruid(WritesRows, Action):
    """Stage the rows of `job`, and load them into Druid: as JSON with one index_parallel task, or, with `segments`,
    as segments that Spark builds in deep storage.

    `spec` is complete except for the staging folder, for which it has the placeholder `druid.ingestion.STAGING`.
    `job_id` is assigned at run time. `cold` is the change of a tiered table's cold part that belongs to it.
    """

    table: Table
    spec: Mapping[str, Any]
    replaces: Replaces = "nothing"
    job_id: str = ""
    segments: SegmentWriting | None = None
    native_because: str = ""
    """Why a task of Druid builds the segments; "" if that needs no explanation."""
    cold: ColdRows | None = None

    @property
    def writes(self) -> IngestDruid | WriteTable:
        return self

    @property
    def ingests(self) -> IngestDruid:
        return self

    @property
    def statement(self) -> str:
        """The kind of statement, for SHOW JOBS."""
        if self.replaces != "nothing":
            return "INSERT OVERWRITE"
        return "UNARCHIVE TABLE" if self.cold is not None and self.cold.removal is not None else "INSERT INTO"

    def with_job(self, job_id: str) -> Self:
        return replace(self, job_id=job_id)


@dataclass(frozen=True)
class WriteTable(WritesRows, Action):
    """Run `job` and append its rows to a Hive-side table, or replace the table's rows with them.

    `once`: the rows are written to a Kafka topic exactly once, by a job of this statement. `partition` is the only
    partition that is written; None if the rows determine them. `replaced` is the condition of the rows of a managed
    table that they replace (Spark's SQL); None for all rows of their partitions. `is_directory`: the table only
    describes the files of INSERT OVERWRITE DIRECTORY. `copied`: the rows are columns of segment files, and become
    Parquet files: the position of each among the fields of the scan.
    """

    table: Table
    overwrite: bool
    once: Origin | None = None
    partition: Partition | None = None
    replaced: str | None = ALL_ROWS
    is_directory: bool = False
    copied: tuple[int, ...] | None = None

    @property
    def writes(self) -> IngestDruid | WriteTable:
        return self


@dataclass(frozen=True)
class LoadFiles(Action):
    """Copy or move files into the folder of an external table or of its `partition`; with `overwrite` they replace
    those that are there."""

    table: Table
    files: tuple[str, ...]
    copies: bool
    overwrite: bool
    partition: Partition | None = None


@dataclass(frozen=True)
class ChangeTableRows(Action):
    """Delete the rows of a managed table for which a condition is true, or set columns of them, in one commit.

    `condition` is Spark's SQL over the columns, None for all rows; `assignments` are those of UPDATE, by column. The
    table is the cold part of `tiered`, if the statement names that one. `changes_nothing`: the condition is true for no
    row, or the table has none. `files` are those that may have rows of the condition, if that is known. `by_rows`: the
    rows must be read, since Iceberg would decide otherwise by the metadata of files. With `subqueries`, Spark's SQL
    reads these views, whose rows are computed once before; the table is `t`.
    """

    table: Table
    condition: str | None
    assignments: tuple[tuple[str, str], ...] = ()
    tiered: Table | None = None
    changes_nothing: bool = False
    files: FileCount | None = None
    by_rows: bool = False
    subqueries: Mapping[str, SparkJob] = field(default_factory=dict, hash=False)

    @property
    def jobs(self) -> tuple[SparkJob, ...]:
        return tuple(self.subqueries.values())

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return tuple(read for job in self.subqueries.values() for read in job.reads)

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        return replace(self, subqueries={view: job.with_reads(change) for view, job in self.subqueries.items()})

    @property
    def verb(self) -> str:
        return "UPDATE" if self.assignments else "DELETE"


@dataclass(frozen=True)
class MergeStep:
    """What MERGE does with a row for which `condition` is true (Spark's SQL; None: with every one): a row of the table
    that matches a row of the source is updated or deleted, a row of the source without a match is inserted.
    `assignments` are the new values by column; those of an insert have all columns."""

    kind: Literal["update", "delete", "insert"]
    condition: str | None = None
    assignments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class MergeTableRows(OverJob, Action):
    """Change the rows of a managed table, `t`, by those of `job`, `s`, in one commit.

    `on` is Spark's SQL: whether two rows match. The job runs once, before the table is read.
    """

    table: Table
    on: str
    steps: tuple[MergeStep, ...]

    @property
    def changes_nothing(self) -> bool:
        """Whether the table has no rows that could match, and none are inserted."""
        return not self.table.is_written and all(step.kind != "insert" for step in self.steps)


@dataclass(frozen=True)
class ResumeLoad(Action):
    """Resume a job and complete it. `is_rerun`: because its own statement was rerun."""

    job: LoadJob
    is_rerun: bool = False


@dataclass(frozen=True)
class RollBackLoad(Action):
    """Roll back a job: remove its rows from Druid, and delete its staged rows.

    `asked`: by CANCEL JOB, which reports a job that has already ended. `with_table`: all rows of the table are removed
    anyway, so that a failed rollback does not matter.
    """

    job: LoadJob
    asked: bool = False
    with_table: bool = False


@dataclass(frozen=True)
class SkipTarget(Action):
    """Skip a target of a rerun multi-insert whose job has already ended."""

    job: LoadJob


@dataclass(frozen=True)
class ResumeTopicWrite(Action):
    """Complete a job that writes to a topic, if its transaction was not committed. `is_rerun`: because its own
    statement was rerun."""

    job: TopicJob
    is_rerun: bool = False


@dataclass(frozen=True)
class CancelTopicWrite(Action):
    """Abort the transaction of a job that writes to a topic, and delete its staged records."""

    job: TopicJob


WritingAction = (
    IngestDruid
    | WriteTable
    | LoadFiles
    | ChangeTableRows
    | MergeTableRows
    | ResumeLoad
    | RollBackLoad
    | SkipTarget
    | ResumeTopicWrite
    | CancelTopicWrite
)
