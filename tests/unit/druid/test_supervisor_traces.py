"""The specs of Hive's own handler for a table and ours mean the same, key by key, except for the listed differences."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pytest

from hivedruid.catalog.properties import CONSUMER_PREFIX, INGESTION_PREFIX, PROPERTIES
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.errors import HiveDruidError
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from hivedruid.setting_types import seconds
from hivedruid.tables.definition import define_table

Json = dict[str, Any]
Columns = tuple[tuple[str, str], ...]

OTHER_DEFAULTS = {
    "maxRowsInMemory": (1000000, 150000),  # Druid 33's own; memory is bounded by bytes since
    "handoffConditionTimeout": (0, 900000),  # Druid 33's own; an unlimited wait hides a broken historical
    "logParseExceptions": (False, True),  # without it lost records cannot be found
    "maxSavedParseExceptions": (0, 10),
}
"""Values that neither a property nor a setting specifies: Hive's, and ours."""

GONE = {
    "basePersistDirectory",  # a folder on the machine of HiveServer2, which the tasks cannot access
    "buildV9Directly",
    "chatThreads",
    "skipOffsetGaps",
}
"""Keys of Hive's specs that Druid 33 does not have."""

INTERNAL = {
    "segmentWriteOutMediumFactory",
    "skipSequenceNumberAvailabilityCheck",
    "repartitionTransitionDuration",
    "indexSpecForIntermediatePersists",
}
"""Keys that no property of Hive sets: Hive sends Druid's defaults, we omit them."""


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def ours(name: str, columns: Columns, properties: Mapping[str, str], settings: Mapping[str, str]) -> Json:
    """The spec for the DDL, parsed from its text."""
    listed = ", ".join(f"`{column}` {kind}" for column, kind in columns)
    pairs = ", ".join(f"{quoted(key)} = {quoted(value)}" for key, value in properties.items())
    text = f"CREATE EXTERNAL TABLE {name} ({listed}) STORED BY druid TBLPROPERTIES ({pairs})"
    statement = parse(SourceStatement(text))
    assert isinstance(statement, CreateTable)
    return supervisor_spec(define_table(statement, "default", settings, {}), settings)["spec"]


# --- one form for both -------------------------------------------------------------------------------------------


def hive_meaning(sent: Json) -> Json:
    """The legacy spec (`parser`) in the modern form, without keys that have no effect."""
    schema, parser = sent["dataSchema"], sent["dataSchema"]["parser"]
    parse_spec = parser["parseSpec"]
    tuning = {key: value for key, value in sent["tuningConfig"].items() if key not in GONE | INTERNAL | {"indexSpec"}}
    assert (schema["timestampSpec"], schema["dimensionsSpec"], sent["context"]) == (None, None, {})
    assert schema["transformSpec"] == {"filter": None, "transforms": []}
    assert parse_spec["timestampSpec"].pop("missingValue") is None
    return {
        "dataSource": schema["dataSource"],
        "timestamp": parse_spec["timestampSpec"],
        "dimensions": [_dimension(item) for item in parse_spec["dimensionsSpec"]["dimensions"]],
        "metrics": [(m["type"], m["name"], m["fieldName"], m["expression"]) for m in schema["metricsSpec"]],
        "granularity": {
            key: value["type"].upper() if isinstance(value, dict) else value
            for key, value in schema["granularitySpec"].items()
            if key != "intervals"
        },
        "input": _input(parser, parse_spec),
        "io": _durations({key: value for key, value in sent["ioConfig"].items() if key not in GONE}),
        "bitmap": sent["tuningConfig"]["indexSpec"]["bitmap"]["type"],
        "tuning": _durations(tuning),
    }


def _dimension(item: Json) -> tuple[str, str, str]:
    assert item["createBitmapIndex"] is True
    return item["type"], item["name"], item["multiValueHandling"]


def _input(parser: Json, parse_spec: Json) -> Json:
    kind = parse_spec["format"]
    if kind in ("json", "avro"):
        assert parse_spec["flattenSpec"] == {"useFieldDiscovery": True, "fields": []}
    if kind == "json":
        return {"type": "json"}
    if kind == "avro":
        return {"type": "avro_stream", "avroBytesDecoder": parser["avroBytesDecoder"]}
    columns = [name.strip() for name in parse_spec["columns"] or []]  # Hive keeps spaces in names
    header = parse_spec["hasHeaderRow"]
    return {
        "type": kind,
        "columns": columns,
        "findColumnsFromHeader": header and not columns,  # a parser with columns skips the header
        "skipHeaderRows": parse_spec["skipHeaderRows"] + (1 if header and columns else 0),
        "listDelimiter": parse_spec["listDelimiter"],
        "delimiter": parse_spec.get("delimiter"),
    }


def our_meaning(spec: Json) -> Json:
    """Our spec with Druid's defaults for missing keys."""
    schema, given, io = spec["dataSchema"], dict(spec["tuningConfig"]), dict(spec["ioConfig"])
    input_format = io.pop("inputFormat")
    if input_format["type"] in ("csv", "tsv"):
        input_format = {"columns": [], "listDelimiter": None, "delimiter": None, **input_format}
    index_spec = given.pop("indexSpec", {"bitmap": {"type": "roaring"}})
    tuning = {"type": "kafka", **_defaults("tuningConfig"), "maxTotalRows": None, **given}  # null is 20 million rows
    if tuning["reportParseExceptions"]:  # Druid does so when it reads the spec
        tuning["maxParseExceptions"] = 0
        tuning["maxSavedParseExceptions"] = min(1, tuning["maxSavedParseExceptions"])
    return {
        "dataSource": schema["dataSource"],
        "timestamp": schema["timestampSpec"],
        "dimensions": [
            (item["type"], item["name"], item.get("multiValueHandling", "SORTED_ARRAY"))
            for item in schema["dimensionsSpec"]["dimensions"]
        ],
        "metrics": [(m["type"], m["name"], m["fieldName"], None) for m in schema["metricsSpec"]],
        "granularity": schema["granularitySpec"],
        "input": input_format,
        "io": _durations({**_defaults("ioConfig"), **io}),
        "bitmap": index_spec["bitmap"]["type"],
        "tuning": _durations(tuning),
    }


HIVES = {
    "maxRowsInMemory", "maxBytesInMemory", "maxRowsPerSegment", "maxTotalRows", "intermediatePersistPeriod",
    "maxPendingPersists", "reportParseExceptions", "handoffConditionTimeout", "resetOffsetAutomatically", "workerThreads",
    "chatRetries", "httpTimeout", "shutdownTimeout", "offsetFetchPeriod", "intermediateHandoffPeriod",
    "logParseExceptions", "maxParseExceptions", "maxSavedParseExceptions", "replicas", "taskCount",
    "taskDuration", "startDelay", "period", "useEarliestOffset", "completionTimeout",
    "lateMessageRejectionPeriod", "earlyMessageRejectionPeriod",
}  # fmt: skip
"""The keys that Hive's handler uses, and Druid 33 still has."""


def _defaults(section: str) -> Json:
    """Druid's defaults in the table of properties, for the keys of Hive's specs."""
    result: Json = {}
    for item in PROPERTIES.values():
        name = item.key.removeprefix(INGESTION_PREFIX)
        if item.section == section and name in HIVES:
            whole = item.type in ("int", "long") and item.default is not None
            plain = item.default == "true" if item.type == "bool" else item.default
            result[name] = int(str(item.default)) if whole else plain
    return result


def _durations(values: Json) -> Json:
    """PT3600S, PT60M and PT1H are equal."""
    kinds = {item.key.removeprefix(INGESTION_PREFIX): item.type for item in PROPERTIES.values()}
    return {
        key: seconds(value) if isinstance(value, str) and kinds.get(key) in ("duration", "period") else value
        for key, value in values.items()
    }


def expected(sent: Json, columns: Columns, properties: Mapping[str, str]) -> Json:
    """Hive's spec, with the deliberate differences applied."""
    meaning = hive_meaning(sent)
    if "druid.rollup" in properties:  # Hive parses another property instead: always false
        assert meaning["granularity"]["rollup"] is False
        meaning["granularity"]["rollup"] = properties["druid.rollup"].lower() == "true"
    booleans = {name for name, kind in columns if kind == "boolean"}  # 0 and 1 here; Hive cannot read its own strings
    meaning["dimensions"] = [
        ("long" if name in booleans else kind, name, handling) for kind, name, handling in meaning["dimensions"]
    ]
    for key, (hives, default) in OTHER_DEFAULTS.items():
        capped = key == "maxSavedParseExceptions" and meaning["tuning"]["reportParseExceptions"]
        if INGESTION_PREFIX + key not in properties:
            assert meaning["tuning"][key] == hives
            meaning["tuning"][key] = 1 if capped else default
    return meaning


# --- scenarios ---------------------------------------------------------------------------------------------------


def steps(case: Json) -> Iterator[tuple[Columns, dict[str, str], Json]]:
    """The table after each step of a scenario, and the step."""
    properties = dict(case["properties"])
    columns: Columns = tuple((name, kind) for name, kind in case["columns"])
    for step in case["steps"]:
        properties |= step.get("set_properties", {})
        columns += tuple((name, kind) for name, kind in step.get("add_columns", ()))
        for key in step.get("unset_properties", ()):
            del properties[key]
        if step["op"] in ("create", "alter") and "overlord_forced_status" not in step:
            yield columns, dict(properties), step
        properties.pop("druid.kafka.ingestion", None)


LEGACY: Json = {
    "type": "kafka",
    "dataSchema": {
        "dataSource": "d", "timestampSpec": None, "dimensionsSpec": None,
        "metricsSpec": [{"type": "longSum", "name": "n", "fieldName": "n", "expression": None}],
        "granularitySpec": {"type": "uniform", "segmentGranularity": "HOUR", "queryGranularity": {"type": "none"}, "rollup": True, "intervals": None},
        "transformSpec": {"filter": None, "transforms": []},
        "parser": {"type": "string", "encoding": "UTF-8", "parseSpec": {
            "format": "tsv", "timestampSpec": {"column": "ts", "format": "iso", "missingValue": None},
            "dimensionsSpec": {"dimensions": [{"type": "string", "name": "a", "multiValueHandling": "SORTED_ARRAY", "createBitmapIndex": True}], "dimensionExclusions": []},
            "delimiter": "|", "listDelimiter": ";", "columns": ["ts", "a", "n"], "hasHeaderRow": True, "skipHeaderRows": 1,
        }},
    },
    "tuningConfig": {
        "type": "kafka", "maxRowsInMemory": 7, "maxBytesInMemory": 0, "maxRowsPerSegment": 5000000, "maxTotalRows": None,
        "intermediatePersistPeriod": "PT10M", "basePersistDirectory": "/x", "maxPendingPersists": 0,
        "indexSpec": {"bitmap": {"type": "roaring"}}, "reportParseExceptions": True, "handoffConditionTimeout": 0,
        "resetOffsetAutomatically": False, "workerThreads": None, "chatThreads": None, "chatRetries": 8, "httpTimeout": "PT10S",
        "shutdownTimeout": "PT80S", "offsetFetchPeriod": "PT30S", "intermediateHandoffPeriod": "P2147483647D",
        "logParseExceptions": False, "maxParseExceptions": 0, "maxSavedParseExceptions": 0,
    },
    "ioConfig": {
        "topic": "t", "replicas": 1, "taskCount": 1, "taskDuration": "PT600S", "consumerProperties": {"bootstrap.servers": "h:1", "retries": "2"},
        "startDelay": "PT5S", "period": "PT30S", "useEarliestOffset": False, "completionTimeout": "PT1800S",
        "lateMessageRejectionPeriod": None, "earlyMessageRejectionPeriod": None, "skipOffsetGaps": False,
    },
    "context": {},
}  # fmt: skip
OURS: Json = {
    "name": "a delimited topic",
    "table": "default.t",
    "columns": [["__time", "timestamp"], ["a", "string"], ["n", "int"]],
    "properties": {
        "druid.datasource": "d", "kafka.topic": "t", "kafka.bootstrap.servers": "h:1", "druid.segment.granularity": "hour",
        "druid.timestamp.column": "ts", "druid.timestamp.format": "iso", "druid.parseSpec.format": "delimited",
        "druid.parseSpec.columns": "ts,a,n", "druid.parseSpec.delimiter": "|", "druid.parseSpec.listDelimiter": ";",
        "druid.parseSpec.hasHeaderRows": "true", "druid.parseSpec.skipHeaderRows": "1",
        INGESTION_PREFIX + "maxRowsInMemory": "7", INGESTION_PREFIX + "reportParseExceptions": "true",
        INGESTION_PREFIX + "taskDuration": "PT10M", CONSUMER_PREFIX + "retries": "2",
    },
    "conf": {},
    "steps": [
        {"op": "create", "http": [{"method": "POST", "json": LEGACY}]},
        {"op": "alter", "set_properties": {INGESTION_PREFIX + "replicas": ""}, "http": [], "error": ["NumberFormatException"]},
    ],
}  # fmt: skip


def test_the_same_meaning_as_hives() -> None:
    compare(OURS, refused=(), accepted=())


def compare(case: Json, *, refused: Collection[str], accepted: Collection[str]) -> None:
    """Hive's requests for each step of a scenario mean the same as ours; `refused` and `accepted` name exceptions."""
    for columns, properties, step in steps(json.loads(json.dumps(case))):
        sent = [call["json"] for call in step["http"] if "json" in call]
        failed = "error" in step
        if (failed or case["name"] in refused) and case["name"] not in accepted:
            with pytest.raises(HiveDruidError):
                ours(case["table"], columns, properties, case["conf"])
            continue
        if failed or "kafka.topic" not in properties:
            assert not sent
            continue
        made = our_meaning(ours(case["table"], columns, properties, case["conf"]))
        for body in sent:
            assert made == expected(body, columns, properties)
