"""Rules for tables on the Hive side: managed tables (Iceberg, ORC), external tables of files, Kafka topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog.kinds import KAFKA_STORAGE_HANDLER
from hivedruid.catalog.properties import PROPERTIES
from hivedruid.catalog.table import Column
from hivedruid.catalog.types import BIGINT, BINARY, INT, STRING
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.secret_text import redact

if TYPE_CHECKING:
    from hivedruid.parser.statements.ddl import CreateTable

_PACKAGE = "org.apache.hadoop.hive."
OPEN_CSV = _PACKAGE + "serde2.OpenCSVSerde"
SERDE_FORMATS: dict[str, str] = {
    "org.apache.hive.hcatalog.data.JsonSerDe": "jsonfile",
    _PACKAGE + "serde2.JsonSerDe": "jsonfile",
    OPEN_CSV: "textfile",
    _PACKAGE + "serde2.lazy.LazySimpleSerDe": "textfile",
    _PACKAGE + "ql.io.orc.OrcSerde": "orc",
    _PACKAGE + "ql.io.parquet.serde.ParquetHiveSerDe": "parquet",
}
"""The supported SerDes and their file formats."""

FORMAT_SERDES: dict[str, str] = {
    "textfile": _PACKAGE + "serde2.lazy.LazySimpleSerDe",
    "jsonfile": _PACKAGE + "serde2.JsonSerDe",
    "orc": _PACKAGE + "ql.io.orc.OrcSerde",
    "parquet": _PACKAGE + "ql.io.parquet.serde.ParquetHiveSerDe",
}
"""The SerDe that STORED AS means."""


KAFKA_COLUMNS = (
    Column("__key", BINARY),
    Column("__partition", INT),
    Column("__offset", BIGINT),
    Column("__timestamp", BIGINT),
)
"""The columns that Hive's Kafka handler adds after the declared ones (MetadataColumn); times are in milliseconds."""


def check_layout(statement: CreateTable) -> None:
    """Reject the clauses on the layout of files that only managed tables have."""
    if statement.partitioned_by and statement.external:
        raise UnsupportedError(
            "PARTITIONED BY is not supported for file tables",
            span=statement.partitioned_by.span,
            hint="partition values in folder names are not read: as plain columns they would be NULL. Create a"
            " table for each folder (LOCATION '…/d=x'), and a view: SELECT *, 'x' AS d FROM … UNION ALL …",
        )
    if statement.ordered_by and statement.external:
        raise UnsupportedError(
            "WRITE LOCALLY ORDERED BY is not supported for file tables", span=statement.ordered_by.span,
            hint="remove EXTERNAL to create a managed table",
        )  # fmt: skip
    if statement.clustered_by:
        raise UnsupportedError(
            "CLUSTERED BY is not supported for file tables", span=statement.clustered_by.span, hint="remove it"
        )


def file_format(statement: CreateTable, serde: Mapping[str, str]) -> str:
    """textfile, jsonfile, orc or parquet: determined by STORED AS and ROW FORMAT SERDE."""
    library = serde.get("serialization.lib")
    if library is None:
        return statement.stored_as or ("orc" if not statement.external and not serde else "textfile")
    span = next((item.value_span for item in statement.serde if item.key == "serialization.lib"), None)
    format_ = SERDE_FORMATS.get(library)
    if format_ is None:
        raise UnsupportedError(
            f"SerDe '{library}' is not supported",
            span=span,
            hint=did_you_mean(library, SERDE_FORMATS) or f"supported: {', '.join(SERDE_FORMATS)}",
        )
    stored_as = statement.stored_as or format_
    if stored_as not in (format_, "textfile" if format_ == "jsonfile" else format_):
        raise SemanticError(
            f"ROW FORMAT SERDE '{library}' and STORED AS {stored_as.upper()} contradict each other",
            span=span,
            hint=f"use STORED AS {format_.upper()}, or remove one of them",
        )
    return format_


def check_managed(statement: CreateTable, format_: str) -> None:
    """Managed tables are Iceberg tables with ORC files; other formats have no ACID commits."""
    if statement.location is not None:
        raise UnsupportedError(
            "LOCATION is only supported for external tables: managed tables are stored in the home folder",
            span=statement.location_span,
            hint="use CREATE EXTERNAL TABLE, or remove LOCATION",
        )
    if format_ != "orc" or any(item.key != "serialization.lib" for item in statement.serde):
        span = statement.serde[0].key_span if statement.serde else statement.name.span
        raise UnsupportedError(
            f"a managed table cannot be stored as {format_.upper()}, only as ORC",
            span=span,
            hint="use STORED AS ORC without ROW FORMAT, or CREATE EXTERNAL TABLE with a LOCATION",
        )


def check_external(statement: CreateTable, columns: tuple[Column, ...] | None) -> str:
    """The normalized location of an external table."""
    if statement.location is None:
        raise SemanticError(
            "an external file table requires a LOCATION",
            span=statement.name.span,
            hint="add LOCATION '…', or remove EXTERNAL to create a managed table",
        )
    if not columns:
        raise SemanticError(
            "Either list of columns or a query should be specified",
            span=statement.name.span,
            hint="specify the columns",
        )
    location = normalized_location(statement.location)
    if not location:
        raise SemanticError("the LOCATION is empty", span=statement.location_span, hint="specify a folder or a file")
    if redact(location) != location:
        raise SemanticError(
            "the LOCATION contains a password, which would be stored in plain text in the catalog",
            span=statement.location_span,
            hint="remove it and configure Spark's credentials in its environment or configuration files",
        )
    return location


def normalized_location(location: str) -> str:
    """A path without `file:`; other URIs and relative paths stay as they are."""
    if not location.lower().startswith("file:"):
        return location.strip()
    from urllib.parse import unquote

    rest = location.strip()[len("file:") :]
    if rest.startswith("//"):
        rest = "/" + rest[2:].partition("/")[2]
    return unquote(rest)


def as_serde_reads(columns: tuple[Column, ...], serde: Mapping[str, str]) -> tuple[Column, ...]:
    """OpenCSVSerde returns every column as a string, regardless of the declared type."""
    if serde.get("serialization.lib") != OPEN_CSV:
        return columns
    return tuple(replace(column, type=STRING) for column in columns)


def check_kafka_clauses(statement: CreateTable) -> None:
    """Reject clauses that do not apply to a Kafka topic."""
    for clause in (statement.partitioned_by, statement.clustered_by, statement.ordered_by):
        if clause:
            raise SemanticError(f"{clause.text} may not be specified for Kafka", span=clause.span, hint="remove it")
    if statement.location is not None:
        raise SemanticError("LOCATION may not be specified for Kafka", span=statement.location_span, hint="remove it")
    if statement.stored_as is not None:
        span = statement.storage_handler_span
        raise SemanticError(
            "STORED AS may not be specified for Kafka", span=span, hint="use kafka.serde.class to set the format"
        )


def kafka_properties(statement: CreateTable, properties: Mapping[str, str]) -> dict[str, str]:
    """The properties, with the defaults that the handler stores (KafkaStorageHandler.preCreateTable)."""
    if not statement.external:
        raise SemanticError(
            f"{KAFKA_STORAGE_HANDLER} supports only EXTERNAL_TABLE",
            span=statement.name.span,
            hint="use CREATE EXTERNAL TABLE",
        )
    for key in ("kafka.topic", "kafka.bootstrap.servers"):
        if not properties.get(key):
            raise SemanticError(
                f"Set Table property {key}", span=statement.name.span, hint=f"add it: TBLPROPERTIES('{key}' = '…')"
            )
    stored = ("kafka.serde.class", "kafka.write.semantic", "hive.kafka.poll.timeout.ms", "hive.kafka.max.retries",
              "hive.kafka.metadata.poll.timeout.ms", "hive.kafka.optimistic.commit")  # fmt: skip
    defaults = {key: PROPERTIES[key].default or "" for key in stored}
    return {**properties, **{key: value for key, value in defaults.items() if key not in properties}}


def kafka_columns(columns: tuple[Column, ...], spans: Mapping[str, Span]) -> tuple[Column, ...]:
    names = {column.name for column in KAFKA_COLUMNS}
    for column in columns:
        if column.name in names:
            raise SemanticError(
                f"column '{column.name}' is reserved: every Kafka table has it",
                span=spans.get(column.name),
                hint="remove it: it is added automatically",
            )
    return columns + KAFKA_COLUMNS
