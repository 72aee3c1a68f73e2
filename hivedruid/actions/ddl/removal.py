"""The actions of DROP and TRUNCATE. Pure: the snapshot holds all facts about the tables."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.compacting import build as compaction
from hivedruid.actions.ddl import retention
from hivedruid.actions.ddl.in_metastore import place
from hivedruid.actions.ddl.model import EmptyTable, RemoveDatabase, RemoveTable, UseDatabaseAction
from hivedruid.actions.ingesting import build as ingestion
from hivedruid.actions.lookup import (
    check_truncated,
    find_table,
    may_be_missing,
    purges,
    refuse_if_materialized,
    refuse_if_streamed,
    refuse_if_used,
    require_database,
)
from hivedruid.actions.model import Action
from hivedruid.actions.partitioning.model import EmptyPartitions
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note
from hivedruid.catalog.databases import NO_DETAILS
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements import ddl as s


def build(
    statement: s.DropTable | s.TruncateTable | s.DropDatabase | s.DropView, snapshot: Snapshot, note: Note | None
) -> tuple[Action, ...]:
    match statement:
        case s.DropTable():
            return _drop_table(statement, snapshot, note)
        case s.TruncateTable():
            return _truncate(statement, snapshot)
        case s.DropDatabase():
            return _drop_database(statement, snapshot)
        case s.DropView():
            return _drop_view(statement, snapshot)
        case _:
            assert_never(statement)


def _drop_table(statement: s.DropTable, snapshot: Snapshot, note: Note | None) -> tuple[Action, ...]:
    if may_be_missing(statement.name, snapshot, if_exists=statement.if_exists):
        return ()
    table = find_table(statement.name, snapshot)
    if table.is_view and statement.if_exists:  # as in Hive, no table of that name exists
        return ()
    table.check("drop", statement.name.span)
    if table.is_materialized:
        raise SemanticError(
            "Cannot drop a materialized view with DROP TABLE",
            span=statement.name.span,
            hint="use DROP MATERIALIZED VIEW",
        )
    refuse_if_used(table, "drop", statement.name.span, snapshot)
    refuse_if_streamed(table, "drop", statement.name.span, snapshot)
    _refuse_if_archiving(table, statement.name.span, snapshot)
    removed = removal(table, snapshot, purge=statement.purge)
    if statement.purge and table.has_data_source and not removed.delete_data and note is not None:
        note(_why_kept(table), statement.name.span)
    return (removed,)


def _why_kept(table: Table) -> str:
    if table.owns_data_source:
        return f"PURGE keeps data source '{table.data_source}' with its rows: another home ingests into it"
    return (
        f"PURGE keeps data source '{table.data_source}' with its rows: {table.full_name} did not create it; to delete"
        f" it, run ALTER TABLE {table.name} SET TBLPROPERTIES ('external.table.purge' = 'true') before DROP TABLE"
    )


def _refuse_if_archiving(table: Table, span: Span | None, snapshot: Snapshot) -> None:
    """Refuse to remove the rows of a tiered table that an archive job is moving."""
    tiers = snapshot.tiers.get((table.database, table.name))
    for batch in tiers.batches if tiers is not None else ():
        if not batch.is_decided:
            raise SemanticError(
                f"job {batch.id} is archiving rows of {table.full_name}",
                span=span,
                hint=f"wait for it, or run CANCEL JOB '{batch.id}' or RESUME JOB '{batch.id}'",
            )


def removal(table: Table, snapshot: Snapshot, *, purge: bool = False) -> RemoveTable:
    """What DROP removes beside the catalog entry.

    The data of a managed table, and of any table with external.table.purge. The data source of a Druid table, if the
    table created it: Hive marks its segments as unused in any case. A data source that existed before the table stays,
    and so does one into which another home ingests. PURGE, auto.purge and external.table.purge delete the segments
    permanently.
    """
    always = purges(table)
    is_own = table.owns_data_source if table.has_data_source else not table.external
    delete_data = not table.is_view and (is_own or always) and not ingestion.is_anothers(table, snapshot)
    for_good = delete_data and table.has_data_source and (purge or always or _purges_drops(table))
    fed = (table.database, table.name) in snapshot.ingestions and has_ingestion(table.properties)
    end = ingestion.dropped(table, snapshot, purge=for_good and fed)
    configured = next(iter(compaction.changed(table, None, snapshot)), None)
    rules = next(iter(retention.changed(table, None, snapshot)), None)
    return RemoveTable(
        table, delete_data=delete_data, ingestion=end, purge=for_good, compaction=configured, retention=rules
    )


def _purges_drops(table: Table) -> bool:
    return table.properties.get("auto.purge", "false").lower() == "true"


def _drop_view(statement: s.DropView, snapshot: Snapshot) -> tuple[Action, ...]:
    if may_be_missing(statement.name, snapshot, if_exists=statement.if_exists):
        return ()
    table = find_table(statement.name, snapshot)
    if table.is_materialized:
        raise SemanticError(
            "Cannot drop a materialized view with DROP VIEW",
            span=statement.name.span,
            hint="use DROP MATERIALIZED VIEW",
        )
    if not table.is_view and statement.if_exists:
        return ()
    if not table.is_view:
        raise SemanticError("Cannot drop a base table with DROP VIEW", span=statement.name.span, hint="use DROP TABLE")
    refuse_if_used(table, "drop", statement.name.span, snapshot)
    return (removal(table, snapshot),)


def _truncate(statement: s.TruncateTable, snapshot: Snapshot) -> tuple[Action, ...]:
    table = find_table(statement.name, snapshot)
    span = statement.name.span
    refuse_if_materialized(table, "truncate", span)
    table.check("truncate", span)
    refuse_if_streamed(table, "truncate", span, snapshot)
    ingestion.check_quiet(table, "TRUNCATE", span, snapshot)
    if table.kind == "files":
        check_truncated(table, span)
    _refuse_if_archiving(table, span, snapshot)
    own = table.owns_data_source and _purges_drops(table)
    if table.has_partitions:
        return (EmptyPartitions(table, snapshot.partitions.get((table.database, table.name), ())),)
    return (EmptyTable(table, purge=table.has_data_source and (purges(table) or own)),)


def _drop_database(statement: s.DropDatabase, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.name not in snapshot.databases and statement.if_exists:
        return ()
    require_database(statement.name, statement.span, snapshot)
    if statement.name == "default":
        raise SemanticError("Can not drop default database", span=statement.span)
    if snapshot.database_details.get(statement.name, NO_DETAILS).uses_iceberg:
        if statement.cascade:
            raise UnsupportedError(
                f"DROP DATABASE … CASCADE is not supported: the tables of {statement.name} are in an Iceberg catalog",
                span=statement.span, hint="remove CASCADE: the tables stay in that catalog, or drop them first",
            )  # fmt: skip
        current: tuple[Action, ...] = (UseDatabaseAction("default"),) if snapshot.database == statement.name else ()
        return (RemoveDatabase(statement.name), *current)
    there = place(snapshot.settings, statement.span)
    if there and statement.cascade:
        raise UnsupportedError(
            "DROP DATABASE … CASCADE is not supported in a Hive metastore", span=statement.span,
            hint="drop its tables first, or drop it in Hive",
        )  # fmt: skip
    if snapshot.names and not statement.cascade:
        raise SemanticError(
            f"Database {statement.name} is not empty. One or more tables exist.",
            span=statement.span,
            hint="use DROP DATABASE … CASCADE to drop its tables, too",
        )
    names = frozenset(table.full_name for table in snapshot.dropped)
    for table in snapshot.dropped:
        refuse_if_used(table, "drop", statement.span, snapshot, names)
        refuse_if_streamed(table, "drop", statement.span, snapshot)
    views_first = sorted(snapshot.dropped, key=lambda table: (not table.is_view, table.name))
    actions: tuple[Action, ...] = (
        RemoveDatabase(statement.name, tuple(removal(table, snapshot) for table in views_first), there),
    )
    if snapshot.database == statement.name:
        actions += (UseDatabaseAction("default"),)
    return actions
