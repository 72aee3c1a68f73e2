"""The table that a CREATE TABLE defines."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.actions.ddl.constraints import check_constraints
from hivedruid.actions.lookup import already_exists, database_of, find_table, table_of_name
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.avro import LITERAL
from hivedruid.catalog.properties import COLUMN_MAPPING, KAFKA_INGESTION, has_ingestion
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements import ddl as s
from hivedruid.tables import definition, hive_tables
from hivedruid.tables.kafka_feed import check_druid_properties
from hivedruid.tables.metastore_tables import at_home
from hivedruid.tables.property_checks import check_secret, validate


def new_table(statement: s.CreateTable, snapshot: Snapshot, columns: tuple[Column, ...] | None = None) -> Table | None:
    """The table that CREATE TABLE defines; `columns` are the output of its AS SELECT.

    None for IF NOT EXISTS if the table exists.
    """
    database = database_of(statement.name, snapshot)
    if statement.if_not_exists and snapshot.table(database, statement.name.name) is not None:
        return None
    existing = table_of_name(database, statement.name.name, snapshot, temporary=statement.temporary)
    if existing is not None:
        raise already_exists(existing, statement.name.span)
    if statement.like is not None:
        table = _like(statement, statement.like, database, snapshot)
    else:
        if statement.supervisor is not None:
            from hivedruid.actions.ddl.supervisors import from_supervisor

            statement = from_supervisor(statement, snapshot)
        elif statement.topic_span is not None:
            from hivedruid.tables.topic_columns import like_topic

            statement = like_topic(statement, snapshot.sample, snapshot.avro_schemas, snapshot.settings)
        elif statement.like_file is not None:
            statement = replace(statement, columns=snapshot.file_columns)
        elif snapshot.avro_schemas:
            from hivedruid.tables.avro_columns import avro_columns

            derived = avro_columns(snapshot.avro_schemas, statement.name.span)
            serde = statement.serde
            has_literal = any(item.key == LITERAL for item in (*serde, *statement.properties))
            if statement.storage_handler is None and not has_literal:  # reading needs the defaults of the fields, too
                serde += (s.Property(LITERAL, snapshot.avro_schemas[0]),)
            statement = replace(statement, columns=derived, serde=serde)
        table = definition.define_table(statement, database, snapshot.settings, snapshot.discovered, columns)
        if table.has_data_source:
            given = (item.value_span for item in statement.properties if item.key == "druid.datasource")
            check_data_source_name(table.data_source, next(given, statement.name.span), snapshot)
        enabled = (each.span for each in definition.declared_constraints(statement) if each.enabled)
        check_constraints(table, None, next(enabled, None), snapshot)
        if table.is_temporary:
            table = replace(table, location=snapshot.folder_of_rows)
        if snapshot.unreachable is not None and any(item.key == "druid.datasource" for item in statement.properties):
            table = replace(table, owns_data_source=False)  # it is unknown whether it exists already
    return table


def check_data_source_name(name: str, span: Span | None, snapshot: Snapshot) -> None:
    """Refuse a data source whose requests Druid would refuse."""
    if (reason := snapshot.refused_names.get(name)) is None:
        return
    raise UnsupportedError(
        f"data source name '{name}' cannot be used: {reason}",
        span=span,
        hint="choose a druid.datasource without '%' and '\\', or set druid.server.http.uriCompliance=LEGACY, the"
        " default, for all services of Druid",
    )


def _like(statement: s.CreateTable, like: TableName, database: str, snapshot: Snapshot) -> Table:
    """CREATE TABLE … LIKE: columns, format and properties of the other table, without its data."""
    other = find_table(like, snapshot)
    if other.is_materialized:
        raise UnsupportedError(
            "CREATE TABLE … LIKE a materialized view is not supported",
            span=like.span,
            hint="use CREATE TABLE … AS SELECT … LIMIT 0",
        )
    if other.is_view:  # only its columns, as in Hive
        other = replace(other, kind="iceberg", view_text=None, comment="", properties={}, format="orc")
    if (clause := statement.partitioned_by or statement.ordered_by) is not None:
        raise SemanticError(
            f"{clause.text} may not be specified with LIKE", span=clause.span,
            hint="remove it: the new table has the partition spec and the sort order of the other one",
        )  # fmt: skip
    if other.metastore:
        other = at_home(other)
        for key, value in other.properties.items():  # Hive stores secrets in plain text
            check_secret(s.Property(key, value, like.span, like.span))
    external = statement.external or (other.external and other.has_topic)
    kind = other.kind
    if statement.temporary:
        return _temporary_like(statement, other, database, snapshot)
    if kind in ("files", "iceberg", "temporary"):
        kind = "files" if external else "iceberg"
    properties = {**other.properties, **validate(statement.properties, kind)}
    if kind == "druid":
        definition.check_verb(properties, statement.name.span)
        dropped = {KAFKA_INGESTION} if has_ingestion(properties) else {COLUMN_MAPPING}  # records keep their fields
        properties = {key: value for key, value in properties.items() if key not in dropped}
        check_druid_properties(properties, other.columns, statement.name.span)
        properties["druid.datasource"] = f"{database}.{statement.name.name}"  # a new one, the table's own
    location, format_, serde = None, other.format, other.serde
    if kind == "files":
        format_ = statement.stored_as or other.format
        serde = other.serde if format_ == other.format else {}
        location = hive_tables.check_external(statement, other.columns)
    elif kind == "iceberg":
        declared = statement.stored_as or hive_tables.own_format(hive_tables.declared_format(other))
        kept = other.serde if declared == hive_tables.declared_format(other) else {}
        format_, serde = "orc", hive_tables.declared_serde(declared, kept)
        hive_tables.check_managed(statement)
    columns = tuple(replace(column, field=None) for column in other.columns)
    return Table(
        database, statement.name.name, kind, columns, external, statement.comment or other.comment,
        properties, serde, format_, location, owns_data_source=kind == "druid",
        partition_spec=other.partition_spec if kind == "iceberg" or other.has_partitions else (),
        sort_order=other.sort_order if kind == "iceberg" else (),
    )  # fmt: skip


def _temporary_like(statement: s.CreateTable, other: Table, database: str, snapshot: Snapshot) -> Table:
    """CREATE TEMPORARY TABLE … LIKE: the columns of any table, and the format and properties of one with files."""
    hive_tables.check_temporary(statement)
    format_ = statement.stored_as or hive_tables.own_format(other.format)
    own = other.properties if other.kind in ("files", "temporary") else {}
    return Table(
        database, statement.name.name, "temporary", tuple(replace(column, field=None) for column in other.columns),
        comment=statement.comment or other.comment, properties={**own, **validate(statement.properties, "temporary")},
        serde=other.serde if format_ == other.format else {}, format=format_, location=snapshot.folder_of_rows,
        partition_spec=other.partition_spec if other.last_columns else (),
    )  # fmt: skip
