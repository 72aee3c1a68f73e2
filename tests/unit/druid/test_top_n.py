"""When a topN is used instead of a groupBy with a limit: only if it is exact, and not slower."""

from __future__ import annotations

import pytest

from tests.support.planning import native

MONTH = "SELECT month(`__time`) m, count(*) c, sum(clicks) s, sum(revenue) r FROM ev GROUP BY month(`__time`)"


def test_by_a_count_over_a_key_of_few_values() -> None:
    query = native(f"{MONTH} ORDER BY c DESC LIMIT 3")
    assert query["queryType"] == "topN"
    assert query["metric"] == {"type": "numeric", "metric": "$f1"}
    assert query["threshold"] == 3
    assert query["context"] == {"minTopNThreshold": 1000}  # each segment returns all possible values


def test_upwards_it_is_inverted() -> None:
    query = native(f"{MONTH} ORDER BY c LIMIT 3")
    assert query["metric"] == {"type": "inverted", "metric": {"type": "numeric", "metric": "$f1"}}


@pytest.mark.parametrize(
    ("order", "type_"),
    [
        ("s DESC NULLS LAST LIMIT 3", "topN"),
        ("s DESC NULLS FIRST LIMIT 3", "groupBy"),  # a topN sorts null aggregates last
        ("s LIMIT 3", "topN"),
        ("s ASC NULLS FIRST LIMIT 3", "groupBy"),
        ("r DESC NULLS LAST LIMIT 3", "groupBy"),  # for doubles a topN and Hive order NaN and -0.0 differently
        ("c DESC, m LIMIT 3", "groupBy"),
        ("c DESC LIMIT 3 OFFSET 2", "groupBy"),
        ("c DESC LIMIT 1001", "groupBy"),
        ("c DESC", "groupBy"),
        ("c + s LIMIT 2", "groupBy"),
    ],
)
def test_the_order_decides(order: str, type_: str) -> None:
    assert native(f"{MONTH} ORDER BY {order}")["queryType"] == type_


@pytest.mark.parametrize(
    ("key", "type_"),
    [
        ("CASE WHEN clicks > 3 THEN 'many' WHEN clicks > 1 THEN 'few' END", "topN"),
        ("clicks > 3", "topN"),
        ("hour(`__time`)", "topN"),
        ("country", "groupBy"),
        ("is_mobile", "groupBy"),
        ("upper(country)", "groupBy"),
        ("year(`__time`)", "groupBy"),
        ("CASE WHEN clicks > 3 THEN country ELSE 'few' END", "groupBy"),
    ],
)
def test_the_key_decides(key: str, type_: str) -> None:
    assert native(f"SELECT {key}, count(*) c FROM ev GROUP BY {key} ORDER BY c DESC LIMIT 2")["queryType"] == type_


def test_a_column_as_it_is_stored_is_grouped_even_where_a_filter_enumerates_it() -> None:
    """groupBy is vectorized there, and faster."""
    sql = "SELECT country, count(*) c FROM ev WHERE country IN ('US', 'DE') GROUP BY country ORDER BY c DESC LIMIT 1"
    assert native(sql)["queryType"] == "groupBy"
    upper = "SELECT upper(country), count(*) c FROM ev WHERE upper(country) IN ('US', 'DE') GROUP BY upper(country) ORDER BY c DESC LIMIT 1"
    assert native(upper)["queryType"] == "topN"


def test_conditions_on_groups_and_values_made_of_the_key_need_a_group_by() -> None:
    having = (
        "SELECT month(`__time`) m, count(*) c FROM ev GROUP BY month(`__time`) HAVING count(*) > 1 ORDER BY c LIMIT 2"
    )
    assert native(having)["queryType"] == "groupBy"
    computed = "SELECT month(`__time`) + 1 m, count(*) c FROM ev GROUP BY month(`__time`) ORDER BY c LIMIT 2"
    assert native(computed)["queryType"] == "groupBy"


def test_over_another_query_its_rows_would_be_materialised() -> None:
    inner = "SELECT country, sum(clicks) s FROM ev GROUP BY country"
    sql = f"SELECT s > 3, count(*) c FROM ({inner}) x GROUP BY s > 3 ORDER BY c DESC LIMIT 1"
    assert native(sql)["queryType"] == "groupBy"
