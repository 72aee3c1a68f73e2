"""DDL and utility statements to actions. Pure: what they need to know is in the snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from hivedruid.actions import ingestion
from hivedruid.actions.changes import (
    AddDatabase,
    AddTable,
    ChangeSetting,
    EmptyTable,
    RemoveDatabase,
    RemoveTable,
    ReplaceTable,
    ResetSetting,
    UseDatabaseAction,
)
from hivedruid.actions.check_ingestion import checks
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog import definition, druid_tables, hive_tables
from hivedruid.catalog.kafka_feed import check_kafka_feed
from hivedruid.catalog.properties import COLUMN_MAPPING, KAFKA_INGESTION, is_fed
from hivedruid.catalog.property_checks import validate
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import PlanError, SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements import ddl as s
from hivedruid.parser.statements import utility as u

ViewColumns = Callable[[exp.Expr], tuple[Column, ...]]
"""The output columns of a query, as the planner sees them."""


def build(statement: Statement, snapshot: Snapshot, view_columns: ViewColumns | None = None) -> tuple[Action, ...]:
    """The actions of a statement of `parser.statements.ddl` or `.utility` (SOURCE is the session's).

    Empty where there is nothing to do (IF [NOT] EXISTS). CREATE TABLE … AS SELECT is the insert builder's, by `new_table`.
    Raises SemanticError and UnsupportedError, with the place, where Hive's rules forbid it.
    """
    if isinstance(statement, s.CreateView):
        return _create_view(statement, snapshot, view_columns)
    builder = _BUILDERS.get(type(statement))
    if builder is not None:
        return builder(statement, snapshot)
    from hivedruid.actions import show

    return (show.build(statement, snapshot),)


def new_table(statement: s.CreateTable, snapshot: Snapshot, columns: tuple[Column, ...] | None = None) -> Table | None:
    """The table that CREATE TABLE makes; `columns` are the output of its AS SELECT. None: IF NOT EXISTS, and it exists."""
    database = _database(statement.name, snapshot)
    existing = snapshot.table(database, statement.name.name)
    if existing is not None:
        if statement.if_not_exists:
            return None
        raise _exists(existing, statement.name.span)
    if statement.like is not None:
        table = _like(statement, statement.like, database, snapshot)
    else:
        table = definition.define_table(statement, database, snapshot.settings, snapshot.discovered, columns)
    return table


def find_table(name: TableName, snapshot: Snapshot) -> Table:
    """The table or view of that name. Raises SemanticError with the closest name."""
    table = snapshot.table(name.database, name.name)
    if table is None:
        database = _database(name, snapshot)
        known = {t.name for t in (*snapshot.tables.values(), *snapshot.all_tables) if t.database == database}
        raise SemanticError(
            f"Table not found {name.name}",
            span=name.span,
            hint=did_you_mean(name.name, sorted(known)) or "SHOW TABLES lists the tables",
        )
    return table


def _database(name: TableName, snapshot: Snapshot) -> str:
    database = name.database or snapshot.database
    _require_database(database, name.span, snapshot)
    return database


def _require_database(database: str, span: Span | None, snapshot: Snapshot) -> None:
    if database not in snapshot.databases:
        raise SemanticError(
            f"Database does not exist: {database}", span=span, hint=did_you_mean(database, snapshot.databases)
        )


def _exists(table: Table, span: Span | None) -> SemanticError:
    what = "View" if table.kind == "view" else "Materialized view" if table.is_materialized else "Table"
    return SemanticError(
        f"{what} {table.full_name} already exists", span=span, hint="drop it first, or write IF NOT EXISTS to leave it"
    )


def _create_table(statement: s.CreateTable, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.query is not None:
        raise PlanError("CREATE TABLE … AS SELECT reached the builder of plain DDL")
    table = new_table(statement, snapshot)
    if table is None:
        return ()
    checked = checks(table, snapshot.settings)
    verb = ingestion.verb_of(statement.properties)
    if verb is None:
        return *checked, AddTable(table)
    table = replace(table, table_id=snapshot.fresh_id)
    return *checked, AddTable(table), *ingestion.with_verb(table, verb, snapshot)


def _like(statement: s.CreateTable, like: TableName, database: str, snapshot: Snapshot) -> Table:
    """CREATE TABLE … LIKE: columns, format and properties of the other table, none of its data."""
    other = find_table(like, snapshot)
    if other.kind == "view" or other.is_materialized:
        raise UnsupportedError(
            "CREATE TABLE … LIKE a view is not supported", span=like.span, hint="use CREATE TABLE … AS SELECT … LIMIT 0"
        )
    external = statement.external or (other.external and other.kind == "kafka")
    kind = other.kind
    if kind in ("files", "iceberg"):
        kind = "files" if external else "iceberg"
    properties = {**other.properties, **validate(statement.properties, kind)}
    if kind == "druid":
        definition.check_verb(properties, statement.name.span)
        dropped = {KAFKA_INGESTION} if is_fed(properties) else {COLUMN_MAPPING}  # records keep their fields
        properties = {key: value for key, value in properties.items() if key not in dropped}
        check_kafka_feed(properties, other.columns, statement.name.span)
        properties["druid.datasource"] = f"{database}.{statement.name.name}"  # a new one, the table's own
    location, found, serde = None, other.format, other.serde
    if kind == "files":
        found = statement.stored_as or other.format
        serde = other.serde if found == other.format else {}
        location = hive_tables.check_external(statement, other.columns)
    elif kind == "iceberg":
        found, serde = "orc", {}
        hive_tables.check_managed(statement, statement.stored_as or "orc")
    columns = tuple(replace(column, field=None) for column in other.columns)
    return Table(
        database, statement.name.name, kind, columns, external, statement.comment or other.comment,
        properties, serde, found, location, owns_data_source=kind == "druid",
    )  # fmt: skip


def _drop_table(statement: s.DropTable, snapshot: Snapshot) -> tuple[Action, ...]:
    missing = snapshot.table(statement.name.database, statement.name.name) is None
    if missing and statement.if_exists:
        return ()
    _database(statement.name, snapshot)
    if missing and snapshot.settings.get("hive.exec.drop.ignorenonexistent") == "true":
        return ()
    table = find_table(statement.name, snapshot)
    if table.kind == "view":
        raise SemanticError("Cannot drop a view with DROP TABLE", span=statement.name.span, hint="use DROP VIEW")
    if table.is_materialized:
        raise SemanticError(
            "Cannot drop a materialized view with DROP TABLE",
            span=statement.name.span,
            hint="use DROP MATERIALIZED VIEW",
        )
    _refuse_if_used(table, "drop", statement.name.span, snapshot)
    return (removal(table, snapshot, purge=statement.purge),)


def removal(table: Table, snapshot: Snapshot, *, purge: bool = False) -> RemoveTable:
    """DROP: what goes besides the name.

    A managed table's data, and any table's with external.table.purge. A Druid table's data source, too, if the table
    made it: Hive marks its segments unused in any case. One that the table was put over with druid.datasource
    stays, and so does one that another home feeds. PURGE alone skips Hive's trash; of a table fed from Kafka it deletes
    segments and offsets for good.
    """
    always = table.properties.get("external.table.purge", "false").lower() == "true"
    delete_data = table.kind != "view" and (not table.external or always or table.owns_data_source)
    if ingestion.is_anothers(table, snapshot):
        delete_data = False
    purge = purge and delete_data and (table.database, table.name) in snapshot.ingestions and is_fed(table.properties)
    return RemoveTable(
        table, delete_data=delete_data, ingestion=ingestion.dropped(table, snapshot, purge=purge), purge=purge
    )


def _drop_view(statement: s.DropView, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.if_exists and snapshot.table(statement.name.database, statement.name.name) is None:
        return ()
    table = find_table(statement.name, snapshot)
    if table.is_materialized:
        raise SemanticError(
            "Cannot drop a materialized view with DROP VIEW",
            span=statement.name.span,
            hint="use DROP MATERIALIZED VIEW",
        )
    if table.kind != "view":
        raise SemanticError("Cannot drop a base table with DROP VIEW", span=statement.name.span, hint="use DROP TABLE")
    _refuse_if_used(table, "drop", statement.name.span, snapshot)
    return (removal(table, snapshot),)


def _refuse_change(table: Table, verb: str, span: Span | None) -> None:
    if table.is_materialized:
        from hivedruid.actions.materialize import refuse_change

        refuse_change(table, verb, span)


def _refuse_if_used(table: Table, verb: str, span: Span | None, snapshot: Snapshot, also: tuple[str, ...] = ()) -> None:
    if snapshot.materialized_views:
        from hivedruid.actions.materialize import refuse_if_used

        refuse_if_used(table, verb, span, snapshot, also)


def _altered(name: TableName, snapshot: Snapshot) -> Table:
    table = find_table(name, snapshot)
    if table.kind == "view":
        raise SemanticError("Cannot alter a view with ALTER TABLE", span=name.span, hint="use CREATE OR REPLACE VIEW")
    _refuse_change(table, "alter", name.span)
    return table


def _set_properties(statement: s.SetTableProperties, snapshot: Snapshot) -> tuple[Action, ...]:
    table = _altered(statement.name, snapshot)
    given = validate(statement.properties, table.kind)
    definition.refuse_external_flag(statement.properties)
    spans = {item.key: item.value_span for item in statement.properties}
    properties = {**table.properties, **given}
    if "druid.datasource" in given:
        druid_tables.check_data_source(given["druid.datasource"], spans["druid.datasource"])
    definition.check_verb(properties, spans.get(KAFKA_INGESTION))
    properties.pop(KAFKA_INGESTION, None)
    changes = _with_properties(statement.name, table, properties, snapshot)
    verb = ingestion.verb_of(statement.properties)
    if verb is None:
        return changes
    replaced = [change for change in changes if isinstance(change, ReplaceTable)]
    verbs = (
        ingestion.with_verb(replaced[0].after, verb, snapshot, before=table)
        if replaced
        else ingestion.with_verb(table, verb, snapshot)
    )
    if verb.value.upper() in ("START", "STOP"):  # these see to the whole spec themselves
        changes = tuple(replaced)
    return (*changes, *verbs) or (ReplaceTable(table, table),)


def _unset_properties(statement: s.UnsetTableProperties, snapshot: Snapshot) -> tuple[Action, ...]:
    table = _altered(statement.name, snapshot)
    present = dict(table.properties)
    if table.comment:
        present["comment"] = table.comment
    for item in statement.properties:
        if item.key not in present and not statement.if_exists:
            raise SemanticError(
                f"property '{item.key}' of {table.full_name} is not set",
                span=item.key_span,
                hint="if you are not sure, write ALTER TABLE … UNSET TBLPROPERTIES IF EXISTS (…)",
            )
        if item.key == "druid.datasource" and item.key in present:
            raise SemanticError(
                "druid.datasource cannot be unset", span=item.key_span, hint="SET it to another data source instead"
            )
    gone = {item.key for item in statement.properties}
    rest = {key: value for key, value in table.properties.items() if key not in gone}
    comment = {"comment": ""} if "comment" in gone else {}
    return _with_properties(statement.name, table, {**rest, **comment}, snapshot)


def _with_properties(
    name: TableName, table: Table, properties: dict[str, str], snapshot: Snapshot
) -> tuple[Action, ...]:
    """The table with these properties, checked together; `comment` among them is the table's comment."""
    if table.kind == "druid":
        check_kafka_feed(properties, table.columns, name.span)
        if is_fed(properties):
            druid_tables.check_columns(table.columns, span=name.span)
    for key in ("kafka.topic", "kafka.bootstrap.servers") if table.kind == "kafka" else ():
        if not properties.get(key):
            raise SemanticError(f"Set Table property {key}", span=name.span, hint="a Kafka table cannot be without it")
    comment = properties.pop("comment", table.comment)
    columns = table.columns
    if any(table.properties.get(key) != properties.get(key) for key in ("druid.datasource", COLUMN_MAPPING)):
        columns = tuple(replace(column, field=None) for column in columns)  # looked up again when first needed
    after = replace(table, properties=properties, comment=comment, columns=columns)
    changes = (ReplaceTable(table, after),) if after != table else ()
    return *changes, *ingestion.altered(table, after, name.span, snapshot)


def _add_columns(statement: s.AddColumns, snapshot: Snapshot) -> tuple[Action, ...]:
    table = _altered(statement.name, snapshot)
    spans = definition.column_spans(statement.columns)
    added = definition.declared(statement.columns)
    for column in added:
        if table.column(column.name):
            raise SemanticError(f"Duplicate column name: {column.name}", span=spans.get(column.name))
        if table.kind == "druid":
            druid_tables.check_column(column, spans.get(column.name))
    if table.kind == "kafka":
        own = table.columns[: -len(hive_tables.KAFKA_COLUMNS)]
        columns = hive_tables.kafka_columns(own + added, spans)
    else:
        columns = table.columns + hive_tables.as_serde_reads(added, table.serde)
    after = replace(table, columns=columns)
    return ReplaceTable(table, after), *ingestion.altered(table, after, statement.name.span, snapshot)


def _rename(statement: s.RenameTable, snapshot: Snapshot) -> tuple[Action, ...]:
    """RENAME touches the catalog alone: a Druid table keeps its data source, a managed table its `table_id`."""
    table = _altered(statement.name, snapshot)
    database = statement.new_name.database or table.database
    _require_database(database, statement.new_name.span, snapshot)
    other = snapshot.table(database, statement.new_name.name)
    if other is not None:
        raise _exists(other, statement.new_name.span)
    _refuse_if_used(table, "rename", statement.name.span, snapshot)
    return (ReplaceTable(table, replace(table, database=database, name=statement.new_name.name)),)


def _truncate(statement: s.TruncateTable, snapshot: Snapshot) -> tuple[Action, ...]:
    table = find_table(statement.name, snapshot)
    span = statement.name.span
    _refuse_change(table, "truncate", span)
    if table.kind == "view":
        raise SemanticError(f"Cannot truncate a view {table.full_name}", span=span, hint="truncate the table behind it")
    if table.kind == "kafka":
        raise UnsupportedError(
            f"Cannot truncate the topic behind {table.full_name}", span=span, hint="use Kafka's tools"
        )
    ingestion.check_quiet(table, "TRUNCATE", span, snapshot)
    purge = table.properties.get("external.table.purge", "false").lower() == "true"
    if table.kind == "files" and not purge:
        raise SemanticError(
            f"Cannot truncate non-managed table {table.full_name}",
            span=span,
            hint="its files are not ours to delete, unless external.table.purge is true",
        )
    return (EmptyTable(table),)


def _create_database(statement: s.CreateDatabase, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.name not in snapshot.databases:
        return (AddDatabase(statement.name, statement.comment),)
    if statement.if_not_exists:
        return ()
    raise SemanticError(
        f"Database {statement.name} already exists",
        span=statement.span,
        hint="write IF NOT EXISTS to leave it as it is",
    )


def _drop_database(statement: s.DropDatabase, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.name not in snapshot.databases and statement.if_exists:
        return ()
    _require_database(statement.name, statement.span, snapshot)
    if statement.name == "default":
        raise SemanticError("Can not drop default database", span=statement.span)
    tables = tuple(table for table in snapshot.all_tables if table.database == statement.name)
    if tables and not statement.cascade:
        raise SemanticError(
            f"Database {statement.name} is not empty. One or more tables exist.",
            span=statement.span,
            hint="DROP DATABASE … CASCADE drops them, too",
        )
    names = tuple(table.full_name for table in tables)
    for table in tables:
        _refuse_if_used(table, "drop", statement.span, snapshot, names)
    views_first = sorted(tables, key=lambda table: (table.kind != "view", table.name))
    actions: tuple[Action, ...] = (
        RemoveDatabase(statement.name, tuple(removal(table, snapshot) for table in views_first)),
    )
    if snapshot.database == statement.name:
        actions += (UseDatabaseAction("default"),)
    return actions


def _use(statement: s.UseDatabase, snapshot: Snapshot) -> tuple[Action, ...]:
    _require_database(statement.name, statement.span, snapshot)
    return (UseDatabaseAction(statement.name),)


def _create_view(statement: s.CreateView, snapshot: Snapshot, view_columns: ViewColumns | None) -> tuple[Action, ...]:
    database = _database(statement.name, snapshot)
    existing = snapshot.table(database, statement.name.name)
    if existing is not None:
        if statement.if_not_exists:
            return ()
        if not statement.or_replace:
            raise _exists(existing, statement.name.span)
        if existing.kind != "view":
            raise SemanticError(
                f"{existing.full_name} is not a view", span=statement.name.span, hint="choose another name"
            )
    if view_columns is None:
        raise PlanError("CREATE VIEW needs the planner to name its columns")
    columns = _renamed(statement, view_columns(statement.query))
    properties = validate(statement.properties, "view")
    comment = statement.comment or properties.pop("comment", "")
    from hivedruid.actions.views import qualified

    table = Table(
        database, statement.name.name, "view", columns, comment=comment, properties=properties,
        view_text=qualified(statement.query_text, snapshot.database),
        table_id=existing.table_id if existing else "",
    )  # fmt: skip
    return (AddTable(table, replace=existing is not None),)


def _renamed(statement: s.CreateView, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    plain = druid_tables.plain_columns(columns)
    if not statement.columns:
        names = [column.name for column in plain]
        for name in names:
            if names.count(name) > 1:
                raise SemanticError(
                    f"Duplicate column name {name} in the view definition.",
                    span=statement.name.span,
                    hint="name the columns of the SELECT with AS",
                )
        return plain
    if len(plain) != len(statement.columns):
        raise SemanticError(
            f"the view names {len(statement.columns)} columns, its query has {len(plain)}",
            span=statement.name.span,
            hint="give as many names as the SELECT has columns, or none",
        )
    named = zip(plain, statement.columns, statement.column_comments, strict=True)
    return tuple(replace(column, name=name, comment=comment) for column, name, comment in named)


def _set(statement: u.SetSetting, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.key is None or statement.value is None:
        from hivedruid.actions import show

        return (show.settings(statement, snapshot),)
    from hivedruid.settings import check

    key = statement.key.removeprefix("hiveconf:")
    if key.startswith("hivevar:"):
        return (ChangeSetting(key, statement.value),)
    for prefix in ("system:", "env:"):
        if key.startswith(prefix):
            raise SemanticError(
                f"'{prefix}' variables cannot be set", span=statement.span, hint="use SET hivevar:name=value"
            )
    return (ChangeSetting(key, check(key, statement.value, statement.span)),)


def _reset(statement: u.ResetSettings, _: Snapshot) -> tuple[Action, ...]:
    return (ResetSetting(statement.key),)


_BUILDERS: dict[type[Statement], Callable[[Any, Snapshot], tuple[Action, ...]]] = {
    s.CreateTable: _create_table,
    s.DropTable: _drop_table,
    s.DropView: _drop_view,
    s.SetTableProperties: _set_properties,
    s.UnsetTableProperties: _unset_properties,
    s.AddColumns: _add_columns,
    s.RenameTable: _rename,
    s.TruncateTable: _truncate,
    s.CreateDatabase: _create_database,
    s.DropDatabase: _drop_database,
    s.UseDatabase: _use,
    u.SetSetting: _set,
    u.ResetSettings: _reset,
}
