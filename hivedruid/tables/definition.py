"""Converts CREATE TABLE to a `Table`, with the rules of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from hivedruid.catalog.avro import LITERAL, parse_schema, schema_property
from hivedruid.catalog.druid_columns import AGGREGATED, with_stored_types
from hivedruid.catalog.kinds import HANDLERS, TableKind
from hivedruid.catalog.properties import KAFKA_INGESTION, has_ingestion
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.tables import druid_tables, hive_tables
from hivedruid.tables.constraints import with_constraints
from hivedruid.tables.kafka_feed import check_druid_properties
from hivedruid.tables.layout import partition_spec, sort_order
from hivedruid.tables.property_checks import check_secret, validate
from hivedruid.tables.rejects import check_rejects
from hivedruid.tables.tiered_tables import check_tiered

if TYPE_CHECKING:
    from hivedruid.parser.statements.ddl import ColumnDef, ConstraintDef, CreateTable, Property


def define_table(
    statement: CreateTable,
    database: str,
    settings: Mapping[str, str],
    discovered: Mapping[str, Mapping[str, str]],
    query_columns: tuple[Column, ...] | None = None,
) -> Table:
    """The table that a CREATE TABLE defines; `query_columns` are the columns of AS SELECT. Raises SemanticError or
    UnsupportedError if the rules of its kind forbid it.
    """
    kind = table_kind(statement)
    if kind == "druid":
        druid_tables.check_clauses(statement)
    properties = validate(statement.properties, kind)
    comment, properties = _comment(statement, properties)
    columns = _columns(statement, query_columns)
    table = Table(database, statement.name.name, kind, columns or (), statement.external, comment)
    properties = with_purge_default(statement, properties, settings)
    table = _of_kind(statement, table, properties, discovered, queried=query_columns is not None)
    return replace(table, constraints=with_constraints(table, declared_constraints(statement)))


def declared_constraints(statement: CreateTable) -> tuple[ConstraintDef, ...]:
    """Those of the columns and of the table."""
    return (*(each for column in statement.columns for each in column.constraints), *statement.constraints)


def _of_kind(
    statement: CreateTable,
    table: Table,
    properties: dict[str, str],
    discovered: Mapping[str, Mapping[str, str]],
    *,
    queried: bool,
) -> Table:
    match table.kind:
        case "druid":
            return _druid_table(statement, table, properties, discovered, queried=queried)
        case "kafka":
            return _kafka_table(statement, table, properties)
        case "files" | "iceberg" | "temporary":
            return _file_table(statement, table, properties)
        case "view":
            raise AssertionError("CREATE TABLE does not create views")
        case _:
            assert_never(table.kind)


def table_kind(statement: CreateTable) -> TableKind:
    if statement.temporary:
        if statement.storage_handler is not None:
            raise UnsupportedError(
                "a temporary table cannot be stored in Druid or Kafka", span=statement.storage_handler_span,
                hint="remove it to store the rows in files, or remove TEMPORARY, and use DROP TABLE at the end",
            )  # fmt: skip
        return "temporary"
    by_handler = (kind for kind, handler in HANDLERS.items() if handler == statement.storage_handler)
    return next(by_handler, "files" if statement.external else "iceberg")


def _comment(statement: CreateTable, properties: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Hive stores a table's comment as the property `comment`; here it is a field."""
    refuse_external_flag(statement.properties)
    rest = {key: value for key, value in properties.items() if key != "comment"}
    return statement.comment or properties.get("comment", ""), rest


def refuse_external_flag(properties: Iterable[Property]) -> None:
    """Hive treats 'EXTERNAL'='TRUE' as the keyword; as an ordinary property it would not protect the data from DROP."""
    for item in properties:
        if item.key.upper() == "EXTERNAL":
            raise UnsupportedError(
                "the property EXTERNAL is not supported",
                span=item.key_span,
                hint="use CREATE EXTERNAL TABLE or CREATE TABLE",
            )


def with_purge_default(
    statement: CreateTable, properties: dict[str, str], settings: Mapping[str, str]
) -> dict[str, str]:
    """Apply hive.external.table.purge.default to new external tables."""
    if not statement.external or "external.table.purge" in properties:
        return properties
    if settings.get("hive.external.table.purge.default", "false").lower() != "true":
        return properties
    return {**properties, "external.table.purge": "true"}


def declared(columns: Iterable[ColumnDef]) -> tuple[Column, ...]:
    """The declared columns. Raises SemanticError for a duplicate name."""
    result: dict[str, Column] = {}
    for column in columns:
        if column.name in result:
            raise SemanticError(f"Duplicate column name {column.name} in the table definition.", span=column.span)
        result[column.name] = Column(column.name, column.type, column.comment)
    return tuple(result.values())


def _columns(statement: CreateTable, query_columns: tuple[Column, ...] | None) -> tuple[Column, ...] | None:
    """The declared columns, or else the query's; the numbers must match."""
    partitioning = statement.partitioned_by
    columns = declared((*statement.columns, *(partitioning.columns if partitioning is not None else ())))
    if query_columns is None:
        return columns or None
    if not columns:
        return _of_query(statement, query_columns)
    if partitioning is not None and partitioning.columns and not statement.columns:
        raise SemanticError(
            "CREATE-TABLE-AS-SELECT does not support types of partition columns", span=partitioning.columns[0].span,
            hint="name columns of the query without types: PARTITIONED BY (column, …)",
        )  # fmt: skip
    if len(columns) != len(query_columns):
        raise SemanticError(
            f"the table has {len(columns)} columns but its query returns {len(query_columns)}",
            span=(statement.columns or (statement.name,))[0].span,
            hint="specify one column for each SELECT item, or none",
        )
    return columns


def _of_query(statement: CreateTable, query_columns: tuple[Column, ...]) -> tuple[Column, ...]:
    columns = druid_tables.plain_columns(query_columns)
    seen: set[str] = set()
    for column in columns:
        if column.name in seen:
            raise SemanticError(
                f"Duplicate column name {column.name} in the table definition.",
                span=statement.name.span,
                hint="name the columns of the SELECT with AS",
            )
        seen.add(column.name)
        if column.type.name == "void":
            raise SemanticError(
                f"CREATE-TABLE-AS-SELECT creates a VOID type, near field: {column.name}",
                span=statement.name.span,
                hint="use CAST to specify the type",
            )
    if statement.partitioned_by is not None and statement.partitioned_by.at_end:
        last = [item.field.column for item in statement.partitioned_by.fields]
        rest = [column for column in columns if column.name not in last]
        return (*rest, *(column for name in last for column in columns if column.name == name))
    return columns


def column_spans(columns: Iterable[ColumnDef]) -> dict[str, Span]:
    return {column.name: column.span for column in columns if column.span is not None}


def _property_span(statement: CreateTable, key: str) -> Span | None:
    for item in statement.properties:
        if item.key == key:
            return item.value_span
    return statement.name.span


def _druid_table(
    statement: CreateTable,
    table: Table,
    properties: dict[str, str],
    discovered: Mapping[str, Mapping[str, str]],
    *,
    queried: bool,
) -> Table:
    given = properties.get("druid.datasource")
    if given is not None:
        druid_tables.check_data_source(given, _property_span(statement, "druid.datasource"))
    check_verb(properties, _property_span(statement, KAFKA_INGESTION))
    properties = {key: value for key, value in properties.items() if key != KAFKA_INGESTION}
    spans = column_spans(statement.columns)
    span = statement.name.span
    table = replace(table, columns=with_stored_types(table.columns, properties))
    if not table.columns:
        if given is None:
            raise SemanticError(
                "Druid data source not specified; use druid.datasource in table properties",
                span=span,
                hint="to create a new data source, specify columns or AS SELECT",
            )
        place = _property_span(statement, "druid.datasource")
        columns = druid_tables.discovered_columns(given, discovered, properties, place)
        table = replace(table, columns=columns)
        if AGGREGATED not in properties and (sketches := druid_tables.discovered_sketches(columns, discovered[given])):
            properties = {**properties, AGGREGATED: sketches}
    elif given is None or queried or has_ingestion(properties):
        druid_tables.check_columns(table.columns, properties, spans, span)
    check_druid_properties(properties, table.columns, span)
    check_tiered(properties, table.columns, span)
    if given is None:
        if discovered.get(table.full_name):
            raise SemanticError(
                f"Data source [{table.full_name}] already existing",
                span=span,
                hint=f"to read it, specify TBLPROPERTIES('druid.datasource' = '{table.full_name}')",
            )
        properties = {**properties, "druid.datasource": table.full_name}
    new = given is None or queried or (not table.external and not discovered.get(given))
    return replace(table, properties=properties, serde=_serde(statement), owns_data_source=new)


def check_verb(properties: Mapping[str, str], span: Span | None) -> None:
    """START, STOP and RESET (druid.kafka.ingestion) require a table with Kafka ingestion."""
    if KAFKA_INGESTION in properties and not has_ingestion(properties):
        raise SemanticError(
            f"cannot {properties[KAFKA_INGESTION].upper()} the ingestion: the table has no kafka.topic",
            span=span,
            hint="set kafka.topic and kafka.bootstrap.servers",
        )


def _serde(statement: CreateTable) -> dict[str, str]:
    for item in statement.serde:
        check_secret(item)
    return {item.key: item.value for item in statement.serde}


def _kafka_table(statement: CreateTable, table: Table, properties: dict[str, str]) -> Table:
    hive_tables.check_kafka_clauses(statement)
    stored = hive_tables.kafka_properties(statement, properties)
    check_rejects(stored, statement.name.span)
    if statement.query is not None:
        raise UnsupportedError(
            "CREATE TABLE … AS SELECT is not supported for Kafka tables",
            span=statement.name.span,
            hint="create the table with a list of columns",
        )
    literal = schema_property(stored, LITERAL)
    if not table.columns and literal and stored["kafka.serde.class"].endswith(".AvroSerDe"):
        try:
            table = replace(table, columns=parse_schema(literal).columns)
        except (SemanticError, UnsupportedError) as error:
            raise error.at(_property_span(statement, LITERAL)) from None
    if not table.columns:
        raise SemanticError(
            "Either list of columns or a custom serializer should be specified",
            span=statement.name.span,
            hint="specify the fields of the messages as columns",
        )
    columns = hive_tables.kafka_columns(table.columns, column_spans(statement.columns))
    return replace(table, columns=columns, properties=stored, serde=_serde(statement))


def _file_table(statement: CreateTable, table: Table, properties: dict[str, str]) -> Table:
    hive_tables.check_layout(statement)
    serde = hive_tables.read_serde(statement, _serde(statement))
    format_ = hive_tables.file_format(statement, serde)
    hive_tables.check_serde(table.columns, serde, statement.serde[0].value_span if statement.serde else None)
    location = None
    if statement.external:
        location = hive_tables.check_external(statement, table.columns)
        serde = {"serialization.lib": hive_tables.FORMAT_SERDES[format_], **serde}
    else:
        if statement.temporary:
            hive_tables.check_temporary(statement)
        else:
            hive_tables.check_managed(statement)
        if not table.columns:
            raise SemanticError(
                "Either list of columns or a query should be specified",
                span=statement.name.span,
                hint="specify the columns",
            )
        if statement.temporary:
            serde = {"serialization.lib": hive_tables.FORMAT_SERDES[format_], **serde}
        else:
            format_, serde = "orc", hive_tables.declared_serde(format_, serde)
    spec = partition_spec(statement.partitioned_by, table.columns)
    table = replace(table, partition_spec=spec)
    columns = (*hive_tables.as_serde_reads(table.stored_columns, serde), *table.folder_columns)
    if table.has_partitions and not table.stored_columns:
        raise SemanticError(
            f"all columns of {table.full_name} are partition columns", span=statement.name.span,
            hint="a table needs a column that is in its files",
        )  # fmt: skip
    return replace(
        table, columns=columns, properties=properties, serde=serde, format=format_, location=location,
        sort_order=sort_order(statement.ordered_by, columns),
    )  # fmt: skip
