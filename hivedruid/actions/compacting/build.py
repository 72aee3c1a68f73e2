"""The actions of COMPACT, automatic compaction, SHOW COMPACTIONS and SHOW SEGMENTS. Pure."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.compacting.model import CompactSegments, ConfigureCompaction, ListCompactions, ListSegments
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.table import Table
from hivedruid.druid import compaction as specs
from hivedruid.engine.capabilities import Compaction
from hivedruid.engine.kinds import EMBEDDED_STORE, session_kind
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.compacting import CompactingStatement, CompactTable, ShowCompactions, ShowSegments

KINDS = ("major", "minor", "rebalance")
MERGED_HERE = f"{EMBEDDED_STORE.name} merges the segments of each interval"
NOT_HERE = f"{EMBEDDED_STORE.name} does not compact automatically: druid.compaction.auto has no effect"


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """Raises SemanticError and UnsupportedError for tables that are not in Druid and unknown kinds of compaction."""
    del note
    assert isinstance(statement, CompactingStatement)
    return StatementPlan((_action(statement, snapshot),))


def _action(statement: CompactingStatement, snapshot: Snapshot) -> Action:
    is_possible = _is_possible(snapshot)
    match statement:
        case CompactTable():
            _check_kind(statement.kind, statement.span)
            table = _druid_table(statement.name, snapshot)
            task = specs.compact_task(table, snapshot.settings) if is_possible else None
            return CompactSegments(table, task, statement.wait)
        case ShowCompactions():
            return ListCompactions(_shown(statement.name, snapshot), is_possible=is_possible)
        case ShowSegments():
            return ListSegments(
                _shown(statement.name, snapshot), snapshot.database, asks=not session_kind(snapshot.settings).is_in_home
            )
        case _:
            assert_never(statement)


def _shown(name: TableName | None, snapshot: Snapshot) -> Table | None:
    return _druid_table(name, snapshot) if name is not None else None


def changed(before: Table | None, after: Table | None, snapshot: Snapshot) -> tuple[ConfigureCompaction, ...]:
    """The changes of the coordinator's configuration; `before` is None for a new table, `after` for a dropped one.

    They run before the catalog changes: if Druid cannot be reached, nothing is changed and the statement can be rerun.
    """
    old, new = (specs.automatic(table, snapshot.settings) if table else None for table in (before, after))
    is_possible = _is_possible(snapshot)
    if old == new or (new is None and not is_possible):
        return ()
    found: list[ConfigureCompaction] = []
    if old is not None and before is not None and (new is None or new["dataSource"] != old["dataSource"]):
        found.append(ConfigureCompaction(before, None, is_possible))
    if new is not None and after is not None:
        found.append(ConfigureCompaction(after, new, is_possible))
    return tuple(found)


def _is_possible(snapshot: Snapshot) -> bool:
    return session_kind(snapshot.settings).has(Compaction)


def _check_kind(kind: str, span: Span | None) -> None:
    if kind == "major":
        return
    reasons = {
        "minor": "a Druid table has no delta files to merge",
        "rebalance": "Druid's coordinator balances segments across historicals automatically",
    }
    if kind in reasons:
        raise UnsupportedError(
            f"COMPACT '{kind}' is not supported: {reasons[kind]}", span=span, hint="use COMPACT 'major'"
        )
    raise SemanticError(
        f"'{kind}' is not a valid compaction type", span=span, hint=did_you_mean(kind, KINDS) or "use COMPACT 'major'"
    )


def _druid_table(name: TableName, snapshot: Snapshot) -> Table:
    from hivedruid.actions.lookup import find_table

    table = find_table(name, snapshot)
    table.check("compact", name.span)
    return table
