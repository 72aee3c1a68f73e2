"""Statement + snapshot → actions. Pure: the same values always give the same actions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.families import builder, family_of
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.parser.statements import Explain, Statement

if TYPE_CHECKING:
    from hivedruid.actions.writing.jobs import Origin
    from hivedruid.jobs.job import Job


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """The actions of any statement but SOURCE; of EXPLAIN those of what it explains.

    Raises SemanticError, UnsupportedError: the statement cannot mean anything, or not here.
    """
    if isinstance(statement, Explain):
        return build(statement.statement, snapshot, note)
    build_family = builder(family_of(statement))
    if not snapshot.jobs or "jobs" not in statement.needs:
        return build_family(statement, snapshot, note)
    from hivedruid.actions.writing.jobs import continued_table, origin, with_earlier, without_unfinished

    found = origin(statement.source, snapshot.settings, snapshot.database)
    continued = continued_table(found, snapshot)
    if continued is not None:
        return StatementPlan((continued, *_compaction(continued.job, snapshot)))
    built = build_family(statement, without_unfinished(snapshot), note)
    return replace(built, actions=with_earlier(built.actions, found, snapshot))


def _compaction(job: Job, snapshot: Snapshot) -> tuple[Action, ...]:
    """What CREATE TABLE … AS does about automatic compaction besides."""
    from hivedruid.actions.compacting.build import changed
    from hivedruid.catalog.store import from_json

    return changed(None, from_json("", job.database, job.table, job.definition), snapshot)


def job_origin(statement: Statement, snapshot: Snapshot) -> Origin | None:
    """What jobs of a statement come from; None for one that has none."""
    if "jobs" not in statement.needs:
        return None
    from hivedruid.actions.writing.jobs import origin

    return origin(statement.source, snapshot.settings, snapshot.database)
