"""Batch ingestion specs from a table's properties, and the parts that they share with streaming specs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from hivedruid.catalog.druid_columns import AGGREGATED, AGGREGATORS, SKETCHES, parse_aggregators, parse_multi_values
from hivedruid.catalog.properties import AUTO_COMPACTION, DIMENSIONS, SEGMENT_RANGES, SPEC_PREFIX, has_ingestion
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.types import BINARY, TYPES
from hivedruid.druid.projections import projections_of
from hivedruid.druid.sketch_columns import building, merging
from hivedruid.errors import SemanticError
from hivedruid.settings import SETTINGS
from hivedruid.sketches.kinds import AGGREGATORS as KINDS
from hivedruid.tables.kafka_feed import METRICS, column_list, fields_of_columns, json_value

Json = dict[str, Any]
Replaces = Literal["nothing", "intervals", "all"]
"""The rows that a write replaces. INSERT INTO: nothing. INSERT OVERWRITE: all rows, or those in the intervals of the
spec, or else in the intervals of the new rows."""

STAGING = "${staging}"
"""The placeholder for the staging folder, which only exists when the job runs."""

CONCURRENT_LOCKS = "useConcurrentLocks"
"""Task context key that allows appending while other tasks replace the same intervals, without waiting or losing rows.
"""

OWN_LOCKS = f"{SPEC_PREFIX}context.{CONCURRENT_LOCKS}"
"""The property with that key for the tasks of a stream."""

_ROWS_IN_MEMORY = "hive.druid.indexer.memory.rownum.max"
_FILES = "*.json.gz"
_SPLIT_SIZE = "64MiB"
"""Compressed bytes per subtask; Druid's default of 1 GiB would assign most staged rows to a single one."""


# --- shared by streams and batches -------------------------------------------------------------------------------


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


def dimensions_and_metrics(
    table: Table, fields: Mapping[str, str], *, rollup: bool, staged: bool, merged: Collection[str] = ()
) -> tuple[list[Json], list[Json]]:
    """Hive's mapping: strings and booleans are dimensions, numbers are summed, unless properties override a column.
    Without rollup, numbers are dimensions, so that values are stored unchanged. `staged` rows have a value for every
    column of the table and no other fields: an aggregator reads its own column, whereas in stream records it may read
    another field, and a dimension has the type of its column. The columns `merged` have sketches as values, those of
    other sketch columns are added to a sketch.
    """
    properties = table.properties
    aggregators = parse_aggregators(properties.get(AGGREGATED, ""))[0]
    several = parse_multi_values(properties.get("druid.columns.multivalue", ""))[0]
    kept = column_list(properties, "druid.columns.dimensions")
    written = {item.get("name"): item for item in json_value(properties, "druid.metricsSpec") or []}
    described = {item.get("name"): item for item in json_value(properties, DIMENSIONS) or []}
    dimensions: list[Json] = []
    metrics: list[Json] = []
    for column in table.columns:
        field = fields[column.name]
        druid = TYPES[column.type.name].druid or "STRING"
        if column.name == TIME_COLUMN:
            continue
        is_dimension = field in described
        if field in written:
            metric = written.pop(field)
            metrics.append({**metric, "fieldName": field} if staged and "fieldName" in metric else metric)
        elif column.name in aggregators:
            chosen = aggregators[column.name]
            source = field if staged else chosen.field or field
            metrics.append(_metric(column, chosen.function, field, source, merges=column.name in merged))
        elif rollup and druid in METRICS and not (column.type.name == "boolean" or column.name in kept or is_dimension):
            metrics.append({"type": METRICS[druid], "name": field, "fieldName": field})
        else:
            made = _dimension(column, field, druid, several)
            given = described.get(field, made)
            dimensions.append(made if staged and given.get("type") != made["type"] else given)
    return dimensions, [*metrics, *written.values()]


def _metric(column: Column, function: str, field: str, source: str, *, merges: bool) -> Json:
    if column.type == BINARY and function in SKETCHES:
        given = merging(KINDS[function]) if merges else building(KINDS[function])
        return {**given, "name": field, "fieldName": source}
    druid = TYPES[column.type.name].druid or "STRING"
    metric = {"type": AGGREGATORS[function].format(druid.lower()), "name": field}
    return metric if function == "count" else {**metric, "fieldName": source}


def _dimension(column: Column, field: str, druid: str, several: Mapping[str, str]) -> Json:
    """The schema of a dimension. Arrays of numbers, which data sources of others have, are arrays in Druid, too; those
    of strings are multi-value strings."""
    if column.type.name == "array" and column.type.children[0].is_numeric:
        element = "LONG" if column.type.children[0].is_integer else "DOUBLE"
        return {"type": "auto", "name": field, "castToType": f"ARRAY<{element}>"}
    return {"type": druid.lower(), "name": field, **_handling(column, several)}


def _handling(column: Column, several: Mapping[str, str]) -> Json:
    """The handling of multiple values. An array keeps order and duplicates, which Druid would otherwise sort."""
    if column.name in several:
        return {"multiValueHandling": several[column.name]}
    return {"multiValueHandling": "ARRAY"} if column.type.name == "array" else {}


def locks_concurrently(table: Table) -> bool:
    """Whether others may write to the table's intervals at the same time: its stream, unless that is set to lock
    intervals for itself, or automatic compaction."""
    streams = has_ingestion(table.properties) and table.properties.get(OWN_LOCKS, "true").lower() == "true"
    return streams or table.properties.get(AUTO_COMPACTION, "false").lower() == "true"


# --- batches -----------------------------------------------------------------------------------------------------


def data_schema(table: Table, settings: Mapping[str, str], merged: Collection[str] = ()) -> Json:
    """The dataSchema of rows staged for the table: the same columns as its stream, with times in milliseconds. The
    columns `merged` have sketches, in base64, as values."""
    fields = fields_of_columns(table.properties, table.columns)
    rollup = rolls_up(table, settings)
    dimensions, metrics = dimensions_and_metrics(table, fields, rollup=rollup, staged=True, merged=merged)
    return {
        "dataSource": table.data_source,
        "timestampSpec": {"column": TIME_COLUMN, "format": "millis"},
        "dimensionsSpec": {"dimensions": dimensions},
        "metricsSpec": metrics,
        "granularitySpec": granularity_spec(table, settings),
        **projections_part(table),
    }


def projections_part(table: Table) -> Json:
    """The projections for a dataSchema, if the table has any."""
    found = projections_of(table)
    return {"projections": found} if found else {}


def index_parallel_spec(
    table: Table, settings: Mapping[str, str], replaces: Replaces, merged: Collection[str] = ()
) -> Json:
    """The task that ingests staged newline-delimited JSON, without its id, the staging folder, and the intervals to
    replace, which are determined when it runs; `merged` as in `data_schema`. Raises SemanticError if Druid has no input
    source for hivedruid.staging.root.
    """
    task: Json = {
        "type": "index_parallel",
        "spec": {
            "dataSchema": data_schema(table, settings, merged),
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": input_source(settings.get("hivedruid.staging.root", "")),
                "inputFormat": {"type": "json"},
                "appendToExisting": replaces == "nothing",
                "dropExisting": replaces != "nothing",
            },
            "tuningConfig": _tuning_config(table, settings, replaces),
        },
    }
    if locks_concurrently(table):
        task["context"] = {CONCURRENT_LOCKS: True}
    return task


def _tuning_config(table: Table, settings: Mapping[str, str], replaces: Replaces) -> Json:
    subtasks = int(settings.get("hivedruid.task.subtasks", "1"))
    tuning: Json = {
        "type": "index_parallel",
        "partitionsSpec": partitions_spec(table, settings, replaces),
        # otherwise unparsable rows would be dropped and the task would still succeed
        "maxParseExceptions": 0,
        "logParseExceptions": True,
    }
    in_memory = settings.get(_ROWS_IN_MEMORY, "")
    if in_memory not in (
        "",
        SETTINGS[_ROWS_IN_MEMORY].default,
    ):  # used by Hive's own writer; Druid's tasks have their own
        tuning["maxRowsInMemory"] = int(in_memory)
    if tuning["partitionsSpec"]["type"] != "dynamic":
        tuning["forceGuaranteedRollup"] = True
    if subtasks > 1:
        tuning["maxNumConcurrentSubTasks"] = subtasks
        tuning["splitHintSpec"] = {"type": "maxSize", "maxSplitSize": _SPLIT_SIZE}
    if settings.get("hive.druid.bitmap.type", "").lower() == "concise":
        tuning["indexSpec"] = {"bitmap": {"type": "concise"}}
    return tuning


def partitions_spec(table: Table, settings: Mapping[str, str], replaces: Replaces) -> Json:
    """The partitioning within an interval. Druid appends only with row-based partitioning
    (ParallelIndexTuningConfig)."""
    shards = int(table.properties.get("druid.segment.targetShardsPerGranularity", "0"))
    if shards > 0 and replaces != "nothing":
        return {"type": "hashed", "numShards": shards}
    given = table.properties.get("druid.segment.targetRowsPerSegment")
    rows = int(given or settings.get("hive.druid.indexer.partition.size.max", "5000000"))
    ranges = column_list(table.properties, SEGMENT_RANGES)
    if ranges and replaces != "nothing":
        fields = fields_of_columns(table.properties, table.columns)
        return {
            "type": "range", "partitionDimensions": [fields[name] for name in ranges], "targetRowsPerSegment": rows,
        }  # fmt: skip
    return {"type": "dynamic", "maxRowsPerSegment": rows}


# --- staging locations -------------------------------------------------------------------------------------------


def input_source(root: str) -> Json:
    """Druid's input source for files below a staging root: a path, or the URI of storage that Druid has an extension
    for."""
    scheme = urlsplit(root).scheme if "://" in root else "file"
    if scheme == "file" or root.startswith("file:"):
        return {"type": "local", "baseDir": STAGING, "filter": _FILES}
    if scheme == "hdfs":
        return {"type": "hdfs", "paths": [f"{STAGING}/{_FILES}"]}
    if scheme not in _OBJECT_STORES:
        known = ", ".join(["file", "hdfs", *_OBJECT_STORES])
        raise SemanticError(
            f"Druid cannot read the staging folder {root}: it has no input source for '{scheme}'",
            hint=f"set hivedruid.staging.root to a folder, or to a URI with one of {known}",
        )
    return {"type": _OBJECT_STORES[scheme], "prefixes": [f"{STAGING}/"], "objectGlob": "**.json.gz"}


_OBJECT_STORES = {"s3": "s3", "s3a": "s3", "gs": "google", "abfs": "azureStorage", "abfss": "azureStorage"}
"""Input sources by the URI scheme that Spark writes to."""


def folder_in_druid(folder: str) -> str:
    """A staging folder, a path or a URI as Spark writes to it, as Druid's input sources name it."""
    parts = urlsplit(folder) if "://" in folder else None
    if parts is None:
        return folder.removeprefix("file:")
    if parts.scheme == "file":
        return parts.path
    if parts.scheme == "s3a":
        return f"s3://{parts.netloc}{parts.path}"
    if parts.scheme in ("abfs", "abfss"):  # container@account.dfs.core.windows.net
        container, _, host = parts.netloc.partition("@")
        return f"azureStorage://{host.partition('.')[0]}/{container}{parts.path}"
    return folder


def files_in(source: Mapping[str, Any], folder: str) -> Json:
    """An input source with the staging folder filled in."""

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(STAGING, folder_in_druid(folder))
        if isinstance(value, Mapping):
            return {key: filled(item) for key, item in value.items()}
        return [filled(item) for item in value] if isinstance(value, list) else value

    return {key: filled(item) for key, item in source.items()}
