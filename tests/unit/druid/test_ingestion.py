"""The specs of batch ingestion."""

from __future__ import annotations

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, STRING, TIMESTAMP
from hivedruid.druid.ingestion import STAGING, data_schema, index_parallel_spec

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


@pytest.mark.parametrize("overwrite", [True, False])
def test_the_task(overwrite: bool) -> None:
    task = index_parallel_spec(table(), {"hive.druid.indexer.partition.size.max": "7"}, overwrite=overwrite)
    io, tuning = task["spec"]["ioConfig"], task["spec"]["tuningConfig"]
    assert (io["appendToExisting"], io["dropExisting"]) == (not overwrite, overwrite)
    assert io["inputSource"]["baseDir"] == STAGING
    assert tuning["partitionsSpec"]["maxRowsPerSegment"] == 7
    assert tuning["maxParseExceptions"] == 0
