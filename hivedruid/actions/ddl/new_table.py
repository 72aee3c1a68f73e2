"""The table that a CREATE TABLE defines."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.actions.lookup import already_exists, database_of, find_table
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.properties import COLUMN_MAPPING, KAFKA_INGESTION, has_ingestion
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements import ddl as s
from hivedruid.tables import definition, hive_tables
from hivedruid.tables.kafka_feed import check_druid_properties
from hivedruid.tables.property_checks import validate


def new_table(statement: s.CreateTable, snapshot: Snapshot, columns: tuple[Column, ...] | None = None) -> Table | None:
    """The table that CREATE TABLE defines; `columns` are the output of its AS SELECT.

    None for IF NOT EXISTS if the table exists.
    """
    database = database_of(statement.name, snapshot)
    existing = snapshot.table(database, statement.name.name)
    if existing is not None:
        if statement.if_not_exists:
            return None
        raise already_exists(existing, statement.name.span)
    if statement.like is not None:
        table = _like(statement, statement.like, database, snapshot)
    else:
        if statement.topic_span is not None:
            from hivedruid.tables.topic_columns import like_topic

            statement = like_topic(statement, snapshot.sample, snapshot.avro_schemas, snapshot.settings)
        elif snapshot.avro_schemas:
            from hivedruid.tables.avro_columns import avro_columns

            statement = replace(statement, columns=avro_columns(snapshot.avro_schemas, statement.name.span))
        table = definition.define_table(statement, database, snapshot.settings, snapshot.discovered, columns)
        if snapshot.unreachable is not None and any(item.key == "druid.datasource" for item in statement.properties):
            table = replace(table, owns_data_source=False)  # it is unknown whether it exists already
    return table


def _like(statement: s.CreateTable, like: TableName, database: str, snapshot: Snapshot) -> Table:
    """CREATE TABLE … LIKE: columns, format and properties of the other table, without its data."""
    other = find_table(like, snapshot)
    if other.is_view or other.is_materialized:
        raise UnsupportedError(
            "CREATE TABLE … LIKE a view is not supported", span=like.span, hint="use CREATE TABLE … AS SELECT … LIMIT 0"
        )
    if (clause := statement.partitioned_by or statement.ordered_by) is not None:
        raise SemanticError(
            f"{clause.text} may not be specified with LIKE", span=clause.span,
            hint="remove it: the new table has the partition spec and the sort order of the other one",
        )  # fmt: skip
    external = statement.external or (other.external and other.has_topic)
    kind = other.kind
    if kind in ("files", "iceberg"):
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
        format_, serde = "orc", {}
        hive_tables.check_managed(statement, statement.stored_as or "orc")
    columns = tuple(replace(column, field=None) for column in other.columns)
    return Table(
        database, statement.name.name, kind, columns, external, statement.comment or other.comment,
        properties, serde, format_, location, owns_data_source=kind == "druid",
        partition_spec=other.partition_spec if kind == "iceberg" else (),
        sort_order=other.sort_order if kind == "iceberg" else (),
    )  # fmt: skip
