"""The actions of ALTER TABLE … EXECUTE. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import assert_never

from hivedruid.actions.lookup import find_table
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot as Facts
from hivedruid.actions.snapshots.choice import listed
from hivedruid.actions.snapshots.model import MakeCurrent, RemoveOrphans, RemoveSnapshots
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError, SemanticError, Span
from hivedruid.iceberg.expiry import Expiry, kept, named
from hivedruid.iceberg.history import Snapshot, TableHistory
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.snapshots import DeleteOrphanFiles, ExpireSnapshots, SetSnapshot, SnapshotsStatement
from hivedruid.plan.literals import parse_timestamp_ltz

DEFAULT_AGE = timedelta(days=5)
"""The age of snapshots that EXPIRE_SNAPSHOTS without arguments removes, as in Iceberg."""
ORPHAN_AGE = timedelta(days=3)
"""The age of files from which DELETE ORPHAN-FILES removes them: a running job may have written newer ones."""
SHORTEST_ORPHAN_AGE = timedelta(days=1)
"""Iceberg refuses less (RemoveOrphanFilesProcedure)."""


def build(statement: Statement, facts: Facts, note: Note | None = None) -> StatementPlan:
    """Raises SemanticError, UnsupportedError and ExecutionError for tables, times and snapshots that do not fit."""
    del note
    assert isinstance(statement, SnapshotsStatement)
    table = find_table(statement.name, facts)
    table.check("execute", statement.name.span)
    return StatementPlan((_action(statement, table, facts),))


def _action(statement: SnapshotsStatement, table: Table, facts: Facts) -> Action:
    history = facts.histories.get((table.database, table.name))
    match statement:
        case ExpireSnapshots():
            return _remove(statement, table, history, facts)
        case DeleteOrphanFiles():
            return _orphans(statement, table, facts)
        case SetSnapshot():
            _refuse_if_target(statement, table, facts)
            commit = _chosen(statement, table, history, facts) if history is not None else None
            return MakeCurrent(table, commit, statement.is_rollback)
        case _:
            assert_never(statement)


def _refuse_if_target(statement: SetSnapshot, table: Table, facts: Facts) -> None:
    """The offsets of a stream are in the snapshots: rows and offsets go back together."""
    for stream in (each.stream for each in facts.streams if each.stream.target == table.full_name):
        raise SemanticError(
            f"cannot set the snapshot of {table.full_name}: stream {stream.full_name} writes to it",
            span=statement.span,
            hint=f"use ROLLBACK STREAM {stream.full_name} TO BATCH n, or DROP STREAM {stream.full_name} first",
        )


def _remove(statement: ExpireSnapshots, table: Table, history: TableHistory | None, facts: Facts) -> RemoveSnapshots:
    times = [_millis(_time(text, statement.span, facts)) for text in statement.times]
    if statement.retain == 0:
        raise SemanticError(
            "RETAIN LAST must be at least 1", span=statement.span, hint="the current snapshot is always kept"
        )
    if history is None:
        return RemoveSnapshots(table, is_known=False)
    for id_ in statement.ids:
        _commit(id_, table, history, statement.span)
    if statement.ids or statement.retain is not None:
        expiry = Expiry(retain=statement.retain, ids=statement.ids)
    elif len(times) == 2:
        expiry = Expiry(since=times[0], before=times[1] + 1)
    else:
        expiry = Expiry(before=times[0] if times else _millis(facts.now - DEFAULT_AGE))
    chosen, reasons = named(history, expiry), kept(history)
    return RemoveSnapshots(
        table,
        tuple(commit for commit in chosen if commit.id not in reasons),
        {commit.id: reasons[commit.id] for commit in chosen if commit.id in reasons},
    )


def _orphans(statement: DeleteOrphanFiles, table: Table, facts: Facts) -> RemoveOrphans:
    if statement.time is None:
        return RemoveOrphans(table, facts.now - ORPHAN_AGE)
    before = _time(statement.time, statement.span, facts)
    age = facts.now - before
    if age < SHORTEST_ORPHAN_AGE:
        raise SemanticError(
            "OLDER THAN must be at least a day ago: a running statement may have written newer files",
            span=statement.span,
            hint="remove OLDER THAN to delete files older than 3 days",
        )
    unfinished = [known.operation for known in facts.jobs if not known.operation.has_ended]
    jobs = [job for job in unfinished if job.table_id == table.table_id]
    if age < ORPHAN_AGE and jobs:
        raise ExecutionError(
            f"job {jobs[0].id} of {table.full_name} has not ended: it may have written files less than 3 days ago",
            hint=f"remove OLDER THAN, or end it first: DESCRIBE JOB '{jobs[0].id}'",
        )
    return RemoveOrphans(table, before)


def _chosen(statement: SetSnapshot, table: Table, history: TableHistory, facts: Facts) -> Snapshot:
    if statement.time is not None:
        found = history.before(_millis(_time(statement.time, statement.span, facts)))
        if found is None:
            raise SemanticError(
                f"{table.full_name} has no snapshot before {statement.time}",
                span=statement.span,
                hint=listed(table, history),
            )
        return found
    assert statement.id is not None
    commit = _commit(statement.id, table, history, statement.span)
    if statement.is_rollback and commit not in history.ancestors():
        raise SemanticError(
            f"snapshot {commit.id} is not an earlier one of the current rows of {table.full_name}",
            span=statement.span,
            hint=f"use EXECUTE SET_CURRENT_SNAPSHOT({commit.id})",
        )
    return commit


def _commit(id_: int, table: Table, history: TableHistory, span: Span | None) -> Snapshot:
    found = history.snapshots.get(id_)
    if found is None:
        raise SemanticError(f"{table.full_name} has no snapshot {id_}", span=span, hint=listed(table, history))
    return found


def _time(text: str, span: Span | None, facts: Facts) -> datetime:
    """A time in the session's zone."""
    found = parse_timestamp_ltz(text, facts.zone)
    if found is None:
        raise SemanticError(
            f"'{text}' is not a valid timestamp" if len(text) <= 40 else "not a valid timestamp",
            span=span,
            hint="use 'yyyy-MM-dd HH:mm:ss', in hive.local.time.zone",
        )
    return found.astimezone(UTC)


def _millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
