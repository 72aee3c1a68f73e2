"""Druid tables with Kafka ingestion: checks the combination of their properties, and maps record fields to columns."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from hivedruid.catalog.avro import LITERAL, schema_property
from hivedruid.catalog.druid_columns import (
    PATHS,
    STORED_AS,
    parse_aggregators,
    parse_multi_values,
    parse_stored_as,
    paths_of,
)
from hivedruid.catalog.properties import (
    COLUMN_MAPPING,
    DIMENSIONS,
    INGESTION_PREFIX,
    SEGMENT_RANGES,
    TIER_COLD,
    TOPIC_PATTERN,
    has_ingestion,
    names_by_field,
)
from hivedruid.catalog.table import TIME_COLUMN, Column
from hivedruid.catalog.time_references import TIME_REFERENCES, parse_time_reference
from hivedruid.catalog.types import STRING, TYPES, array_of
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.tables.druid_expressions import Expression, constant_fault, expressions_in, fault_of, fields_in

METRICS = {"LONG": "longSum", "FLOAT": "floatSum", "DOUBLE": "doubleSum"}
"""The aggregator of a numeric column, by its Druid type."""

_FLAT = ("csv", "delimited", "tsv")
_INPUT_FORMAT = INGESTION_PREFIX + "inputFormat"


def check_druid_properties(properties: Mapping[str, str], columns: Iterable[Column], span: Span | None) -> None:
    """Check the properties of a Druid table against each other and its columns. Raises SemanticError for wrong column
    names, and for a Kafka ingestion table if Druid would reject the supervisor or could not parse any record.
    """
    listed = list(columns)
    problem = (
        (_feed_problem(properties) if has_ingestion(properties) else None)
        or _json_problem(properties)
        or _expression_problem(properties, listed)
        or _column_problem(properties, {column.name: column for column in listed})
        or _path_problem(properties, {column.name: column for column in listed})
    )
    if problem is not None:
        raise SemanticError(problem[0], span=span, hint=problem[1])


Problem = tuple[str, str | None]


def _feed_problem(properties: Mapping[str, str]) -> Problem | None:
    return _topic_problem(properties) or _format_problem(properties) or _late_problem(properties)


def _topic_problem(properties: Mapping[str, str]) -> Problem | None:
    if "kafka.topic" in properties and TOPIC_PATTERN in properties:
        return f"kafka.topic and {TOPIC_PATTERN} are mutually exclusive", "specify only one of them"
    if not properties.get("kafka.bootstrap.servers"):
        topic = "kafka.topic" if "kafka.topic" in properties else TOPIC_PATTERN
        return f"{topic} requires kafka.bootstrap.servers", "for example 'localhost:9092'"
    return None


def _format_problem(properties: Mapping[str, str]) -> Problem | None:
    given = sorted(key for key in properties if key.startswith("druid.parseSpec."))
    if _INPUT_FORMAT in properties:
        return (f"{_INPUT_FORMAT} and {given[0]} are mutually exclusive", "specify only one of them") if given else None
    message_format = record_format(properties)
    if message_format == "avro":
        return _avro_problem(properties)
    if message_format not in _FLAT:
        return None
    if "druid.parseSpec.flattenSpec" in properties:
        return f"druid.parseSpec.flattenSpec does not apply to {message_format}: records are flat", "remove it"
    return _flat_problem(properties, message_format)


def _avro_problem(properties: Mapping[str, str]) -> Problem | None:
    text = schema_property(properties, LITERAL)
    if not text:
        return "Please specify avro schema literal when using avro parser", "set avro.schema.literal"
    schema = json.loads(text)
    if not isinstance(schema, dict) or schema.get("type") != "record" or not isinstance(schema.get("fields"), list):
        return (
            "avro.schema.literal is not a record schema",
            'a record schema starts with {"type": "record", "fields": …',
        )
    return None


def _flat_problem(properties: Mapping[str, str], message_format: str) -> Problem | None:
    names = field_list(properties)
    if not names and not is_true(properties, "druid.parseSpec.hasHeaderRows"):
        return (
            f"{message_format} messages require druid.parseSpec.columns, the names of the fields in order",
            "if the messages start with a header row, set druid.parseSpec.hasHeaderRows = 'true'",
        )
    delimiter = "," if message_format == "csv" else properties.get("druid.parseSpec.delimiter", "\t")
    if properties.get("druid.parseSpec.listDelimiter") == delimiter:
        return (
            f"druid.parseSpec.listDelimiter is '{delimiter}', which is also the field delimiter",
            "choose another delimiter, or remove it",
        )
    time = properties.get("druid.timestamp.column", TIME_COLUMN)
    if names and time not in names and TIME_COLUMN not in transformed(properties):
        return (
            f"the time field '{time}' is not in druid.parseSpec.columns, so no message could be parsed",
            did_you_mean(time, names) or "set druid.timestamp.column to the time field",
        )
    return None


def _late_problem(properties: Mapping[str, str]) -> Problem | None:
    keys = [INGESTION_PREFIX + name for name in ("lateMessageRejectionPeriod", "lateMessageRejectionStartDateTime")]
    return (
        (f"{keys[0]} and {keys[1]} are mutually exclusive", "specify only one of them")
        if set(keys) <= set(properties)
        else None
    )


def _json_problem(properties: Mapping[str, str]) -> Problem | None:
    """Check the parts of JSON properties that hivedruid reads; Druid validates the rest."""
    lists = {
        "druid.metricsSpec": json_value(properties, "druid.metricsSpec"),
        DIMENSIONS: json_value(properties, DIMENSIONS),
        "druid.transformSpec": (json_value(properties, "druid.transformSpec") or {}).get("transforms"),
        "druid.parseSpec.flattenSpec": (json_value(properties, "druid.parseSpec.flattenSpec") or {}).get("fields"),
    }
    for key, items in lists.items():
        for item in items if isinstance(items, list) else [] if items is None else [items]:
            plain = key == "druid.parseSpec.flattenSpec" and isinstance(item, str)  # shorthand for a top-level field
            if not plain and not (isinstance(item, dict) and isinstance(item.get("name"), str)):
                return f"{key}: {json.dumps(item)} is not an object with a name", 'such as {"type": "…", "name": "a"}'
        if items is not None and not isinstance(items, list):
            return f"{key}: {json.dumps(items)} is not a list", None
    return None


_EXPRESSIONS = ("druid.transformSpec", "druid.metricsSpec", "druid.projections")
"""Properties with expressions. A filter and the aggregators read the fields of the transforms, too; projections read
columns in Druid."""


def _expression_problem(properties: Mapping[str, str], columns: Collection[Column]) -> Problem | None:
    """Check that Druid reads the expressions in JSON properties as they are written, and that the fields in them exist,
    if all fields are known."""
    fields = closed_fields(properties)
    for key in _EXPRESSIONS:
        for expression in expressions_in(json_value(properties, key)):
            known = _visible(key, expression, fields, properties, columns)
            fault = fault_of(expression.text) or constant_fault(expression, known or ())
            if fault is None and known is not None:
                fault = _unknown_field(expression, known)
            if fault is not None:
                return f"{key}: {expression.place}: {fault[0]}", fault[1]
    return None


def _visible(
    key: str,
    expression: Expression,
    fields: Collection[str] | None,
    properties: Mapping[str, str],
    columns: Collection[Column],
) -> Collection[str] | None:
    """The names that an expression can read; None if records may have more."""
    if key == "druid.projections":
        virtual = [name for item in json_value(properties, key) for name in _names(item, "virtualColumns")]
        return [*fields_of_columns(properties, columns).values(), *virtual]
    if fields is None:
        return None
    is_transform = key == "druid.transformSpec" and expression.place.startswith("transforms")
    return [*fields, *([] if is_transform else transformed(properties))]


def _unknown_field(expression: Expression, known: Collection[str]) -> Problem | None:
    for name in sorted(fields_in(expression) - {*known}):
        return f"no field is named '{name}' in expression [{expression.text}]", did_you_mean(name, known)
    return None


def _column_problem(properties: Mapping[str, str], columns: Mapping[str, Column]) -> Problem | None:
    """Check that column lists refer to columns of the table with suitable types."""
    for key, name, requirement in _column_requirements(properties):
        column = columns.get(name)
        if column is None or name == TIME_COLUMN:
            return f"{key} refers to an unknown column: '{name}'", did_you_mean(name, [*columns])
        druid = TYPES[column.type.name].druid
        if requirement in ("sum", "min", "max", "number") and (druid not in METRICS or column.type.name == "boolean"):
            return f"{key}: column '{name}' is {column.type}, not a number", "declare it as BIGINT or DOUBLE"
        if requirement == "count" and druid != "LONG":
            return f"{key}: column '{name}' is {column.type}, but a count must be an integer", "declare it as BIGINT"
        if requirement.startswith("as ") and requirement != f"as {column.type}":
            return (
                f"{key}: column '{name}' is {column.type}, which is stored without conversion",
                "only DECIMAL, BINARY and DATE columns can be converted",
            )
        if requirement == "range" and (druid != "STRING" or column.type.name == "array"):
            return f"{key}: column '{name}' is {column.type}, not a STRING", "remove it from the list"
        if requirement == "text" and druid != "STRING" and column.type != array_of(STRING):
            return (
                f"{key}: column '{name}' is {column.type}, but only strings can have several values",
                "declare it as STRING",
            )
    owners: dict[str, str] = {}
    for name, field in fields_of_columns(properties, columns.values()).items():
        if field in owners:
            return (
                f"columns '{owners[field]}' and '{name}' are both mapped to the field '{field}'",
                f"map each to its own field in {COLUMN_MAPPING}",
            )
        owners[field] = name
    return None


def _path_problem(properties: Mapping[str, str], columns: Mapping[str, Column]) -> Problem | None:
    paths = paths_of(properties)
    if paths and (has_ingestion(properties) or TIER_COLD in properties):
        of_whom = "a table that ingests from Kafka" if has_ingestion(properties) else "a tiered table"
        return f"{PATHS} does not apply to {of_whom}", "create a second table over the data source, with the paths"
    for name, path in paths.items():
        if name not in columns or name == TIME_COLUMN:
            return f"{PATHS}: column '{name}' is not a column of the table with a value of its own", (
                "declare it with its type: ALTER TABLE … ADD COLUMNS, before the property"
            )
        nested = columns.get(path.column)
        if nested is None or nested.type != STRING or nested.name in paths:
            return (
                f"{PATHS}: '{path.column}', in which the value of '{name}' is, is not a STRING column of the table",
                (f"declare the column of nested data: {path.column} STRING"),
            )
    return None


def _column_requirements(properties: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in column_list(properties, "druid.columns.dimensions"):
        yield "druid.columns.dimensions", name, "number"
    for name, aggregator in parse_aggregators(properties.get("druid.columns.aggregators", ""))[0].items():
        yield "druid.columns.aggregators", name, aggregator.function
    for name in parse_multi_values(properties.get("druid.columns.multivalue", ""))[0]:
        yield "druid.columns.multivalue", name, "text"
    for name in column_list(properties, SEGMENT_RANGES):
        yield SEGMENT_RANGES, name, "range"
    for name, type_ in parse_stored_as(properties.get(STORED_AS, ""))[0].items():
        yield STORED_AS, name, f"as {type_}"
    if reference := parse_time_reference(properties.get(TIME_REFERENCES, ""), ""):
        yield TIME_REFERENCES, reference.column, "key"


# --- values ------------------------------------------------------------------------------------------------------


def record_format(properties: Mapping[str, str]) -> str:
    return properties.get("druid.parseSpec.format", "json").lower()


def is_true(properties: Mapping[str, str], key: str) -> bool:
    return properties.get(key, "false").lower() == "true"


def field_list(properties: Mapping[str, str]) -> list[str]:
    """druid.parseSpec.columns; surrounding blanks are ignored."""
    return [name for part in properties.get("druid.parseSpec.columns", "").split(",") if (name := part.strip())]


def column_list(properties: Mapping[str, str], key: str) -> list[str]:
    return [name.lower() for part in properties.get(key, "").split(",") if (name := part.strip())]


def json_value(properties: Mapping[str, str], key: str) -> Any:
    """The value of a JSON property, None if it is not set."""
    return json.loads(properties[key]) if key in properties else None


def transformed(properties: Mapping[str, str]) -> list[str]:
    """The fields that druid.transformSpec defines."""
    return _names(json_value(properties, "druid.transformSpec"), "transforms")


def _names(value: Any, key: str) -> list[str]:
    items = value.get(key) if isinstance(value, dict) else None
    names = [item.get("name") if isinstance(item, dict) else item for item in items] if isinstance(items, list) else []
    return [name for name in names if isinstance(name, str)]


def record_fields(properties: Mapping[str, str]) -> list[str]:
    """The record fields named by the properties; for plain JSON none are known in advance."""
    literal = schema_property(properties, LITERAL)
    avro = json.loads(literal) if literal and record_format(properties) == "avro" else None
    flattened = _names(json_value(properties, "druid.parseSpec.flattenSpec"), "fields")
    described = {key: json_value(properties, key) for key in ("druid.metricsSpec", DIMENSIONS)}
    given = [name for key in described for name in _names(described, key)]
    return [*field_list(properties), *_names(avro, "fields"), *flattened, *transformed(properties), *given]


def closed_fields(properties: Mapping[str, str]) -> list[str] | None:
    """All fields of the records; None if Druid discovers them in the records."""
    if _INPUT_FORMAT in properties:
        return None
    message_format = record_format(properties)
    if message_format in _FLAT:
        return field_list(properties) or None
    flatten = json_value(properties, "druid.parseSpec.flattenSpec") or {}
    listed = _names(flatten, "fields")
    if flatten.get("useFieldDiscovery", True) is False:
        return listed
    literal = schema_property(properties, LITERAL)
    return [*_names(json.loads(literal), "fields"), *listed] if literal and message_format == "avro" else None


def fields_of_columns(properties: Mapping[str, str], columns: Iterable[Column]) -> dict[str, str]:
    """The field of each column, in records and in Druid alike.

    Column names are lower case, fields are case-sensitive. The field comes from druid.columns.mapping, the existing
    data source, or a field named in the properties that differs only in case.
    """
    mapped = {column: field for field, column in names_by_field(properties).items()}
    known: dict[str, set[str]] = {}
    for field in record_fields(properties):
        known.setdefault(field.lower(), set()).add(field)
    result: dict[str, str] = {}
    for column in columns:
        candidates = known.get(column.name, set())
        only = next(iter(candidates)) if len(candidates) == 1 else column.name
        result[column.name] = mapped.get(column.name) or column.field or only
    return result
