"""The Kafka supervisor of a Druid table, from its properties: Druid 33's modern spec, with Hive's mapping of
columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hivedruid.catalog.properties import CONSUMER_PREFIX, INGESTION_PREFIX, PROPERTIES, SUPERVISOR_ID, Section
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.druid.ingestion import Json, dimensions_and_metrics, granularity_spec, projections_part, rolls_up
from hivedruid.druid.spec_overrides import with_overrides
from hivedruid.secrets import masked, referenced
from hivedruid.sketches.kinds import AGGREGATORS
from hivedruid.tables.kafka_feed import (
    field_list,
    fields_of_columns,
    is_true,
    json_value,
    record_format,
    transformed,
)

DYNAMIC_PROVIDER = "druid.dynamic.config.provider"
"""The consumer property with which Druid's tasks resolve other properties at start (KafkaRecordSupplier)."""

ALWAYS_GIVEN = ("logParseExceptions", "maxSavedParseExceptions")
"""Keys of the tuningConfig with hivedruid's own defaults."""

_EXTENSIONS = {
    "avro_stream": "druid-avro-extensions",
    "protobuf": "druid-protobuf-extensions",
    **{name: kind.extension for name, kind in AGGREGATORS.items() if kind.extension is not None},
    "variance": "druid-stats",
    "approxHistogram": "druid-histogram",
    "approxHistogramFold": "druid-histogram",
    "fixedBucketsHistogram": "druid-histogram",
}
"""The extension that provides a type of inputFormat or aggregator."""

_TRUTH = "case_simple(lower({}),'true',1,'1',1,'false',0,'0',0,null)"


def supervisor_spec(table: Table, settings: Mapping[str, str]) -> Json:
    """The spec for `/druid/indexer/v1/supervisor` of a Kafka ingestion table. It contains references instead of
    secrets.

    `settings` give hive.druid.rollup, hive.druid.indexer.segments.granularity and hive.druid.bitmap.type if the
    table's properties do not set them. Everything else uses Druid's defaults, except parse errors, which are always
    logged and kept. `druid.spec.…` properties come last, and may add a context.
    """
    properties = table.properties
    topic = {"topic": properties["kafka.topic"]} if "kafka.topic" in properties else {}
    given = _section(properties, "ioConfig")
    io: Json = {
        **topic,
        "consumerProperties": consumer_properties(properties),
        "inputFormat": given.pop("inputFormat", None) or input_format(properties),
        **given,
    }
    tuning: Json = {"type": "kafka"}
    for key in ALWAYS_GIVEN:
        item = PROPERTIES[INGESTION_PREFIX + key]
        tuning[key] = typed(item.key, item.default or "")
    tuning |= _section(properties, "tuningConfig")
    if settings.get("hive.druid.bitmap.type", "").lower() == "concise" and "indexSpec" not in tuning:
        tuning["indexSpec"] = {"bitmap": {"type": "concise"}}
    spec = {"dataSchema": _data_schema(table, settings), "ioConfig": io, "tuningConfig": tuning}
    given_id = {"id": properties[SUPERVISOR_ID]} if SUPERVISOR_ID in properties else {}
    return with_overrides({"type": "kafka", **given_id, "spec": spec}, properties)


def extensions(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The Druid extensions that a supervisor spec requires; without them the overlord cannot parse it."""
    io, schema = spec["spec"]["ioConfig"], spec["spec"]["dataSchema"]
    given = io.get("inputFormat") or {}
    formats = [given, given.get("keyFormat"), given.get("valueFormat")]
    types = [item.get("type") for item in (*formats, *(schema.get("metricsSpec") or ())) if isinstance(item, dict)]
    return ("druid-kafka-indexing-service", *sorted({_EXTENSIONS[kind] for kind in types if kind in _EXTENSIONS}))


def _data_schema(table: Table, settings: Mapping[str, str]) -> Json:
    properties = table.properties
    fields = fields_of_columns(properties, table.columns)
    dimensions, metrics = dimensions_and_metrics(table, fields, rollup=rolls_up(table, settings), staged=False)
    schema: Json = {
        "dataSource": table.data_source,
        "timestampSpec": {
            "column": properties.get("druid.timestamp.column", TIME_COLUMN),
            "format": properties.get("druid.timestamp.format", "auto"),
        },
        "dimensionsSpec": {"dimensions": dimensions},
        "metricsSpec": metrics,
        "granularitySpec": granularity_spec(table, settings),
        **projections_part(table),
    }
    transforms = _transform_spec(properties, [c for c in table.columns if c.type.name == "boolean"], fields)
    return {**schema, **({"transformSpec": transforms} if transforms else {})}


def _transform_spec(properties: Mapping[str, str], booleans: list[Column], fields: Mapping[str, str]) -> Json:
    """druid.transformSpec, and transforms that convert booleans (`true`, "true" or 1 in records) to 1 and 0."""
    given: Json = dict(json_value(properties, "druid.transformSpec") or {})
    made = transformed(properties)
    truths = [
        {"type": "expression", "name": field, "expression": _TRUTH.format(json.dumps(field, ensure_ascii=False))}
        for column in booleans
        if (field := fields[column.name]) not in made
    ]
    return {**given, "transforms": [*given.get("transforms", []), *truths]} if truths else given


def input_format(properties: Mapping[str, str]) -> Json:
    """druid.parseSpec.* as an inputFormat."""
    format_ = record_format(properties)
    flatten = json_value(properties, "druid.parseSpec.flattenSpec")
    flattening = {} if flatten is None else {"flattenSpec": flatten}
    if format_ == "json":
        return {"type": "json", **flattening}
    if format_ == "avro":
        schema = json_value(properties, "avro.schema.literal")
        decoder = {"type": "schema_inline", "schema": schema}
        return {"type": "avro_stream", "avroBytesDecoder": decoder, **flattening}
    return _flat_format(properties, format_)


def _flat_format(properties: Mapping[str, str], format_: str) -> Json:
    """csv and tsv. With declared columns, a header row is only skipped: Druid would otherwise use its names."""
    columns = field_list(properties)
    header = is_true(properties, "druid.parseSpec.hasHeaderRows")
    skip = int(properties.get("druid.parseSpec.skipHeaderRows", "0")) + (1 if header and columns else 0)
    result: Json = {"type": "csv" if format_ == "csv" else "tsv"}
    result |= {"columns": columns} if columns else {}
    result |= {"findColumnsFromHeader": header and not columns, "skipHeaderRows": skip}
    for name in ("listDelimiter", "delimiter"):
        value = properties.get("druid.parseSpec." + name)
        if value is not None and not (name == "delimiter" and format_ == "csv"):
            result[name] = value
    return result


def consumer_properties(properties: Mapping[str, str]) -> Json:
    """The Kafka consumer's properties; references to the environment are left to Druid to resolve on its hosts."""
    consumer: Json = {"bootstrap.servers": properties["kafka.bootstrap.servers"]}
    variables: dict[str, str] = {}
    for key, value in sorted(properties.items()):
        if not key.startswith(CONSUMER_PREFIX):
            continue
        name = key.removeprefix(CONSUMER_PREFIX)
        variable = referenced(value)
        if variable is None:
            consumer[name] = masked(name, value)
        else:
            variables[name] = variable
    if variables:
        consumer[DYNAMIC_PROVIDER] = {"type": "environment", "variables": variables}
    return consumer


def _section(properties: Mapping[str, str], section: Section) -> Json:
    """The properties for that part of the spec, in the order of the property table."""
    keys = (item.key for item in PROPERTIES.values() if item.section == section and item.key in properties)
    return {key.removeprefix(INGESTION_PREFIX): typed(key, properties[key]) for key in keys}


def typed(key: str, value: str) -> Any:
    """The value of a property as JSON."""
    kind = PROPERTIES[key].type
    if kind in ("int", "long"):
        return int(value)
    if kind == "bool":
        return value.lower() == "true"
    return json.loads(value) if kind in ("object", "array") else value
