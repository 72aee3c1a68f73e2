"""Semi-join reduction: the keys of the small side of a join become a filter of the native query on the other side."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from hivedruid.actions.select.reduce import with_keys
from hivedruid.catalog.statistics import ColumnStatistics, TableStatistics
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.time_references import TIME_REFERENCES
from hivedruid.catalog.types import BIGINT, DATE, INT
from hivedruid.plan.physical import DruidInput, DruidRead, KeyFilter, SparkJob, TableInput
from hivedruid.plan.split import QueryPlan, plan_query, spark_job
from tests.support.planning import DIM, ETERNITY, events, parse, snapshot
from tests.support.planning import plan as bare_plan
from tests.unit.plan.test_joins import ALL, ROWS, plan


def reducers(made: QueryPlan) -> dict[str, tuple[KeyFilter, ...]]:
    return {i.view: i.reducers for i in spark_job(made).inputs if isinstance(i, DruidInput) and i.reducers}


def test_the_keys_of_a_small_table_narrow_a_big_one() -> None:
    made = plan("SELECT e.clicks, d.region FROM ev e JOIN dim d ON e.country = d.country WHERE d.region = 'x'")
    ((reducer,),) = reducers(made).values()
    assert (reducer.column, reducer.type, reducer.most) == ("country", "STRING", 10_000)
    assert isinstance(reducer.keys[0], SparkJob)
    assert "WHERE (`region` = 'x')" in reducer.keys[0].sql
    assert reducer.keys[0].sql.endswith("LIMIT 10001")


def test_the_keys_of_a_native_query_come_from_a_native_query() -> None:
    made = plan("SELECT a.clicks FROM ev a LEFT SEMI JOIN small b ON a.country = b.country AND a.clicks > b.imps")
    ((reducer,),) = reducers(made).values()
    assert isinstance(reducer.keys[0], DruidRead)
    assert reducer.keys[0].query["queryType"] in ("groupBy", "topN")


def test_rows_that_a_window_reads_are_not_narrowed() -> None:
    windowed = "SELECT country, row_number() OVER (ORDER BY clicks) r FROM ev"
    assert not reducers(plan(f"SELECT x.r FROM ({windowed}) x JOIN dim d ON x.country = d.country"))


def test_a_side_with_other_rows_each_time_gives_no_keys() -> None:
    assert not reducers(
        plan("SELECT e.clicks FROM (SELECT * FROM dim WHERE rand() < 0.5) d JOIN ev e ON e.country = d.country")
    )
    assert not reducers(plan("SELECT e.clicks FROM (SELECT * FROM dim LIMIT 3) d JOIN ev e ON e.country = d.country"))


def test_only_a_side_that_may_lose_rows_is_narrowed() -> None:
    assert not reducers(plan("SELECT e.clicks FROM ev e LEFT JOIN dim d ON e.country = d.country"))
    assert reducers(plan("SELECT e.clicks FROM ev e RIGHT JOIN dim d ON e.country = d.country"))
    assert not reducers(plan("SELECT e.clicks FROM ev e FULL JOIN dim d ON e.country = d.country"))
    assert not reducers(
        plan("SELECT e.clicks FROM ev e WHERE NOT EXISTS (SELECT 1 FROM dim d WHERE d.country = e.country)")
    )


@pytest.mark.parametrize(
    "options",
    [
        {"rows": None},
        {"rows": {**ROWS, "dim": 20_000}},
        {"rows": {**ROWS, "ev": 60}},
        {"settings": {"hivedruid.semijoin.max.keys": "0"}},
        {"settings": {"hivedruid.semijoin.max.keys": "49"}},
    ],
)
def test_nothing_is_narrowed_where_it_is_not_worth_it(options: dict[str, Any]) -> None:
    assert not reducers(plan("SELECT e.clicks FROM ev e JOIN dim d ON e.country = d.country", **options))


def test_limits_other_types_and_expressions_are_not_narrowed() -> None:
    assert not reducers(plan("SELECT e.clicks FROM (SELECT * FROM ev LIMIT 5) e JOIN dim d ON e.country = d.country"))
    assert not reducers(plan("SELECT e.clicks FROM ev e JOIN dim d ON upper(e.country) = d.country"))
    assert not reducers(plan("SELECT e.clicks FROM ev e JOIN dim d ON e.country <=> d.country"))


def test_groups_are_narrowed_by_their_key_alone() -> None:
    grouped = "(SELECT country, sum(clicks) c FROM ev GROUP BY country) e"
    assert reducers(plan(f"SELECT e.c FROM {grouped} JOIN dim d ON e.country = d.country"))
    assert not reducers(plan(f"SELECT e.c FROM {grouped} JOIN dim d ON e.c = d.pop"))


@pytest.mark.parametrize(
    ("rows", "low", "high", "where", "is_reduced"),
    [
        (100, "1", "100", "", False),  # a dimension with generated keys
        (95, "1", "100", "", False),
        (95, "1", "100", "WHERE region = 'x'", True),
        (80, "1", "100", "", True),
        (3, "1", "3", "", True),
    ],
)
def test_a_complete_dimension_narrows_nothing(rows: int, low: str, high: str, where: str, is_reduced: bool) -> None:
    columns = {"pop": ColumnStatistics(low=low, high=high, has_nulls=False, nulls=0)}
    statistics = {
        ("default", "ev"): TableStatistics(rows=1_000_000),
        ("default", "dim"): TableStatistics(rows=rows, columns=columns),
    }
    facts = replace(snapshot("UTC", ALL), statistics=statistics)
    sql = f"SELECT e.city, d.region FROM ev e JOIN (SELECT * FROM dim {where}) d ON e.clicks = d.pop"
    assert bool(reducers(plan_query(*parse(sql), facts))) == is_reduced


@pytest.mark.parametrize(("join", "count"), [("JOIN", 2), ("LEFT JOIN", 2), ("LEFT SEMI JOIN", 2), ("RIGHT JOIN", 0)])
def test_keys_narrow_all_queries_whose_columns_must_equal_them(join: str, count: int) -> None:
    made = plan(
        f"SELECT e.clicks FROM (SELECT e.country, e.clicks FROM ev e {join} evt f ON e.country = f.country) e"
        " JOIN dim d ON e.country = d.country WHERE d.region = 'x'"
    )
    found = [reducer for (reducer,) in reducers(made).values()]
    assert [reducer.column for reducer in found] == ["country"] * count
    assert len({reducer.keys for reducer in found}) == min(count, 1)


def test_keys_narrow_queries_that_are_joined_with_a_join_of_their_table() -> None:
    made = plan(
        "SELECT e.clicks FROM (SELECT f.country, count(*) FROM evt f JOIN dim d ON f.country = d.country"
        " WHERE d.region = 'x' GROUP BY f.country) f JOIN ev e ON e.country = f.country"
    )
    found = [reducer for (reducer,) in reducers(made).values()]
    assert [reducer.column for reducer in found] == ["country", "country"]
    assert found[0].keys == found[1].keys


def test_the_same_keys_are_the_same_query() -> None:
    made = plan(
        "SELECT e.clicks FROM ev e JOIN dim d ON e.country = d.country WHERE d.region = 'x' UNION ALL "
        "SELECT e.imps FROM (SELECT country AS c FROM dim WHERE region = 'x') d JOIN evt e ON e.city = d.c"
    )
    (first,), (second,) = reducers(made).values()
    assert (first.column, second.column) == ("country", "city")
    assert first.keys == second.keys
    assert isinstance(first.keys[0], SparkJob)
    assert first.keys[0].sql == (
        "SELECT `country` AS `_key` FROM `dim_0` WHERE (`region` = 'x') GROUP BY `country` LIMIT 10001"
    )


YEARS = "WITH y AS (SELECT e.city AS city, e.clicks AS clicks, d.region AS year FROM ev e JOIN dim d ON e.country = d.country) "


def test_a_shared_query_is_reduced_to_the_keys_of_all_its_readers() -> None:
    made = plan(f"{YEARS} SELECT a.clicks FROM y a JOIN y b ON a.city = b.city WHERE a.year = 'x' AND b.year = 'y'")
    ((reducer,),) = reducers(made).values()
    assert reducer.column == "country"
    conditions = [keys.sql.partition(" WHERE ")[2] for keys in reducer.keys if isinstance(keys, SparkJob)]
    assert [c.partition(" GROUP")[0] for c in conditions] == ["(`region` = 'x')", "(`region` = 'y')"]


def test_the_same_keys_of_all_readers_are_one_query() -> None:
    made = plan(f"{YEARS} SELECT a.clicks FROM y a JOIN y b ON a.city = b.city WHERE a.year = 'x' AND b.year = 'x'")
    ((reducer,),) = reducers(made).values()
    assert len(reducer.keys) == 1


@pytest.mark.parametrize("operation", ["UNION ALL", "UNION", "INTERSECT", "EXCEPT"])
def test_keys_narrow_each_branch_of_a_set_operation(operation: str) -> None:
    made = plan(
        f"SELECT x.c FROM (SELECT country AS c FROM ev WHERE upper(md5(city)) = 'X' {operation} SELECT city FROM evt WHERE"
        " imps > 3 AND md5(country) = 'Y') x JOIN dim d ON x.c = d.country WHERE d.region = 'x'"
    )
    assert [reducer.column for (reducer,) in reducers(made).values()] == ["country", "city"]


def test_keys_narrow_the_groups_of_an_aggregate_on_spark() -> None:
    rows = "SELECT city, collect_list(clicks) AS c FROM ev GROUP BY city"
    assert reducers(plan(f"SELECT x.c FROM ({rows}) x JOIN dim d ON x.city = d.country WHERE d.region = 'x'"))
    counts = "SELECT country, count(DISTINCT md5(city)) AS n FROM ev GROUP BY country"
    assert not reducers(plan(f"SELECT x.n FROM ({counts}) x JOIN dim d ON x.n = d.pop WHERE d.region = 'x'"))


def test_a_query_that_one_reader_needs_whole_is_not_reduced() -> None:
    rows = "SELECT city, clicks, country FROM ev WHERE country IS NOT NULL"
    made = plan(
        f"WITH y AS ({rows}) SELECT y.city, y.clicks, y.country FROM y JOIN dim d ON y.country = d.country"
        " WHERE d.region = 'x' UNION ALL SELECT city, clicks, country FROM y"
    )
    (native,) = [i for i in spark_job(made).inputs if isinstance(i, DruidInput)]
    assert not native.reducers


EXISTS = "EXISTS (SELECT 1 FROM ev e JOIN dim d ON e.country = d.country WHERE e.city = o.city AND {})"


def test_keys_narrow_the_queries_of_subqueries() -> None:
    sql = f"SELECT o.city FROM evt o WHERE o.imps = 1 OR {EXISTS}"
    ((reducer,),) = reducers(plan(sql.format("d.region = 'x'"))).values()
    assert reducer.column == "country"
    ((correlated,),) = reducers(plan(sql.format("d.region = o.country"))).values()
    assert isinstance(correlated.keys[0], SparkJob)
    assert "region" not in correlated.keys[0].sql  # the condition is another one for each row of the outer query


def test_keys_narrow_a_join_that_druid_computes() -> None:
    joined = "(SELECT e.country, e.clicks, s.imps FROM ev e LEFT JOIN small s ON e.city = s.city) x"
    made = plan(f"SELECT x.clicks, x.imps FROM {joined} JOIN dim d ON x.country = d.country WHERE d.region = 'x'")
    (source,) = [i for i in spark_job(made).inputs if isinstance(i, DruidInput)]
    assert source.read.query["dataSource"]["type"] == "join"
    assert [reducer.column for reducer in source.reducers] == ["country"]
    assert not reducers(plan(f"SELECT x.clicks FROM {joined} JOIN dim d ON x.imps = d.pop WHERE d.region = 'x'"))


def test_keys_become_a_filter_beside_the_others() -> None:
    made = plan("SELECT e.clicks FROM ev e JOIN dim d ON e.country = d.country WHERE e.imps > 3 AND e.country < 'x'")
    (source,) = [i for i in spark_job(made).inputs if isinstance(i, DruidInput)]
    ((reducer,),) = reducers(made).values()
    narrowed = with_keys(source.read, reducer, [("b",), ("a",)]).query
    among = {"type": "inType", "column": "country", "matchValueType": "STRING", "values": ["a", "b"]}
    assert narrowed["filter"]["fields"][0] == among
    assert narrowed["filter"]["fields"][1:] == source.read.query["filter"]["fields"]
    assert with_keys(source.read, reducer, []).query["filter"]["fields"][0] == {"type": "false"}


def test_keys_of_time_bound_the_interval() -> None:
    read = DruidRead({"queryType": "scan", "dataSource": "x", "intervals": [ETERNITY]}, ())
    reducer = KeyFilter("__time", "LONG", (read,), 10)
    assert with_keys(read, reducer, [(0,), (86_400_000,)]).query["intervals"] == [
        "1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.001Z"
    ]


# --- keys that determine the day of the time ----------------------------------------------------------------------------

DAYS = Table(
    "default", "days", "files", (Column("k", BIGINT), Column("day", DATE), Column("month", INT)), True, format="orc"
)  # fmt: skip
CLICK_DAYS = {"druid.datasource": "events", TIME_REFERENCES: "clicks: days(k, day)"}
DATED: tuple[Table, ...] = (replace(events(), properties=CLICK_DAYS), DAYS, DIM)


def dated(sql: str) -> KeyFilter:
    made = bare_plan(sql, tables=DATED, rows={"ev": 1_000_000, "days": 100, "dim": 50})
    ((reducer,),) = reducers(made).values()
    return reducer


@pytest.mark.parametrize("days", ["days", "(SELECT month AS m, k AS key_ FROM days WHERE k > 3)"])
def test_the_dates_of_keys_are_read_with_them(days: str) -> None:
    key, month = ("k", "month") if days == "days" else ("key_", "m")
    reducer = dated(f"SELECT e.city FROM ev e JOIN {days} d ON e.clicks = d.{key} WHERE d.{month} = 11")
    assert reducer.has_dates
    assert isinstance(reducer.keys[0], SparkJob)
    assert [c.type for c in reducer.keys[0].columns] == [BIGINT, DATE]
    (source,) = reducer.keys[0].inputs
    assert isinstance(source, TableInput)
    assert "day" in source.columns


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT e.city FROM ev e JOIN days d ON e.imps = d.k WHERE d.month = 11",  # another column
        "SELECT e.city FROM ev e JOIN days d ON e.clicks = d.month WHERE d.k = 11",  # another key
        "SELECT e.city FROM ev e JOIN dim d ON e.clicks = d.pop WHERE d.region = 'x'",  # another table
    ],
)
def test_keys_without_dates(sql: str) -> None:
    assert not dated(sql).has_dates


def test_the_dates_of_keys_restrict_the_intervals() -> None:
    spans = ["2020-01-01T00:00:00.000Z/2020-01-03T00:00:00.000Z"]
    read = DruidRead({"queryType": "scan", "dataSource": "x", "intervals": spans}, ())
    reducer = KeyFilter("clicks", "LONG", (read,), 10, has_dates=True)

    def intervals(*days: date | None) -> object:
        return with_keys(read, reducer, list(enumerate(days))).query["intervals"]

    assert intervals(date(2020, 1, 2), date(2020, 1, 3)) == ["2020-01-02T00:00:00.000Z/2020-01-03T00:00:00.000Z"]
    assert intervals(date(2019, 12, 31), date(2020, 1, 1), date(2020, 1, 2)) == spans
    assert intervals(date(2020, 1, 2), None) == spans  # the day of a key is not known
    assert intervals(date(1999, 1, 1)) == intervals() == ["1970-01-01T00:00:00.000Z/1970-01-01T00:00:00.000Z"]
