"""Sketch columns that are written to a cluster: by Druid's tasks, by Spark, from values and from sketches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.publish import answer
from tests.support.writers import WAYS, Writer, is_built

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = [pytest.mark.spark, pytest.mark.sketches]

COLUMNS = "`__time` TIMESTAMP, k STRING, t BINARY, h BINARY, q BINARY"
KINDS = "t:thetaSketch, h:HLLSketchBuild, q:quantilesDoublesSketch"
VALUES = 240


@pytest.fixture(scope="module")
def writer(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writer]:
    """The tables made_native and made_segments with the same rows, of which rollup makes one per key and day."""
    made = Writer(tmp_path_factory.mktemp("writer") / "home", cluster)
    made.run(
        "CREATE TABLE visits AS SELECT CAST('2024-01-01' AS TIMESTAMP) AS at, IF(pos % 2 = 0, 'a', 'b') AS k,"
        " concat('vé', pos % 200) AS u, pos % 150 AS n, CAST(pos AS DOUBLE) AS d"
        f" FROM (SELECT posexplode(split(space({VALUES - 1}), ' ')) AS (pos, x)) AS p"
    )
    for way, setting in WAYS.items():
        made.run(
            f"CREATE TABLE made_{way}_{{t}} ({COLUMNS}) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'true',"
            f" 'druid.columns.aggregators' = '{KINDS}')"
        )
        made.run(f"{setting}; INSERT INTO made_{way}_{{t}} SELECT at, k, u, n, d FROM visits")
    yield made
    made.end()


def estimates(writer: Writer, table: str) -> list[tuple[Any, ...]]:
    """The rows of a table, with Druid's estimates of their sketches: key, distinct values, number of values."""
    query = {
        "queryType": "groupBy", "dataSource": writer.source(table), "intervals": ["1900/3000"], "granularity": "all",
        "dimensions": ["k"],
        "aggregations": [
            {"type": "thetaSketch", "name": "t", "fieldName": "t"},
            {"type": "HLLSketchMerge", "name": "h", "fieldName": "h"},
            {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "q"},
            {"type": "count", "name": "rows"},
        ],
        "postAggregations": [
            {"type": "quantilesDoublesSketchToQuantiles", "name": "bounds", "fractions": [0, 1],
             "field": {"type": "fieldAccess", "fieldName": "q"}},
        ],
    }  # fmt: skip
    rows = (row["event"] for row in answer(writer.druid, query))
    return sorted((r["k"], r["rows"], round(r["t"], 3), round(r["h"]), r["q"], r["bounds"]) for r in rows)


EXPECTED = [("a", 1, 100.0, 75, 120, [0.0, 238.0]), ("b", 1, 100.0, 75, 120, [1.0, 239.0])]


@pytest.mark.parametrize("way", WAYS)
def test_values_are_added_to_sketches(writer: Writer, way: str) -> None:
    assert all(is_built(segment) == (way == "segments") for segment in writer.segments(f"made_{way}"))
    assert estimates(writer, f"made_{way}") == EXPECTED


def test_sketches_are_merged(writer: Writer) -> None:
    """Those of both keys, once into each kind of segment, and once more into a table that has them already."""
    merged = ("all", 1, 200.0, 150, 240, [0.0, 239.0])
    for way, setting in WAYS.items():
        writer.run(
            f"{setting}; CREATE TABLE merged_{way}_{{t}} STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'true')"
            " AS SELECT `__time`, 'all' AS k, t, h, q FROM made_native_{t}"
        )
        assert [is_built(segment) for segment in writer.segments(f"merged_{way}")] == [way == "segments"]
        assert estimates(writer, f"merged_{way}") == [merged]
    writer.run(
        "CREATE TABLE kept AS SELECT `__time` AS at, t, h, q FROM made_segments_{t};"  # sketches in ORC files
        " INSERT OVERWRITE TABLE merged_native_{t} SELECT at, 'all', t, h, q FROM kept"
    )
    assert estimates(writer, "merged_native") == [merged]


@pytest.mark.parametrize("way", WAYS)
def test_compaction_merges_sketches(writer: Writer, way: str) -> None:
    """Rows that Spark has built are merged with those of Druid's tasks; a second copy adds no distinct values."""
    table = f"made_{way}"
    writer.run(f"{WAYS[way]}; INSERT INTO {table}_{{t}} SELECT at, k, u, n, d FROM visits")
    doubled = [(k, 2, t, h, 2 * q, bounds) for k, _, t, h, q, bounds in EXPECTED]
    assert estimates(writer, table) == doubled
    writer.run(f"ALTER TABLE {table}_{{t}} COMPACT 'major' AND WAIT")
    assert estimates(writer, table) == [(k, 1, *rest) for k, _, *rest in doubled]


def test_sketches_are_archived_and_brought_back(writer: Writer) -> None:
    writer.run(
        f"{WAYS['native']}; CREATE TABLE tiered_{{t}} ({COLUMNS}) STORED AS TIERED TBLPROPERTIES ('druid.rollup' ="
        f" 'true', 'druid.columns.aggregators' = '{KINDS}'); INSERT INTO tiered_{{t}} SELECT at, k, u, n, d FROM visits"
    )
    assert estimates(writer, "tiered") == EXPECTED
    before = writer.run("SELECT k, t, h, q FROM tiered_{t} ORDER BY k")
    writer.run("ARCHIVE TABLE tiered_{t} UP TO '2024-01-02'")
    assert estimates(writer, "tiered") == []
    assert writer.run("SELECT k, t, h, q FROM tiered_{t} ORDER BY k") == before
    writer.run("INSERT INTO tiered_{t} SELECT at, 'c', u, n, d FROM visits")  # stays in Druid, which builds them
    assert [row[0] for row in writer.run("SELECT k, t FROM tiered_{t} ORDER BY k")] == ["a", "b", "c"]
    writer.run("UNARCHIVE TABLE tiered_{t}")
    assert estimates(writer, "tiered") == [*EXPECTED, ("c", 1, 200.0, 150, 240, [0.0, 239.0])]


GROUPS = 200


def test_unions_of_druid_are_those_of_this_process_and_of_spark(writer: Writer) -> None:
    """Unions of sketches of 0 to some thousand values in 200 groups, with NULL in place of some sketches, and of all
    of one group. `coalesce` hides a column from Druid."""
    writer.run(
        "CREATE TABLE numbers AS SELECT pos AS n, pos * 7919 % 100003 / 100003 AS share"
        " FROM (SELECT posexplode(split(space(39999), ' ')) AS (pos, x)) AS p"
    )
    writer.run(
        f"{WAYS['segments']}; CREATE TABLE unions_{{t}} STORED BY 'druid' AS"
        " SELECT CAST('2024-01-01' AS TIMESTAMP) AS `__time`, concat('g', g) AS g, concat('p', p) AS p,"
        f" IF((g + p) % 7 = 0 OR g = {GROUPS - 1}, NULL, ds_theta_sketch(n)) AS t,"
        f" IF((g + p) % 7 = 0 OR g = {GROUPS - 1}, NULL, ds_hll_sketch(CAST(n AS STRING))) AS h"
        f" FROM (SELECT n, CAST(floor({GROUPS} * share * share * share) AS INT) AS g, n % 5 AS p FROM numbers) AS x"
        " GROUP BY g, p"
    )
    calls = "ds_theta_union({t}), ds_theta_union({t}, 1024), ds_hll_union({h}), ds_hll_union({h}, 10)"
    parts = (
        "g < 'g15'",
        "g >= 'g15' AND g < 'g3'",
        "g >= 'g3'",
    )  # all groups at once need a larger merge buffer of Druid
    queries = [
        *(f"SELECT g, {calls} FROM unions_{{t}} WHERE {part} GROUP BY g ORDER BY g" for part in parts),
        f"SELECT p, {calls}, count(*) FROM unions_{{t}} GROUP BY p WITH ROLLUP ORDER BY p",
        f"SELECT {calls} FROM unions_{{t}} WHERE g = 'none'",
        "SELECT g, approx_count_distinct({t}), ds_hll_estimate(ds_hll_union({h}) FILTER (WHERE p = 'p1')) FROM unions_{t}"
        f" WHERE {parts[1]} GROUP BY g ORDER BY g",
    ]  # fmt: skip
    for text in queries:
        query = text.replace("unions_{t}", f"unions_{writer.token}")
        pushed = query.replace("{t}", "t").replace("{h}", "h")
        read = query.replace("{t}", "coalesce(t, t)").replace("{h}", "coalesce(h, h)")
        assert '"thetaSketch"' in str(writer.run(f"EXPLAIN {pushed}"))
        assert '"thetaSketch"' not in str(writer.run(f"EXPLAIN {read}"))
        expected = writer.run(read)
        assert writer.run(pushed) == expected
        on_spark = f"SET hivedruid.local.evaluation.max.rows=0; {read}"
        assert [tuple(map(plain, row)) for row in writer.run(on_spark)] == expected
        writer.run("RESET hivedruid.local.evaluation.max.rows")
    assert not [note for note in writer.notes if "rejected" in note]


def plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value
