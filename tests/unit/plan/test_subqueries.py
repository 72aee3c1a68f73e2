"""Subqueries in WHERE, HAVING and SELECT: as joins if that is exact, otherwise unchanged."""

from __future__ import annotations

import pytest

from hivedruid.plan.reasons import left_outside
from hivedruid.plan.split import QueryPlan, druid_read, spark_job
from tests.support.planning import plan as bare_plan

ROWS = {"ev": 1_000_000, "evt": 100, "dim": 50}


def plan(sql: str) -> QueryPlan:
    return bare_plan(sql, rows=ROWS)


def source(sql: str) -> dict[str, object]:
    read = druid_read(plan(sql))
    assert read is not None, left_outside(plan(sql))
    return dict(read.query["dataSource"])


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("country IN (SELECT country FROM evt)", "INNER"),
        ("(country, clicks) IN (SELECT country, clicks FROM evt WHERE imps > 3)", "INNER"),
        ("EXISTS (SELECT 1 FROM evt t WHERE t.country = e.country AND t.imps > 3)", "INNER"),
        ("NOT EXISTS (SELECT * FROM evt t WHERE t.country = e.country)", "LEFT"),
        ("country IN (SELECT country FROM evt t WHERE t.city = e.city)", "INNER"),
        ("country IN (SELECT country FROM evt t WHERE t.city = e.city GROUP BY country HAVING count(*) > 3)", "INNER"),
        ("country NOT IN (SELECT country FROM evt WHERE country IS NOT NULL) AND country IS NOT NULL", "LEFT"),
    ],
)
def test_in_and_exists_are_joins(condition: str, kind: str) -> None:
    assert source(f"SELECT clicks FROM ev e WHERE {condition}")["joinType"] == kind


def test_not_in_is_an_anti_join_where_nothing_is_null() -> None:
    joined = source(
        "SELECT clicks FROM (SELECT * FROM ev WHERE country > '') e WHERE country NOT IN (SELECT country FROM evt WHERE country IS NOT NULL)"
    )
    assert joined["joinType"] == "LEFT"


@pytest.mark.parametrize(
    "condition",
    [
        "revenue NOT IN (SELECT revenue FROM evt WHERE revenue IS NOT NULL)",
        "clicks > 3 OR country IN (SELECT country FROM evt)",
        "country IN (SELECT country FROM evt t WHERE t.imps > 3 ORDER BY t.clicks LIMIT 3) IS NULL",
        "EXISTS (SELECT 1 FROM evt t WHERE t.country = e.country ORDER BY imps LIMIT 3 OFFSET 2)",
        "clicks > (SELECT count(*) + e.imps FROM evt)",
        "clicks > (SELECT clicks FROM evt LIMIT 1)",
    ],
)
def test_what_no_join_says_stays_a_subquery(condition: str) -> None:
    made = plan(f"SELECT clicks FROM ev e WHERE {condition}")
    assert druid_read(made) is None
    assert "(SELECT" in spark_job(made).sql


def test_the_value_of_an_aggregate_is_joined() -> None:
    joined = source("SELECT count(*) FROM ev WHERE clicks > (SELECT avg(clicks) FROM evt)")
    assert joined["condition"] == "1"
    joined = source("SELECT country, sum(clicks) / (SELECT sum(clicks) FROM ev) FROM evt GROUP BY country")
    assert joined["condition"] == "1"
    joined = source("SELECT country FROM evt GROUP BY country HAVING count(*) > (SELECT max(imps) FROM evt)")
    assert joined["condition"] == "1"


def test_an_aggregate_over_rows_of_each_outer_row_is_grouped_by_what_must_be_equal() -> None:
    sql = "SELECT clicks, (SELECT count(*) FROM evt t WHERE t.country = e.country) n FROM ev e"
    joined = source(sql)
    assert joined["joinType"] == "LEFT"
    read = druid_read(plan(sql))
    assert read is not None
    assert read.query["virtualColumns"][0]["expression"] == 'coalesce("j0.$f1",0)'
    assert "coalesce" not in str(
        source("SELECT clicks FROM ev e WHERE imps = (SELECT max(imps) FROM evt t WHERE t.country = e.country)")
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (SELECT collect_set(city) FROM evt t WHERE t.country = e.country) FROM ev e",
        "SELECT (SELECT sum(imps) FROM evt t WHERE t.clicks < e.clicks) FROM ev e",
        "SELECT (SELECT sum(imps) FROM evt t WHERE t.country = e.country HAVING count(*) > 1) FROM ev e",
    ],
)
def test_what_cannot_be_grouped_before_stays(sql: str) -> None:
    assert "project_scalar_subquery" not in plan(sql).fired


def test_exists_of_other_rows_is_a_count() -> None:
    made = plan("SELECT clicks FROM ev WHERE EXISTS (SELECT 1 FROM evt WHERE imps > 100)")
    read = druid_read(made)
    assert read is not None
    assert read.query["dataSource"]["right"]["query"]["aggregations"][0]["type"] == "count"
    assert {"filter_subquery", "filter_scalar_subquery"} <= set(made.fired)


def test_a_subquery_without_from_stays() -> None:
    made = plan("SELECT (SELECT max(clicks) FROM ev) m")
    assert "project_scalar_subquery" not in made.fired


def test_subqueries_in_subqueries_are_estimated_though_they_hand_columns_on() -> None:
    made = plan(
        "SELECT country FROM ev WHERE city IN (SELECT city FROM evt WHERE country IN"
        " (SELECT country FROM dim WHERE region IN (SELECT city FROM ev)))"
    )
    assert made.fired.count("filter_subquery") == 3
    assert spark_job(made).sql.count("SEMI JOIN") == 3


def test_a_constant_among_the_rows_of_a_subquery() -> None:
    assert "LEFT SEMI JOIN" in spark_job(plan("SELECT 1 WHERE 1 IN (SELECT pop FROM dim)")).sql
    joined = source("SELECT country FROM ev a WHERE 5 IN (SELECT clicks FROM evt b WHERE b.country = a.country)")
    assert joined["condition"] == '("country" == "j0.country")'


@pytest.mark.parametrize("where", ["", " WHERE country IS NOT NULL", " WHERE clicks > 100"])
def test_not_in_of_what_may_be_null_counts_the_nulls(where: str) -> None:
    """With a null among the rows, no value is known to be missing from them; over no rows every value is."""
    made = druid_read(plan(f"SELECT clicks FROM ev e WHERE country NOT IN (SELECT country FROM evt{where})"))
    assert made is not None
    outer = made.query["dataSource"]
    total, keys = outer["right"]["query"], outer["left"]["right"]["query"]
    assert [d["dimension"] for d in keys["dimensions"]] == ["country"]
    counts = [a["type"] for a in total["aggregations"]]
    assert counts == (["count"] if "IS NOT NULL" in where else ["count", "filtered"])
    assert made.query["filter"]["fields"][0]["type"] == "null"  # if it finds no match among the keys
