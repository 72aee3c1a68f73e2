"""Aggregates as native JSON: distinct ones, grouping sets, grand totals, buckets, aggregators."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.druid.limits import DruidLimits
from hivedruid.druid.query import native_query
from hivedruid.errors import SemanticError
from hivedruid.plan.nodes import Aggregate
from hivedruid.plan.reasons import left_outside
from hivedruid.plan.rex import Ref
from hivedruid.plan.rules.context import merge_buffers
from hivedruid.plan.split import constant_rows, druid_read, native_queries
from tests.support.planning import is_pushed, native, plan, read


def by_name(query: dict[str, Any], part: str = "aggregations") -> dict[str, Any]:
    return {item["name"]: item for item in query[part]}


def outputs(query: dict[str, Any]) -> list[str]:
    return [d["outputName"] for d in query["dimensions"]]


# --- DISTINCT --------------------------------------------------------------------------------------------------------


def test_several_distincts_are_grouping_sets_below_filtered_aggregators() -> None:
    query = native("SELECT country, count(DISTINCT city), count(DISTINCT clicks), sum(imps) FROM ev GROUP BY country")
    inner = query["dataSource"]["query"]
    assert inner["subtotalsSpec"] == [["country", "city"], ["country", "clicks"], ["country"]]
    assert inner["aggregations"][-1] == {"type": "grouping", "name": "$g", "groupings": ["country", "city", "clicks"]}
    cities, clicks, total = query["aggregations"]
    of_set = {"type": "equals", "column": "$g", "matchValueType": "LONG"}
    assert cities["filter"]["fields"] == [
        {"type": "not", "field": {"type": "null", "column": "city"}},
        {**of_set, "matchValue": 1},
    ]
    assert clicks["filter"]["fields"][1] == {**of_set, "matchValue": 2}
    assert total["filter"] == {**of_set, "matchValue": 3}


def test_several_distincts_of_all_rows_leave_the_merge_buffers_to_the_sets() -> None:
    query = native("SELECT count(DISTINCT city), count(DISTINCT clicks) FROM ev")
    assert query["queryType"] == "timeseries"
    assert merge_buffers(query) == 2
    assert merge_buffers(native("SELECT count(DISTINCT city) FROM ev")) == 1
    sql = "SELECT country, count(DISTINCT city), count(DISTINCT clicks) FROM ev GROUP BY country"
    assert merge_buffers(native(sql)) == 3
    assert druid_read(plan(sql, limits=DruidLimits(merge_buffers=3))) is not None
    assert druid_read(plan(sql, limits=DruidLimits(merge_buffers=2))) is None


def test_one_distinct_of_all_rows_is_not_held_by_the_broker() -> None:
    """A timeseries would materialize the values, and a broker limits their number."""
    query = native("SELECT count(DISTINCT city) FROM ev")
    assert (query["queryType"], query["dimensions"]) == ("groupBy", [])


# --- grouping sets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clause", "sets"),
    [
        ("country, city WITH ROLLUP", [["country", "city"], ["country"], []]),
        ("country, city WITH CUBE", [["country", "city"], ["country"], ["city"], []]),
        ("ROLLUP(country, city)", [["country", "city"], ["country"], []]),
        ("country, city GROUPING SETS ((city, country), (country), (country))", [["country", "city"], ["country"]]),
        ("country, city GROUPING SETS ((city), ())", [["city"], []]),
    ],
)
def test_grouping_sets_are_a_subtotals_spec_each_once(clause: str, sets: list[list[str]]) -> None:
    query = native(f"SELECT country, city, sum(clicks) FROM ev GROUP BY {clause}")
    assert query["subtotalsSpec"] == sets
    assert len(query["aggregations"]) == 1


def test_grouping_id_is_an_aggregator_over_the_names_in_the_source() -> None:
    query = native(
        "SELECT upper(country), city, grouping__id, grouping(city) FROM ev GROUP BY upper(country), city WITH CUBE"
    )
    assert query["aggregations"] == [{"type": "grouping", "name": "$g", "groupings": ["vc0", "city"]}]
    assert [p["expression"] for p in query["postAggregations"]] == ['bitwiseAnd(bitwiseShiftRight("$g",0),1)']


def test_conditions_order_and_limit_are_those_of_all_sets_together() -> None:
    query = native(
        "SELECT country, count(*) c FROM ev GROUP BY country WITH ROLLUP HAVING country IS NULL AND count(*) > 3 ORDER BY country, c LIMIT 4"
    )
    assert "filter" not in query
    assert len(query["having"]["filter"]["fields"]) == 2
    # an omitted key is null even if the key never is, so the flag for nulls last is needed
    assert query["limitSpec"]["columns"][0]["dimension"] == "p0"
    assert query["limitSpec"]["limit"] == 4


def test_a_key_of_time_is_no_bucket_where_a_set_leaves_it_out() -> None:
    assert (
        native("SELECT floor_day(`__time`), count(*) FROM ev GROUP BY floor_day(`__time`) WITH ROLLUP")["queryType"]
        == "groupBy"
    )


# --- grand totals and constants --------------------------------------------------------------------------------------


def test_a_grand_total_with_having_or_offset_is_a_group_by_without_dimensions() -> None:
    for sql in ("SELECT sum(clicks) FROM ev HAVING count(*) > 3", "SELECT count(*) FROM ev LIMIT 3 OFFSET 1"):
        query = native(sql)
        assert (query["queryType"], query["dimensions"]) == ("groupBy", [])
    assert native("SELECT count(*) FROM ev LIMIT 3")["queryType"] == "timeseries"


def test_a_constant_key_makes_a_group_only_where_there_are_rows() -> None:
    query = native("SELECT 'x', count(*) FROM ev GROUP BY 'x'")
    assert (query["queryType"], query["context"]) == ("timeseries", {"skipEmptyBuckets": True})
    assert native("SELECT count(*) FROM ev")["context"] == {"skipEmptyBuckets": False}
    assert outputs(native("SELECT 'x', country, count(*) FROM ev GROUP BY 'x', country")) == ["country"]


def test_limit_0_asks_for_nothing() -> None:
    assert constant_rows(plan("SELECT country FROM ev LIMIT 0")) == ()
    assert constant_rows(plan("SELECT count(*), sum(clicks) FROM (SELECT * FROM ev LIMIT 0) x")) == ((0, None),)


# --- buckets of time -------------------------------------------------------------------------------------------------


def test_a_date_is_the_bucket_of_a_day() -> None:
    made = read("SELECT CAST(`__time` AS DATE), count(*) FROM ev GROUP BY CAST(`__time` AS DATE)")
    assert made.query["granularity"] == {"type": "period", "period": "P1D", "timeZone": "UTC"}


def test_what_is_computed_with_a_bucket_reads_the_earliest_time_of_its_rows() -> None:
    sql = "SELECT CAST(`__time` AS DATE) d, count(*) FROM ev GROUP BY CAST(`__time` AS DATE) ORDER BY d DESC LIMIT 3"
    query = native(sql, "US/Pacific")
    assert (query["queryType"], query["descending"], query["limit"]) == ("timeseries", True, 3)
    assert query["granularity"]["timeZone"] == "US/Pacific"
    assert query["aggregations"][0] == {"type": "longMin", "name": "$t", "fieldName": "__time"}
    assert "timestamp_format(\"$t\",'yyyy-MM-dd','US/Pacific')" in query["postAggregations"][0]["expression"]
    months = native("SELECT year(floor_month(`__time`)), count(*) FROM ev GROUP BY floor_month(`__time`)")
    assert months["postAggregations"][0]["expression"].startswith("timestamp_extract(timestamp_floor(\"$t\",'P1M'")


@pytest.mark.parametrize(
    ("zone", "unit", "bounded"),
    [
        ("US/Pacific", "hour", "timeseries"),  # no whole hours before 1883
        ("Europe/Berlin", "day", "timeseries"),  # midnights were moved in the forties
        ("Asia/Kolkata", "month", "timeseries"),
        ("America/Havana", "day", "groupBy"),  # until today
    ],
)
def test_clock_changes_outside_of_the_interval_do_not_matter(zone: str, unit: str, bounded: str) -> None:
    """The first time is never certain: without a bound the zone's whole history is considered."""
    form = f"SELECT floor_{unit}(`__time`), count(*) FROM ev {{}} GROUP BY floor_{unit}(`__time`)"
    assert native(form.format(""), zone)["queryType"] == "groupBy"
    assert native(form.format("WHERE `__time` < '2021-01-01'"), zone)["queryType"] == "groupBy"
    assert native(form.format("WHERE `__time` >= '1990-01-01'"), zone)["queryType"] == bounded


def test_rows_in_the_order_of_time_are_in_that_of_its_floors() -> None:
    assert native("SELECT floor_month(`__time`) m FROM ev ORDER BY m DESC LIMIT 2")["order"] == "descending"
    assert not is_pushed("SELECT floor_month(`__time`) m, clicks FROM ev ORDER BY m, clicks")
    assert not is_pushed(
        "SELECT CAST(`__time` AS TIMESTAMP) m FROM ev ORDER BY m", "US/Pacific"
    )  # an hour occurs twice


# --- aggregators -----------------------------------------------------------------------------------------------------


def test_an_average_shares_its_sum_and_count() -> None:
    query = native(
        "SELECT avg(imps), sum(imps), count(imps), avg(revenue), sum(revenue), sum(imps + 1), avg(imps + 1) FROM ev"
    )
    assert [a["name"] for a in query["aggregations"]] == [
        "$f0:sum", "$f0:count", "$f3:sum", "$f3:count", "$f5", "$f6:count",
    ]  # fmt: skip
    assert len(query["virtualColumns"]) == 1
    assert by_name(query, "postAggregations")["$f0"]["expression"] == '(CAST("$f0:sum",\'DOUBLE\') / "$f0:count")'


def test_only_what_is_asked_for_is_aggregated() -> None:
    query = native(
        "SELECT country FROM (SELECT country, sum(clicks) s, max(imps) m FROM ev GROUP BY country) x WHERE s > 3"
    )
    assert [a["fieldName"] for a in query["aggregations"]] == ["clicks"]


def test_the_greatest_text_is_folded_in_the_order_of_code_points() -> None:
    query = native("SELECT country, max(city) m FROM ev GROUP BY country HAVING max(city) > 'x'")
    (greatest,) = query["aggregations"]
    assert greatest["fields"] == ["vc0"]
    assert greatest["fold"] == 'case_searched(isnull("vc0"), __acc, isnull(__acc) || ("vc0" > __acc), "vc0", __acc)'
    assert greatest["combine"].count('"$f1:max"') == 3
    assert query["virtualColumns"][0]["expression"].startswith('regexp_replace("city"')
    assert query["postAggregations"][0]["expression"] == "replace(\"$f1:max\",'\\uFFFF','')"


@pytest.mark.parametrize(("call", "start"), [("bit_and", "-1"), ("bit_or", "0"), ("bit_xor", "0")])
def test_bits_are_folded_over_what_is_not_null(call: str, start: str) -> None:
    rows, bits = native(f"SELECT {call}(clicks) FROM ev")["aggregations"]
    assert rows["filter"] == bits["filter"] == {"type": "not", "field": {"type": "null", "column": "clicks"}}
    assert (bits["aggregator"]["initialValue"], bits["aggregator"]["isNullUnlessAggregated"]) == (start, False)


def test_variances_share_their_moments() -> None:
    query = native("SELECT var_pop(clicks), stddev_samp(clicks), variance(clicks) FROM ev")
    assert [a["name"] for a in query["aggregations"]] == ["$f0:moments"]
    assert by_name(query, "postAggregations")["$f1"]["expression"].startswith(
        'case_searched(array_offset("$f0:moments",0) > 1,sqrt('
    )
    assert not is_pushed("SELECT corr(clicks, imps) FROM ev")


def test_the_least_of_what_may_be_nan_is_that_of_numbers() -> None:
    query = native("SELECT min(asin(revenue)) FROM ev")
    assert [a["name"] for a in query["aggregations"]] == ["$f0:max", "$f0:min"]
    assert query["postAggregations"][0]["expression"] == 'nvl("$f0:min","$f0:max")'
    assert native("SELECT min(revenue) FROM ev")["aggregations"][0]["type"] == "doubleMin"


def test_an_approximate_count_needs_sketches() -> None:
    sql = "SELECT country, approx_distinct(city) FROM ev GROUP BY country"
    (sketch,) = native(sql)["aggregations"]
    assert (sketch["type"], sketch["fieldName"]) == ("HLLSketchBuild", "vc0")
    without = plan(sql, limits=DruidLimits(sketches=False))
    assert [left.reason for left in left_outside(without)] == ["Druid has not loaded the extension druid-datasketches"]


# --- over limited queries --------------------------------------------------------------------------------------------


def test_a_condition_on_what_a_limit_left_is_a_query_above() -> None:
    query = native(
        "SELECT * FROM (SELECT country, sum(clicks) s FROM ev GROUP BY country ORDER BY s DESC LIMIT 10) x WHERE s > 10"
    )
    assert (query["queryType"], query["filter"]["column"]) == ("groupBy", "$f1")
    assert query["dataSource"]["query"]["limitSpec"]["limit"] == 10
    query = native("SELECT * FROM (SELECT country, clicks FROM ev LIMIT 10) x WHERE clicks > 10")
    assert (query["queryType"], query["dataSource"]["query"]["queryType"]) == ("scan", "scan")
    assert query["dataSource"]["query"]["columnTypes"] == ["STRING", "LONG"]


def test_rows_that_the_broker_does_not_hold_are_not_asked_again() -> None:
    for sql in (
        "SELECT * FROM (SELECT country, clicks FROM ev LIMIT 1000000) x WHERE clicks > 10",
        "SELECT count(*) FROM (SELECT clicks FROM ev LIMIT 1000000) x",
    ):
        assert not is_pushed(sql)
        assert "a subquery with more than 100000 rows" in [left.reason for left in left_outside(plan(sql))]


def test_times_of_an_inner_scan_have_another_name() -> None:
    """Small numbers are returned to the broker as Integers, which it does not accept for a `__time`."""
    inner = native("SELECT max(`__time`) FROM (SELECT `__time` FROM ev LIMIT 10) x")["dataSource"]["query"]
    assert inner["columns"] == ["$time"]


def test_the_total_of_grouping_sets_is_asked_again_over_no_rows() -> None:
    asked = read(
        "SELECT country, count(*), grouping(country), coalesce(country, 'all') FROM ev GROUP BY ROLLUP(country)"
    )
    assert asked.query["queryType"] == "groupBy"
    assert asked.over_nothing is not None
    assert asked.over_nothing.query["queryType"] == "timeseries"
    assert [f.type for f in asked.over_nothing.fields] == [f.type for f in asked.fields]


def test_having_decides_over_the_total_of_no_rows_too() -> None:
    passing = read("SELECT country, count(*) FROM ev GROUP BY ROLLUP(country) HAVING country IS NULL AND count(*) < 3")
    assert passing.over_nothing is not None
    assert passing.over_nothing.query["dataSource"]["query"]["queryType"] == "timeseries"
    assert read("SELECT country, count(*) FROM ev GROUP BY ROLLUP(country) HAVING country = 'US'").over_nothing is None
    assert read("SELECT country, count(*) FROM ev GROUP BY GROUPING SETS ((country), (city))").over_nothing is None


TOTALS = "(SELECT country, count(*) AS c FROM evt GROUP BY country WITH ROLLUP{}) x"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT count(*) FROM {TOTALS.format('')}",
        f"SELECT c FROM {TOTALS.format(' ORDER BY c LIMIT 5')} WHERE c >= 0",
        f"SELECT c FROM {TOTALS.format('')} WHERE country IN (SELECT country FROM ev) OR country IS NULL",
        f"SELECT t.city, x.c FROM ev t LEFT JOIN {TOTALS.format('')} ON t.country <=> x.country",
    ],
)
def test_no_native_query_has_the_total_inside_which_druid_leaves_out(sql: str) -> None:
    made = plan(sql, rows={"ev": 1000, "evt": 50})
    read_whole = druid_read(made)
    assert read_whole is None or "subtotalsSpec" not in json.dumps(read_whole.query)
    inner = [query for query in native_queries(made.node) if query.grouping_sets is not None]
    assert [native_query(query, "UTC").over_nothing is not None for query in inner] == [True]


def test_grouping_sets_contain_only_the_keys_before_them() -> None:
    with pytest.raises(SemanticError, match="an expression in GROUPING SETS must be a key of GROUP BY"):
        plan("SELECT country, count(*) FROM ev GROUP BY country, city GROUPING SETS ((1), (city))")


@pytest.mark.parametrize(
    ("group", "sets"),
    [
        ("country, CUBE(country, city)", {("country", "city"), ("country",)}),
        ("country, ROLLUP(country, city)", {("country", "city"), ("country",)}),
        ("country, ROLLUP(city, country)", {("country", "city"), ("country",)}),
        ("country, city, CUBE(country)", {("country", "city")}),
        ("country, GROUPING SETS ((country), (city), ())", {("country",), ("country", "city")}),
        ("country, city WITH ROLLUP", {("country", "city"), ("country",), ()}),
        ("ROLLUP(country, city)", {("country", "city"), ("country",), ()}),
    ],
)
def test_a_key_beside_grouping_sets_is_in_each_of_them(group: str, sets: set[tuple[str, ...]]) -> None:
    node = plan(f"SELECT country, count(*) FROM ev GROUP BY {group}", rules=()).node
    (aggregate,) = [each for each in node.walk() if isinstance(each, Aggregate)]
    assert aggregate.grouping_sets is not None
    keys = [key.id for key in aggregate.keys if isinstance(key, Ref)]
    assert {tuple(sorted((keys[i] for i in each), reverse=True)) for each in aggregate.grouping_sets} == {
        tuple(sorted(each, reverse=True)) for each in sets
    }
