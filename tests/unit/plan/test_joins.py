"""Joins: those that become a native `join` data source, those that stay on Spark and why, and filters on either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid.catalog.statistics import ColumnStatistics, TableStatistics
from hivedruid.catalog.table import Table
from hivedruid.druid.limits import DruidLimits
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.reasons import left_outside
from hivedruid.plan.split import QueryPlan, druid_read, plan_query, spark_job
from tests.support.planning import TABLES, events, parse, snapshot
from tests.support.planning import plan as bare_plan

SMALL = replace(events(name="small"), properties={"druid.datasource": "tiny"})
ALL: tuple[Table, ...] = (*TABLES, SMALL)
ROWS = {"ev": 1_000_000, "evt": 1_000_000, "small": 100, "dim": 50}


def plan(sql: str, **options: Any) -> QueryPlan:
    return bare_plan(sql, tables=ALL, **{"rows": ROWS, **options})


def native(sql: str) -> dict[str, Any]:
    read = druid_read(plan(sql))
    assert read is not None, left_outside(plan(sql))
    return dict(read.query)


def reasons(made: QueryPlan) -> list[str]:
    return [left.reason for left in left_outside(made) if left.operator == "Join"]


def input_of(made: QueryPlan, view: int = 0) -> dict[str, Any]:
    source = spark_job(made).inputs[view]
    assert isinstance(source, DruidInput)
    return dict(source.read.query)


# --- native joins -------------------------------------------------------------------------------------------------------


def test_a_small_table_is_joined_by_druid() -> None:
    query = native(
        "SELECT s.city, sum(e.clicks) FROM ev e JOIN small s ON e.country = s.country"
        " WHERE e.`__time` >= '2020-01-01' AND s.imps > 3 GROUP BY s.city"
    )
    source = query["dataSource"]
    assert source["left"] == {"type": "table", "name": "events"}
    assert source["right"]["query"]["filter"]["column"] == "imps"
    assert source["right"]["query"]["columnTypes"][0] == "STRING"
    assert source["condition"] == '("country" == "j0.country")'
    assert source["joinType"] == "INNER"
    assert query["queryType"] == "groupBy"
    assert query["dimensions"][0]["dimension"] == "j0.city"
    assert query["intervals"][0].startswith("2020-01-01")
    assert "druid_join" in plan("SELECT e.clicks FROM ev e JOIN small s ON e.country = s.country").fired


def test_only_what_is_read_of_the_right_side_is_held() -> None:
    query = native(
        "SELECT e.clicks, s.city FROM ev e JOIN small s ON e.country = s.country WHERE s.imps > 3 AND s.clicks > 2"
    )
    assert query["dataSource"]["right"]["query"]["columns"] == ["country", "city"]


def test_the_smaller_side_is_the_right_one() -> None:
    query = native("SELECT e.clicks, s.city FROM small s JOIN ev e ON e.country = s.country")
    assert query["dataSource"]["left"]["name"] == "events"
    assert query["columns"] == ["clicks", "j0.city"]


def test_the_preserved_side_is_the_left_one() -> None:
    left = native("SELECT e.clicks, s.city FROM ev e LEFT JOIN small s ON e.country = s.country AND s.imps > 3")
    right = native("SELECT e.clicks, s.city FROM small s RIGHT JOIN ev e ON e.country = s.country AND s.imps > 3")
    assert left["dataSource"] == right["dataSource"]
    assert left["dataSource"]["joinType"] == "LEFT"
    assert "filter" not in left


def test_a_star_is_a_chain_of_joins() -> None:
    query = native(
        "SELECT a.city, b.city, count(*) FROM ev e JOIN small a ON e.country = a.country JOIN small b ON e.city = b.city GROUP BY a.city, b.city"
    )
    outer = query["dataSource"]
    assert (outer["rightPrefix"], outer["left"]["rightPrefix"]) == ("j1.", "j0.")
    assert [d["dimension"] for d in query["dimensions"]] == ["j0.city", "j1.city"]


def test_groups_are_joined_though_their_number_is_not_known() -> None:
    made = plan(
        "SELECT a.country, a.c, b.c FROM (SELECT country, count(*) c FROM ev GROUP BY country) a"
        " JOIN (SELECT country, count(*) c FROM evt GROUP BY country) b ON a.country = b.country",
        rows=None,
    )
    read = druid_read(made)
    assert read is not None
    assert read.query["dataSource"]["left"]["type"] == "query"


def test_keys_may_be_expressions_null_safe_and_doubles() -> None:
    query = native("SELECT e.clicks FROM ev e JOIN small s ON upper(e.country) = upper(s.country)")
    assert query["dataSource"]["right"]["query"]["virtualColumns"][0]["expression"] == 'upper("country")'
    query = native("SELECT e.clicks FROM ev e JOIN small s ON e.country <=> s.country")
    assert query["dataSource"]["condition"] == 'notdistinctfrom("country","j0.country")'
    query = native("SELECT e.clicks FROM ev e JOIN small s ON e.revenue = s.revenue")
    assert query["dataSource"]["condition"] == '(("revenue" + 0.0) == "j0.vc0")'


def test_other_conditions_of_an_inner_join_are_a_filter() -> None:
    query = native("SELECT e.clicks FROM ev e JOIN small s ON e.country = s.country AND e.clicks < s.imps")
    assert query["filter"]["type"] == "expression"


def test_constant_rows_travel_in_the_query() -> None:
    query = native("SELECT e.clicks, v.n FROM ev e JOIN (VALUES ('a', 1), (NULL, 2)) v (k, n) ON e.country = v.k")
    assert query["dataSource"]["right"] == {
        "type": "inline", "columnNames": ["c0", "c1"], "columnTypes": ["STRING", "LONG"], "rows": [["a", 1], [None, 2]],
    }  # fmt: skip


def test_semi_and_anti_joins_look_for_each_key_once() -> None:
    semi = native("SELECT clicks FROM ev e LEFT SEMI JOIN small s ON e.country = s.country")
    assert semi["dataSource"]["right"]["query"]["queryType"] == "groupBy"
    assert semi["dataSource"]["joinType"] == "INNER"
    anti = native("SELECT clicks FROM ev e WHERE NOT EXISTS (SELECT 1 FROM small s WHERE e.country = s.country)")
    assert anti["filter"] == {"type": "null", "column": "j0.country"}
    safe = native("SELECT clicks FROM ev e WHERE NOT EXISTS (SELECT 1 FROM small s WHERE e.country <=> s.country)")
    assert safe["dataSource"]["right"]["query"]["aggregations"] == [{"type": "count", "name": "$f1"}]
    assert safe["filter"] == {"type": "null", "column": "j0.$f1"}


# --- what stays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT a.clicks FROM ev a JOIN evt b ON a.country = b.country", "more than the limit of 50,000 (hivedruid.join.max.rows)"),
        ("SELECT a.clicks FROM ev a FULL JOIN small b ON a.country = b.country", "Druid joins each segment separately"),
        ("SELECT a.clicks FROM ev a JOIN dim b ON a.country = b.country", "the smaller side is not a Druid query"),
        ("SELECT a.clicks FROM small a LEFT JOIN ev b ON a.country = b.country", "the smaller side has about"),
        ("SELECT a.clicks FROM ev a LEFT JOIN small b ON a.country = b.country AND a.clicks < b.imps", "a condition other than column equality"),
        ("SELECT a.clicks FROM ev a JOIN small b ON a.clicks < b.imps", "a join without equal columns"),
        ("SELECT a.clicks FROM ev a JOIN small b ON a.score = b.score", "a join on keys of type float"),
    ],
)  # fmt: skip
def test_a_join_that_stays_says_why(sql: str, reason: str) -> None:
    made = plan(sql)
    assert druid_read(made) is None
    assert reason in reasons(made)[0]


def test_sizes_that_are_not_known_or_too_large_are_left_to_spark() -> None:
    sql = "SELECT e.clicks FROM ev e JOIN small s ON e.country = s.country"
    assert "ANALYZE TABLE" in reasons(plan(sql, rows=None))[0]
    assert "hivedruid.join.max.rows" in reasons(plan(sql, settings={"hivedruid.join.max.rows": "50"}))[0]
    assert reasons(plan(sql, settings={"hivedruid.join.max.rows": "0"})) == ["hivedruid.join.max.rows is 0"]
    assert "more than the limit of 50" in reasons(plan(sql, limits=DruidLimits(subquery_rows=50)))[0]
    assert druid_read(plan(sql, limits=DruidLimits(subquery_rows=100))) is not None


# --- conditions ---------------------------------------------------------------------------------------------------------------


def test_a_condition_above_a_cross_join_makes_it_an_inner_one() -> None:
    made = plan("SELECT a.clicks FROM ev a, evt b WHERE a.country = b.country AND a.imps > 3")
    assert "filter_join_merge" in made.fired
    assert " JOIN " in spark_job(made).sql
    assert "CROSS" not in spark_job(made).sql


@pytest.mark.parametrize(
    ("kind", "condition", "expected"),
    [
        ("LEFT", "b.imps > 3", " JOIN "),
        ("LEFT", "b.imps IS NULL", "LEFT JOIN"),
        ("LEFT", "b.imps IS NULL OR b.imps > 3", "LEFT JOIN"),
        ("RIGHT", "a.imps = 3", " JOIN "),
        ("FULL", "a.imps = 3", "LEFT JOIN"),
        ("FULL", "b.imps IN (1, 2)", "RIGHT JOIN"),
        ("FULL", "b.imps IN (1, 2) AND a.city LIKE 'x%'", " JOIN "),
    ],
)
def test_rows_filled_up_with_nulls_are_not_made_where_a_condition_drops_them(
    kind: str, condition: str, expected: str
) -> None:
    made = plan(f"SELECT a.clicks FROM ev a {kind} JOIN evt b ON a.country = b.country WHERE {condition}")
    sql = spark_job(made).sql
    assert expected in sql
    if expected == " JOIN ":
        assert not any(word in sql for word in ("LEFT", "RIGHT", "FULL"))
        assert "outer_join_reduce" in made.fired


def test_what_is_known_of_a_key_is_known_of_its_equal() -> None:
    made = plan("SELECT a.clicks FROM ev a JOIN evt b ON a.country = b.country WHERE a.country IN ('x', 'y')")
    assert [input_of(made, i)["filter"]["values"] for i in (0, 1)] == [["x", "y"], ["x", "y"]]
    times = plan("SELECT a.clicks FROM evt a JOIN evt b ON a.`__time` = b.`__time` WHERE b.`__time` >= '2020-01-01'")
    assert all(input_of(times, i)["intervals"][0].startswith("2020") for i in (0, 1))
    left = plan("SELECT a.clicks FROM ev a LEFT JOIN evt b ON a.country = b.country AND b.country = 'x'")
    assert "filter" not in input_of(left)  # the left rows are kept, whatever the right side


def test_null_keys_do_not_travel() -> None:
    inner = plan("SELECT a.clicks FROM ev a JOIN evt b ON a.country = b.country")
    assert [input_of(inner, i)["filter"]["type"] for i in (0, 1)] == ["not", "not"]
    left = plan("SELECT a.clicks FROM ev a LEFT JOIN evt b ON a.country = b.country")
    assert "filter" not in input_of(left, 0)
    assert input_of(left, 1)["filter"]["type"] == "not"
    assert "join_keys_not_null" in left.fired


def test_an_ambiguous_name_is_the_one_that_is_grouped_by() -> None:
    made = plan("SELECT country, count(*) FROM ev a JOIN small b ON a.country = b.country GROUP BY a.country")
    assert [c.name for c in made.columns] == ["country", "_c1"]


def test_a_query_that_is_read_twice_is_asked_once() -> None:
    made = plan(
        "WITH x AS (SELECT country, md5(city) m, imps FROM ev WHERE imps > 3)"
        " SELECT a.m, b.m FROM x a JOIN x b ON a.country = b.country AND a.imps < b.imps"
    )
    job = spark_job(made)
    assert len(job.inputs) == 1
    assert job.sql.count("`druid_0`") == 2


# --- aggregates above joins ---------------------------------------------------------------------------------------------


def test_an_aggregate_over_one_side_is_taken_before_the_join() -> None:
    made = plan(
        "SELECT d.region, sum(e.clicks), count(*), avg(e.imps), max(d.pop) FROM ev e JOIN dim d ON e.country = d.country GROUP BY d.region"
    )
    assert "aggregate_join_transpose" in made.fired
    query = input_of(made)
    assert query["queryType"] == "groupBy"
    assert [d["dimension"] for d in query["dimensions"]] == ["country"]
    sql = spark_job(made).sql
    assert sql.count("sum(") == 4
    assert "max(`pop`)" in sql


def test_a_count_over_a_join_without_rows_is_zero() -> None:
    assert "coalesce(" in spark_job(plan("SELECT count(*) FROM ev e JOIN dim d ON e.country = d.country")).sql.lower()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(d.pop) FROM ev e JOIN dim d ON e.country = d.country",
        "SELECT sum(e.clicks + d.pop) FROM ev e JOIN dim d ON e.country = d.country",
        "SELECT count(DISTINCT e.city) FROM ev e JOIN dim d ON e.country = d.country",
        "SELECT stddev(e.clicks) FROM ev e JOIN dim d ON e.country = d.country",
        "SELECT count(*) FROM ev e RIGHT JOIN dim d ON e.country = d.country",
        "SELECT count(*) FROM ev e FULL JOIN dim d ON e.country = d.country",
        "SELECT e.`__time`, count(*) FROM ev e JOIN dim d ON e.country = d.country GROUP BY e.`__time`",
        "SELECT count(*) FILTER (WHERE d.pop > 3) FROM ev e JOIN dim d ON e.country = d.country",
    ],
)
def test_what_reads_both_sides_or_each_row_is_taken_after_the_join(sql: str) -> None:
    assert "aggregate_join_transpose" not in plan(sql).fired


COUNTED = {
    ("default", "ev"): TableStatistics(
        rows=1_000_000, columns={"country": ColumnStatistics(200), "city": ColumnStatistics(900_000)}
    ),
    ("default", "dim"): TableStatistics(
        rows=50, columns={"country": ColumnStatistics(50), "region": ColumnStatistics(5), "pop": ColumnStatistics(40)}
    ),
}


def counted(sql: str) -> QueryPlan:
    return plan_query(*parse(sql), replace(snapshot("UTC", ALL), statistics=COUNTED))


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        (
            "SELECT d.region, sum(e.clicks), count(*), max(p.pop) FROM ev e JOIN dim d ON e.country = d.country"
            " JOIN dim p ON e.imps = p.pop GROUP BY d.region",
            ["country", "imps"],
        ),
        (
            "SELECT p.region, avg(e.clicks) FROM dim d JOIN (ev e LEFT JOIN dim p ON e.imps < p.pop AND e.imps = p.pop)"
            " ON e.country = d.country GROUP BY p.region",
            ["imps", "country"],
        ),
        (
            "SELECT sum(e.clicks) FROM ev e LEFT SEMI JOIN dim d ON e.country = d.country JOIN dim p ON e.imps = p.pop",
            ["country", "imps"],
        ),
        ("SELECT min(e.clicks) FROM ev e JOIN dim d ON e.country = d.country JOIN dim p ON d.pop = p.pop", ["country"]),
    ],
)
def test_an_aggregate_is_taken_before_several_joins(sql: str, keys: list[str]) -> None:
    made = counted(sql)
    assert "aggregate_join_transpose" in made.fired
    query = input_of(made, next(i for i, item in enumerate(spark_job(made).inputs) if isinstance(item, DruidInput)))
    assert query["queryType"] == "groupBy"
    assert sorted(d["dimension"] for d in query["dimensions"]) == sorted(keys)


@pytest.mark.parametrize(
    "sql",
    [
        # as many groups as rows, or an unknown number
        "SELECT sum(e.clicks) FROM ev e JOIN dim d ON e.country = d.country JOIN dim p ON e.city = p.region JOIN dim q ON e.imps = q.pop",
        "SELECT sum(e.clicks) FROM ev e JOIN dim d ON e.country = d.country JOIN dim p ON e.imps < p.pop",
        # a row of a group of `ev` may be that of many
        "SELECT sum(e.clicks), sum(d.pop) FROM ev e JOIN dim d ON e.country = d.country JOIN dim p ON e.imps = p.pop",
        "SELECT count(p.pop) FROM dim d LEFT JOIN (ev e JOIN dim p ON e.imps = p.pop) ON e.country = d.country",
        "SELECT sum(e.clicks + d.pop) FROM ev e JOIN dim d ON e.country = d.country JOIN dim p ON e.imps = p.pop",
    ],
)
def test_what_several_joins_repeat_or_that_has_many_groups_is_taken_after_them(sql: str) -> None:
    assert "aggregate_join_transpose" not in counted(sql).fired


# --- order and limit -------------------------------------------------------------------------------------------------

PERIODS = (
    "SELECT a.country, a.s, b.s, a.s - b.s d FROM (SELECT country, sum(clicks) s FROM ev WHERE imps = 1 GROUP BY country) a"
    " LEFT JOIN (SELECT {columns} FROM ev WHERE imps = 2 GROUP BY {keys}) b ON a.country = b.country ORDER BY d DESC, a.country LIMIT 3"
)


def test_a_join_of_groups_is_ordered_and_limited_by_a_group_by() -> None:
    """Each row is a group of its own, since countries are unique on both sides."""
    read = druid_read(plan(PERIODS.format(columns="country, sum(clicks) s", keys="country"), rows={"ev": 400_000}))
    assert read is not None
    query = read.query
    assert (query["queryType"], query["dataSource"]["type"]) == ("groupBy", "join")
    assert query["limitSpec"]["limit"] == 3
    assert "aggregations" not in query


def test_groups_of_which_nobody_knows_the_number_are_not_inlined_if_they_may_be_too_many() -> None:
    """Druid rejects a query with more rows of a subquery than its limit."""
    sql = PERIODS.format(columns="country, sum(clicks) s", keys="country")
    assert druid_read(plan(sql, rows={"ev": 600_000})) is None
    many = TableStatistics(rows=600_000, columns={"country": ColumnStatistics(distinct=200)})
    facts = replace(snapshot("UTC", ALL), statistics={("default", "ev"): many})
    assert druid_read(plan_query(*parse(sql), facts)) is not None


@pytest.mark.parametrize(
    "sql",
    [
        PERIODS.format(columns="country, city, sum(clicks) s", keys="country, city"),  # a country more than once
        "SELECT e.city, x.s FROM ev e JOIN (SELECT country, sum(clicks) s FROM evt GROUP BY country) x ON e.country = x.country ORDER BY x.s LIMIT 3",
    ],
)
def test_rows_that_may_be_the_same_are_not_groups(sql: str) -> None:
    made = plan(sql)
    assert druid_read(made) is None
    assert left_outside(made)[0].operator == "Sort"
