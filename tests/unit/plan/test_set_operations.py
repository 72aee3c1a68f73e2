"""UNION, INTERSECT and EXCEPT: those that become one native query, and the parts of others that are pushed down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid.plan.nodes import SetOp
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.reasons import left_outside
from hivedruid.plan.split import druid_read, spark_job
from tests.support.planning import TABLES, events, native, plan, residual

OTHER = replace(events(name="other"), properties={"druid.datasource": "elsewhere"})
WITH_OTHER = (*TABLES, OTHER)


def fired(sql: str) -> tuple[str, ...]:
    return plan(sql, tables=WITH_OTHER).fired


def both(sql: str) -> dict[str, Any]:
    return native(sql, tables=WITH_OTHER)


def test_union_of_two_filters_of_a_table_groups_by_the_rows_of_either() -> None:
    query = native("SELECT country FROM ev WHERE clicks > 3 UNION SELECT country FROM ev WHERE city = 'a'")
    assert query["queryType"] == "groupBy"
    assert query["filter"]["type"] == "or"
    assert "aggregations" not in query


def test_more_than_two_branches_are_one_query() -> None:
    query = native(" UNION ".join(f"SELECT country FROM ev WHERE clicks = {i}" for i in range(5)))
    assert query["queryType"] == "groupBy"
    assert isinstance(query["dataSource"], str)


def test_a_distinct_branch_is_as_good_as_its_rows() -> None:
    made = plan("SELECT country FROM ev UNION SELECT DISTINCT country FROM ev WHERE clicks > 3")
    assert druid_read(made) is not None
    assert "set_op_distinct" in made.fired


def test_what_all_filters_share_stands_once_and_time_becomes_intervals() -> None:
    query = native(
        "SELECT country FROM ev WHERE is_mobile AND `__time` < '2020-01-01' AND clicks > 3"
        " UNION SELECT country FROM ev WHERE is_mobile AND `__time` >= '2021-01-01' AND city = 'a'"
    )
    assert len(query["intervals"]) == 2
    assert [f["type"] for f in query["filter"]["fields"]] == ["equals", "or"]


def test_intersect_and_except_count_by_branch() -> None:
    query = native(
        "SELECT country, city FROM ev WHERE clicks > 3 INTERSECT SELECT country, city FROM ev WHERE imps > 5"
    )
    assert [d["dimension"] for d in query["dimensions"]] == ["country", "city"]
    assert [f["lower"] for f in query["having"]["filter"]["fields"]] == [0, 0]
    query = native("SELECT country FROM ev WHERE clicks > 3 EXCEPT SELECT country FROM ev WHERE imps > 5")
    assert query["having"]["filter"]["fields"][1] == {
        "type": "equals", "column": "$f2", "matchValueType": "LONG", "matchValue": 0,
    }  # fmt: skip


def test_except_of_several_is_one_query() -> None:
    chain = "SELECT city FROM ev EXCEPT SELECT city FROM ev WHERE imps > 5 EXCEPT SELECT city FROM ev WHERE imps < 1"
    nested = f"SELECT city FROM ({chain.rpartition(' EXCEPT ')[0]}) t EXCEPT SELECT city FROM ev WHERE imps < 1"
    for text in (chain, nested):
        made = plan(text)
        assert druid_read(made) is not None
        assert "intersect_one_table" in made.fired
        assert ("set_op_merge" in made.fired) is (text is nested)


@pytest.mark.parametrize(
    ("text", "branches"),
    [
        ("{0} UNION ALL {0} UNION ALL {0}", 3),
        ("{0} UNION ALL ({0} UNION ALL {0})", 3),
        ("{0} UNION ALL {0} UNION {0}", 3),
        ("{0} UNION {0} UNION ALL {0}", 2),
        ("{0} INTERSECT {0} INTERSECT {0}", 3),
        ("{0} INTERSECT ALL {0} INTERSECT ALL {0}", 2),
        ("{0} EXCEPT {0} EXCEPT {0}", 3),
        ("{0} EXCEPT ({0} EXCEPT {0})", 2),
        ("{0} EXCEPT ALL {0} EXCEPT {0}", 2),
    ],
)
def test_a_chain_of_set_operations_is_built_as_one_node(text: str, branches: int) -> None:
    made = plan(text.format("SELECT city FROM ev"), rules=()).node
    assert isinstance(made, SetOp)
    assert len(made.branches) == branches


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("clicks < 3", "clicks >= 3"),
        ("clicks IN (1, 2)", "clicks IN (3, 4)"),
        ("city = 'a'", "city = 'b'"),
        ("city IS NULL", "city LIKE 'a%'"),
        ("`__time` < '2020-01-01'", "`__time` >= '2020-01-01' AND `__time` < '2021-01-01'"),
        ("is_mobile", "NOT is_mobile"),
        ("clicks > 5 AND city = 'a'", "imps > 5 AND city IN ('b', 'c')"),
        ("clicks >= 10 AND clicks < 20", "clicks BETWEEN 20 AND 29 AND city = 'a'"),
        ("clicks > 3 AND clicks > 5", "clicks = 5"),
        ("clicks IN (1, 30)", "clicks > 1 AND clicks < 30"),
        ("clicks IN (1, 30) AND clicks < 9", "clicks > 9"),
        ("clicks < 3", "clicks > 4 AND clicks < 2"),
        ("clicks < 3 AND imps = 1", "clicks > 5 AND imps = 1"),
    ],
)
def test_union_all_of_disjoint_filters_is_one_scan(p: str, q: str) -> None:
    query = native(f"SELECT country FROM ev WHERE {p} UNION ALL SELECT country FROM ev WHERE {q}")
    assert query["queryType"] == "scan"


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("clicks < 3", "clicks >= 2"),
        ("clicks < 3", "imps >= 3"),
        ("city = 'a'", "city = 'a'"),
        ("clicks IN (1, 2)", "clicks IN (2, 3)"),
        ("clicks >= 10 AND clicks <= 20", "clicks >= 20 AND clicks < 30"),
        ("clicks IN (1, 30)", "clicks >= 1 AND clicks < 30"),
        ("`__time` < '2020-01-02'", "CAST(`__time` AS DATE) >= '2020-01-01'"),
        ("city < 'm'", "city > 'm'"),  # engines order strings differently
    ],
)
def test_rows_that_both_filters_may_let_through_are_read_twice(p: str, q: str) -> None:
    job = residual(f"SELECT country FROM ev WHERE {p} UNION ALL SELECT country FROM ev WHERE {q}")
    assert "UNION ALL" in job.sql
    assert job.sql.count("FROM `druid_") == 2


def test_aggregates_count_a_row_for_each_branch_that_has_it() -> None:
    sql = "SELECT count(*), sum(clicks), max(imps) FROM (SELECT clicks, imps FROM ev WHERE imps > 3 UNION ALL SELECT clicks, imps FROM ev WHERE city = 'a') x"
    query = native(sql)
    assert [a["aggregator"]["type"] for a in query["aggregations"] if a["type"] == "filtered"] == [
        "count", "count", "longSum", "longSum",
    ]  # fmt: skip
    assert [a["type"] for a in query["aggregations"]][-1] == "longMax"


def test_aggregates_over_disjoint_branches_are_taken_at_once() -> None:
    query = native(
        "SELECT count(*), avg(clicks) FROM (SELECT clicks FROM ev WHERE imps > 3 UNION ALL SELECT clicks FROM ev WHERE imps < 2) x"
    )
    assert query["queryType"] == "timeseries"
    assert query["aggregations"][0] == {"type": "count", "name": "$f0"}


def test_tables_with_the_same_columns_are_a_union_data_source() -> None:
    query = both(
        "SELECT country, clicks FROM ev WHERE imps > 3 UNION ALL SELECT country, clicks FROM other WHERE imps > 3"
    )
    assert query["dataSource"] == {"type": "union", "dataSources": ["events", "elsewhere"]}
    assert query["filter"]["column"] == "imps"
    counted = both(
        "SELECT country, count(*) FROM (SELECT country FROM ev UNION ALL SELECT country FROM other) x GROUP BY country"
    )
    assert counted["queryType"] == "groupBy"
    assert counted["dataSource"]["type"] == "union"
    assert both("SELECT country FROM ev UNION SELECT country FROM other")["queryType"] == "groupBy"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT country FROM ev WHERE imps > 3 UNION ALL SELECT country FROM other WHERE imps > 4",
        "SELECT country FROM ev UNION ALL SELECT city FROM other",
        "SELECT `__time` FROM ev UNION ALL SELECT `__time` FROM tagged",
        "SELECT country FROM ev UNION ALL SELECT country FROM dim",
        "(SELECT country FROM ev LIMIT 3) UNION ALL SELECT country FROM other",
    ],
)
def test_other_tables_are_not_one_data_source(sql: str) -> None:
    assert druid_read(plan(sql, tables=WITH_OTHER)) is None
    assert "druid_union" not in fired(sql)


def test_aggregates_of_other_branches_are_taken_in_each_of_them_first() -> None:
    made = plan(
        "SELECT country, count(*), avg(c) FROM (SELECT country, clicks c FROM ev UNION ALL SELECT region, pop FROM dim) x GROUP BY country"
    )
    assert "aggregate_union_transpose" in made.fired
    job = spark_job(made)
    source = job.inputs[0]
    assert isinstance(source, DruidInput)
    assert source.read.query["queryType"] == "groupBy"
    assert job.sql.count("GROUP BY") == 2


OF_SETS = ["count(DISTINCT c)", "sum(DISTINCT c)", "approx_count_distinct(c)", "collect_set(c)", "count(DISTINCT c, k)"]


@pytest.mark.parametrize("call", OF_SETS)
@pytest.mark.parametrize("more", ["", ", count(*), avg(c)", ", bit_xor(c)"])
def test_aggregates_of_sets_are_taken_of_the_different_values_of_a_branch(call: str, more: str) -> None:
    union = "SELECT country k, clicks c FROM ev UNION ALL SELECT region, pop FROM dim"
    for sql in (f"SELECT {call}{more} FROM ({union}) x", f"SELECT k, {call}{more} FROM ({union}) x GROUP BY k"):
        made = plan(sql)
        assert "aggregate_union_transpose" in made.fired
        job = spark_job(made)
        assert isinstance(job.inputs[0], DruidInput)
        query = job.inputs[0].read.query
        assert query["queryType"] == "groupBy"
        assert not query.keys() & {"limitSpec", "having"}
        assert "clicks" in {each["dimension"] for each in query["dimensions"]}


def test_a_limit_above_the_parts_stays_above_them() -> None:
    union = "SELECT country k, clicks c FROM ev UNION ALL SELECT region, pop FROM dim"
    for call in ("sum(c)", "count(DISTINCT c)"):
        made = plan(f"SELECT k, {call} s FROM ({union}) x GROUP BY k HAVING {call} > 3 ORDER BY s DESC LIMIT 2")
        job = spark_job(made)
        assert isinstance(job.inputs[0], DruidInput)
        assert job.inputs[0].read.query["queryType"] == "groupBy"
        assert not job.inputs[0].read.query.keys() & {"limitSpec", "having"}
        assert "LIMIT 2" in job.sql


def test_times_are_not_keys_of_a_branch() -> None:
    union = "SELECT `__time` c FROM ev UNION ALL SELECT CAST(region AS timestamp) FROM dim"
    assert "aggregate_union_transpose" not in fired(f"SELECT count(DISTINCT c) FROM ({union}) x")


@pytest.mark.parametrize("call", ["stddev(c)", "corr(c, c)", "percentile(c, 0.5)", "collect_list(c)"])
def test_what_has_no_parts_is_taken_of_all_rows(call: str) -> None:
    sql = f"SELECT {call} FROM (SELECT clicks c FROM ev UNION ALL SELECT pop FROM dim) x"
    assert "aggregate_union_transpose" not in fired(sql)


def test_a_limit_goes_into_the_branches_that_can_take_it() -> None:
    job = residual("SELECT country FROM ev UNION ALL SELECT region FROM dim LIMIT 5")
    assert job.inputs[0].read.query["limit"] == 5  # type: ignore[union-attr]
    assert job.sql.endswith("LIMIT 5")
    made = plan("SELECT country FROM ev UNION ALL SELECT region FROM dim ORDER BY country LIMIT 5")
    assert "sort_union_transpose" not in made.fired  # a scan is not ordered by country


def test_only_the_columns_that_are_read_travel_from_a_branch() -> None:
    made = plan(
        "SELECT upper(country) u FROM (SELECT country, city, clicks FROM ev UNION ALL SELECT region, country, pop FROM dim) x WHERE clicks > 3"
    )
    assert "project_union_transpose" in made.fired
    assert spark_job(made).inputs[0].columns in (("u",), ("u_1",), ("u_2",))


def test_except_of_tables_compares_each_row_once() -> None:
    made = plan("SELECT country FROM ev EXCEPT SELECT region FROM dim")
    assert "set_op_distinct_branches" in made.fired
    assert spark_job(made).inputs[0].read.query["queryType"] == "groupBy"  # type: ignore[union-attr]


def test_small_tables_intersect_in_a_join() -> None:
    made = plan("SELECT country, clicks FROM ev INTERSECT SELECT country, clicks FROM other", tables=WITH_OTHER)
    read = druid_read(made)
    assert read is not None
    assert "set_op_join" in made.fired
    source = read.query["dataSource"]
    assert source["condition"].count("notdistinctfrom") == 2
    without = plan("SELECT country FROM ev EXCEPT SELECT country FROM other", tables=WITH_OTHER)
    assert druid_read(without).query["dataSource"]["joinType"] == "LEFT"  # type: ignore[union-attr]
    assert druid_read(without).query["filter"]["type"] == "null"  # type: ignore[union-attr]


def test_intersect_all_stays_as_it_is() -> None:
    made = plan("SELECT country FROM ev INTERSECT ALL SELECT country FROM other", tables=WITH_OTHER)
    assert druid_read(made) is None
    assert [left.operator for left in left_outside(made)] == ["SetOp"]


def test_union_becomes_an_aggregate_over_union_all() -> None:
    assert "union_distinct" in fired("SELECT country FROM ev UNION SELECT region FROM dim")
    assert "union_one_table" in fired("SELECT city FROM ev WHERE imps = 1 UNION ALL SELECT city FROM ev WHERE imps = 2")
    assert "aggregate_union_one_table" in fired("SELECT country FROM ev UNION SELECT country FROM ev WHERE imps > 2")


def test_a_row_that_except_all_leaves_is_not_taken_by_an_outer_except() -> None:
    sql = "(SELECT country FROM ev WHERE clicks < 20 EXCEPT ALL SELECT country FROM ev WHERE clicks = 5) EXCEPT SELECT region FROM dim"
    assert "EXCEPT ALL" in spark_job(plan(sql)).sql
