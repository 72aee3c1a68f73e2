"""Tables and databases that statements name, as the snapshot knows them, and what forbids to change them."""

from __future__ import annotations

from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.parser.statements import TableName


def find_table(name: TableName, snapshot: Snapshot) -> Table:
    """The table or view of that name. Raises SemanticError with the closest name."""
    table = snapshot.table(name.database, name.name)
    if table is None:
        database = database_of(name, snapshot)
        known = {t.name for t in (*snapshot.tables.values(), *snapshot.all_tables) if t.database == database}
        raise SemanticError(
            f"Table not found {name.name}",
            span=name.span,
            hint=did_you_mean(name.name, sorted(known)) or "SHOW TABLES lists the tables",
        )
    return table


def database_of(name: TableName, snapshot: Snapshot) -> str:
    database = name.database or snapshot.database
    require_database(database, name.span, snapshot)
    return database


def require_database(database: str, span: Span | None, snapshot: Snapshot) -> None:
    if database not in snapshot.databases:
        raise SemanticError(
            f"Database does not exist: {database}", span=span, hint=did_you_mean(database, snapshot.databases)
        )


def already_exists(table: Table, span: Span | None) -> SemanticError:
    what = "View" if table.kind == "view" else "Materialized view" if table.is_materialized else "Table"
    return SemanticError(
        f"{what} {table.full_name} already exists", span=span, hint="drop it first, or write IF NOT EXISTS to leave it"
    )


def refuse_if_materialized(table: Table, verb: str, span: Span | None) -> None:
    if table.is_materialized:
        from hivedruid.actions.materialize import refuse_change

        refuse_change(table, verb, span)


def refuse_if_used(table: Table, verb: str, span: Span | None, snapshot: Snapshot, also: tuple[str, ...] = ()) -> None:
    if snapshot.materialized_views:
        from hivedruid.actions.materialize import refuse_if_used

        refuse_if_used(table, verb, span, snapshot, also)
