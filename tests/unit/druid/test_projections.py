"""Which projection can answer a native query, and which queries must not be answered by one."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP
from hivedruid.druid.ingestion import data_schema
from hivedruid.druid.projections import answering, projections_of, without_projections
from hivedruid.druid.supervisor import supervisor_spec

ALWAYS = ["-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"]
DAY = ["2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.000Z"]
SUM = {"type": "longSum", "name": "s", "fieldName": "n"}
PROJECTION = {
    "type": "aggregate", "name": "by few", "groupingColumns": [{"type": "string", "name": "few"}],
    "aggregators": [SUM, {"type": "count", "name": "c"}],
}  # fmt: skip
QUERY: dict[str, Any] = {
    "queryType": "groupBy", "dataSource": "d", "granularity": "all", "intervals": ALWAYS,
    "dimensions": [{"type": "default", "dimension": "few", "outputName": "few"}],
    "aggregations": [{"type": "longSum", "name": "$f1", "fieldName": "n"}],
}  # fmt: skip
EQUALS = {"type": "equals", "column": "few", "matchValueType": "STRING", "matchValue": "a"}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"dimensions": []},
        {"dimensions": ["few"]},
        {"aggregations": [{"type": "count", "name": "x"}]},
        {"filter": EQUALS},
        {"filter": {"type": "not", "field": {"type": "and", "fields": [EQUALS, {"type": "null", "column": "few"}]}}},
        {"queryType": "topN", "dimension": "few", "dimensions": None},
    ],
)
def test_a_query_that_a_projection_answers(change: dict[str, Any]) -> None:
    assert answering({**QUERY, **change}, [{**PROJECTION, "name": "other", "groupingColumns": []}, PROJECTION]) in (
        "by few", "other"
    )  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"queryType": "scan"},
        {"intervals": DAY},
        {"granularity": "day"},
        {"dimensions": ["many"]},
        {"dimensions": ["__time"]},
        {"dimensions": [{"type": "extraction", "dimension": "few"}]},
        {"aggregations": [{"type": "longMax", "name": "x", "fieldName": "n"}]},
        {"aggregations": [{"type": "longSum", "name": "x", "fieldName": "m"}]},
        {"filter": {**EQUALS, "column": "many"}},
        {"filter": {"type": "expression", "expression": "few == 'a'"}},
        {"virtualColumns": [{"type": "expression", "name": "v", "expression": "1"}]},
        {"dataSource": {"type": "query", "query": QUERY}},
    ],
)
def test_a_query_that_needs_the_rows(change: dict[str, Any]) -> None:
    assert answering({**QUERY, **change}, [PROJECTION]) is None


def test_aggregations_over_some_of_the_time_are_answered_from_the_rows() -> None:
    context = {"noProjections": True}
    assert without_projections(QUERY) == QUERY
    assert without_projections({**QUERY, "intervals": DAY})["context"] == context
    assert without_projections({**QUERY, "intervals": ["2024-01-01/P1D"]})["context"] == context
    assert without_projections({**QUERY, "intervals": DAY, "context": {"a": 1}})["context"] == {**context, "a": 1}
    assert without_projections({**QUERY, "intervals": {"type": "segments", "segments": []}})["context"] == context
    scan = {"queryType": "scan", "dataSource": "d", "intervals": DAY}
    assert without_projections(scan) == scan
    inner = {"type": "query", "query": {**QUERY, "intervals": DAY}}
    join = {"type": "join", "left": "d", "right": inner}
    found = without_projections({**QUERY, "dataSource": join})
    assert found["dataSource"]["right"]["query"]["context"] == context
    assert "context" not in found


def test_projections_are_in_the_specs_of_a_table() -> None:
    columns = (Column("__time", TIMESTAMP), Column("few", STRING), Column("n", BIGINT))
    properties = {
        "kafka.topic": "t", "kafka.bootstrap.servers": "h:1",
        "druid.projections": '[{"type": "aggregate", "name": "by few", "groupingColumns": []}]',
    }  # fmt: skip
    table = Table("default", "t", "druid", columns, properties=properties)
    assert projections_of(table) == [{"type": "aggregate", "name": "by few", "groupingColumns": []}]
    for schema in (data_schema(table, {}), supervisor_spec(table, {})["spec"]["dataSchema"]):
        assert schema["projections"] == projections_of(table)
    assert "projections" not in data_schema(Table("default", "t", "druid", columns), {})
