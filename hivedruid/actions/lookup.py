"""Look up the tables and databases of statements in the snapshot, and check that they may be changed."""

from __future__ import annotations

from collections.abc import Iterable, Set

from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.properties import KAFKA_INGESTION
from hivedruid.catalog.table import Table
from hivedruid.errors import CatalogStateError, SemanticError, Span, TableNotFound, did_you_mean
from hivedruid.parser.statements import SupervisorName, TableName
from hivedruid.parser.statements.ddl import Property


def find_table(name: TableName, snapshot: Snapshot) -> Table:
    """The table or view of that name. Raises TableNotFound if there is none."""
    table = snapshot.table(name.database, name.name)
    if table is None:
        database = database_of(name, snapshot)
        raise TableNotFound(f"Table not found {name.name}", database=database, name=name.name, span=name.span)
    return table


def no_supervisor(name: SupervisorName) -> SemanticError:
    """The error of a statement that names a supervisor which Druid does not have."""
    return SemanticError(
        f"there is no supervisor '{name.id}'", span=name.span,
        hint="run SHOW INGESTIONS to list the supervisors: those without a table are listed by their ids",
    )  # fmt: skip


def verb_of(properties: Iterable[Property]) -> Property | None:
    """The property druid.kafka.ingestion, if given; the last one if repeated."""
    found = [item for item in properties if item.key == KAFKA_INGESTION]
    return found[-1] if found else None


def database_of(name: TableName, snapshot: Snapshot) -> str:
    database = name.database or snapshot.database
    require_database(database, name.span, snapshot)
    return database


def require_database(database: str, span: Span | None, snapshot: Snapshot) -> None:
    if database not in snapshot.databases:
        raise CatalogStateError(
            f"Database does not exist: {database}", span=span, hint=did_you_mean(database, snapshot.databases)
        )


def may_be_missing(name: TableName, snapshot: Snapshot, *, if_exists: bool) -> bool:
    """Whether DROP has nothing to do: there is no table or view of that name, and that is not an error."""
    return ignores_missing(snapshot, if_exists=if_exists) and snapshot.table(name.database, name.name) is None


def ignores_missing(snapshot: Snapshot, *, if_exists: bool) -> bool:
    """Whether DROP of what does not exist is not an error."""
    return if_exists or snapshot.settings.get("hive.exec.drop.ignorenonexistent") == "true"


def purges(table: Table) -> bool:
    """Whether DROP and TRUNCATE delete the data of an external table."""
    return table.is_temporary or table.properties.get("external.table.purge", "false").lower() == "true"


def check_truncated(table: Table, span: Span | None) -> None:
    """Raises SemanticError if TRUNCATE must not delete the files of an external table."""
    if not purges(table):
        raise SemanticError(
            f"Cannot truncate non-managed table {table.full_name}",
            span=span,
            hint="to let TRUNCATE delete its files, set external.table.purge to true",
        )


def altered_table(name: TableName, snapshot: Snapshot, *, of_view: bool = False) -> Table:
    """The table of ALTER TABLE, or the view of ALTER VIEW. Raises SemanticError for the other one, and for materialized
    views."""
    table = find_table(name, snapshot)
    if of_view and table.is_view:
        return table
    if of_view:
        raise SemanticError(f"{table.full_name} is not a view", span=name.span, hint="use ALTER TABLE")
    table.check("alter", name.span)
    refuse_if_materialized(table, "alter", name.span)
    return table


def table_of_name(database: str, name: str, snapshot: Snapshot, *, temporary: bool) -> Table | None:
    """The table that a new one of that name would replace: a temporary table and another one may share a name."""
    found = snapshot.table(database, name)
    if found is None or found.is_temporary == temporary:
        return found
    return None if temporary else snapshot.hidden.get((database, name))


def refuse_temporary(statement: str, span: Span | None, snapshot: Snapshot) -> None:
    """Refuse a definition that reads temporary tables or calls temporary functions: other sessions do not have them."""
    refuse_temporary_functions(statement, span, snapshot)
    refuse_loose_files(statement, span, snapshot)
    for key in sorted(snapshot.queried & snapshot.tables.keys()):
        table = snapshot.tables[key]
        if table.is_temporary:
            kind = "view" if table.is_view else "table"
            raise SemanticError(
                f"{statement} references temporary {kind} {table.full_name}", span=span,
                hint=f"create the {kind} without TEMPORARY",
            )  # fmt: skip


def refuse_loose_files(statement: str, span: Span | None, snapshot: Snapshot) -> None:
    """Refuse a definition that reads a file without a table: its path depends on the session."""
    for file in snapshot.loose_files.values():
        name = file.table.full_name
        raise SemanticError(
            f"{statement} references the file {name}, which is not a table", span=span,
            hint=f"create a table over it; DESCRIBE {name} prints the statement",
        )  # fmt: skip


def refuse_temporary_functions(statement: str, span: Span | None, snapshot: Snapshot) -> None:
    """Refuse a definition that calls temporary functions: other sessions do not have them."""
    for function in snapshot.called:
        if not function.database:
            raise SemanticError(
                f"{statement} references temporary function {function.name}", span=span,
                hint="create the function without TEMPORARY",
            )  # fmt: skip


def already_exists(table: Table, span: Span | None) -> CatalogStateError:
    what = "View" if table.is_view else "Materialized view" if table.is_materialized else "Table"
    what = f"Temporary {what.lower()}" if table.is_temporary else what
    if table.iceberg:
        return CatalogStateError(
            f"{what} {table.full_name} already exists in {table.iceberg}", span=span,
            hint="drop it first, or use IF NOT EXISTS to keep it",
        )  # fmt: skip
    if table.metastore:
        place, hint = f" in the Hive metastore {table.metastore}", "choose another name, or another database"
        return CatalogStateError(f"{what} {table.full_name} already exists{place}", span=span, hint=hint)
    return CatalogStateError(
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
        if not table.is_temporary
        and table.full_name in facts.built.tables
        and facts.table.full_name not in {table.full_name} | also
    ]
    if views:
        raise SemanticError(
            f"Cannot {verb} {table.full_name} as it is used in the following materialized views [{', '.join(views)}]",
            span=span,
            hint=f"DROP MATERIALIZED VIEW {views[0]} first",
        )


def refuse_if_streamed(table: Table, verb: str, span: Span | None, snapshot: Snapshot) -> None:
    """Refuse to drop, empty or rename a table that a stream reads or writes."""
    names = (table.full_name,) if not table.is_temporary else ()
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
