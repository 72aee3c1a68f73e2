"""Aggregates of decimals: the integers that Druid sums for them."""

from __future__ import annotations

import pytest

from hivedruid.plan.reasons import left_outside
from tests.rules.test_rules import expect, expect_not
from tests.support.planning import native, plan

RULES = "druid_scan project_remove aggregate_decimal_units"


def test_aggregate_decimal_units_takes_the_factor_out_of_a_sum_of_small_numbers() -> None:
    expect(
        "SELECT country, sum(imps * 1.5), max(imps * -0.5) FROM ev GROUP BY country",
        RULES,
        """
        Project(country_1=[country_2], $f1=[CAST((CAST((CAST(_d0 AS decimal(19,0)) * 15) AS decimal(36,0)) * 0.1) AS decimal(23,1))], $f2=[CAST((CAST((CAST(_d1 AS decimal(10,0)) * -5) AS decimal(36,0)) * 0.1) AS decimal(12,1))])
          DruidQuery(table=[default.ev], groups=[country], aggs=[sum(imps), min(imps)], projects=[country_2, _d0, _d1])
        """,
    )


def test_aggregate_decimal_units_sums_the_halves_of_a_bigint() -> None:
    """Hive's sum of decimals has 38 digits; two values could exceed a LONG."""
    expect(
        "SELECT sum(clicks * 1.5) FROM ev",
        RULES,
        """
        Project($f0=[CAST((CAST((((CAST(_d0 AS decimal(19,0)) * 4294967296) + CAST(_d1 AS decimal(19,0))) * 15) AS decimal(36,0)) * 0.1) AS decimal(32,1))])
          DruidQuery(table=[default.ev], aggs=[sum(((clicks - (clicks & 4294967295)) DIV 4294967296)), sum((clicks & 4294967295))], projects=[_d0, _d1])
        """,
    )


def test_aggregate_decimal_units_counts_the_rows_of_each_constant() -> None:
    """A sum over no rows is NULL, also if no row has a value."""
    expect(
        "SELECT sum(CASE WHEN imps > 3 THEN 1.5 ELSE 0.5 END) FROM ev",
        RULES,
        """
        Project($f0=[CAST((CAST(case((_d2 = 0), NULL, ((CAST(_d0 AS decimal(19,0)) * 15) + (CAST(_d1 AS decimal(19,0)) * 5))) AS decimal(36,0)) * 0.1) AS decimal(12,1))])
          DruidQuery(table=[default.ev], aggs=[count(*) FILTER ((imps > 3)), count(*) FILTER (is_not_true((imps > 3))), count(*)], projects=[_d0, _d1, _d2])
        """,
    )
    expect(
        "SELECT country, sum(CASE WHEN imps > 3 THEN 1.5 ELSE 0.0 END) FROM ev GROUP BY country",
        RULES,
        """
        Project(country_1=[country_2], $f1=[CAST((CAST((CAST(_d0 AS decimal(19,0)) * 15) AS decimal(36,0)) * 0.1) AS decimal(12,1))])
          DruidQuery(table=[default.ev], groups=[country], aggs=[count(*) FILTER ((imps > 3))], projects=[country_2, _d0])
        """,
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(revenue * 1.5) FROM ev",  # doubles
        "SELECT sum(clicks / 3.0) FROM ev",  # the digits of the quotient exceed a LONG
        "SELECT sum(imps * 1.5 * clicks) FROM ev",  # a product may exceed a LONG
        "SELECT sum(imps * 1.5 % 2) FROM ev",
        "SELECT sum(CASE WHEN rand() > 0.5 THEN imps * 1.5 END) FROM ev",
        "SELECT min(CASE WHEN imps > 3 THEN imps * 1.5 ELSE 0.5 END) FROM ev",
        "SELECT sum(DISTINCT imps * 1.5) FROM ev",
        "SELECT sum(imps * 1.5), collect_list(city) FROM ev",  # the rest of the expression stays outside
        "SELECT sum(pop * 1.5) FROM dim",
    ],
)
def test_aggregate_decimal_units_leaves_alone_what_is_not_exact(sql: str) -> None:
    expect_not(sql, RULES)


def test_aggregate_decimal_units_adds_up_what_is_rounded_row_by_row_in_units() -> None:
    expect(
        "SELECT sum(tiny_c / 3.0) FROM ev",
        RULES,
        """
        Project($f0=[CAST((CAST((((CAST(_d0 AS decimal(19,0)) * 4294967296) + CAST(_d1 AS decimal(19,0))) * 1) AS decimal(31,0)) * 0.000001) AS decimal(19,6))])
          DruidQuery(table=[default.ev], aggs=[sum(((decimal_units((tiny_c / 3)) - (decimal_units((tiny_c / 3)) & 4294967295)) DIV 4294967296)), sum((decimal_units((tiny_c / 3)) & 4294967295))], projects=[_d0, _d1])
        """,
    )
    expect(
        "SELECT count(cast(revenue AS decimal(10, 2))), max(cast(revenue AS decimal(10, 2))) FROM ev",
        RULES,
        """
        Project($f0=[_d0], $f1=[CAST((CAST((CAST(_d1 AS decimal(19,0)) * 1) AS decimal(35,0)) * 0.01) AS decimal(10,2))])
          DruidQuery(table=[default.ev], aggs=[count(decimal_units(CAST(revenue AS decimal(10,2)))), max(decimal_units(CAST(revenue AS decimal(10,2))))], projects=[_d0, _d1])
        """,
    )


@pytest.mark.parametrize(
    ("quotient", "expression"),
    [
        ("tiny_c / 1.5", 'if(("tiny_c" * 10000000) < 0,0 - div(abs(("tiny_c" * 10000000)) * 2 + 15,30),div(abs(("tiny_c" * 10000000)) * 2 + 15,30))'),
        ("tiny_c / -1.5", 'if(("tiny_c" * 10000000) > 0,0 - div(abs(("tiny_c" * 10000000)) * 2 + 15,30),div(abs(("tiny_c" * 10000000)) * 2 + 15,30))'),
    ],
)  # fmt: skip
def test_a_quotient_of_decimals_is_one_of_whole_numbers(quotient: str, expression: str) -> None:
    query = native(f"SELECT {quotient} FROM ev")
    assert query["virtualColumns"][0]["expression"] == f"(CAST({expression},'DOUBLE') / 1000000)"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 0.5 / 0 FROM (SELECT count(*) FROM ev) x",  # Druid folds constants before it evaluates a guarding condition
        "SELECT cast(revenue AS decimal(5, 2)) % 3 FROM ev",
        "SELECT cast(revenue AS decimal(15, 2)) / 0.001 FROM ev",  # too many digits
    ],
)
def test_what_druid_does_not_compute_in_decimals_is_said(sql: str) -> None:
    assert left_outside(plan(sql))
