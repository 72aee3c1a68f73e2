"""Look up the tables and databases of statements in the snapshot, and check that they may be changed."""

from __future__ import annotations

from collections.abc import Set

from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, TableNotFound, did_you_mean
from hivedruid.parser.statements import TableName


def find_table(name: TableName, snapshot: Snapshot) -> Table:
    """The table or view of that name. Raises TableNotFound if there is none."""
    table = snapshot.table(name.database, name.name)
    if table is None:
        database = database_of(name, snapshot)
        raise TableNotFound(f"Table not found {name.name}", database=database, name=name.name, span=name.span)
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
    what = "View" if table.is_view else "Materialized view" if table.is_materialized else "Table"
    return SemanticError(
        f"{what} {table.full_name} already exists", span=span, hint="drop it first, or use IF NOT EXISTS to keep it"
    )


def refuse_if_used(
    table: Table, verb: str, span: Span | None, snapshot: Snapshot, also: Set[str] = frozenset()
) -> None:
    """As Hive, refuse to drop the source of a materialized view (HMSHandler.isPartOfMaterializedView).

    `also` are tables that are dropped by the same statement.
    """
    views = [
        facts.table.full_name
        for facts in snapshot.materialized_views
        if table.full_name in facts.built.tables and facts.table.full_name not in {table.full_name} | also
    ]
    if views:
        raise SemanticError(
            f"Cannot {verb} {table.full_name} as it is used in the following materialized views [{', '.join(views)}]",
            span=span,
            hint=f"DROP MATERIALIZED VIEW {views[0]} first",
        )


def refuse_if_streamed(table: Table, verb: str, span: Span | None, snapshot: Snapshot) -> None:
    """Refuse to drop, empty or rename a table that a stream reads or writes."""
    names = (table.full_name,)
    found = [each.stream for each in snapshot.streams if each.stream.source in names or each.stream.target in names]
    if found:
        raise SemanticError(
            f"Cannot {verb} {table.full_name}: stream {found[0].full_name} uses it",
            span=span,
            hint=f"DROP STREAM {found[0].full_name} first",
        )


def refuse_if_materialized(table: Table, verb: str, span: Span | None) -> None:
    """Refuse to change a materialized view: its rows and columns are those of its query."""
    if table.is_materialized:
        raise SemanticError(
            f"cannot {verb} {table.full_name}: it is a materialized view",
            span=span,
            hint="drop it with DROP MATERIALIZED VIEW and create it again"
            if verb == "alter"
            else f"ALTER MATERIALIZED VIEW {table.name} REBUILD recomputes its rows",
        )
