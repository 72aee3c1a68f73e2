"""The Avro schemas whose columns a new Kafka table gets: at a URL, or of a schema registry."""

from __future__ import annotations

from collections.abc import Mapping
from struct import unpack

from hivedruid.catalog.avro import URL, schema_property
from hivedruid.clients.schema_registry import latest_schema, schemas_of
from hivedruid.clients.schema_urls import schema_at
from hivedruid.clients.topic_sample import sample_of
from hivedruid.errors import SemanticError
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.tables.property_checks import validate
from hivedruid.tables.topic_columns import topic_properties

_FRAME = 5
"""Bytes before a record in Confluent's wire format: 0, and the id of the schema in 4 bytes."""


def find_schemas(statement: CreateTable, settings: Mapping[str, str]) -> tuple[str, ...]:
    """The newest first. With LIKE TOPIC, those of the newest records in the registry; otherwise, and if there are no
    records, the latest of the topic's subject. Raises SemanticError, ConnectError, ExecutionError, UnsupportedError,
    UsageError."""
    properties = {**topic_properties(statement, settings), **validate(statement.properties, "kafka")}
    if url := schema_property(properties, URL):
        return (schema_at(url, statement.name.name, settings),)
    values = sample_of(properties) if statement.topic_span is not None else ()
    if not values:
        return (latest_schema(properties, settings),)
    ids = {unpack(">I", value[1:_FRAME])[0] for value in values if value[:1] == b"\0" and len(value) >= _FRAME}
    found = schemas_of(properties, sorted(ids, reverse=True), settings)
    if not found:
        raise SemanticError(
            f"columns cannot be derived from topic '{properties['kafka.topic']}': its newest records are not in"
            " Confluent's wire format, or the registry does not have their schemas",
            span=statement.topic_span,
            hint="specify the columns, or avro.schema.literal",
        )
    return tuple(found.values())
