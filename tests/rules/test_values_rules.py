"""Constant rows in a query are one list, in whatever form they are written."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hivedruid.plan.split import constant_rows
from tests.rules.test_rules import expect, expect_not
from tests.support.planning import native, plan


def test_values_merge_takes_a_union_of_constants() -> None:
    expect(
        "SELECT e.city, v.r FROM ev e JOIN (SELECT 1 AS k, 'a' AS r UNION ALL SELECT 2, 'b') v ON e.imps = v.k",
        "values_merge",
        """
        Project(city=[city], r_1=[r_1])
          Join(type=[inner], condition=[(imps = k_1)])
            TableScan(table=[default.ev], columns=[city, imps])
            Values(rows=[2])
        """,
    )


def test_join_values_takes_what_is_computed_of_constants() -> None:
    expect(
        "SELECT e.city, v.r FROM ev e JOIN"
        " (SELECT pos + 1 AS k, x AS r FROM (SELECT posexplode(split('a,b', ',')) AS (pos, x)) p) v ON e.imps = v.k",
        "values_merge join_values",
        """
        Project(city=[city], x=[x])
          Join(type=[inner], condition=[(imps = k)])
            TableScan(table=[default.ev], columns=[city, imps])
            Values(rows=[2])
        """,
    )


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL", ((1, "x"), (2, None))),
        ("SELECT 1 AS a UNION ALL SELECT 2.5", ((Decimal("1.0"),), (Decimal("2.5"),))),
        ("SELECT explode(array(3, 1))", ((3,), (1,))),
        ("SELECT posexplode(split(space(2), ' '))", ((0, ""), (1, ""), (2, ""))),
        ("SELECT a, b FROM (SELECT 5 AS a) x LATERAL VIEW explode(array(a, a + 1)) y AS b", ((5, 5), (5, 6))),
    ],
)
def test_a_query_of_constant_rows_needs_no_engine(sql: str, rows: tuple[tuple[object, ...], ...]) -> None:
    assert constant_rows(plan(sql)) == rows


@pytest.mark.parametrize(
    "rows",
    [
        "SELECT explode(array(rand(), 0.5e0)) AS k",
        "SELECT explode(split('a.b', '.')) AS k",  # a pattern
    ],
)
def test_values_merge_leaves_alone_what_is_not_certain(rows: str) -> None:
    expect_not(f"SELECT e.city FROM ev e JOIN ({rows}) v ON e.city = v.k", "values_merge")


def test_a_left_only_term_of_a_left_join_guards_the_key() -> None:
    sql = "SELECT e.city, x.s FROM ev e LEFT JOIN (SELECT country, sum(clicks) s FROM evt GROUP BY country) x"
    source = native(f"{sql} ON e.country = x.country AND e.clicks > 5")["dataSource"]
    assert source["joinType"] == "LEFT"
    assert source["condition"] == '(case_searched(("clicks" > 5),"country") == "j0.country")'


def test_join_one_row_puts_its_constants_in_the_place_of_columns() -> None:
    expect(
        "WITH p AS (SELECT INTERVAL '3' MONTH AS i, 5 AS n) SELECT city, n FROM evt JOIN p ON clicks > p.n WHERE `__time` > current_timestamp - p.i",
        "values_merge join_values filter_into_join filter_join_merge filter_project_transpose join_one_row",
        """
        Project(city=[city], n=[n])
          Project(__time=[__time], city=[city], clicks=[clicks], i=[(3, 0)], n=[5])
            Filter(condition=[(__time > '2025-10-15 10:30:00')])
              Filter(condition=[(clicks > 5)])
                TableScan(table=[default.evt], columns=[__time, city, clicks])
        """,
    )
    for sql in (
        "SELECT city, n FROM ev LEFT JOIN (SELECT 5 AS n) p ON clicks > p.n",  # a row without a match is kept
        "SELECT city, n FROM ev JOIN (VALUES (5), (6)) AS p(n) ON clicks > p.n",
        "SELECT city, n FROM ev JOIN (SELECT rand() AS n) p ON clicks > p.n",
    ):
        expect_not(sql, "values_merge join_values join_one_row")


def test_scalar_of_constants_is_the_constant() -> None:
    expect(
        "WITH p AS (SELECT date_sub(current_date, 7) AS d) SELECT city, (SELECT d FROM p) FROM evt WHERE `__time` >= (SELECT d FROM p) + INTERVAL '1' DAY",
        "scalar_of_constants",
        """
        Project(city=[city], _c1=['2026-01-08'])
          Filter(condition=[(__time >= '2026-01-09 00:00:00')])
            TableScan(table=[default.evt], columns=[__time, city])
        """,
    )
    for sql in (
        "SELECT city FROM ev WHERE clicks > (SELECT n FROM (VALUES (5), (6)) AS p(n))",  # Hive refuses two rows at run time
        "SELECT city FROM ev WHERE clicks > (SELECT rand())",
        "SELECT city FROM ev e WHERE clicks > (SELECT e.imps)",
    ):
        expect_not(sql, "scalar_of_constants")
