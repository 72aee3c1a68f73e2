"""Hive's rules for tables in Druid (DruidStorageHandler.preCreateTable, DruidStorageHandlerUtils, DruidKafkaUtils)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog.druid_columns import (
    AGGREGATED,
    SKETCHES,
    STORED_AS,
    parse_aggregators,
    sketch_columns,
    stored_as_choices,
)
from hivedruid.catalog.names import columns_by_field
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.types import BIGINT, BINARY, DOUBLE, FLOAT, STRING, TIMESTAMP_LTZ, HiveType, array_of
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.sketches.kinds import kind_of
from hivedruid.tables.property_checks import problem_of_id

if TYPE_CHECKING:
    from hivedruid.parser.statements.ddl import CreateTable

GRANULARITY_KEY = "__time_granularity"
"""The column that Hive's plan of an INSERT adds to the rows (DruidConstants.DRUID_TIMESTAMP_GRANULARITY_COL_NAME)."""
DISCOVERED_COMMENT = "from deserializer"
"""The comment that Hive shows for discovered columns."""

_ALLOWED = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "varchar", "char")
_DISCOVERED_TYPES: dict[str, HiveType] = {
    "LONG": BIGINT,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "ARRAY<STRING>": array_of(STRING),
    "ARRAY<LONG>": array_of(BIGINT),
    "ARRAY<FLOAT>": array_of(FLOAT),
    "ARRAY<DOUBLE>": array_of(DOUBLE),
}


def check_clauses(statement: CreateTable) -> None:
    """Reject clauses that do not apply to Druid, in Hive's order."""
    refused = (
        ("LOCATION", statement.location_span, statement.location is not None, "deep storage is configured in Druid"),
        (
            "PARTITIONED BY",
            *_place(statement.partitioned_by),
            "Druid partitions by time: see druid.segment.granularity",
        ),
        ("WRITE LOCALLY ORDERED BY", *_place(statement.ordered_by), "Druid orders rows by time"),
        ("CLUSTERED BY", *_place(statement.clustered_by), "see druid.segment.targetShardsPerGranularity"),
        ("SKEWED BY", *_place(statement.skewed_by), "Druid sorts rows by their dimensions"),
        ("STORED AS", statement.storage_handler_span, statement.stored_as is not None, "remove it"),
    )
    for clause, span, given, hint in refused:
        if given:
            raise SemanticError(f"{clause} may not be specified for Druid", span=span, hint=hint)


def _place(clause: object) -> tuple[Span | None, bool]:
    return getattr(clause, "span", None), clause is not None


def check_columns(
    columns: Iterable[Column],
    properties: Mapping[str, str],
    spans: Mapping[str, Span] | None = None,
    span: Span | None = None,
) -> None:
    """Check that Druid can store these columns: `__time` exists and is a timestamp, the others have supported types.
    `properties` are those of the table, `spans` the positions of the columns, `span` that of the list.
    """
    columns = tuple(columns)
    spans = spans or {}
    sketches = sketch_columns(columns, properties)
    for column in columns:
        check_column(column, spans.get(column.name, span), sketches)
    if not any(column.name == TIME_COLUMN for column in columns):
        names = ", ".join(column.name for column in columns)
        raise SemanticError(
            f"Timestamp column (' {TIME_COLUMN}') not specified in create table; list of columns is : [{names}]",
            span=span,
            hint=f"declare `{TIME_COLUMN}` TIMESTAMP, or select a timestamp AS `{TIME_COLUMN}`",
        )


def check_column(column: Column, span: Span | None, sketches: Collection[str] = ()) -> None:
    """Check one column's name and type; `sketches` are the names of those with sketches. Raises SemanticError, for a
    type with Hive's message (DruidStorageHandlerUtils.getDimensionsAndAggregates)."""
    kind = column.type.name
    if column.name == GRANULARITY_KEY:
        raise SemanticError(
            f"column name '{GRANULARITY_KEY}' is reserved for dividing rows into segments",
            span=span,
            hint="rename the column",
        )
    check_field_name(column, span)
    if column.name == TIME_COLUMN:
        if not column.type.is_timestamp:
            hint = "it must be timestamp or timestamp with local time zone"
            if column.type == STRING:
                hint += (
                    "; in a query CAST(… AS TIMESTAMP) converts text,"
                    " and CAST(… AS TIMESTAMP FORMAT 'dd.mm.yyyy') that of other formats"
                )
            raise SemanticError(f"column '{TIME_COLUMN}' has type {column.type}", span=span, hint=hint)
        return
    if column.type == array_of(STRING) or kind in _ALLOWED or column.name in sketches:
        return
    message = f"Dimension {column.name} does not have STRING type: {_category(column.type)}"
    if kind == "decimal":
        message = f"Druid does not support decimal column type cast column [{column.name}] to double"
    raise SemanticError(message, span=span, hint=_instead(column))


def check_sketches(before: Table, properties: Mapping[str, str], span: Span | None) -> None:
    """Refuse properties that change the kind of sketch of a column."""
    after = sketch_columns(before.columns, properties)
    for name, kind in sketch_columns(before.columns, before.properties).items():
        if after.get(name) != kind:
            raise UnsupportedError(
                f"column '{name}' of {before.full_name} stores sketches ({kind.build}): its segments contain them",
                span=span, hint=f"keep '{name}:{kind.build}' in {AGGREGATED}, or create another table",
            )  # fmt: skip


def check_field_name(column: Column, span: Span | None) -> None:
    """Raise SemanticError if Druid could not load segments with this column.

    The table of contents of a segment (meta.smoosh) has a line for each column: its name and three numbers, separated
    by commas. Druid splits the line at its first commas (SmooshedFileMapper.load), also at those in the name.
    """
    if "," in column.field_name:
        raise SemanticError(
            f"column name '{column.field_name}' contains a comma: Druid cannot load segments with such a column",
            span=span,
            hint="choose a name without a comma; to name a column of a SELECT, use AS",
        )


def _category(type_: HiveType) -> str:
    """Hive's name of a type in messages (PrimitiveCategory)."""
    return "TIMESTAMPLOCALTZ" if type_ == TIMESTAMP_LTZ else type_.name.upper()


def _instead(column: Column) -> str:
    """The hint for a column type that Druid does not support."""
    choices = stored_as_choices(column.type)
    if column.type == BINARY:
        functions = ", ".join(SKETCHES)
        return (
            f"TBLPROPERTIES ('{AGGREGATED}' = '{column.name}:thetaSketch') stores sketches ({functions}),"
            f" '{STORED_AS}' = '{column.name}:string' the base64 of other bytes"
        )
    if choices:
        either = " or ".join(f"'{column.name}:{choice}'" for choice in choices)
        return f"TBLPROPERTIES ('{STORED_AS}' = {either}) sets the stored type, or CAST it in the SELECT"
    if column.type.is_timestamp:
        return (
            f"Druid supports only one time column, {TIME_COLUMN}: declare it as BIGINT or STRING, or CAST it in the"
            " SELECT"
        )
    if column.type.name == "array":
        return "Druid supports only arrays of strings: declare it as ARRAY<STRING>"
    return "Druid does not support this type: declare it as STRING, or CAST it in the SELECT"


def discovered_columns(
    data_source: str,
    discovered: Mapping[str, Mapping[str, str]],
    properties: Mapping[str, str],
    span: Span | None,
) -> tuple[Column, ...]:
    """The columns of an existing data source, from the segmentMetadata result. Types are mapped as in Hive
    (DruidSerDe.convertDruidToHiveType), but for sketches, which are binary: anything that is not a number or an array
    is a string. Names are lower case; `field` is Druid's name.
    """
    schema = discovered.get(data_source)
    if not schema:
        raise SemanticError(
            f"there is no data source '{data_source}' from which the table could take its columns",
            span=span,
            hint=did_you_mean(data_source, [name for name, fields in discovered.items() if fields])
            or "to create a new data source, specify columns or AS SELECT",
        )
    names = columns_by_field(schema, properties, span=span)
    return tuple(
        Column(names[field], discovered_type(field, kind), DISCOVERED_COMMENT, field if field != names[field] else None)
        for field, kind in schema.items()
    )


def discovered_type(field: str, druid_type: str) -> HiveType:
    if field == TIME_COLUMN:
        return TIMESTAMP_LTZ
    if kind_of(druid_type) is not None:
        return BINARY
    return _DISCOVERED_TYPES.get(druid_type.upper(), STRING)


def discovered_sketches(columns: Iterable[Column], schema: Mapping[str, str]) -> str:
    """The druid.columns.aggregators of discovered columns whose sketches can be written; empty without such columns."""
    kinds = ((column.name, kind_of(schema.get(column.field_name, ""))) for column in columns)
    items = (f"{name}:{kind.build}" for name, kind in kinds if kind is not None and kind.build in SKETCHES)
    return ", ".join(item for item in items if parse_aggregators(item)[0])


def check_data_source(name: str, span: Span | None) -> None:
    """Druid's rules for data source names."""
    if problem := problem_of_id(name):
        raise SemanticError(f"data source name '{name}' {problem}", span=span, hint="choose a name that Druid accepts")


def plain_columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns of a query as table columns, without the field names of their source tables."""
    return tuple(replace(column, field=None, comment="", reading="") for column in columns)
