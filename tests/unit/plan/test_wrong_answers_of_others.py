"""Queries for which Hive 4.0 (HiveDruidRules) and Calcite's Druid adapter return wrong results or crash: our plans.

The results of Hive's queries are in tests/q/hive_wrong_answers.q.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.planning import ETERNITY, is_pushed, native, plan, read, residual, where


def expressions(sql: str, zone: str = "UTC") -> list[str]:
    return [v["expression"] for v in native(sql, zone).get("virtualColumns", [])]


# --- Hive ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ["clicks NOT BETWEEN 2 AND 4", "NOT (clicks BETWEEN 2 AND 4)"])
def test_hive_1_the_negation_of_between_is_kept(condition: str) -> None:
    _, found = where(condition)
    assert found == {
        "type": "not",
        "field": {"type": "range", "column": "clicks", "matchValueType": "LONG", "lower": 2, "upper": 4},
    }


def test_hive_1_two_open_bounds_under_or_are_not_between() -> None:
    _, found = where("clicks < 2 OR clicks > 4")
    assert found is not None
    assert [found["type"], *(sorted(f) for f in found["fields"])] == [
        "or", ["column", "matchValueType", "type", "upper", "upperOpen"], ["column", "lower", "lowerOpen", "matchValueType", "type"],
    ]  # fmt: skip
    having = native("SELECT country FROM ev GROUP BY country HAVING count(*) NOT BETWEEN 2 AND 4")["having"]["filter"]
    assert having["type"] == "not"
    assert len(where("`__time` < '2020-01-01' OR `__time` > '2021-01-01'")[0]) == 2


def test_hive_2_floor_between_includes_the_last_bucket() -> None:
    found, _ = where("floor_day(`__time`) BETWEEN '2020-01-01' AND '2020-01-03'")
    assert found == ["2020-01-01T00:00:00.000Z/2020-01-04T00:00:00.000Z"]


def test_hive_3_no_branch_of_an_or_is_dropped() -> None:
    found, rest = where("`__time` < '2020-01-01' OR hour(`__time`) = 3")
    assert found == [ETERNITY]
    assert rest is not None
    assert len(rest["fields"]) == 2


def test_hive_4_every_column_may_be_selected() -> None:
    assert len(native("SELECT * FROM ev")["columns"]) == len(plan("SELECT * FROM ev").columns)


@pytest.mark.parametrize("condition", ["country <> 'a'", "country NOT IN ('a', 'b')", "country NOT LIKE 'a%'"])
def test_hive_6_negations_are_nots_with_three_truth_values(condition: str) -> None:
    """Druid's `not` filter is not true for nulls (SQL null logic, the only one since Druid 32)."""
    _, found = where(condition)
    assert found is not None
    assert found["type"] == "not"


def test_hive_7_sum_distinct_is_no_plain_sum() -> None:
    query = native("SELECT sum(DISTINCT clicks) FROM ev")
    assert query["dataSource"]["query"]["queryType"] == "groupBy"
    assert "aggregations" not in query["dataSource"]["query"]


def test_hive_8_casts_do_not_vanish() -> None:
    assert (
        "timestamp_format"
        in expressions("SELECT CAST(`__time` AS string), count(*) FROM ev GROUP BY CAST(`__time` AS string)")[0]
    )
    assert expressions("SELECT CAST(revenue AS bigint), CAST(country AS varchar(2)) FROM ev") == [
        "CAST(\"revenue\",'LONG')",
        r"""regexp_extract("country",'^([\u005cs\u005cS]{0,2})',1)""",
    ]
    assert "round" in expressions("SELECT CAST(revenue AS decimal(10,2)) FROM ev")[0]
    assert "DECIMAL(20,2)" in residual("SELECT CAST(revenue AS decimal(20,2)) FROM ev").sql


def test_hive_9_the_date_of_a_plain_timestamp_is_not_moved_by_the_zone() -> None:
    (text,) = expressions("SELECT CAST(`__time` AS date) FROM evt", "US/Pacific")
    assert text == "timestamp_floor(\"__time\",'P1D',null,'UTC')"
    assert where("CAST(`__time` AS timestamp) >= '2020-01-01'")[0][0].startswith("2020-01-01T00:00:00.000Z/")


def test_hive_10_one_conjunct_without_interval_leaves_the_others_theirs() -> None:
    found, rest = where("`__time` >= '2020-01-01' AND `__time` < '2020-02-01' AND hour(`__time`) = 3")
    assert found == ["2020-01-01T00:00:00.000Z/2020-02-01T00:00:00.000Z"]
    assert rest is not None


def test_hive_11_lists_and_ranges_of_years_are_intervals() -> None:
    assert len(where("year(`__time`) IN (2018, 2020)")[0]) == 2
    assert where("year(`__time`) BETWEEN 2018 AND 2019")[0] == ["2018-01-01T00:00:00.000Z/2020-01-01T00:00:00.000Z"]


def test_hive_13_decimal_post_aggregations_are_not_planned() -> None:
    """Beyond 15 digits: the value of a DOUBLE is read as the decimal that it represents."""
    assert not is_pushed("SELECT CAST(sum(clicks) AS decimal(18,2)) FROM ev")
    assert is_pushed("SELECT CAST(sum(clicks) AS decimal(10,2)) FROM ev")


def test_hive_14_unix_timestamp_with_a_format_quotes_it_once() -> None:
    (text,) = expressions("SELECT unix_timestamp(country, 'yyyy-MM-dd') FROM ev")
    assert "''" not in text
    assert text.startswith('div(case_searched(regexp_like("country",\'^(?:')
    assert not is_pushed("SELECT unix_timestamp(country, 'MMM yyyy') FROM ev")


def test_hive_15_adjacent_literals_are_one_text() -> None:
    assert where("country = 'O''Brien'")[1] == {
        "type": "equals",
        "column": "country",
        "matchValueType": "STRING",
        "matchValue": "OBrien",
    }


# --- Calcite -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    ["month(`__time`) = 6", "quarter(`__time`) = 2", "dayofweek(`__time`) = 1", "floor_week(`__time`) = '2020-01-06'"],
)
def test_calcite_a1_an_or_reads_what_either_side_reads(part: str) -> None:
    found, rest = where(f"`__time` < '2020-01-01' OR {part}")
    if part.startswith("floor"):
        assert (len(found), rest) == (2, None)
    else:
        assert (found, rest is not None) == ([ETERNITY], True)


def test_calcite_a3_the_afternoon_is_no_day() -> None:
    assert where("floor_day(`__time`) = '2020-01-01 12:00:00'")[1] == {"type": "false"}
    assert where("floor_day(`__time`) < '2020-01-01 15:00:00'")[0][0].endswith("/2020-01-02T00:00:00.000Z")


@pytest.mark.parametrize("form", ["`__time` {} '2020-01-01'", "`__time` {} timestamp '2020-01-01 00:00:00'", "`__time` {} date '2020-01-01'",
                                  "floor_day(`__time`) {} '2020-01-01'"])  # fmt: skip
def test_calcite_a4_every_comparison_of_a_zoned_time_uses_the_same_zone(form: str) -> None:
    assert where(form.format(">="), "US/Pacific")[0][0].startswith("2020-01-01T08:00:00.000Z/")
    assert where(form.format("="), "US/Pacific")[0][0].startswith("2020-01-01T08:00:00.000Z/")


def test_calcite_a5_null_checks_are_functions_not_comparisons() -> None:
    assert expressions("SELECT (clicks + 1) IS NULL, coalesce(country, 'x') FROM ev") == [
        'isnull(("clicks" + 1))',
        "coalesce(\"country\",'x')",
    ]
    (count,) = native("SELECT count(clicks + 1) FROM ev")["aggregations"]
    assert count["filter"] == {"type": "not", "field": {"type": "null", "column": "vc0"}}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("is_mobile IS NOT TRUE", {"type": "not", "field": {"type": "istrue", "field": {"type": "equals", "column": "is_mobile", "matchValueType": "LONG", "matchValue": 1}}}),
        ("NOT (country <=> 'a')", {"type": "not", "field": {"type": "istrue", "field": {"type": "equals", "column": "country", "matchValueType": "STRING", "matchValue": "a"}}}),
    ],
)  # fmt: skip
def test_calcite_a6_null_safe_conditions_keep_nulls(condition: str, expected: dict[str, Any]) -> None:
    assert where(condition)[1] == expected


def test_calcite_a7_null_orders_differ() -> None:
    sql = "SELECT country, sum(clicks) s FROM ev GROUP BY country ORDER BY s {} LIMIT 3"
    orders = {
        json.dumps(native(sql.format(o))["limitSpec"])
        for o in ("NULLS FIRST", "NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST")
    }
    assert len(orders) == 4


def test_calcite_a9_a_time_compared_as_text_is_formatted() -> None:
    assert where("CAST(`__time` AS string) >= '1997'") == (["1997-01-01T00:00:00.000Z/" + ETERNITY.split("/")[1]], None)
    query = native("SELECT clicks FROM ev WHERE CAST(`__time` AS string) LIKE '1997%'")
    assert query["filter"]["type"] == "like"
    assert "timestamp_format" in query["virtualColumns"][0]["expression"]


def test_calcite_a11_sunday_is_the_first_day() -> None:
    assert expressions("SELECT dayofweek(`__time`) FROM evt") == [
        "((timestamp_extract(\"__time\",'DOW','UTC') % 7) + 1)"
    ]


def test_calcite_a12_all_time_is_druids_eternity() -> None:
    assert native("SELECT clicks FROM ev")["intervals"] == [ETERNITY]
    assert where("`__time` >= '2020-01-01'")[0][0].endswith(ETERNITY.split("/")[1])


def test_calcite_a13_booleans_come_back_as_booleans_and_sort_as_numbers() -> None:
    made = read("SELECT is_mobile, count(*) FROM ev GROUP BY is_mobile ORDER BY is_mobile, count(*) LIMIT 3")
    assert [str(f.type) for f in made.fields] == ["boolean", "bigint"]
    assert {c["dimensionOrder"] for c in made.query["limitSpec"]["columns"]} == {"numeric"}


@pytest.mark.parametrize(("start", "guard"), [("0", "> 0"), ("1", "> 0"), ("-2", ">= 2")])
def test_calcite_a15_substring_never_starts_before_the_text(start: str, guard: str) -> None:
    (text,) = expressions(f"SELECT substring(country, {start}, 2) FROM ev")
    assert text.startswith(f'case_searched(strlen("country") {guard},')


def test_calcite_a16_count_distinct_is_exact() -> None:
    text = json.dumps(native("SELECT count(DISTINCT country) FROM ev"))
    assert not [word for word in ("cardinality", "hyperUnique", "Sketch") if word in text]


CRASHES_OF_CALCITE = [
    "SELECT CASE WHEN clicks > 1 THEN 1 END, nullif(country, 'a'), trim(country), round(revenue) FROM ev",
    "SELECT clicks FROM ev WHERE year(`__time`) = 2020 AND month(`__time`) = 1 AND day(`__time`) = 2 AND hour(`__time`) = 15",
    "SELECT clicks FROM ev WHERE floor_week(`__time`) = '2020-01-06' OR floor_quarter(`__time`) = '2020-01-01'",
    "SELECT count(DISTINCT lower(country)) FROM ev",
    "SELECT count(DISTINCT floor_day(`__time`)) FROM ev",
    "SELECT count(DISTINCT country, city) FROM ev",
    "SELECT country, CAST(country AS varchar(2)), count(*) FROM ev GROUP BY country, CAST(country AS varchar(2))",
    "SELECT count(*) FILTER (WHERE clicks = 1 OR clicks = 3) FROM ev",
    "SELECT revenue * 1e10 FROM ev",
]


@pytest.mark.parametrize("sql", CRASHES_OF_CALCITE)
def test_calcite_b_what_crashed_is_pushed_whole(sql: str) -> None:
    text = json.dumps(native(sql))
    for wrong in (",'',", "E+", "e+"):  # empty origins and patterns, exponents with a plus: Druid rejects them
        assert wrong not in text


def test_calcite_b_two_keys_never_share_an_output_name() -> None:
    sql = "SELECT country, CAST(country AS varchar(2)), upper(country) FROM ev GROUP BY country, CAST(country AS varchar(2)), upper(country)"
    names = [d["outputName"] for d in native(sql)["dimensions"]]
    assert len(set(names)) == 3


def test_calcite_c_long_lists_are_in_filters() -> None:
    items = ", ".join(f"'{n}'" for n in range(500))
    _, found = where(f"country NOT IN ({items})")
    assert found is not None
    assert len(found["field"]["values"]) == 500
