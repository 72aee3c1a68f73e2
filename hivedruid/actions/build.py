"""Statement + snapshot → actions. Pure: the same values always give the same actions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.families import builder, family_of
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.engine.kinds import session_kind
from hivedruid.parser.statements import Explain, Query, Statement

if TYPE_CHECKING:
    from hivedruid.actions.writing.jobs import Origin
    from hivedruid.operations.loads import LoadJob


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """The actions of any statement except SOURCE; for EXPLAIN, those of the explained statement.

    Raises SemanticError for an invalid statement, UnsupportedError for one that is not supported.
    """
    if isinstance(statement, Explain):
        return build(statement.statement, snapshot, note)
    return _checked(_build(statement, snapshot, note), snapshot)


def rebuilt(statement: Statement, built: StatementPlan, snapshot: Snapshot) -> StatementPlan:
    """The actions with the segments and the offsets of topics in the snapshot. They do not change the plan of a query,
    which takes most of the time."""
    if isinstance(statement, Explain):
        return rebuilt(statement.statement, built, snapshot)
    if not isinstance(statement, Query):
        return build(statement, snapshot)
    from hivedruid.actions.select.build import answered

    (plan,) = built.plans
    return _checked(answered(plan, snapshot), snapshot)


def _checked(built: StatementPlan, snapshot: Snapshot) -> StatementPlan:
    kind = session_kind(snapshot.settings)
    for action in built.actions:
        kind.check("the statement is not supported", *action.capabilities)
    return built


def _build(statement: Statement, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    build_family = builder(family_of(statement))
    if not snapshot.jobs or "jobs" not in statement.needs:
        return build_family(statement, snapshot, note)
    from hivedruid.actions.writing.jobs import origin, resumed_table, with_earlier, without_unfinished
    from hivedruid.actions.writing.topic_recovery import with_earlier_writes

    job_origin = origin(statement.source, snapshot.settings, snapshot.database)
    continued = resumed_table(job_origin, snapshot)
    if continued is not None:
        return StatementPlan((continued, *_configured(continued.job, snapshot)))
    built = build_family(statement, without_unfinished(snapshot), note)
    return replace(built, actions=with_earlier_writes(with_earlier(built.actions, job_origin, snapshot), snapshot))


def _configured(job: LoadJob, snapshot: Snapshot) -> tuple[Action, ...]:
    """The additional actions of CREATE TABLE … AS that configure automatic compaction and retention."""
    from hivedruid.actions.compacting import build as compaction
    from hivedruid.actions.ddl import retention
    from hivedruid.catalog.store import from_json

    table = from_json("", job.database, job.table, job.definition)
    return *compaction.changed(None, table, snapshot), *retention.changed(None, table, snapshot)


def job_origin(statement: Statement, snapshot: Snapshot) -> Origin | None:
    """The origin of a statement's jobs; None for a statement that has no jobs."""
    if "jobs" not in statement.needs:
        return None
    from hivedruid.actions.writing.jobs import origin

    return origin(statement.source, snapshot.settings, snapshot.database)
