"""Unions of sketches in Druid."""

from __future__ import annotations

from textwrap import dedent

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BINARY, STRING, TIMESTAMP
from hivedruid.druid.limits import DruidLimits
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.show import tree
from hivedruid.plan.split import QueryPlan, spark_job
from tests.support.planning import plan

VISITS = Table(
    "default", "visits", "druid",
    (Column("__time", TIMESTAMP), Column("k", STRING), *(Column(name, BINARY) for name in ("users", "seen", "ms"))),
    properties={"druid.columns.aggregators": "users:thetaSketch, seen:HLLSketchBuild, ms:quantilesDoublesSketch"},
)  # fmt: skip


def planned(sql: str, *, unions: bool = True) -> QueryPlan:
    return plan(sql, tables=(VISITS,), limits=DruidLimits(unions=unions))


def natives(sql: str) -> list[dict[str, object]]:
    (item,) = spark_job(planned(sql)).inputs
    return list(item.read.query["aggregations"])  # type: ignore[union-attr]


def test_a_union_is_that_of_druid_in_the_bytes_of_this_process() -> None:
    made = planned("SELECT k, ds_theta_union(users) FROM visits GROUP BY k")
    assert "aggregate_sketch_union" in made.fired
    text = """
    Project(k_1_1=[k_1_1], $f1=[case((sketches > 0), ds_theta_union_f(unbase64(union), NULL))])
      DruidQuery(table=[default.visits], groups=[k], aggs=[theta_union(users), count(users)], projects=[k_1_1, union, sketches])
    """
    assert "\n".join(tree(made.node)) == dedent(text).strip()


def test_druid_returns_sketches_of_hives_sizes() -> None:
    theta, rows, hll, _ = natives("SELECT ds_theta_union(users), ds_hll_union(seen, 10), count(*) FROM visits")[:4]
    assert theta == {
        "type": "thetaSketch", "size": 4096, "name": "$f0", "fieldName": "users", "shouldFinalize": False,
    }  # fmt: skip
    assert rows["type"] == "filtered"
    assert hll == {
        "type": "HLLSketchMerge", "lgK": 10, "tgtHllType": "HLL_4", "name": "$f2", "fieldName": "seen",
        "shouldFinalize": False,
    }  # fmt: skip
    (estimate, _) = natives("SELECT approx_count_distinct(users) FROM visits")
    assert estimate["size"] == 16384
    (rounded, _) = natives("SELECT ds_theta_union(users, 1000) FROM visits")
    assert rounded["size"] == 1024


@pytest.mark.parametrize(
    "call",
    [
        "ds_quantile_doubles_union(ms)",  # random above 256 values
        "ds_theta_intersect(users)",
        "ds_theta_union(ds_theta_union_f(users, NULL))",
        "ds_theta_union(unbase64(k))",
    ],
)
def test_other_sketches_are_merged_outside_druid(call: str) -> None:
    made = planned(f"SELECT {call} FROM visits")
    assert "aggregate_sketch_union" not in made.fired


def test_an_engine_without_unions_returns_the_sketches() -> None:
    made = planned("SELECT ds_theta_union(users) FROM visits", unions=False)
    assert "aggregate_sketch_union" not in made.fired
    (item,) = spark_job(made).inputs
    assert item.read.query["queryType"] == "scan"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("sql", "is_decoded"),
    [
        ("SELECT users, k FROM visits", True),
        ("SELECT users, users AS again, length(seen), base64(ms) FROM visits", True),
        ("SELECT a.users, b.ms FROM visits a JOIN visits b ON upper(a.k) = b.k AND b.k > 'x'", True),
        ("SELECT k, (SELECT max(length(users)) FROM visits) FROM visits", True),
        ("SELECT users, (SELECT max(length(users)) FROM visits WHERE k > 'x') FROM visits", True),
        ("SELECT a.users, b.ms FROM visits a JOIN visits b ON upper(a.k) = b.k", False),  # one query, which both read
    ],
)
def test_spark_reads_sketches_as_bytes(sql: str, is_decoded: bool) -> None:
    job = spark_job(planned(sql))
    names = {name for item in job.inputs if isinstance(item, DruidInput) for name in item.binaries.values()}
    assert ("default.visits.users" in names) == is_decoded
    assert ("try_to_binary" in job.sql) != is_decoded
