"""Ingestion specs in Druid's modern form (timestampSpec, dimensionsSpec, inputFormat), from a table's properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.catalog.properties import CONSUMER_PREFIX, INGESTION_PREFIX, PROPERTIES
from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.catalog.types import TYPES

Json = dict[str, Any]

STAGING = "${staging}"
"""Stands in a spec for the staging folder, which exists only when the job runs."""

_METRICS = {"LONG": "longSum", "FLOAT": "floatSum", "DOUBLE": "doubleSum"}
_IO_KEYS = frozenset(
    {"replicas", "taskCount", "taskDuration", "startDelay", "period", "useEarliestOffset", "completionTimeout"}
    | {"lateMessageRejectionPeriod", "earlyMessageRejectionPeriod"}
)
_IGNORED_KEYS = frozenset({"skipOffsetGaps"})  # gone from Druid, which skips gaps by itself


def data_schema(table: Table, settings: Mapping[str, str]) -> Json:
    """The dataSchema: strings and booleans are dimensions, numbers are summed metrics, as Hive maps them.

    Without rollup there is nothing to sum, and numbers are dimensions, so that every value stays as it is.
    """
    rollup = (table.properties.get("druid.rollup") or settings.get("hive.druid.rollup", "true")).lower() == "true"
    dimensions, metrics = [], []
    for column in table.columns:
        if column.name == TIME_COLUMN:
            continue
        druid = TYPES[column.type.name].druid or "STRING"
        if rollup and druid in _METRICS and column.type.name != "boolean":
            metrics.append({"type": _METRICS[druid], "name": column.field_name, "fieldName": column.field_name})
        else:
            dimensions.append({"type": druid.lower(), "name": column.field_name})
    segment = table.properties.get("druid.segment.granularity") or settings.get(
        "hive.druid.indexer.segments.granularity", "DAY"
    )
    return {
        "dataSource": table.data_source,
        "timestampSpec": {"column": TIME_COLUMN, "format": "millis"},
        "dimensionsSpec": {"dimensions": dimensions},
        "metricsSpec": metrics,
        "granularitySpec": {
            "type": "uniform",
            "segmentGranularity": segment.upper(),
            "queryGranularity": table.properties.get("druid.query.granularity", "NONE").upper(),
            "rollup": rollup,
        },
    }


def index_parallel_spec(table: Table, settings: Mapping[str, str], *, overwrite: bool) -> Json:
    """The task that ingests staged newline-JSON; OVERWRITE replaces every segment of the data source in one step."""
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": data_schema(table, settings),
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "local", "baseDir": STAGING, "filter": "*.json.gz"},
                "inputFormat": {"type": "json"},
                "appendToExisting": not overwrite,
                "dropExisting": overwrite,
            },
            "tuningConfig": {
                "type": "index_parallel",
                "partitionsSpec": {
                    "type": "dynamic",
                    "maxRowsPerSegment": int(settings.get("hive.druid.indexer.partition.size.max", "5000000")),
                },
                # a row that Druid cannot parse would vanish and the task still succeed
                "maxParseExceptions": 0,
                "logParseExceptions": True,
            },
        },
    }


def supervisor_spec(table: Table, settings: Mapping[str, str]) -> Json:
    """The Kafka supervisor of a Druid table with `kafka.topic`; consumer secrets are named, never written."""
    schema = data_schema(table, settings)
    schema["timestampSpec"] = {
        "column": table.properties.get("druid.timestamp.column", TIME_COLUMN),
        "format": table.properties.get("druid.timestamp.format", "auto"),
    }
    io: Json = {
        "topic": table.properties["kafka.topic"],
        "consumerProperties": _consumer_properties(table),
        "inputFormat": input_format(table),
    }
    tuning: Json = {"type": "kafka"}
    for key, value in sorted(table.properties.items()):
        name = key.removeprefix(INGESTION_PREFIX)
        if key.startswith(INGESTION_PREFIX) and not key.startswith(CONSUMER_PREFIX) and name not in _IGNORED_KEYS:
            (io if name in _IO_KEYS else tuning)[name] = _typed(key, value)
    return {"type": "kafka", "spec": {"dataSchema": schema, "ioConfig": io, "tuningConfig": tuning}}


def _consumer_properties(table: Table) -> Json:
    from hivedruid.secrets import masked

    consumer: Json = {"bootstrap.servers": table.properties["kafka.bootstrap.servers"]}
    for key, value in sorted(table.properties.items()):
        if key.startswith(CONSUMER_PREFIX):
            name = key.removeprefix(CONSUMER_PREFIX)
            consumer[name] = masked(name, value)
    return consumer


def input_format(table: Table) -> Json:
    """druid.parseSpec.* as an inputFormat."""
    properties = table.properties
    format_ = properties.get("druid.parseSpec.format", "json").lower()
    if format_ == "json":
        return {"type": "json"}
    if format_ == "avro":
        return {
            "type": "avro_stream",
            "avroBytesDecoder": {"type": "schema_inline", "schema": properties.get("avro.schema.literal", "")},
        }
    columns = [c.strip() for c in properties.get("druid.parseSpec.columns", "").split(",") if c.strip()]
    result: Json = {"type": "csv" if format_ == "csv" else "tsv"}
    result |= {"columns": columns} if columns else {}
    result |= {"findColumnsFromHeader": properties.get("druid.parseSpec.hasHeaderRows", "false").lower() == "true"}
    result |= {"skipHeaderRows": int(properties.get("druid.parseSpec.skipHeaderRows", "0"))}
    for key, name in (("druid.parseSpec.listDelimiter", "listDelimiter"), ("druid.parseSpec.delimiter", "delimiter")):
        if key in properties and not (name == "delimiter" and format_ == "csv"):
            result[name] = properties[key]
    return result


def _typed(key: str, value: str) -> Any:
    kind = PROPERTIES[key].type if key in PROPERTIES else "text"
    if kind in ("int", "long"):
        return int(value)
    return value.lower() == "true" if kind == "bool" else value
