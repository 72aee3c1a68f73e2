"""Whether a running supervisor matches its table. Druid's additions are those observed with Druid 33."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.ingestions import LastSpec
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP, array_of
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.ingestion.compare import Difference, as_accepted, changes, differences

WANTED: dict[str, Any] = {
    "type": "kafka",
    "spec": {
        "dataSchema": {
            "dataSource": "d",
            "timestampSpec": {"column": "time", "format": "auto"},
            "dimensionsSpec": {"dimensions": [{"type": "string", "name": "page"}, {"type": "long", "name": "year"}]},
            "metricsSpec": [{"type": "longSum", "name": "n", "fieldName": "n"}],
            "granularitySpec": {"type": "uniform", "segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": True},
        },
        "ioConfig": {
            "topic": "t", "consumerProperties": {"bootstrap.servers": "h:1"}, "inputFormat": {"type": "json"},
            "taskDuration": "PT1H",
        },
        "tuningConfig": {"type": "kafka", "logParseExceptions": True, "maxSavedParseExceptions": 10},
    },
}  # fmt: skip

INDEX = {
    "bitmap": {"type": "roaring"}, "dimensionCompression": "lz4", "stringDictionaryEncoding": {"type": "utf8"},
    "metricCompression": "lz4", "longEncoding": "longs",
}  # fmt: skip


def running() -> dict[str, Any]:
    """Druid 33's response to WANTED."""
    found = copy.deepcopy(WANTED)
    schema, io, tuning = (found["spec"][part] for part in ("dataSchema", "ioConfig", "tuningConfig"))
    schema["timestampSpec"]["missingValue"] = None
    page, year = schema["dimensionsSpec"]["dimensions"]
    page |= {"multiValueHandling": "SORTED_ARRAY", "createBitmapIndex": True}
    year |= {"multiValueHandling": "SORTED_ARRAY", "createBitmapIndex": False}
    schema["dimensionsSpec"] |= {
        "dimensionExclusions": ["__time", "n", "time"], "includeAllDimensions": False, "useSchemaDiscovery": False,
    }  # fmt: skip
    schema["granularitySpec"] |= {"queryGranularity": {"type": "none"}, "intervals": []}
    schema["transformSpec"] = {"filter": None, "transforms": []}
    io |= {
        "topicPattern": None, "replicas": 1, "taskCount": 1, "taskDuration": "PT3600S", "autoScalerConfig": None,
        "pollTimeout": 100, "startDelay": "PT5S", "period": "PT30S", "useEarliestOffset": False,
        "completionTimeout": "PT1800S", "lateMessageRejectionPeriod": None, "idleConfig": None, "stopTaskCount": None,
        "emitTimeLagMetrics": False, "stream": "t", "useEarliestSequenceNumber": False,
    }  # fmt: skip
    tuning |= {
        "appendableIndexSpec": {"type": "onheap", "preserveExistingMetrics": False}, "maxRowsInMemory": 150000,
        "maxBytesInMemory": 0, "maxRowsPerSegment": 5000000, "maxTotalRows": None, "intermediatePersistPeriod": "PT10M",
        "indexSpec": INDEX, "indexSpecForIntermediatePersists": INDEX, "reportParseExceptions": False,
        "handoffConditionTimeout": 900000, "chatRetries": 8, "httpTimeout": "PT10S", "shutdownTimeout": "PT80S",
        "offsetFetchPeriod": "PT30S", "intermediateHandoffPeriod": "P2147483647D", "maxParseExceptions": 2147483647,
        "numPersistThreads": 1, "maxColumnsToMerge": -1, "repartitionTransitionDuration": "PT120S",
    }  # fmt: skip
    return found | {
        "suspended": False,
        "context": {"hivedruid.table": "default.t", CONCURRENT_LOCKS: True},
        **found["spec"],
    }


def test_druids_own_additions_are_no_difference() -> None:
    assert differences(WANTED, running()) == ()
    assert differences(WANTED, WANTED) == ()


def test_an_older_form_without_spec() -> None:
    assert differences(WANTED, running()["spec"]) == ()


@pytest.mark.parametrize(
    ("part", "key", "value", "path"),
    [
        ("ioConfig", "taskCount", 2, "ioConfig.taskCount"),
        ("ioConfig", "taskDuration", "PT10M", "ioConfig.taskDuration"),
        ("ioConfig", "useEarliestOffset", True, "ioConfig.useEarliestOffset"),
        ("ioConfig", "consumerProperties", {"bootstrap.servers": "h:2"}, "ioConfig.consumerProperties.bootstrap.servers"),
        ("ioConfig", "consumerProperties", {"bootstrap.servers": "h:1", "a": "b"}, "ioConfig.consumerProperties.a"),
        ("ioConfig", "inputFormat", {"type": "csv", "columns": ["a"]}, "ioConfig.inputFormat.type"),
        ("tuningConfig", "maxRowsInMemory", 5, "tuningConfig.maxRowsInMemory"),
        ("tuningConfig", "logParseExceptions", False, "tuningConfig.logParseExceptions"),
        ("tuningConfig", "indexSpec", {**INDEX, "longEncoding": "auto"}, "tuningConfig.indexSpec"),
        ("dataSchema", "metricsSpec", [], "dataSchema.metricsSpec"),
        ("dataSchema", "metricsSpec", [{"type": "longMax", "name": "n", "fieldName": "n"}], "dataSchema.metricsSpec[n].type"),
        ("dataSchema", "transformSpec", {"transforms": [{"name": "x"}]}, "dataSchema.transformSpec"),
    ],
)  # fmt: skip
def test_what_was_changed_in_druid_is_found(part: str, key: str, value: Any, path: str) -> None:
    changed = running()
    changed["spec"][part][key] = value
    found = differences(WANTED, changed)
    assert path in [item.path for item in found]


def test_both_values_are_told() -> None:
    changed = running()
    changed["spec"]["ioConfig"]["taskCount"] = 3
    assert differences(WANTED, changed) == (Difference("ioConfig.taskCount", None, 3),)


def test_what_druid_made_of_the_last_spec_is_what_counts() -> None:
    strange = running()
    strange["spec"]["ioConfig"]["inputFormat"]["assumed"] = [1]
    assert differences(WANTED, strange) != ()
    last = LastSpec(WANTED, as_accepted(strange))
    assert changes(WANTED, strange, last) == ()
    other = copy.deepcopy(WANTED)
    other["spec"]["ioConfig"]["taskCount"] = 2
    assert changes(other, strange, last) == (Difference("ioConfig.taskCount", 2, 1),)
    edited = copy.deepcopy(strange)
    edited["spec"]["ioConfig"]["taskCount"] = 3
    assert Difference("ioConfig.taskCount", None, 3) in changes(WANTED, edited, last)


@pytest.mark.parametrize("last", [None, LastSpec(WANTED, as_accepted(running()))])
def test_locks_that_let_nobody_replace_are_told(last: LastSpec | None) -> None:
    """A supervisor that an older hivedruid, or another client, submitted."""
    alone = running() | {"context": {"hivedruid.table": "default.t"}}
    assert changes(WANTED, alone, last) == (Difference("context.useConcurrentLocks", True, None),)
    assert changes(WANTED, running(), last) == ()


def test_an_auto_scaler_changes_the_number_of_tasks() -> None:
    scaled = running()
    scaled["spec"]["ioConfig"] |= {"autoScalerConfig": {"enableTaskAutoScaler": True}, "taskCount": 1}
    last = LastSpec(WANTED, as_accepted(scaled))
    scaled["spec"]["ioConfig"]["taskCount"] = 5
    assert changes(WANTED, scaled, last) == ()


def test_no_secret_is_kept() -> None:
    secret = running()
    secret["spec"]["ioConfig"]["consumerProperties"]["ssl.key.password"] = "canary"
    assert "canary" not in str(as_accepted(secret))


# --- Druid 37 --------------------------------------------------------------------------------------------------


def of_druid_37(name: str) -> Any:
    """See druid37/README.md."""
    return json.loads((Path(__file__).parent / "druid37" / name).read_text(encoding="utf-8"))


def table_of_druid_37() -> Table:
    columns = (
        Column("__time", TIMESTAMP), Column("page", STRING), Column("user", STRING), Column("tags", array_of(STRING)),
        Column("n", BIGINT), Column("x", DOUBLE), Column("u", BIGINT),
    )  # fmt: skip
    properties = {
        "kafka.topic": "edits", "kafka.bootstrap.servers": "kafka:9092", "druid.segment.granularity": "DAY",
        "druid.query.granularity": "MINUTE", "druid.rollup": "true",
    }  # fmt: skip
    return Table("default", "wiki", "druid", columns, True, properties=properties)


def test_the_data_schema_that_druid_37_returns_is_that_of_the_table() -> None:
    wanted = supervisor_spec(table_of_druid_37(), {})
    found = copy.deepcopy(wanted)
    found["spec"]["dataSchema"] = of_druid_37("data_schema.json")
    assert differences(wanted, found) == ()
    found["spec"]["dataSchema"]["granularitySpec"]["rollup"] = False
    assert [item.path for item in differences(wanted, found)] == ["dataSchema.granularitySpec.rollup"]


@pytest.mark.parametrize(
    ("index_spec", "name", "different"),
    [
        (None, "default", []),
        ({"bitmap": {"type": "roaring"}, "longEncoding": "longs"}, "default", []),
        ({"bitmap": {"type": "concise"}}, "default", ["bitmap"]),
        ({"longEncoding": "auto"}, "long encoding", []),
        ({"bitmap": {"type": "roaring"}, "dimensionCompression": "lz4", "longEncoding": "auto"}, "long encoding", []),
        (None, "long encoding", [""]),
        ({"dimensionCompression": "zstd", "longEncoding": "auto"}, "long encoding", ["dimensionCompression"]),
    ],
)
def test_a_default_that_druid_37_leaves_out_is_no_difference(
    index_spec: dict[str, Any] | None, name: str, different: list[str]
) -> None:
    without_nulls = {key: value for key, value in of_druid_37("index_specs.json")[name].items() if value is not None}
    for returned in (of_druid_37("index_specs.json")[name], without_nulls):
        wanted, found = copy.deepcopy(WANTED), running()
        if index_spec is not None:
            wanted["spec"]["tuningConfig"]["indexSpec"] = index_spec
        found["spec"]["tuningConfig"]["indexSpec"] = returned
        found["spec"]["tuningConfig"]["indexSpecForIntermediatePersists"] = returned
        paths = [item.path for item in differences(wanted, found)]
        assert paths == [f"tuningConfig.indexSpec.{key}".rstrip(".") for key in different]
