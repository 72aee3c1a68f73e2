"""The first rows of a table in any order."""

from __future__ import annotations

import pytest

from hivedruid.druid.query import native_query
from hivedruid.plan.split import native_queries
from tests.rules.test_rules import expect, expect_not
from tests.support.planning import plan

RULES = "druid_scan project_remove druid_project druid_sort sort_first_keys"


def test_sort_first_keys_reads_the_rows_that_have_them() -> None:
    expect(
        "SELECT city, clicks FROM ev WHERE imps > 1 ORDER BY clicks DESC NULLS LAST LIMIT 5 OFFSET 2",
        f"druid_filter {RULES}",
        """
        Sort(sort=[clicks DESC NULLS LAST], offset=[2], fetch=[5])
          DruidQuery(filter=[(imps > 1)], projects=[city, clicks])
            DruidJoin(type=[inner], condition=[(clicks <=> _first)])
              TableScan(table=[default.ev], columns=[city, clicks, imps])
              DruidQuery(table=[default.ev], filter=[(imps > 1)], groups=[clicks], projects=[_first], sort=[_first DESC NULLS LAST], fetch=[7])
        """,
    )


def test_sort_first_keys_says_by_a_key_where_nulls_stand_and_knows_one_zero() -> None:
    expect(
        "SELECT score FROM ev ORDER BY upper(city), revenue DESC LIMIT 5",
        RULES,
        """
        Project(score=[score])
          Sort(sort=[_o0 ASC NULLS LAST, revenue DESC NULLS FIRST], fetch=[5])
            DruidQuery(projects=[score, upper(city), revenue])
              DruidJoin(type=[inner], condition=[((upper(city) <=> _first) AND ((revenue + 0.0) <=> _first_1))])
                TableScan(table=[default.ev], columns=[city, revenue, score])
                DruidQuery(table=[default.ev], groups=[upper(city), revenue, is_null(upper(city)), is_null(revenue)], projects=[_first, _first_1], sort=[_null ASC NULLS FIRST, _first ASC NULLS FIRST, _null_1 DESC NULLS LAST, _first_1 DESC NULLS LAST], fetch=[5])
        """,
    )


def test_sort_first_keys_ends_at_a_key_that_druid_does_not_group_by() -> None:
    expect(
        "SELECT city FROM ev ORDER BY clicks NULLS FIRST, score, imps LIMIT 5",
        RULES,
        """
        Project(city=[city])
          Sort(sort=[clicks ASC NULLS FIRST, score ASC NULLS LAST, imps ASC NULLS LAST], fetch=[5])
            DruidQuery(projects=[city, clicks, score, imps])
              DruidJoin(type=[inner], condition=[(clicks <=> _first)])
                TableScan(table=[default.ev], columns=[city, clicks, imps, score])
                DruidQuery(table=[default.ev], groups=[clicks], projects=[_first], sort=[_first ASC NULLS FIRST], fetch=[5])
        """,
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city FROM ev ORDER BY city",  # all of them
        "SELECT city FROM ev ORDER BY city LIMIT 20000",
        "SELECT city FROM ev ORDER BY `__time` LIMIT 5",  # Druid has that order
        "SELECT city FROM ev ORDER BY score, city LIMIT 5",  # FLOAT
        "SELECT city FROM ev ORDER BY rand() LIMIT 5",
        "SELECT region FROM dim ORDER BY region LIMIT 5",
    ],
)
def test_sort_first_keys_leaves_alone_what_is_not_exact(sql: str) -> None:
    expect_not(sql, RULES)


def test_all_rows_of_a_small_table_are_read() -> None:
    sql = "SELECT city FROM ev ORDER BY city LIMIT 20"
    assert "sort_first_keys" in plan(sql, rows={"ev": 21}).fired
    assert "sort_first_keys" not in plan(sql, rows={"ev": 20}).fired


def test_druid_orders_by_keys_alone_so_that_it_drops_groups_early() -> None:
    """With a post-aggregation in the order Druid would keep all groups
    (DefaultLimitSpec.sortingOrderHasNonGroupingFields).
    """
    sql = "SELECT e.city, x.s FROM ev e JOIN (SELECT country, sum(clicks) s FROM evt GROUP BY country) x ON e.country = x.country ORDER BY x.s, e.clicks LIMIT 5"
    made = plan(sql, rows={"ev": 100_000, "evt": 50})
    (query,) = native_queries(made.node)
    first = native_query(query, "UTC").query["dataSource"]["right"]["query"]
    assert first["dataSource"]["type"] == "join"
    assert "postAggregations" not in first
    keys = {dimension["outputName"] for dimension in first["dimensions"]}
    assert {column["dimension"] for column in first["limitSpec"]["columns"]} <= keys
