"""Specs of batch ingestion, and what they have in common with those of streams, from a table's properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.catalog.types import TYPES

Json = dict[str, Any]

STAGING = "${staging}"
"""Stands in a spec for the staging folder, which exists only when the job runs."""

_METRICS = {"LONG": "longSum", "FLOAT": "floatSum", "DOUBLE": "doubleSum"}


def rolls_up(table: Table, settings: Mapping[str, str]) -> bool:
    return (table.properties.get("druid.rollup") or settings.get("hive.druid.rollup", "true")).lower() == "true"


def granularity_spec(table: Table, settings: Mapping[str, str]) -> Json:
    segment = table.properties.get("druid.segment.granularity") or settings.get(
        "hive.druid.indexer.segments.granularity", "DAY"
    )
    return {
        "type": "uniform",
        "segmentGranularity": segment.upper(),
        "queryGranularity": table.properties.get("druid.query.granularity", "NONE").upper(),
        "rollup": rolls_up(table, settings),
    }


def data_schema(table: Table, settings: Mapping[str, str]) -> Json:
    """The dataSchema: strings and booleans are dimensions, numbers are summed metrics, as Hive maps them.

    Without rollup there is nothing to sum, and numbers are dimensions, so that every value stays as it is.
    """
    rollup = rolls_up(table, settings)
    dimensions, metrics = [], []
    for column in table.columns:
        if column.name == TIME_COLUMN:
            continue
        druid = TYPES[column.type.name].druid or "STRING"
        if rollup and druid in _METRICS and column.type.name != "boolean":
            metrics.append({"type": _METRICS[druid], "name": column.field_name, "fieldName": column.field_name})
        else:
            dimensions.append({"type": druid.lower(), "name": column.field_name})
    return {
        "dataSource": table.data_source,
        "timestampSpec": {"column": TIME_COLUMN, "format": "millis"},
        "dimensionsSpec": {"dimensions": dimensions},
        "metricsSpec": metrics,
        "granularitySpec": granularity_spec(table, settings),
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
