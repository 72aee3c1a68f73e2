"""The Kafka supervisor's spec of a table, by statement."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from hivedruid.catalog.table import Table
from hivedruid.druid.supervisor import extensions, supervisor_spec
from hivedruid.errors import SemanticError
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from hivedruid.tables.definition import define_table

FEED = {"kafka.topic": "t", "kafka.bootstrap.servers": "h:9092"}
COLUMNS = "`__time` timestamp, page string, n int"
TRUTH = "case_simple(lower(\"{}\"),'true',1,'1',1,'false',0,'0',0,null)"


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def table(columns: str = COLUMNS, properties: Mapping[str, str] | None = None) -> Table:
    pairs = ", ".join(f"{quoted(k)} = {quoted(v)}" for k, v in {**FEED, **(properties or {})}.items())
    statement = parse(SourceStatement(f"CREATE EXTERNAL TABLE t ({columns}) STORED BY druid TBLPROPERTIES ({pairs})"))
    assert isinstance(statement, CreateTable)
    return define_table(statement, "default", {}, {})


def spec(columns: str = COLUMNS, settings: Mapping[str, str] | None = None, **properties: str) -> Any:
    """The spec; underscores in the names of properties replace points."""
    given = {key.replace("_", "."): value for key, value in properties.items()}
    made = supervisor_spec(table(columns, given), settings or {})
    assert made["type"] == "kafka"
    return json.loads(json.dumps(made["spec"]))


def ingestion(**properties: str) -> Any:
    given: dict[str, Any] = {f"druid_kafka_ingestion_{key}": value for key, value in properties.items()}
    return spec(**given)


def test_a_plain_table() -> None:
    assert spec() == {
        "dataSchema": {
            "dataSource": "default.t",
            "timestampSpec": {"column": "__time", "format": "auto"},
            "dimensionsSpec": {"dimensions": [{"type": "string", "name": "page"}]},
            "metricsSpec": [{"type": "longSum", "name": "n", "fieldName": "n"}],
            "granularitySpec": {
                "type": "uniform",
                "segmentGranularity": "DAY",
                "queryGranularity": "NONE",
                "rollup": True,
            },
        },
        "ioConfig": {
            "topic": "t",
            "consumerProperties": {"bootstrap.servers": "h:9092"},
            "inputFormat": {"type": "json"},
        },
        "tuningConfig": {"type": "kafka", "logParseExceptions": True, "maxSavedParseExceptions": 10},
    }


def test_types_are_those_of_hives_handler() -> None:
    columns = (
        "`__time` timestamp with local time zone, a tinyint, b smallint, c int, d bigint, e float, f double,"
        " g string, h varchar(3), i char(2), j boolean"
    )
    schema = spec(columns)["dataSchema"]
    types = ["longSum"] * 4 + ["floatSum", "doubleSum"]
    assert [(m["type"], m["name"], m["fieldName"]) for m in schema["metricsSpec"]] == [
        (kind, name, name) for kind, name in zip(types, "abcdef", strict=True)
    ]
    dimensions = [{"type": "string", "name": name} for name in "ghi"]
    assert schema["dimensionsSpec"]["dimensions"] == [*dimensions, {"type": "long", "name": "j"}]


def test_booleans_are_one_and_zero_however_records_spell_them() -> None:
    schema = spec("`__time` timestamp, isnew boolean, b boolean", druid_columns_mapping="isNew:isnew")["dataSchema"]
    assert schema["transformSpec"] == {
        "transforms": [{"type": "expression", "name": f, "expression": TRUTH.format(f)} for f in ("isNew", "b")]
    }
    own = {"transforms": [{"type": "expression", "name": "b", "expression": "x > 1"}], "filter": {"type": "true"}}
    schema = spec("`__time` timestamp, b boolean", druid_transformSpec=json.dumps(own))["dataSchema"]
    assert schema["transformSpec"] == own


def test_without_rollup_numbers_are_dimensions() -> None:
    expected = [{"type": "string", "name": "page"}, {"type": "long", "name": "n"}]
    for made in (spec(druid_rollup="FALSE"), spec(settings={"hive.druid.rollup": "false"})):
        assert made["dataSchema"]["granularitySpec"]["rollup"] is False
        assert made["dataSchema"]["metricsSpec"] == []
        assert made["dataSchema"]["dimensionsSpec"]["dimensions"] == expected
    made = spec(druid_rollup="true", settings={"hive.druid.rollup": "false"})
    assert made["dataSchema"]["granularitySpec"]["rollup"] is True


def test_granularities() -> None:
    found = spec(druid_segment_granularity="six_hour", druid_query_granularity="minute")["dataSchema"]
    assert found["granularitySpec"]["segmentGranularity"] == "SIX_HOUR"
    assert found["granularitySpec"]["queryGranularity"] == "MINUTE"
    settings = {"hive.druid.indexer.segments.granularity": "HOUR"}
    assert spec(settings=settings)["dataSchema"]["granularitySpec"]["segmentGranularity"] == "HOUR"


def test_what_a_column_is_otherwise() -> None:
    schema = spec(
        "`__time` timestamp, tags string, yr int, a int, b double, c float, n bigint, u string, q double",
        druid_columns_dimensions="yr",
        druid_columns_multivalue="tags:array",
        druid_columns_aggregators="a:MIN, b:max(Delta), c:sum(d e), n:count, u:HLLSketchBuild(user)",
        druid_metricsSpec='[{"type": "quantilesDoublesSketch", "name": "q", "fieldName": "x", "k": 64}, {"type": "count", "name": "other"}]',
    )["dataSchema"]
    assert schema["dimensionsSpec"]["dimensions"] == [
        {"type": "string", "name": "tags", "multiValueHandling": "ARRAY"},
        {"type": "long", "name": "yr"},
    ]
    assert schema["metricsSpec"] == [
        {"type": "longMin", "name": "a", "fieldName": "a"},
        {"type": "doubleMax", "name": "b", "fieldName": "Delta"},
        {"type": "floatSum", "name": "c", "fieldName": "d e"},
        {"type": "count", "name": "n"},
        {"type": "HLLSketchBuild", "name": "u", "fieldName": "user"},
        {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "x", "k": 64},
        {"type": "count", "name": "other"},
    ]


@pytest.mark.parametrize(
    "properties",
    [
        {"druid.columns.mapping": "newPage:page"},
        {"druid.parseSpec.format": "csv", "druid.parseSpec.columns": "__time, newPage", "druid.columns.mapping": "newPage:page"},
    ],
)  # fmt: skip
def test_fields_named_by_the_mapping(properties: dict[str, str]) -> None:
    made = supervisor_spec(table(properties=properties), {})["spec"]["dataSchema"]
    assert made["dimensionsSpec"]["dimensions"] == [{"type": "string", "name": "newPage"}]


@pytest.mark.parametrize(
    "properties",
    [
        {"druid.parseSpec.format": "csv", "druid.parseSpec.columns": "__time,Page,n"},
        {"druid.parseSpec.flattenSpec": '{"fields": ["x", {"type": "path", "name": "Page", "expr": "$.a.Page"}]}'},
        {"druid.transformSpec": '{"transforms": [{"type": "expression", "name": "Page", "expression": "lower(p)"}]}'},
        {
            "druid.parseSpec.format": "avro",
            "avro.schema.literal": '{"type": "record", "name": "r", "fields": [{"name": "Page", "type": "string"}]}',
        },
    ],
)
def test_fields_that_differ_only_in_case(properties: dict[str, str]) -> None:
    made = supervisor_spec(table(properties=properties), {})["spec"]["dataSchema"]
    assert made["dimensionsSpec"]["dimensions"] == [{"type": "string", "name": "Page"}]


def test_time() -> None:
    made = spec(druid_timestamp_column="ts", druid_timestamp_format="yyyy-MM-dd")
    assert made["dataSchema"]["timestampSpec"] == {"column": "ts", "format": "yyyy-MM-dd"}


AVRO = '{"type": "record", "name": "r", "fields": [{"name": "page", "type": "string"}]}'


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"druid.parseSpec.format": "JSON"}, {"type": "json"}),
        (
            {"druid.parseSpec.flattenSpec": '{"useFieldDiscovery": false, "fields": []}'},
            {"type": "json", "flattenSpec": {"useFieldDiscovery": False, "fields": []}},
        ),
        (
            {"druid.parseSpec.format": "csv", "druid.parseSpec.columns": " __time , page,, n ", "druid.parseSpec.listDelimiter": "|"},
            {"type": "csv", "columns": ["__time", "page", "n"], "findColumnsFromHeader": False, "skipHeaderRows": 0, "listDelimiter": "|"},
        ),
        (
            {"druid.parseSpec.format": "csv", "druid.parseSpec.hasHeaderRows": "true", "druid.parseSpec.skipHeaderRows": "2"},
            {"type": "csv", "findColumnsFromHeader": True, "skipHeaderRows": 2},
        ),
        (
            {"druid.parseSpec.format": "TSV", "druid.parseSpec.hasHeaderRows": "true", "druid.parseSpec.columns": "__time,page"},
            {"type": "tsv", "columns": ["__time", "page"], "findColumnsFromHeader": False, "skipHeaderRows": 1},
        ),
        (
            {"druid.parseSpec.format": "delimited", "druid.parseSpec.columns": "__time", "druid.parseSpec.delimiter": ";"},
            {"type": "tsv", "columns": ["__time"], "findColumnsFromHeader": False, "skipHeaderRows": 0, "delimiter": ";"},
        ),
        (
            {"druid.parseSpec.format": "avro", "avro.schema.literal": AVRO},
            {"type": "avro_stream", "avroBytesDecoder": {"type": "schema_inline", "schema": json.loads(AVRO)}},
        ),
        (
            {"druid.kafka.ingestion.inputFormat": '{"type": "kafka", "valueFormat": {"type": "json"}}'},
            {"type": "kafka", "valueFormat": {"type": "json"}},
        ),
    ],
)  # fmt: skip
def test_input_formats(properties: dict[str, str], expected: dict[str, Any]) -> None:
    io = supervisor_spec(table(properties=properties), {})["spec"]["ioConfig"]
    assert io["inputFormat"] == expected


def test_tuning() -> None:
    made = ingestion(
        maxRowsInMemory="5",
        maxTotalRows="9223372036854775807",
        intermediatePersistPeriod="P1M",
        resetOffsetAutomatically="TRUE",
        logParseExceptions="false",
        maxSavedParseExceptions="0",
        indexSpec='{"bitmap": {"type": "roaring"}}',
    )
    assert made["tuningConfig"] == {
        "type": "kafka",
        "maxRowsInMemory": 5,
        "maxTotalRows": 9223372036854775807,
        "intermediatePersistPeriod": "P1M",
        "resetOffsetAutomatically": True,
        "logParseExceptions": False,
        "maxSavedParseExceptions": 0,
        "indexSpec": {"bitmap": {"type": "roaring"}},
    }


def test_io() -> None:
    made = ingestion(
        taskCount="2",
        taskDuration="PT1M",
        useEarliestOffset="true",
        idleConfig='{"enabled": true}',
        lateMessageRejectionStartDateTime="2024-01-01T00:00:00Z",
        consumer_retries="2",
        **{"consumer_max.poll.records": "7"},
    )
    assert made["ioConfig"] == {
        "topic": "t",
        "consumerProperties": {"bootstrap.servers": "h:9092", "retries": "2", "max.poll.records": "7"},
        "inputFormat": {"type": "json"},
        "taskCount": 2,
        "taskDuration": "PT1M",
        "useEarliestOffset": True,
        "idleConfig": {"enabled": True},
        "lateMessageRejectionStartDateTime": "2024-01-01T00:00:00Z",
    }


def test_removed_keys_are_dropped() -> None:
    assert (
        ingestion(skipOffsetGaps="true", chatThreads="3", buildV9Directly="true", basePersistDirectory="/x") == spec()
    )


def test_the_bitmap_of_the_setting() -> None:
    settings = {"hive.druid.bitmap.type": "concise"}
    assert spec(settings=settings)["tuningConfig"]["indexSpec"] == {"bitmap": {"type": "concise"}}
    assert "indexSpec" not in spec(settings={"hive.druid.bitmap.type": "roaring"})["tuningConfig"]
    given = {"druid_kafka_ingestion_indexSpec": '{"longEncoding": "auto"}'}
    assert spec(settings=settings, **given)["tuningConfig"]["indexSpec"] == {"longEncoding": "auto"}


def test_a_pattern_of_topics() -> None:
    text = (
        "CREATE EXTERNAL TABLE t (`__time` timestamp) STORED BY druid TBLPROPERTIES "
        "('kafka.bootstrap.servers' = 'h:1', 'druid.kafka.ingestion.topicPattern' = 'a.*')"
    )
    statement = parse(SourceStatement(text))
    assert isinstance(statement, CreateTable)
    io = supervisor_spec(define_table(statement, "default", {}, {}), {})["spec"]["ioConfig"]
    assert io["topicPattern"] == "a.*"
    assert "topic" not in io


@pytest.mark.parametrize("value", ["env:KAFKA_JAAS", "${env:KAFKA_JAAS}"])
def test_secrets_are_references_that_druid_resolves(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("KAFKA_JAAS", "hunter2")
    properties = {
        "druid.kafka.ingestion.consumer.sasl.jaas.config": value,
        "druid.kafka.ingestion.consumer.client.id": "env:CLIENT",
        "druid.kafka.ingestion.consumer.security.protocol": "SASL_SSL",
    }
    made = table(properties=properties)
    assert made.properties["druid.kafka.ingestion.consumer.sasl.jaas.config"] == "env:KAFKA_JAAS"
    consumer = supervisor_spec(made, {})["spec"]["ioConfig"]["consumerProperties"]
    assert consumer == {
        "bootstrap.servers": "h:9092",
        "security.protocol": "SASL_SSL",
        "druid.dynamic.config.provider": {
            "type": "environment",
            "variables": {"client.id": "CLIENT", "sasl.jaas.config": "KAFKA_JAAS"},
        },
    }


@pytest.mark.parametrize(
    ("properties", "message", "hint"),
    [
        ({"druid.kafka.ingestion.topicPattern": "a.*"}, "are mutually exclusive", "one of them"),
        ({"kafka.bootstrap.servers": ""}, "requires kafka.bootstrap.servers", "localhost:9092"),
        ({"druid.kafka.ingestion.inputFormat": '{"type": "json"}', "druid.parseSpec.format": "json"}, "inputFormat and druid.parseSpec.format are mutually exclusive", "one"),
        ({"druid.parseSpec.format": "avro"}, "Please specify avro schema literal", "avro.schema.literal"),
        ({"druid.parseSpec.format": "avro", "avro.schema.literal": '{"type": "string"}'}, "not a record schema", "record"),
        ({"druid.parseSpec.format": "tsv"}, "tsv messages require druid.parseSpec.columns", "hasHeaderRows"),
        ({"druid.parseSpec.format": "csv", "druid.parseSpec.columns": "__time", "druid.parseSpec.flattenSpec": "{}"}, "records are flat", "remove it"),
        ({"druid.parseSpec.format": "csv", "druid.parseSpec.columns": "__time", "druid.parseSpec.listDelimiter": ","}, "is also the field delimiter", "another"),
        ({"druid.parseSpec.format": "tsv", "druid.parseSpec.columns": "__time", "druid.parseSpec.listDelimiter": "\t"}, "is also the field delimiter", "another"),
        ({"druid.parseSpec.format": "csv", "druid.parseSpec.columns": "page, time"}, "'__time' is not in druid.parseSpec.columns", "did you mean 'time'"),
        ({"druid.kafka.ingestion.lateMessageRejectionPeriod": "PT1H", "druid.kafka.ingestion.lateMessageRejectionStartDateTime": "2024-01-01"}, "are mutually exclusive", "one"),
        ({"druid.metricsSpec": '[1]'}, "1 is not an object with a name", "name"),
        ({"druid.transformSpec": '{"transforms": {"name": "a"}}'}, "is not a list", ""),
        ({"druid.parseSpec.flattenSpec": '{"fields": [{"type": "path"}]}'}, "not an object with a name", "name"),
        ({"druid.transformSpec": '{"filter": {"type": "and", "fields": [{"type": "expression", "expression": "n = 3"}]}}'}, "druid.transformSpec: filter.fields[0].expression: cannot read in expression [n = 3] at position 3, near '= 3'; Druid drops", "write =="),
        ({"druid.transformSpec": '{"transforms": [{"type": "expression", "name": "n", "expression": "uper(page)"}]}'}, "transforms[0].expression: Druid has no function uper()", "did you mean 'upper'"),
        ({"druid.transformSpec": '{"transforms": [{"type": "expression", "name": "n", "expression": "page == true"}]}'}, "Druid reads 'true' as the name of a field", "write 1"),
        ({"druid.parseSpec.format": "csv", "druid.parseSpec.columns": "__time,page", "druid.transformSpec": '{"transforms": [{"type": "expression", "name": "n", "expression": "upper(pge)"}]}'}, "no field is named 'pge' in expression [upper(pge)]", "did you mean 'page'"),
        ({"druid.parseSpec.flattenSpec": '{"useFieldDiscovery": false, "fields": [{"type": "path", "name": "p", "expr": "$.q"}]}', "druid.transformSpec": '{"filter": {"type": "expression", "expression": "q == 1"}}'}, "no field is named 'q'", ""),
        ({"druid.metricsSpec": '[{"type": "longSum", "name": "n", "expression": "1 <> 2"}]'}, "druid.metricsSpec: [0].expression: syntax error", "write !="),
        ({"druid.columns.dimensions": "nn"}, "druid.columns.dimensions refers to an unknown column: 'nn'", "did you mean 'n'"),
        ({"druid.columns.dimensions": "page"}, "column 'page' is string, not a number", "BIGINT"),
        ({"druid.columns.aggregators": "__time:min"}, "refers to an unknown column", ""),
        ({"druid.columns.aggregators": "page:max"}, "column 'page' is string, not a number", "BIGINT"),
        ({"druid.columns.aggregators": "page:count"}, "a count must be an integer", "BIGINT"),
        ({"druid.columns.multivalue": "n:ARRAY"}, "only strings can have several values", "STRING"),
        ({"druid.columns.mapping": "n:page"}, "columns 'page' and 'n' are both mapped to the field 'n'", "druid.columns.mapping"),
    ],
)  # fmt: skip
def test_feeds_that_are_refused(properties: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(SemanticError) as error:
        table(properties=properties)
    assert message in error.value.message
    assert hint in (error.value.hint or "")
    assert error.value.span is not None


def test_a_time_that_a_transform_makes() -> None:
    transform = {"transforms": [{"type": "expression", "name": "__time", "expression": "timestamp_parse(d)"}]}
    properties = {"druid.parseSpec.format": "csv", "druid.parseSpec.columns": "d,page"}
    made = supervisor_spec(table(properties={**properties, "druid.transformSpec": json.dumps(transform)}), {})
    assert made["spec"]["dataSchema"]["transformSpec"] == transform


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, []),
        ({"druid.parseSpec.format": "avro", "avro.schema.literal": AVRO}, ["druid-avro-extensions"]),
        (
            {"druid.kafka.ingestion.inputFormat": '{"type": "kafka", "valueFormat": {"type": "protobuf"}}'},
            ["druid-protobuf-extensions"],
        ),
        ({"druid.columns.aggregators": "n:count(*), page:thetaSketch(user)"}, ["druid-datasketches"]),
        ({"druid.metricsSpec": '[{"type": "variance", "name": "v", "fieldName": "n"}]'}, ["druid-stats"]),
    ],
)
def test_extensions(properties: dict[str, str], expected: list[str]) -> None:
    made = supervisor_spec(table(properties=properties), {})
    assert list(extensions(made)) == ["druid-kafka-indexing-service", *expected]
