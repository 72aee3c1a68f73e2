"""Estimates of rows from statistics, and the bounds for any data."""

from __future__ import annotations

import pytest

from hivedruid.catalog.statistics import ColumnStatistics, TableStatistics
from hivedruid.plan.bounds import bounded_values
from hivedruid.plan.nodes import DruidQuery
from hivedruid.plan.statistics import Statistics, estimate_groups, estimate_rows
from tests.support.planning import plan

DAY = 86_400_000
START = 1_704_067_200_000  # 2024-01-01
EVENTS = TableStatistics(
    10_000, 1 << 20, START, START + 100 * DAY,
    {"country": ColumnStatistics(20), "city": ColumnStatistics(500), "clicks": ColumnStatistics(100)},
)  # fmt: skip
KNOWN: Statistics = {
    ("default", "ev"): EVENTS,
    ("default", "evt"): EVENTS,
    ("default", "dim"): TableStatistics(200, columns={"country": ColumnStatistics(200)}),
}


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT clicks FROM ev", 10_000),
        ("SELECT clicks FROM ev LIMIT 7", 7),
        ("SELECT count(*) FROM ev", 1),
        ("SELECT clicks FROM ev WHERE country = 'US'", 500),
        ("SELECT clicks FROM ev WHERE country IN ('US', 'DE')", 1_000),
        ("SELECT clicks FROM ev WHERE NOT country = 'US'", 9_500),
        ("SELECT clicks FROM ev WHERE country = 'US' AND city = 'Oslo'", 1),
        ("SELECT clicks FROM ev WHERE clicks > 5", 3_333),
        ("SELECT clicks FROM evt WHERE `__time` < '2024-01-11 00:00:00'", 1_000),
        ("SELECT clicks FROM evt WHERE `__time` < '2024-01-11 00:00:00' AND country = 'US'", 50),
        ("SELECT clicks FROM evt WHERE `__time` < '1999-01-01 00:00:00'", 0),
        ("SELECT country, count(*) FROM ev GROUP BY country", 20),
        ("SELECT country, clicks, count(*) FROM ev GROUP BY country, clicks", 2_000),
        ("SELECT country, city, count(*) FROM ev GROUP BY country, city", 10_000),
        ("SELECT upper(country), count(*) FROM ev GROUP BY upper(country)", 20),
        ("SELECT count(*) FROM evt GROUP BY floor_day(`__time`)", 100),
        ("SELECT count(*) FROM evt GROUP BY month(`__time`)", 13),
        ("SELECT is_mobile, imps, count(*) FROM ev GROUP BY is_mobile, imps", 10_000),
        ("SELECT country, count(*) FROM ev GROUP BY country ORDER BY country LIMIT 5", 5),
        ("SELECT c, count(*) FROM (SELECT country, count(*) c FROM ev GROUP BY country) x GROUP BY c", 2),
        ("SELECT clicks FROM ev UNION ALL SELECT clicks FROM evt", 20_000),
        ("SELECT e.clicks FROM ev e JOIN dim d ON e.country = d.country", 9_000),
        ("SELECT e.clicks FROM ev e LEFT JOIN dim d ON e.country = d.country AND d.region = 'x'", 10_000),
        ("SELECT region FROM dim", 200),
    ],
)
def test_rows_are_estimated_from_statistics(sql: str, rows: int) -> None:
    assert estimate_rows(plan(sql).node, KNOWN) == rows


def test_nothing_is_estimated_of_an_unknown_table() -> None:
    assert estimate_rows(plan("SELECT clicks FROM ev WHERE country = 'US'").node, {}) is None
    assert estimate_rows(plan("SELECT clicks FROM ev LIMIT 3").node, {}) == 3
    assert estimate_rows(plan("SELECT e.clicks FROM ev e JOIN dim d ON e.city = d.region").node, {}) is None


def test_what_is_not_analysed_is_a_tenth() -> None:
    rough = {("default", "ev"): TableStatistics(10_000)}
    assert estimate_rows(plan("SELECT clicks FROM ev WHERE country = 'US'").node, rough) == 1_000
    assert estimate_rows(plan("SELECT country, count(*) FROM ev GROUP BY country").node, rough) == 1_000


def test_groups_over_a_node() -> None:
    node = plan("SELECT country, clicks FROM ev").node
    country, clicks = (c.ref for c in node.columns)
    assert estimate_groups((country,), node, KNOWN) == 20
    assert estimate_groups((country, clicks), node, KNOWN) == 2_000


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("month(`__time`)", 13),
        ("hour(`__time`)", 25),
        ("clicks > 3", 3),
        ("CASE WHEN clicks > 3 THEN 'a' WHEN clicks > 1 THEN 'b' END", 3),
        ("CASE WHEN clicks > 3 THEN 'a' ELSE 'b' END", 2),
        ("CASE WHEN clicks > 3 THEN country ELSE 'b' END", None),
        ("country", None),
        ("is_mobile", None),
        ("year(`__time`)", None),
        ("clicks + 1", None),
    ],
)
def test_some_expressions_have_few_values_in_any_data(key: str, values: int | None) -> None:
    node = plan(f"SELECT {key}, count(*) FROM ev GROUP BY {key}").node
    assert isinstance(node, DruidQuery)
    assert bounded_values(node.keys[0], node.filter) == values


def test_a_filter_may_enumerate_the_values() -> None:
    node = plan("SELECT country, count(*) FROM ev WHERE country IN ('US', 'DE') AND clicks > 3 GROUP BY country").node
    assert isinstance(node, DruidQuery)
    assert bounded_values(node.keys[0], node.filter) == 2
