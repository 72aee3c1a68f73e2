"""The specs of batch ingestion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, BINARY, BOOLEAN, DOUBLE, STRING, TIMESTAMP, array_of
from hivedruid.druid.ingestion import STAGING, Replaces, data_schema, folder_in_druid, index_parallel_spec, input_source
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.errors import SemanticError
from hivedruid.settings import Settings

COLUMNS = (
    Column("__time", TIMESTAMP),
    Column("page", STRING, field="Page"),
    Column("isnew", BOOLEAN),
    Column("n", BIGINT),
    Column("d", DOUBLE),
)


def table(**properties: str) -> Table:
    given = {key.replace("_", "."): value for key, value in properties.items()}
    return Table("default", "t", "druid", COLUMNS, properties={"druid.datasource": "ds", **given})


def test_rows_that_are_rolled_up() -> None:
    schema = data_schema(table(), {})
    assert schema["dataSource"] == "ds"
    assert schema["timestampSpec"] == {"column": "__time", "format": "millis"}
    assert schema["dimensionsSpec"]["dimensions"] == [
        {"type": "string", "name": "Page"},
        {"type": "long", "name": "isnew"},
    ]
    assert schema["metricsSpec"] == [
        {"type": "longSum", "name": "n", "fieldName": "n"},
        {"type": "doubleSum", "name": "d", "fieldName": "d"},
    ]
    assert schema["granularitySpec"]["rollup"] is True


def test_rows_that_are_not() -> None:
    for schema in (data_schema(table(druid_rollup="false"), {}), data_schema(table(), {"hive.druid.rollup": "false"})):
        assert schema["metricsSpec"] == []
        assert [item["type"] for item in schema["dimensionsSpec"]["dimensions"]] == ["string", "long", "long", "double"]
        assert schema["granularitySpec"]["rollup"] is False


def test_granularities() -> None:
    made = data_schema(table(druid_query_granularity="hour"), {"hive.druid.indexer.segments.granularity": "month"})
    assert made["granularitySpec"]["segmentGranularity"] == "MONTH"
    assert made["granularitySpec"]["queryGranularity"] == "HOUR"
    made = data_schema(table(druid_segment_granularity="week"), {"hive.druid.indexer.segments.granularity": "month"})
    assert made["granularitySpec"]["segmentGranularity"] == "WEEK"


@pytest.mark.parametrize("replaces", ["nothing", "intervals", "all"])
def test_the_task(replaces: Replaces) -> None:
    task = index_parallel_spec(table(), {"hive.druid.indexer.partition.size.max": "7"}, replaces)
    io, tuning = task["spec"]["ioConfig"], task["spec"]["tuningConfig"]
    assert (io["appendToExisting"], io["dropExisting"]) == (replaces == "nothing", replaces != "nothing")
    assert io["inputSource"] == {"type": "local", "baseDir": STAGING, "filter": "*.json.gz"}
    assert tuning == {
        "type": "index_parallel",
        "partitionsSpec": {"type": "dynamic", "maxRowsPerSegment": 7},
        "maxParseExceptions": 0,
        "logParseExceptions": True,
    }
    assert "context" not in task


def tuning(replaces: Replaces, settings: dict[str, str] | None = None, **properties: str) -> Any:
    return index_parallel_spec(table(**properties), settings or {}, replaces)["spec"]["tuningConfig"]


def test_rows_and_shards_of_a_segment() -> None:
    rows: dict[str, Any] = {"druid_segment_targetRowsPerSegment": "9"}
    assert tuning("all", **rows)["partitionsSpec"] == {"type": "dynamic", "maxRowsPerSegment": 9}
    shards = {**rows, "druid_segment_targetShardsPerGranularity": "3"}
    for replaces in ("all", "intervals"):
        made = tuning(replaces, **shards)
        assert made["partitionsSpec"] == {"type": "hashed", "numShards": 3}
        assert made["forceGuaranteedRollup"] is True
    made = tuning("nothing", **shards)  # Druid does not append hashed segments to existing ones
    assert made["partitionsSpec"] == {"type": "dynamic", "maxRowsPerSegment": 9}
    assert "forceGuaranteedRollup" not in made


def test_ranges_of_segments() -> None:
    """Druid appends with a number of rows only."""
    given: dict[str, Any] = {"druid_segment_ranges": "Page", "druid_segment_targetRowsPerSegment": "9"}
    made = tuning("all", **given)
    assert made["partitionsSpec"] == {"type": "range", "partitionDimensions": ["Page"], "targetRowsPerSegment": 9}
    assert made["forceGuaranteedRollup"] is True
    assert tuning("nothing", **given)["partitionsSpec"] == {"type": "dynamic", "maxRowsPerSegment": 9}


def test_what_settings_say_of_the_task() -> None:
    settings = {
        "hive.druid.indexer.memory.rownum.max": "1000",
        "hive.druid.bitmap.type": "concise",
        "hivedruid.task.subtasks": "4",
    }
    made = tuning("nothing", settings)
    assert (made["maxRowsInMemory"], made["indexSpec"]) == (1000, {"bitmap": {"type": "concise"}})
    assert (made["maxNumConcurrentSubTasks"], made["splitHintSpec"]["type"]) == (4, "maxSize")
    assert "maxRowsInMemory" not in tuning("nothing", dict(Settings()))  # Hive's default was chosen for its own writer


@pytest.mark.parametrize(
    "properties", [{"kafka_topic": "t", "kafka_bootstrap_servers": "h:1"}, {"druid_compaction_auto": "true"}]
)
def test_others_may_write_at_the_same_time(properties: dict[str, str]) -> None:
    assert index_parallel_spec(table(**properties), {}, "all")["context"] == {"useConcurrentLocks": True}


def test_a_table_that_a_stream_feeds_gets_the_same_columns() -> None:
    properties = {
        "kafka.topic": "t",
        "kafka.bootstrap.servers": "h:9092",
        "druid.columns.mapping": "newPage:page",
        "druid.columns.dimensions": "yr",
        "druid.columns.multivalue": "several:SORTED_SET",
        "druid.columns.aggregators": "a:min(Delta), n:count, u:HLLSketchBuild(user)",
        "druid.metricsSpec": '[{"type": "doubleMax", "name": "q", "fieldName": "x"}, {"type": "count", "name": "other"}]',
    }
    columns = {
        "__time": TIMESTAMP, "page": STRING, "tags": array_of(STRING), "several": STRING, "yr": BIGINT, "a": BIGINT,
        "n": BIGINT, "u": STRING, "q": DOUBLE,
    }  # fmt: skip
    fed = Table("default", "t", "druid", tuple(Column(*item) for item in columns.items()), properties=properties)
    streamed, staged = supervisor_spec(fed, {})["spec"]["dataSchema"], data_schema(fed, {})
    assert staged["dimensionsSpec"] == streamed["dimensionsSpec"]
    assert staged["dimensionsSpec"]["dimensions"][:3] == [
        {"type": "string", "name": "newPage"},
        {"type": "string", "name": "tags", "multiValueHandling": "ARRAY"},
        {"type": "string", "name": "several", "multiValueHandling": "SORTED_SET"},
    ]
    of_type = [(metric["type"], metric["name"]) for metric in staged["metricsSpec"]]
    assert of_type == [(metric["type"], metric["name"]) for metric in streamed["metricsSpec"]]
    sources = {metric["name"]: metric.get("fieldName") for metric in staged["metricsSpec"]}
    assert sources == {"a": "a", "n": None, "u": "u", "q": "q", "other": None}  # values are the columns' own


def test_sketches_are_built_from_values_or_merged() -> None:
    given = {"druid.columns.aggregators": "t:thetaSketch(user), h:HLLSketchBuild, q:quantilesDoublesSketch(x)"}
    columns = (Column("__time", TIMESTAMP), Column("t", BINARY), Column("h", BINARY), Column("q", BINARY))
    made = Table("default", "t", "druid", columns, properties=given)
    assert data_schema(made, {})["metricsSpec"] == [
        {"type": "thetaSketch", "name": "t", "fieldName": "t"},
        {"type": "HLLSketchBuild", "tgtHllType": "HLL_4", "name": "h", "fieldName": "h"},
        {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "q"},
    ]
    assert data_schema(made, {}, {"t", "h"})["metricsSpec"] == [
        {"type": "thetaSketch", "isInputThetaSketch": True, "size": 16384, "name": "t", "fieldName": "t"},
        {"type": "HLLSketchMerge", "tgtHllType": "HLL_4", "lgK": 12, "name": "h", "fieldName": "h"},
        {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "q"},
    ]
    kafka = {**given, "kafka.topic": "t", "kafka.bootstrap.servers": "h:9092"}
    streamed = supervisor_spec(replace(made, properties=kafka), {})["spec"]["dataSchema"]["metricsSpec"]
    assert [metric["fieldName"] for metric in streamed] == ["user", "h", "x"]


@pytest.mark.parametrize(
    ("root", "source"),
    [
        ("", {"type": "local", "baseDir": "${staging}", "filter": "*.json.gz"}),
        ("/mnt/shared", {"type": "local", "baseDir": "${staging}", "filter": "*.json.gz"}),
        ("file:/mnt/shared", {"type": "local", "baseDir": "${staging}", "filter": "*.json.gz"}),
        ("hdfs://nn/staging", {"type": "hdfs", "paths": ["${staging}/*.json.gz"]}),
        ("s3a://bucket/x", {"type": "s3", "prefixes": ["${staging}/"], "objectGlob": "**.json.gz"}),
        ("gs://bucket/x", {"type": "google", "prefixes": ["${staging}/"], "objectGlob": "**.json.gz"}),
        ("abfss://c@a/x", {"type": "azureStorage", "prefixes": ["${staging}/"], "objectGlob": "**.json.gz"}),
    ],
)
def test_where_rows_are_staged(root: str, source: dict[str, Any]) -> None:
    assert input_source(root) == source


def test_storage_that_druid_cannot_read() -> None:
    with pytest.raises(SemanticError, match="no input source for 'ftp'") as error:
        index_parallel_spec(table(), {"hivedruid.staging.root": "ftp://host/x"}, "nothing")
    assert "file, hdfs, s3, s3a, gs, abfs, abfss" in str(error.value.hint)


@pytest.mark.parametrize(
    ("folder", "named"),
    [
        ("/mnt/a b", "/mnt/a b"),
        ("file:/mnt/a", "/mnt/a"),
        ("file:///mnt/a", "/mnt/a"),
        ("s3a://bucket/x/job", "s3://bucket/x/job"),
        ("gs://bucket/x/job", "gs://bucket/x/job"),
        ("hdfs://nn:9000/x", "hdfs://nn:9000/x"),
        ("abfss://rows@account.dfs.core.windows.net/x/job", "azureStorage://account/rows/x/job"),
    ],
)
def test_how_druid_names_the_folder(folder: str, named: str) -> None:
    assert folder_in_druid(folder) == named
