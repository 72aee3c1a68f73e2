"""Segments that hivedruid writes are loaded by a real historical, and answer every native query as Druid's own do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pytest

from hivedruid.segments.segment import open_segment
from hivedruid.segments.writing.segment import Dimension, Metric, SegmentSpec, write_segment
from tests.support.loads import ingest
from tests.support.publish import answer, publish
from tests.support.segments import rows, stored
from tests.support.staged import DAY, NEW_YEAR, stage, task

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster

TYPES = {
    "id": "long", "few": "string", "many": "string", "some": "string", "odd": "string", "none": "string",
    "list": "array", "sorted_list": "string", "big": "long", "null_long": "long", "d": "double",
    "null_double": "double", "f": "float",
}  # fmt: skip
ARROW = {"long": pa.int64(), "string": pa.string(), "double": pa.float64(), "float": pa.float32()}
LISTS = {"list": "ARRAY", "sorted_list": "SORTED_ARRAY"}
SPAN = (NEW_YEAR, NEW_YEAR + DAY)
COUNT = 5000


def arrow(columns: Mapping[str, str], given_rows: list[dict[str, Any]]) -> pa.Table:
    types = {name: pa.list_(pa.string()) if name in LISTS else ARROW[type_] for name, type_ in columns.items()}
    return pa.Table.from_pylist(given_rows, schema=pa.schema({"__time": pa.int64(), **types}))


def dimensions(columns: Mapping[str, str]) -> tuple[Dimension, ...]:
    return tuple(
        Dimension(name, "STRING" if name in LISTS else type_.upper(), LISTS.get(name, "SORTED_ARRAY"))
        for name, type_ in columns.items()
    )


@pytest.fixture(scope="module")
def made(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DruidCluster, str, str]]:
    """Two data sources with the same rows: one that Druid has written, and one that hivedruid has written."""
    folder = tmp_path_factory.mktemp("rows")
    given_rows = rows(COUNT)
    for number, row in enumerate(given_rows):  # times that are not unique, so that dimensions decide the order
        row["__time"] = NEW_YEAR + number // 7
    theirs, ours = (f"{name}_{uuid4().hex[:8]}" for name in ("theirs", "ours"))
    spec = SegmentSpec(SPAN, dimensions(TYPES))
    with closing(cluster.druid()) as druid:
        ingest(druid, task(theirs, stage(folder, given_rows), columns=TYPES))
        halves = [given_rows[: COUNT // 2], given_rows[COUNT // 2 :]]
        publish(druid, ours, SPAN, lambda place: [
            write_segment(arrow(TYPES, half), spec, place / str(number))
            for number, half in enumerate(halves)
        ])  # fmt: skip
        yield druid, theirs, ours
        for name in (theirs, ours):
            druid.drop(name)


def equals(column: str, value: Any, type_: str = "STRING") -> dict[str, Any]:
    return {"type": "equals", "column": column, "matchValueType": type_, "matchValue": value}


FILTERS: dict[str, dict[str, Any] | None] = {
    "all": None,
    "equals": equals("few", "x"),
    "equals, none": equals("few", "nope"),
    "equals, astral": equals("odd", "😀"),
    "equals, list": equals("list", "c"),
    "equals, long": equals("null_long", 7, "LONG"),
    "empty": equals("some", ""),
    "null": {"type": "null", "column": "some"},
    "null of a list": {"type": "null", "column": "list"},
    "null of a long": {"type": "null", "column": "null_long"},
    "null everywhere": {"type": "null", "column": "none"},
    "not": {"type": "not", "field": equals("some", "p")},
    "in": {"type": "in", "dimension": "many", "values": ["value 075954", "value 669949", "x"]},
    "range": {"type": "range", "column": "many", "matchValueType": "STRING", "lower": "value 2", "upper": "value 4"},
    "range, astral": {
        "type": "range", "column": "odd", "matchValueType": "STRING", "lower": "😀", "upper": "\ue000",
    },
    "range of a double": {"type": "range", "column": "d", "matchValueType": "DOUBLE", "lower": 1e8, "upperOpen": True},
    "like": {"type": "like", "dimension": "many", "pattern": "value 9%"},
    "regex": {"type": "regex", "dimension": "many", "pattern": "9$"},
    "and": {"type": "and", "fields": [equals("few", "y"), {"type": "like", "dimension": "odd", "pattern": "é%"}]},
    "or": {"type": "or", "fields": [equals("sorted_list", "a"), equals("list", "h")]},
    "expression": {"type": "expression", "expression": "strlen(odd) > 2 && id % 3 == 0"},
}  # fmt: skip

AGGREGATIONS = [
    {"type": "count", "name": "rows"},
    {"type": "longSum", "name": "ids", "fieldName": "id"},
    {"type": "longMax", "name": "most", "fieldName": "big"},
    {"type": "doubleMin", "name": "least", "fieldName": "null_double"},
    {"type": "doubleMax", "name": "float", "fieldName": "f"},
    {"type": "cardinality", "name": "distinct", "fields": ["many"], "round": True},
]
BASE: dict[str, Any] = {"intervals": ["2024-01-01/2024-01-02"], "granularity": "all"}
QUERIES: dict[str, dict[str, Any]] = {
    "timeseries": {"queryType": "timeseries", "granularity": "second", "aggregations": AGGREGATIONS},
    "topN": {
        "queryType": "topN", "dimension": "many", "metric": {"type": "dimension", "ordering": "lexicographic"},
        "threshold": 50, "aggregations": AGGREGATIONS,
    },
    "topN of a list": {
        "queryType": "topN", "dimension": "list", "metric": {"type": "dimension", "ordering": "lexicographic"},
        "threshold": 9, "aggregations": AGGREGATIONS,
    },
    "groupBy": {"queryType": "groupBy", "dimensions": ["few", "some", "odd"], "aggregations": AGGREGATIONS},
    "groupBy of lists": {"queryType": "groupBy", "dimensions": ["list", "none"], "aggregations": AGGREGATIONS},
    "groupBy of numbers": {
        "queryType": "groupBy", "aggregations": AGGREGATIONS,
        "dimensions": [
            {"type": "default", "dimension": "null_long", "outputType": "LONG"},
            {"type": "default", "dimension": "f", "outputType": "FLOAT"},
        ],
    },
    "scan": {
        "queryType": "scan", "columns": ["__time", *TYPES], "resultFormat": "compactedList", "order": "none",
    },
    "search": {  # at most 1,000 results, otherwise the segments decide which
        "queryType": "search", "searchDimensions": ["many", "odd", "list"],
        "query": {"type": "fragment", "values": ["a", "99"]},
    },
    "search, list": {
        "queryType": "search", "searchDimensions": ["odd", "list", "few"],
        "query": {"type": "insensitive_contains", "value": "A"},
    },
    "timeBoundary": {"queryType": "timeBoundary"},
}  # fmt: skip


@pytest.mark.parametrize("where", FILTERS)
@pytest.mark.parametrize("query", QUERIES)
def test_native_queries(made: tuple[DruidCluster, str, str], query: str, where: str) -> None:
    druid, theirs, ours = made
    full = {**BASE, **QUERIES[query]}
    if FILTERS[where] is not None:
        full["filter"] = FILTERS[where]
    expected, found = (_sorted(answer(druid, {**full, "dataSource": name})) for name in (theirs, ours))
    assert found == expected


def _sorted(result: Any) -> Any:
    """Without the names of segments, with the rows of a scan by id, and the results of a search in one order: Druid
    sorts them within each segment only."""
    if result and "events" in result[0]:
        return sorted((event for block in result for event in block["events"]), key=lambda event: event[1])
    if result and isinstance(result[0].get("result"), list):
        return [
            {**each, "result": sorted(each["result"], key=lambda value: json.dumps(value, sort_keys=True))}
            for each in result
        ]
    return result


def test_metadata(made: tuple[DruidCluster, str, str]) -> None:
    druid, theirs, ours = made
    query = {**BASE, "queryType": "segmentMetadata", "merge": True, "lenientAggregatorMerge": True}
    expected, found = (answer(druid, {**query, "dataSource": name})[0] for name in (theirs, ours))
    assert list(found["columns"]) == list(expected["columns"])
    for name, column in expected["columns"].items():
        ignored = {"size", "cardinality", "errorMessage"}
        assert {key: value for key, value in found["columns"][name].items() if key not in ignored} == {
            key: value for key, value in column.items() if key not in ignored
        }, name


def test_sizes_and_rows(made: tuple[DruidCluster, str, str]) -> None:
    """As many bytes as Druid's own files, and the same rows in the same order."""
    druid, theirs, ours = made
    sizes = [
        sum(path.stat().st_size for folder in stored(druid, name) for path in folder.iterdir())
        for name in (theirs, ours)
    ]
    assert sizes[1] <= 1.3 * sizes[0], "two segments instead of one: each has its own dictionaries"
    with open_segment(stored(druid, theirs)[0]) as segment:
        names = [name for name in ("__time", *TYPES) if name != "none"]
        expected = pa.Table.from_batches(list(segment.read(names))).to_pylist()
    found = []
    for folder in sorted(stored(druid, ours)):
        with open_segment(folder) as segment:
            found += pa.Table.from_batches(list(segment.read(names))).to_pylist()
    assert found == expected


def test_rollup(cluster: Cluster, tmp_path: Path) -> None:
    """The same rows, rolled up by Druid and by hivedruid."""
    columns = {"few": "string", "some": "string", "null_long": "long"}
    metrics: list[dict[str, Any]] = [
        {"type": "longSum", "name": "ids", "fieldName": "ids"}, {"type": "doubleMax", "name": "d", "fieldName": "d"},
        {"type": "floatMin", "name": "f", "fieldName": "f"},
    ]  # fmt: skip
    given_rows = [
        {"__time": NEW_YEAR + row["id"] % 3, "ids": row["id"], **{k: row.get(k) for k in (*columns, "d", "f")}}
        for row in rows(2000)
    ]
    theirs, ours = (f"{name}_{uuid4().hex[:8]}" for name in ("theirs", "ours"))
    types = {"ids": ("LONG", "long"), "d": ("DOUBLE", "double"), "f": ("FLOAT", "float")}
    spec = SegmentSpec(
        SPAN, dimensions(columns), tuple(Metric(each["name"], types[each["name"]][0], each) for each in metrics), True
    )
    table = arrow({**columns, **{name: type_ for name, (_, type_) in types.items()}}, given_rows)
    with closing(cluster.druid()) as druid:
        ingest(druid, task(theirs, stage(tmp_path / "rows", given_rows), columns=columns, rollup=True, metrics=metrics))
        publish(druid, ours, SPAN, lambda place: [write_segment(table, spec, place / "0")])
        scan = {
            **BASE, "queryType": "scan", "columns": ["__time", *columns, *types], "resultFormat": "compactedList",
        }  # fmt: skip
        expected, found = (
            [event for block in answer(druid, {**scan, "dataSource": name}) for event in block["events"]]
            for name in (theirs, ours)
        )
        assert len(expected) < 2000
        assert found == expected
        for name in (theirs, ours):
            druid.drop(name)
