"""Rows that are written to a cluster as segments built by Spark: the same tables as Druid's own task makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.publish import answer
from tests.support.writers import SEGMENTS, WAYS, Writer, is_built

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def writer(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writer]:
    made = Writer(tmp_path_factory.mktemp("writer") / "home", cluster)
    yield made
    made.end()


def test_create_table_as(writer: Writer) -> None:
    rows = writer.run(
        f"{SEGMENTS}; CREATE EXTERNAL TABLE c_{{t}} STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS "
        "SELECT * FROM VALUES (TIMESTAMP '2024-01-01 00:00:00', 'a', 1), (TIMESTAMP '2024-01-02 00:00:00', '', 2), "
        "(TIMESTAMP '2024-01-02 00:00:00', NULL, 3) AS v(`__time`, s, n); SELECT s, n FROM c_{t} ORDER BY n"
    )
    assert rows == [("a", 1), ("", 2), (None, 3)]
    assert [is_built(segment) for segment in writer.segments("c")] == [True, True]
    assert writer.run("SHOW JOBS")[0][3] == "cleaned"


# --- the types: one table of each kind, written both ways --------------------------------------------------------

COLUMNS = {
    "s": ("STRING", ["'a'", "''", "NULL", "'é😀\\uffff'", "'a'"]),
    "c": ("CHAR(3)", ["'a'", "''", "NULL", "'abc'", "'b'"]),
    "v": ("VARCHAR(3)", ["'a '", "''", "NULL", "'abc'", "'b'"]),
    "flag": ("BOOLEAN", ["true", "false", "NULL", "true", "true"]),
    "tiny": ("TINYINT", ["1", "-128", "NULL", "127", "1"]),
    "small": ("SMALLINT", ["1", "-32768", "NULL", "32767", "1"]),
    "i": ("INT", ["1", "-2147483648", "NULL", "2147483647", "1"]),
    "big": ("BIGINT", ["9007199254740993", "CAST(-9223372036854775807 AS BIGINT)", "NULL", "0", "1"]),
    "f": ("FLOAT", ["0.1", "CAST('NaN' AS DOUBLE)", "NULL", "CAST('-Infinity' AS DOUBLE)", "16777217"]),
    "d": ("DOUBLE", ["0.1", "CAST('NaN' AS DOUBLE)", "NULL", "CAST('Infinity' AS DOUBLE)", "1e22"]),
    "zero": ("DOUBLE", ["CAST('-0.0' AS DOUBLE)", "CAST('0.0' AS DOUBLE)", "NULL", "1e-320", "2"]),
    "price": ("DECIMAL(20,4)", ["1.5", "-12345678901234.5678", "NULL", "0", "2"]),
    "exact": ("DECIMAL(20,4)", ["1.5", "-12345678901234.5678", "NULL", "0", "2"]),
    "day": ("DATE", ["DATE '2024-02-29'", "DATE '1969-12-31'", "NULL", "DATE '9999-12-31'", "DATE '2024-02-29'"]),
    "bytes": ("BINARY", ["CAST('a' AS BINARY)", "unhex('00FF')", "NULL", "CAST('' AS BINARY)", "CAST('b' AS BINARY)"]),
    "list": (
        "ARRAY<STRING>",
        ["array('b', 'a', 'b')", "array()", "NULL", "array('x')", "array(CAST(NULL AS STRING), '')"],
    ),
    "sorted": ("ARRAY<STRING>", ["array('b', 'a', 'b')", "array()", "NULL", "array('x')", "array('b', 'a')"]),
    "uniques": ("ARRAY<STRING>", ["array('b', 'a', 'b')", "array()", "NULL", "array('x')", "array('b', 'a')"]),
    "nothing": ("STRING", ["NULL"] * 5),
    "no_number": ("BIGINT", ["NULL"] * 5),
}
TIMES = [
    "2024-01-01 10:11:12.345", "2024-01-01 10:11:59.999", "2024-01-31 00:00:00", "1969-12-31 23:59:59.999",
    "2024-01-01 10:11:12.345",
]  # fmt: skip
AS = "price:double, exact:string, day:string, bytes:string"
KINDS = {
    "plain": {"druid.rollup": "false", "druid.segment.granularity": "DAY"},
    "truncated": {
        "druid.rollup": "false", "druid.segment.granularity": "MONTH", "druid.query.granularity": "DAY",
    },
    "rolled": {
        "druid.rollup": "true", "druid.segment.granularity": "YEAR", "druid.query.granularity": "MINUTE",
        "druid.columns.aggregators": "tiny:max, small:min, d:min, zero:max",
        "druid.columns.dimensions": "i",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def pairs(writer: Writer) -> Writer:
    """The tables <kind>_<way>_<token>, of each kind and way, with the same rows."""
    columns = ", ".join(f"{name} {type_}" for name, (type_, _) in COLUMNS.items())
    selects = []
    for number, time in enumerate(TIMES):
        cells = ", ".join(f"CAST({cells[number]} AS {type_})" for type_, cells in COLUMNS.values())
        selects.append(f"SELECT TIMESTAMP '{time}', {cells}")
    for kind, given in KINDS.items():
        properties = {
            **given,
            "druid.columns.as": AS,
            "druid.columns.multivalue": "uniques:SORTED_SET, sorted:SORTED_ARRAY",
        }
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        for way, setting in WAYS.items():
            table = f"{kind}_{way}_{{t}}"
            writer.run(
                f"CREATE EXTERNAL TABLE {table} (`__time` TIMESTAMP, {columns}) STORED BY 'druid' TBLPROPERTIES ({listed})"
            )
            writer.run(f"{setting}; INSERT INTO {table} {' UNION ALL '.join(selects)}")
        assert all(map(is_built, writer.segments(f"{kind}_segments")))
        assert not any(map(is_built, writer.segments(f"{kind}_native")))
    return writer


@pytest.mark.parametrize("name", ["__time", *COLUMNS])
@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_store_the_same(pairs: Writer, kind: str, name: str) -> None:
    """Scanned, grouped, and described by Druid."""
    scan = {
        "queryType": "scan", "columns": ["__time", *({"s", name} - {"__time"})], "resultFormat": "compactedList",
        "intervals": ["1900/10000"],
    }  # fmt: skip
    group = {
        "queryType": "groupBy", "dimensions": [{"type": "default", "dimension": name, "outputName": "value"}], "granularity": "all", "intervals": ["1900/10000"],
        "aggregations": [{"type": "count", "name": "rows"}],
    }  # fmt: skip
    metadata = {
        "queryType": "segmentMetadata",
        "merge": True,
        "lenientAggregatorMerge": True,
        "intervals": ["1900/10000"],
    }
    found = {}
    for way in WAYS:
        source = pairs.source(f"{kind}_{way}")
        rows = [event for block in answer(pairs.druid, {**scan, "dataSource": source}) for event in block["events"]]
        groups = answer(pairs.druid, {**group, "dataSource": source})
        (described,) = answer(pairs.druid, {**metadata, "dataSource": source})
        column = (
            {key: described["columns"][name][key] for key in ("typeSignature", "hasMultipleValues", "hasNulls")}
            if name in described["columns"]
            else None
        )
        found[way] = [sorted(map(json.dumps, rows)), sorted(map(json.dumps, groups)), column]
    assert found["segments"] == found["native"]


def test_ranges_of_values(writer: Writer) -> None:
    """Druid omits the segments whose ranges a condition excludes, and finds the rows of all others."""
    values = ["'b'", "NULL", "'😀'", "'a'", "'b'", "'b'", "'b'", "'\\uffff'", "NULL", "'c'", "''"]
    rows = " UNION ALL ".join(
        f"SELECT CAST('2024-01-01 00:00:{n:02}' AS TIMESTAMP), {value}, {n}" for n, value in enumerate(values)
    )
    conditions = ["s = 'b'", "s IS NULL", "s < 'b'", "s >= 'c'", "s IN ('a', '😀')", "s = 'x'", "s <> 'b'", "s = ''"]
    found: dict[str, list[int]] = {}
    for way, setting in WAYS.items():
        writer.run(
            f"{setting}; CREATE EXTERNAL TABLE ranges_{way}_{{t}} (`__time` TIMESTAMP, s STRING, n BIGINT) STORED BY"
            " 'druid' TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.ranges' = 's',"
            f" 'druid.segment.targetRowsPerSegment' = '3'); INSERT OVERWRITE TABLE ranges_{way}_{{t}} {rows}"
        )
        segments = writer.segments(f"ranges_{way}")
        assert len(segments) > 2
        assert {segment["shardSpec"]["type"] for segment in segments} == {"single" if way == "native" else "range"}
        assert all(is_built(segment) == (way == "segments") for segment in segments)
        counts = (f"SELECT count(*) FROM ranges_{way}_{{t}} WHERE {condition}" for condition in conditions)
        found[way] = [writer.run(count)[0][0] for count in counts]
    assert found["segments"] == found["native"] == [4, 2, 2, 3, 2, 0, 5, 1]


@pytest.mark.sketches
def test_sketches_are_read_from_files_as_by_queries(writer: Writer) -> None:
    columns = "`__time` TIMESTAMP, k STRING, t STRING, h STRING, u STRING, q DOUBLE"
    kinds = "t:thetaSketch, h:HLLSketchBuild, u:hyperUnique, q:quantilesDoublesSketch"
    rows = " UNION ALL ".join(
        f"SELECT CAST('2024-01-01 00:00:{n % 3:02}' AS TIMESTAMP), 'k{n % 2}', 'v{n}', 'v{n}', 'w{n}', {n}D"
        for n in range(12)
    )
    writer.run(
        f"{WAYS['native']}; CREATE EXTERNAL TABLE made_{{t}} ({columns}) STORED BY 'druid' TBLPROPERTIES"
        f" ('druid.rollup' = 'true', 'druid.columns.aggregators' = '{kinds}'); INSERT INTO made_{{t}} {rows};"
        f" CREATE EXTERNAL TABLE seen_{{t}} STORED BY 'druid' TBLPROPERTIES ('druid.datasource' ="
        f" '{writer.source('made')}')"
    )
    found = {}
    for way in ("query", "segments"):
        copy = f"CREATE TABLE by_{way}_{{t}} STORED AS ORC AS SELECT * FROM seen_{{t}}"
        writer.run(f"SET hivedruid.druid.read={way}")
        plan = "\n".join(row[0] for row in writer.run(f"EXPLAIN {copy}"))
        assert ("druid.segments: read from 1 file" in plan) == (way == "segments")
        writer.run(copy)
        found[way] = sorted(writer.run(f"SELECT * FROM by_{way}_{{t}}"))
    writer.run("RESET hivedruid.druid.read")
    assert len(found["query"]) == 6
    assert found["segments"] == found["query"]
    assert not any(value is None for row in found["query"] for value in row)
