"""The conditions of joins: what all branches of an OR have, what an OR implies for one table; and the order of joins."""

from __future__ import annotations

from textwrap import dedent

import pytest

from hivedruid.plan.rules import LOGICAL
from hivedruid.plan.rules.inference import with_inferred
from hivedruid.plan.rules.join_order import with_connected_joins
from hivedruid.plan.show import tree
from tests.rules.test_rules import expect, expect_not
from tests.support.planning import plan


def moved(sql: str) -> str:
    """The plan after the rules that do not depend on Druid, with connected joins and inferred conditions."""
    return "\n".join(tree(plan(sql, rules=tuple(LOGICAL)).node))


def expect_tree(sql: str, expected: str) -> None:
    assert moved(sql) == dedent(expected).strip("\n")


def test_common_factors_of_a_filter() -> None:
    expect(
        "SELECT pop FROM dim WHERE (region = 'x' AND pop = 1) OR (pop = 2 AND 'x' = region)",
        "or_common_factors",
        """
        Project(pop=[pop])
          Filter(condition=[((region = 'x') AND ((pop = 1) OR (pop = 2)))])
            TableScan(table=[default.dim], columns=[region, pop])
        """,
    )


def test_a_branch_without_other_terms_absorbs_the_others() -> None:
    expect(
        "SELECT pop FROM dim WHERE region = 'x' OR (pop = 2 AND region = 'x')",
        "or_common_factors",
        """
        Project(pop=[pop])
          Filter(condition=[(region = 'x')])
            TableScan(table=[default.dim], columns=[region, pop])
        """,
    )


def test_common_factors_of_a_join_become_its_keys() -> None:
    expect(
        "SELECT a.pop FROM dim a LEFT JOIN dim b"
        " ON (a.country = b.country AND b.pop = 1) OR (b.country = a.country AND a.pop = 2)",
        "or_common_factors",
        """
        Project(pop=[pop])
          Join(type=[left], condition=[((country = country_1) AND ((pop_1 = 1) OR (pop = 2)))])
            TableScan(table=[default.dim], columns=[country, pop])
            TableScan(table=[default.dim], columns=[country_1, pop_1])
        """,
    )


@pytest.mark.parametrize(
    "condition",
    [
        "(region = 'x' AND pop = 1) OR pop = 2",
        "(rand() < 0.5 AND pop = 1) OR (rand() < 0.5 AND pop = 2)",
        "(region < 'x' AND pop = 1) OR ('x' < region AND pop = 2)",
    ],
)
def test_no_common_factor(condition: str) -> None:
    expect_not(f"SELECT pop FROM dim WHERE {condition}", "or_common_factors")


def test_an_or_over_two_tables_implies_conditions_on_each() -> None:
    expect_tree(
        "SELECT a.imps FROM ev a JOIN dim b ON a.country = b.country"
        " WHERE (a.clicks = 1 AND b.pop = 2) OR (b.pop = 3 AND a.clicks = 4)",
        """
        Project(imps=[imps])
          Join(type=[inner], condition=[((country = country_1) AND (((clicks = 1) AND (pop = 2)) OR ((pop = 3) AND (clicks = 4))))])
            Filter(condition=[((clicks = 1) OR (clicks = 4))])
              TableScan(table=[default.ev], columns=[country, clicks, imps])
            Filter(condition=[((pop = 2) OR (pop = 3))])
              TableScan(table=[default.dim], columns=[country_1, pop])
        """,
    )


def test_an_or_with_a_branch_without_a_condition_on_a_table_implies_nothing_for_it() -> None:
    expect_tree(
        "SELECT a.imps FROM ev a LEFT JOIN dim b ON a.country = b.country AND (a.clicks = 1 AND b.pop = 2 OR b.pop = 3)",
        """
        Project(imps=[imps])
          Join(type=[left], condition=[((country = country_1) AND (((clicks = 1) AND (pop = 2)) OR (pop = 3)))])
            TableScan(table=[default.ev], columns=[country, clicks, imps])
            Filter(condition=[((pop = 2) OR (pop = 3))])
              TableScan(table=[default.dim], columns=[country_1, pop])
        """,
    )
    # the left side of a left join keeps all of its rows
    assert (
        "clicks = 1"
        not in moved(
            "SELECT a.imps FROM ev a LEFT JOIN dim b ON a.country = b.country AND (a.clicks = 1 AND b.pop = 2 OR a.clicks = 3)"
        ).partition("TableScan")[2]
    )


def test_tables_are_joined_in_an_order_without_cross_joins() -> None:
    expect_tree(
        "SELECT a.pop, b.region, e.city FROM dim a, dim b, ev e WHERE a.country = e.country AND b.pop = e.clicks",
        """
        Project(pop=[pop], region_1=[region_1], city=[city])
          Join(type=[inner], condition=[(pop_1 = clicks)])
            Join(type=[inner], condition=[(country = country_2)])
              TableScan(table=[default.dim], columns=[country, pop])
              TableScan(table=[default.ev], columns=[country_2, city, clicks])
            TableScan(table=[default.dim], columns=[region_1, pop_1])
        """,
    )


def test_groups_of_tables_without_a_connection_are_a_cross_join() -> None:
    expect_tree(
        "SELECT a.pop, d.pop FROM dim a, dim b, dim c, dim d"
        " WHERE a.country = d.country AND c.region = d.region AND a.pop < b.pop",
        """
        Project(pop=[pop], pop_3=[pop_3])
          Join(type=[inner], condition=[(pop < pop_1)])
            Join(type=[inner], condition=[(region_2 = region_3)])
              Join(type=[inner], condition=[(country = country_3)])
                TableScan(table=[default.dim], columns=[country, pop])
                TableScan(table=[default.dim], columns=[country_3, region_3, pop_3])
              TableScan(table=[default.dim], columns=[region_2])
            TableScan(table=[default.dim], columns=[pop_1])
        """,
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.pop FROM dim a, dim b, dim c WHERE a.country = b.country AND b.country = c.country",
        "SELECT a.pop FROM dim a, dim b WHERE a.pop < b.pop",
        "SELECT a.pop FROM dim a, dim b, ev e WHERE a.country = e.country AND b.pop = e.clicks AND rand() < a.pop + e.imps",
        "SELECT a.pop FROM dim a CROSS JOIN dim b LEFT JOIN ev e ON a.country = e.country AND b.pop = e.clicks",
    ],
)
def test_the_order_of_from_is_kept(sql: str) -> None:
    node = plan(sql, rules=tuple(r for r in LOGICAL if r.__name__ != "project_remove")).node
    assert with_connected_joins(node) is node
    assert with_inferred(node) is node


def test_no_key_of_a_chain_of_joins_is_null() -> None:
    expect(
        "SELECT e.imps FROM ev e JOIN dim a ON e.country = a.country LEFT JOIN dim b ON e.city = b.country"
        " JOIN dim c ON e.clicks = c.pop",
        "druid_scan join_keys_not_null",
        """
        Project(imps=[imps])
          Join(type=[inner], condition=[(clicks = pop_2)])
            Join(type=[left], condition=[(city = country_2)])
              Join(type=[inner], condition=[(country = country_1)])
                DruidQuery(table=[default.ev], filter=[(is_not_null(country) AND is_not_null(clicks))], projects=[country, city, clicks, imps])
                TableScan(table=[default.dim], columns=[country_1])
              TableScan(table=[default.dim], columns=[country_2])
            TableScan(table=[default.dim], columns=[pop_2])
        """,
    )


# --- what follows from equalities -------------------------------------------------------------------------------------


def test_a_condition_on_a_key_passes_a_chain_of_joins() -> None:
    expect_tree(
        "SELECT a.pop FROM dim a, dim b, dim c WHERE a.country = b.country AND b.country = c.country AND c.country = 'x'",
        """
        Project(pop=[pop])
          Join(type=[inner], condition=[(country_1 = country_2)])
            Join(type=[inner], condition=[(country = country_1)])
              Filter(condition=[(country = 'x')])
                TableScan(table=[default.dim], columns=[country, pop])
              Filter(condition=[(country_1 = 'x')])
                TableScan(table=[default.dim], columns=[country_1])
            Filter(condition=[(country_2 = 'x')])
              TableScan(table=[default.dim], columns=[country_2])
        """,
    )


def test_a_condition_on_a_key_reaches_the_tables_of_subqueries() -> None:
    expect_tree(
        "SELECT a.pop FROM (SELECT country, max(pop) AS pop FROM dim GROUP BY country) a,"
        " (SELECT x.country FROM ev x JOIN ev y ON x.country = y.country) b"
        " WHERE a.country = b.country AND a.country = 'x'",
        """
        Project($f1=[$f1])
          Join(type=[inner], condition=[(country_1 = country_2)])
            Aggregate(groups=[country], aggs=[max(pop)])
              Filter(condition=[(country = 'x')])
                TableScan(table=[default.dim], columns=[country, pop])
            Project(country_2=[country_2])
              Join(type=[inner], condition=[(country_2 = country_3)])
                Filter(condition=[(country_2 = 'x')])
                  TableScan(table=[default.ev], columns=[country_2])
                Filter(condition=[(country_3 = 'x')])
                  TableScan(table=[default.ev], columns=[country_3])
        """,
    )


def test_integers_of_other_types_are_equal_but_not_what_is_computed_from_them() -> None:
    expect_tree(
        "SELECT a.pop FROM dim a, ev e WHERE a.pop = e.imps AND e.imps > 5 AND a.pop + 1 < 9",
        """
        Project(pop=[pop])
          Join(type=[inner], condition=[(pop = imps)])
            Filter(condition=[(((pop + 1) < 9) AND (pop > 5))])
              TableScan(table=[default.dim], columns=[pop])
            Filter(condition=[(imps > 5)])
              TableScan(table=[default.ev], columns=[imps])
        """,
    )


def test_doubles_that_are_equal_may_be_converted_to_different_strings() -> None:
    expect_tree(
        "SELECT a.city FROM ev a, ev b WHERE a.revenue = b.revenue AND CAST(a.revenue AS string) = '-0.0' AND b.revenue < 5",
        """
        Project(city=[city])
          Join(type=[inner], condition=[(revenue = revenue_1)])
            Filter(condition=[((CAST(revenue AS string) = '-0.0') AND (revenue < 5))])
              TableScan(table=[default.ev], columns=[city, revenue])
            Filter(condition=[(revenue_1 < 5)])
              TableScan(table=[default.ev], columns=[revenue_1])
        """,
    )


def test_a_condition_does_not_pass_to_a_side_that_keeps_its_rows() -> None:
    expect_tree(
        "SELECT a.pop FROM dim a LEFT JOIN (SELECT * FROM dim WHERE country = 'x') b ON a.country = b.country",
        """
        Project(pop=[pop])
          Join(type=[left], condition=[(country = country_1)])
            TableScan(table=[default.dim], columns=[country, pop])
            Filter(condition=[(country_1 = 'x')])
              TableScan(table=[default.dim], columns=[country_1])
        """,
    )
    # the rows of c without a row of a are not those of b
    expect_tree(
        "SELECT c.pop FROM (SELECT * FROM dim WHERE country = 'x') a RIGHT JOIN dim b ON a.country = b.country"
        " JOIN dim c ON b.country = c.country",
        """
        Project(pop_2=[pop_2])
          Join(type=[inner], condition=[(country_1 = country_2)])
            Join(type=[right], condition=[(country = country_1)])
              Filter(condition=[(country = 'x')])
                TableScan(table=[default.dim], columns=[country])
              TableScan(table=[default.dim], columns=[country_1])
            TableScan(table=[default.dim], columns=[country_2, pop_2])
        """,
    )
