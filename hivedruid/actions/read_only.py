"""Refuse statements that would change databases or tables of other catalogs. In a Hive metastore INSERT into external
tables of files is allowed, and what changes rows of Iceberg tables, with hivedruid.catalog = metastore also CREATE and
DROP; in the Iceberg catalog of a database, what changes rows, CREATE and DROP TABLE. In a home that can only be read,
all statements are refused that would change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from hivedruid.actions.families import family_of
from hivedruid.catalog.failures import read_only_home
from hivedruid.catalog.metastore import creates_there
from hivedruid.catalog.opening import is_shared
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements import Statement, TableName
from hivedruid.private import is_read_only

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.catalog.table import Table


def refuse_changes(statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts) -> None:
    """Raises UnsupportedError, with the position of the name, and ExecutionError for a home that is read-only."""
    if not facts.plan_only and is_read_only(facts.home) and not is_shared(facts.catalog):
        _refuse_in_home(statement, tables, facts)
    for name in _changed(statement, may_drop=creates_there(facts.settings)):
        table = tables.get(((name.database or facts.database).lower(), name.name.lower()))
        if table is not None and table.iceberg is not None:
            _check_iceberg(statement, table, name.span)
        if table is not None and table.metastore:
            from hivedruid.parser.statements.partitioning import ExchangePartition
            from hivedruid.parser.statements.writing import ChangeRows, Insert, Merge
            from hivedruid.tables.metastore_tables import is_iceberg_of_metastore

            if isinstance(statement, ChangeRows | Merge) and not table.is_view:
                plain = (
                    "it is a table of files",
                    "use INSERT OVERWRITE TABLE … SELECT with the rows that remain or change",
                )
                reason = table.unwritable or (None if is_iceberg_of_metastore(table) else plain)
                _check_write(table, "change rows of", reason, name.span)
            elif isinstance(statement, ExchangePartition):
                if not creates_there(facts.settings):
                    raise _refused(table, name.span, "SET hivedruid.catalog=metastore, or change it in Hive")
            elif isinstance(statement, Insert):
                _check_write(table, "insert into", table.unwritable, name.span)
            else:
                raise _refused(table, name.span)
    there = creates_there(facts.settings)
    for database, span, follows in _databases(statement, facts.database):
        if _is_in_iceberg(statement, database, facts, span) or facts.names.metastore is None:
            continue
        if there and follows:
            if facts.names.database(database) is None:
                raise SemanticError(
                    f"Database does not exist in the Hive metastore {facts.names.metastore.uris}: {database}",
                    span=span, hint=f"run CREATE DATABASE {database}, or SET hivedruid.catalog=home",
                )  # fmt: skip
        elif not facts.names.in_home(database) and facts.names.database(database) is not None:
            raise UnsupportedError(
                f"cannot change database {database}: it is in the Hive metastore {facts.names.metastore.uris}",
                span=span,
                hint=f"SET hivedruid.catalog=metastore, or run CREATE DATABASE {database} for tables of the home",
            )


def _refuse_in_home(statement: Statement, tables: Mapping[tuple[str, str], Table], facts: Facts) -> None:
    """Refuse what would change the home, before a first step of it changes something elsewhere."""
    from hivedruid.parser.statements.ddl import CreateFunction, CreateTable, CreateView, DropFunction, UseDatabase
    from hivedruid.parser.statements.writing import Insert, LoadData

    if _only_shows(statement) or isinstance(statement, UseDatabase):
        return
    if isinstance(statement, CreateFunction | CreateTable | CreateView | DropFunction):
        if statement.temporary:
            return
    elif names := list(_changed(statement, may_drop=False)):
        changed = [tables.get(((name.database or facts.database).lower(), name.name.lower())) for name in names]
        rows_only = isinstance(statement, Insert | LoadData)
        if all(table is None or table.is_temporary or (rows_only and _is_elsewhere(table)) for table in changed):
            return
    elif isinstance(statement, Insert):  # into directories
        return
    raise read_only_home(facts.home)


def _is_elsewhere(table: Table) -> bool:
    """Whether INSERT changes nothing in the home: the table is in another catalog, or only its files change."""
    return bool(table.metastore or table.iceberg) or (table.kind == "files" and not table.has_partitions)


def _refused(table: Table, span: Span | None, hint: str = "") -> UnsupportedError:
    copy = "" if table.is_view else f", or copy its rows: CREATE TABLE … AS SELECT * FROM {table.full_name}"
    return UnsupportedError(
        f"cannot change {table.full_name}: it is in the Hive metastore {table.metastore}",
        span=span, hint=hint or f"change it in Hive{copy}",
    )  # fmt: skip


def _check_iceberg(statement: Statement, table: Table, span: Span | None) -> None:
    from hivedruid.parser.statements.ddl import DropTable, TruncateTable
    from hivedruid.parser.statements.snapshots import ExpireSnapshots, SetSnapshot
    from hivedruid.parser.statements.writing import ChangeRows, Insert, Merge

    if not isinstance(
        statement, Insert | ChangeRows | Merge | TruncateTable | DropTable | ExpireSnapshots | SetSnapshot
    ):
        raise UnsupportedError(
            f"cannot change {table.full_name} with this statement: it is in {table.iceberg}", span=span,
            hint="use another program of that catalog, such as Spark",
        )  # fmt: skip
    if table.unwritable is not None and not isinstance(statement, DropTable):
        reason, hint = table.unwritable
        raise UnsupportedError(f"cannot write to {table.full_name}: {reason}", span=span, hint=hint)


def _is_in_iceberg(statement: Statement, database: str, facts: Facts, span: Span | None) -> bool:
    """Whether a database has the tables of an Iceberg catalog. Raises UnsupportedError for other objects in it."""
    if facts.names.iceberg_place(database) is None:
        return False
    from hivedruid.parser.statements.ddl import AlterDatabase, CreateTable, DropDatabase

    if not isinstance(statement, AlterDatabase | CreateTable | DropDatabase):
        raise UnsupportedError(
            f"database {database} has the tables of an Iceberg catalog, and nothing else", span=span,
            hint="use a name in another database",
        )  # fmt: skip
    return True


def _check_write(table: Table, what: str, why: tuple[str, str] | None, span: Span | None) -> None:
    if why is not None:
        reason, hint = why
        raise UnsupportedError(
            f"cannot {what} {table.full_name} in the Hive metastore {table.metastore}: {reason}", span=span,
            hint=hint,
        )  # fmt: skip


def _changed(statement: Statement, *, may_drop: bool) -> Iterator[TableName]:
    """The existing tables that a statement would change. A statement that creates one checks the name itself."""
    family = family_of(statement)
    if _only_shows(statement):
        return
    from hivedruid.parser.statements.ddl import CreateTable, CreateView, DropTable, DropView
    from hivedruid.parser.statements.materialized import CreateMaterializedView
    from hivedruid.parser.statements.streaming import CreateStream
    from hivedruid.parser.statements.writing import Insert

    match statement:
        case CreateTable() | CreateMaterializedView():
            pass
        case DropTable() | DropView() if may_drop:
            pass
        case CreateView():
            if statement.or_replace or statement.alters:
                yield statement.name
        case CreateStream():
            yield statement.into
        case Insert():
            yield from (target.table for target in statement.targets if target.directory is None)
        case _ if family != "streaming":  # a stream is not a table
            values = (getattr(statement, item.name) for item in fields(statement))
            yield from (value for value in values if isinstance(value, TableName))
        case _:
            pass


def _only_shows(statement: Statement) -> bool:
    """Whether a statement reads, or only changes the session."""
    match family_of(statement):
        case "select" | "utility" | "watching":
            return True
        case "materialized":
            from hivedruid.parser.statements.materialized import ShowMaterializedViews

            return isinstance(statement, ShowMaterializedViews)
        case "streaming":
            from hivedruid.parser.statements.streaming import DescribeStream, ShowBatches, ShowCheckpoints, ShowStreams

            return isinstance(statement, ShowStreams | ShowBatches | ShowCheckpoints | DescribeStream)
        case "tiering":
            from hivedruid.parser.statements.tiering import ShowArchives, VerifyTable

            return isinstance(statement, ShowArchives | VerifyTable)
        case "partitioning":
            from hivedruid.parser.statements.partitioning import DescribePartition, ShowPartitions

            return isinstance(statement, ShowPartitions | DescribePartition)
        case "writing":
            from hivedruid.parser.statements.writing import DescribeJob, ShowJobs

            return isinstance(statement, ShowJobs | DescribeJob)
        case "compacting":
            from hivedruid.parser.statements.compacting import CompactTable

            return not isinstance(statement, CompactTable)
        case _:
            return False


def _databases(statement: Statement, current: str) -> Iterator[tuple[str, Span | None, bool]]:
    """The databases that a statement would change, or in which it would create a table; whether that is in the catalog
    of hivedruid.catalog, or always in the home."""
    if family_of(statement) not in ("ddl", "materialized", "streaming"):
        return
    from hivedruid.parser.statements.ddl import AlterDatabase, CreateTable, CreateView, DropDatabase, RenameTable
    from hivedruid.parser.statements.materialized import CreateMaterializedView
    from hivedruid.parser.statements.streaming import CreateStream

    match statement:
        case AlterDatabase() | DropDatabase():
            yield statement.name, statement.span, isinstance(statement, DropDatabase)
        case CreateTable() | CreateView():
            name = statement.name
            yield (name.database or current).lower(), name.span, not statement.temporary
        case CreateMaterializedView() | CreateStream():
            yield (statement.name.database or current).lower(), statement.name.span, False
        case RenameTable():
            yield (statement.new_name.database or current).lower(), statement.new_name.span, False
        case _:
            pass
