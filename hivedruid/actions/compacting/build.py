"""The actions of COMPACT, automatic compaction, SHOW COMPACTIONS and SHOW SEGMENTS. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never, cast

from hivedruid.actions.compacting.model import (
    CompactFiles,
    CompactSegments,
    ConfigureCompaction,
    ListCompactions,
    ListSegments,
)
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.catalog.kinds import Use
from hivedruid.catalog.properties import target_size
from hivedruid.catalog.table import Table
from hivedruid.druid import compaction as specs
from hivedruid.engine.capabilities import Compaction
from hivedruid.engine.kinds import EMBEDDED_STORE, session_kind
from hivedruid.errors import SemanticError, UnsupportedError, did_you_mean
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.compacting import CompactingStatement, CompactTable, ShowCompactions, ShowSegments

if TYPE_CHECKING:
    from hivedruid.iceberg.compaction import CompactionType

TYPES = ("major", "minor", "rebalance")
MERGED_HERE = f"{EMBEDDED_STORE.name} merges the segments of each interval"
NOT_IN_DRUID = {
    "minor": "Druid's tasks merge all segments of an interval; from Druid 37 on the cluster's compaction policy"
    " mostFragmentedFirst merges only new ones, for tables with druid.compaction.auto",
    "rebalance": "Druid's coordinator balances segments across historicals automatically",
}
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
            table = _table(statement.name, "compact", snapshot)
            if table.has_snapshots:
                return _compact_files(table, statement, snapshot)
            _check_type(statement, NOT_IN_DRUID)
            task = specs.compact_task(table, snapshot.settings) if is_possible else None
            return CompactSegments(table, task, statement.wait)
        case ShowCompactions():
            return ListCompactions(_shown(statement.name, "compact", snapshot), is_possible=is_possible)
        case ShowSegments():
            return ListSegments(
                _shown(statement.name, "list segments", snapshot),
                snapshot.database,
                asks=not session_kind(snapshot.settings).is_in_home,
            )
        case _:
            assert_never(statement)


def _shown(name: TableName | None, use: Use, snapshot: Snapshot) -> Table | None:
    return _table(name, use, snapshot) if name is not None else None


def _compact_files(table: Table, statement: CompactTable, snapshot: Snapshot) -> CompactFiles:
    from hivedruid.iceberg.compaction import to_rewrite

    _check_type(statement, {"rebalance": "the files of a managed table are in no buckets"})
    type_, target = cast("CompactionType", statement.kind), target_size(table.properties)
    files = snapshot.table_files.get((table.database, table.name))
    chosen = to_rewrite(files, type_, target) if files is not None else ()
    return CompactFiles(table, type_, target, files, chosen)


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


def _check_type(statement: CompactTable, refused: Mapping[str, str]) -> None:
    """`refused` are the reasons why a kind of table does not support a type."""
    type_, span = statement.kind, statement.span
    if type_ in refused:
        raise UnsupportedError(
            f"COMPACT '{type_}' is not supported: {refused[type_]}", span=span, hint="use COMPACT 'major'"
        )
    if type_ not in TYPES:
        hint = did_you_mean(type_, TYPES) or "use COMPACT 'major'"
        raise SemanticError(f"'{type_}' is not a valid compaction type", span=span, hint=hint)


def _table(name: TableName, use: Use, snapshot: Snapshot) -> Table:
    from hivedruid.actions.lookup import find_table

    table = find_table(name, snapshot)
    table.check(use, name.span)
    return table
