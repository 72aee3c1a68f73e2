"""CREATE TABLE … LIKE TOPIC: columns for the fields of a sample of JSON records, with types that hold their values, or
those of the records' Avro schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hivedruid.catalog.avro import LITERAL, URL, schema_property
from hivedruid.catalog.kinds import KAFKA_STORAGE_HANDLER
from hivedruid.catalog.properties import REGISTRY
from hivedruid.catalog.table import Column
from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, STRING, VOID, HiveType, array_of, decimal
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements.ddl import ColumnDef, CreateTable, Property
from hivedruid.tables.avro_columns import avro_columns, is_avro
from hivedruid.tables.hive_tables import KAFKA_COLUMNS

_LONGEST = 38
"""Digits of the longest DECIMAL."""


def like_topic(
    statement: CreateTable, sample: Iterable[bytes], schemas: Sequence[str], settings: Mapping[str, str]
) -> CreateTable:
    """CREATE TABLE … LIKE TOPIC as a statement with columns and brokers. `schemas` are those of Avro records. Raises
    SemanticError, UnsupportedError."""
    if statement.storage_handler != KAFKA_STORAGE_HANDLER:
        raise UnsupportedError(
            "LIKE TOPIC is only supported for Kafka tables",
            span=statement.storage_handler_span,
            hint="create a Kafka table, and the other table with its columns",
        )
    properties = topic_properties(statement, settings)
    if "kafka.bootstrap.servers" not in properties:
        raise SemanticError(
            "Set Table property kafka.bootstrap.servers",
            span=statement.topic_span,
            hint="add it: TBLPROPERTIES('kafka.bootstrap.servers' = '…'), or SET hivedruid.kafka.bootstrap.servers",
        )
    if is_avro(properties):
        columns = _of_schemas(schemas, properties, statement.topic_span)
    else:
        found = topic_columns(sample, properties["kafka.topic"], statement.topic_span)
        columns = tuple(ColumnDef(column.name, column.type) for column in found)
    missing = properties.keys() - {item.key for item in statement.properties}
    return replace(
        statement,
        columns=columns,
        properties=(*statement.properties, *(Property(key, properties[key]) for key in sorted(missing))),
    )


def _of_schemas(schemas: Sequence[str], properties: Mapping[str, str], span: Span | None) -> tuple[ColumnDef, ...]:
    """The columns of Avro records; none if they are those of the property with the schema."""
    if not schemas and not schema_property(properties, LITERAL):
        raise SemanticError(
            f"columns cannot be derived from topic '{properties['kafka.topic']}': no Avro schema is specified",
            span=span,
            hint=f"add {REGISTRY}, {URL} or {LITERAL} to TBLPROPERTIES",
        )
    return avro_columns(schemas, span)


def topic_properties(statement: CreateTable, settings: Mapping[str, str]) -> dict[str, str]:
    """The properties of the statement, with the brokers of the setting if it names none."""
    given = {item.key: item.value for item in statement.properties}
    brokers = settings.get("hivedruid.kafka.bootstrap.servers", "")
    return {"kafka.bootstrap.servers": brokers, **given} if brokers else given


def topic_columns(values: Iterable[bytes], topic: str, span: Span | None = None) -> tuple[Column, ...]:
    """The columns in the order in which their fields first appear. Names are compared regardless of case.

    Raises SemanticError if there is no field, or a record is not a JSON object.
    """
    fields: dict[str, HiveType] = {}
    for value in values:
        for name, item in _object(value, topic, span).items():
            _add(fields, name, _type(item))
    if not fields:
        raise SemanticError(f"topic '{topic}' has no records with fields", span=span, hint="specify the columns")
    reserved = {column.name for column in KAFKA_COLUMNS}
    return tuple(Column(name, _column_type(found)) for name, found in fields.items() if name not in reserved)


def _object(value: bytes, topic: str, span: Span | None) -> dict[str, Any]:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SemanticError(
            f"columns cannot be derived from topic '{topic}': a record is not a JSON object: {value[:40]!r}",
            span=span,
            hint="specify the columns, and kafka.serde.class",
        )
    return found


def _type(item: Any) -> HiveType:
    match item:
        case None:
            return VOID
        case bool():
            return BOOLEAN
        case int():
            digits = len(str(abs(item)))
            wide = decimal(_LONGEST) if digits <= _LONGEST else STRING
            return BIGINT if -(2**63) <= item < 2**63 else wide
        case float():
            return DOUBLE
        case list():
            element = VOID
            for each in item:
                element = _both(element, _type(each))
            return array_of(element)
        case dict():
            fields: dict[str, HiveType] = {}
            for name, each in item.items():
                _add(fields, name, _type(each))
            return _struct(fields)
        case _:
            return STRING


def _add(fields: dict[str, HiveType], name: str, found: HiveType) -> None:
    key = name.lower()
    fields[key] = _both(fields[key], found) if key in fields else found


def _struct(fields: dict[str, HiveType]) -> HiveType:
    return HiveType("struct", children=tuple(fields.values()), fields=tuple(fields))


def _both(one: HiveType, other: HiveType) -> HiveType:
    """The type for values of two types: STRING, which holds the JSON text of any value, if no other does."""
    if VOID in (one, other):
        return other if one == VOID else one
    if one.name == other.name == "array":
        return array_of(_both(one.children[0], other.children[0]))
    if one.name == other.name == "struct":
        fields = dict(zip(one.fields, one.children, strict=True))
        for name, found in zip(other.fields, other.children, strict=True):
            _add(fields, name, found)
        return _struct(fields)
    if one.is_numeric and other.is_numeric:
        return max(one, other, key=(BIGINT, decimal(_LONGEST), DOUBLE).index)
    return one if one == other else STRING


def _column_type(found: HiveType) -> HiveType:
    """The type of a column: fields that were always null, and objects without fields, are text."""
    if found == VOID or (found.name == "struct" and not found.fields):
        return STRING
    if not found.children:
        return found
    return HiveType(found.name, found.params, tuple(map(_column_type, found.children)), found.fields)
