"""The actions of queries. Pure: the same values always give the same actions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.model import Action
from hivedruid.actions.select.model import (
    AnswerRows,
    AskValues,
    EvaluateLocally,
    RunDruidQuery,
    RunSparkJob,
    TieredTable,
)
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.parser.statements import Query, Statement

if TYPE_CHECKING:
    from hivedruid.plan.segment_files import FileScan
    from hivedruid.plan.split import QueryPlan


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """The action that answers a query, preceded by the queries for values that planning needs."""
    from hivedruid.plan.split import plan_query

    assert isinstance(statement, Query)
    facts = replace(snapshot, answers=snapshot.answers or {})
    return answered(plan_query(statement.expression, statement.source, facts, note), snapshot)


def answered(plan: QueryPlan, snapshot: Snapshot) -> StatementPlan:
    """The actions of a planned query. Of the snapshot they also depend on the segments and the offsets of topics, which
    the plan does not."""
    first = (AskValues(plan.asks, plan.zone),) if plan.asks else ()
    action = query_action(plan, snapshot)
    if plan.tier_spans:
        action = replace(action, tiers=_tiers(plan, snapshot))  # type: ignore[call-arg]
    return StatementPlan((*first, action), (plan,))


def _tiers(plan: QueryPlan, snapshot: Snapshot) -> tuple[TieredTable, ...]:
    """The tiered tables of a query, each with the facts that the plan depends on."""
    return tuple(
        TieredTable(snapshot.tables[key], replace(snapshot.tiers[key], asked=spans))
        for key, spans in plan.tier_spans.items()
    )


def query_action(plan: QueryPlan, snapshot: Snapshot) -> Action:
    """How a query is answered: by constant rows, by one native query or the segment files with its rows, by local
    evaluation of few rows, or by Spark."""
    from hivedruid.plan.split import constant_rows, druid_read, spark_job

    rows = constant_rows(plan)
    if rows is not None:
        return AnswerRows(rows, plan.columns)
    read = druid_read(plan)
    if read is not None:
        return RunDruidQuery(read, plan.columns, plan.zone, scan=_files(plan, snapshot))
    job = spark_job(plan, facts=snapshot)
    if not snapshot.scans_only:
        from hivedruid.evaluation.exactness import NotLocal
        from hivedruid.evaluation.local import local_plan

        try:
            return EvaluateLocally(local_plan(plan, job), job)
        except NotLocal:
            pass
    return RunSparkJob(job)


def _files(plan: QueryPlan, snapshot: Snapshot) -> FileScan | None:
    """The segment files that are read in place of a query."""
    if not snapshot.segments:
        return None
    from hivedruid.plan.segment_scans import SegmentScans

    return SegmentScans(plan, snapshot.segments, {}).of_result()
