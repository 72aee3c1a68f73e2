"""Statement + snapshot → actions. Pure: the same values always give the same actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hivedruid.actions.model import Action, AnswerRows, RunDruidQuery, RunSparkJob
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.table import Column
from hivedruid.errors import Span
from hivedruid.parser.statements import Explain, Query, Statement
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.actions.jobs import Origin
    from hivedruid.jobs.job import Job
    from hivedruid.plan.split import QueryPlan

Note = Callable[[str, Span | None], None]

_WATCHING = frozenset({"ShowIngestions", "ShowTasks", "ShowTask", "ShowProblems", "KillTask"})
_MATERIALIZED = frozenset(
    {"CreateMaterializedView", "AlterMaterializedView", "DropMaterializedView", "ShowMaterializedViews"}
)
ABOUT_JOBS = frozenset({"ShowJobs", "DescribeJob", "CancelJob", "ResumeJob"})
_ABOUT_SEGMENTS = frozenset({"CompactTable", "ShowCompactions", "ShowSegments"})
WRITING = frozenset({"Insert", "CreateTable", "CreateMaterializedView", "AlterMaterializedView"})
REMOVING = frozenset({"DropTable", "DropDatabase", "DropMaterializedView", "TruncateTable"})
"""By name, so that other statements do not load these."""


@dataclass(frozen=True)
class Built:
    """What a statement comes down to; `plans` are the query plans behind its actions, for EXPLAIN."""

    actions: tuple[Action, ...]
    plans: tuple[QueryPlan, ...] = ()


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> Built:
    """The actions of any statement but EXPLAIN and SOURCE.

    Raises SemanticError, UnsupportedError: the statement cannot mean anything, or not here.
    """
    if isinstance(statement, Explain):
        return build(statement.statement, snapshot, note)
    if not snapshot.jobs or type(statement).__name__ not in WRITING | REMOVING:
        return _build(statement, snapshot, note)
    from hivedruid.actions.jobs import continued_table, origin, with_earlier

    found = origin(statement.source, snapshot.settings, snapshot.database)
    continued = continued_table(found, snapshot)
    if continued is not None:
        return Built((continued, *_compaction(continued.job, snapshot)))
    built = _build(statement, snapshot, note)
    return replace(built, actions=with_earlier(built.actions, found, snapshot))


def _build(statement: Statement, snapshot: Snapshot, note: Note | None) -> Built:
    if isinstance(statement, Query):
        from hivedruid.plan.split import plan_query

        plan = plan_query(statement.expression, statement.source, snapshot, note)
        return Built((query_action(plan),), (plan,))
    if type(statement).__name__ in _WATCHING:
        from hivedruid.actions import watch

        return Built(watch.build(statement, snapshot))
    if type(statement).__name__ in ABOUT_JOBS:
        from hivedruid.actions import show_jobs

        return Built(show_jobs.build(statement, snapshot))
    if type(statement).__name__ in _ABOUT_SEGMENTS:
        from hivedruid.actions import compaction

        return Built(compaction.build(statement, snapshot))
    if type(statement).__name__ == "AnalyzeTable":
        from hivedruid.actions import analyze

        return Built(analyze.build(statement, snapshot))  # type: ignore[arg-type]
    if type(statement).__name__ in _MATERIALIZED:
        from hivedruid.actions import materialize

        return materialize.build(statement, snapshot, note)
    if type(statement).__name__ == "AlterIngestion":
        from hivedruid.actions import ingestion

        return Built(ingestion.build(statement, snapshot))
    from hivedruid.parser.statements.ddl import CreateTable
    from hivedruid.parser.statements.dml import Insert

    if isinstance(statement, Insert) or (isinstance(statement, CreateTable) and statement.query is not None):
        from hivedruid.actions import insert

        return insert.build(statement, snapshot, note)
    from hivedruid.actions import ddl

    return Built(ddl.build(statement, snapshot, view_columns(statement.source, snapshot), note))


def _compaction(job: Job, snapshot: Snapshot) -> tuple[Action, ...]:
    """What CREATE TABLE … AS does about automatic compaction besides."""
    from hivedruid.actions.compaction import changed
    from hivedruid.catalog.store import from_json

    return changed(None, from_json("", job.database, job.table, job.definition), snapshot)


def job_origin(statement: Statement, snapshot: Snapshot) -> Origin | None:
    """What jobs of a statement come from; None for one that writes nothing."""
    if type(statement).__name__ not in WRITING:
        return None
    from hivedruid.actions.jobs import origin

    return origin(statement.source, snapshot.settings, snapshot.database)


def query_action(plan: QueryPlan) -> Action:
    """How a query is answered: at once, by Druid alone, or by Spark over what Druid can."""
    from hivedruid.plan.split import constant_rows, druid_read, spark_job

    rows = constant_rows(plan)
    if rows is not None:
        return AnswerRows(rows, plan.columns)
    read = druid_read(plan)
    return RunDruidQuery(read, plan.columns, plan.zone) if read is not None else RunSparkJob(spark_job(plan))


def view_columns(source: SourceStatement, snapshot: Snapshot) -> Callable[[exp.Expr], tuple[Column, ...]]:
    """The output columns of a query, for CREATE VIEW."""

    def columns(query: exp.Expr) -> tuple[Column, ...]:
        from hivedruid.plan.split import plan_query

        plan = plan_query(query, source, snapshot)
        return tuple(Column(c.name, c.type) for c in plan.columns)

    return columns
