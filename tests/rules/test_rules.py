"""Each rule alone: the plan that it produces for a query, and the queries to which it does not apply.

Plans have the format of EXPLAIN CBO. Only the listed rules run, so no other rule can hide the effect of one.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from hivedruid.plan.rules import RULES
from hivedruid.plan.show import tree
from tests.support.planning import plan

NAMES = [rule.__name__ for rule in RULES]


def rewritten(sql: str, *names: str) -> tuple[str, tuple[str, ...]]:
    """The plan after these rules, and those that fired."""
    assert set(names) <= set(NAMES)
    made = plan(sql, rules=tuple(rule for rule in RULES if rule.__name__ in names))
    return "\n".join(tree(made.node)), made.fired


def expect(sql: str, rules: str, expected: str) -> None:
    """The last of the rules fires, the ones before it prepare; the plan is as expected."""
    text, fired = rewritten(sql, *rules.split())
    assert rules.rsplit(maxsplit=1)[-1] in fired
    assert text == dedent(expected).strip("\n")


def expect_not(sql: str, rules: str) -> None:
    """The last of the rules does not fire."""
    assert rules.rsplit(maxsplit=1)[-1] not in rewritten(sql, *rules.split())[1]


# --- filters -------------------------------------------------------------------------------------------------------


def test_filter_true_drops_what_always_holds() -> None:
    expect(
        "SELECT pop FROM dim WHERE NULL",
        "filter_true",
        """
        Project(pop=[pop])
          Filter(condition=[False])
            TableScan(table=[default.dim], columns=[pop])
        """,
    )


def test_filter_true_reads_null_as_false() -> None:
    expect(
        "SELECT pop FROM dim WHERE pop IN (1, 2, NULL) AND (pop NOT IN (3, NULL) OR region = 'x')",
        "filter_true",
        """
        Project(pop=[pop])
          Filter(condition=[(in(pop, 1, 2) AND (region = 'x'))])
            TableScan(table=[default.dim], columns=[region, pop])
        """,
    )


def test_filter_true_leaves_conditions_alone_that_can_be_either() -> None:
    expect_not("SELECT pop FROM dim WHERE pop > 3", "filter_true")
    expect_not("SELECT pop FROM dim WHERE NOT (pop > 3) OR pop IS NULL", "filter_true")
    # under NOT a NULL is not FALSE: NOT (x IN (1, NULL) AND y) may be TRUE where y is FALSE
    expect_not("SELECT pop FROM dim WHERE NOT (pop IN (1, NULL) AND region = 'x')", "filter_true")


def test_filter_merge_and_transpose_through_a_projection() -> None:
    expect(
        "SELECT c FROM (SELECT clicks c, imps FROM ev WHERE clicks > 3) x WHERE c < 5",
        "filter_project_transpose filter_merge",
        """
        Project(clicks=[clicks])
          Project(clicks=[clicks], imps=[imps])
            Filter(condition=[((clicks > 3) AND (clicks < 5))])
              TableScan(table=[default.ev], columns=[clicks, imps])
        """,
    )


@pytest.mark.parametrize("expression", ["rand()", "sum(clicks) OVER ()", "(SELECT max(pop) FROM dim)"])
def test_filter_stays_above_what_may_not_be_computed_twice_or_over_fewer_rows(expression: str) -> None:
    expect_not(f"SELECT c FROM (SELECT {expression} c FROM ev) x WHERE c < 5", "filter_project_transpose")


def test_filter_aggregate_transpose_takes_conditions_on_keys_only() -> None:
    expect(
        "SELECT country, n FROM (SELECT country, count(*) n FROM ev GROUP BY country) x WHERE country = 'a' AND n > 3",
        "filter_project_transpose filter_aggregate_transpose",
        """
        Project(country_1=[country_1], $f1=[$f1])
          Project(country_1=[country_1], $f1=[$f1])
            Filter(condition=[($f1 > 3)])
              Aggregate(groups=[country], aggs=[count(*)])
                Filter(condition=[(country = 'a')])
                  TableScan(table=[default.ev], columns=[country])
        """,
    )
    # a grand total has its one row whatever the condition
    expect_not("SELECT count(*) FROM ev HAVING 1 = 2", "filter_aggregate_transpose")
    expect_not("SELECT count(*) FROM ev HAVING count(*) > 2", "filter_aggregate_transpose")
    expect_not("SELECT country FROM ev GROUP BY country WITH ROLLUP HAVING country = 'a'", "filter_aggregate_transpose")


def test_filter_into_join_sends_each_side_its_own() -> None:
    expect(
        "SELECT a.pop FROM dim a JOIN dim b ON a.country = b.country WHERE a.region = 'x' AND b.pop = 2 AND a.pop < b.pop",
        "filter_into_join",
        """
        Project(pop=[pop])
          Filter(condition=[(pop < pop_1)])
            Join(type=[inner], condition=[(country = country_1)])
              Filter(condition=[(region = 'x')])
                TableScan(table=[default.dim], columns=[country, region, pop])
              Filter(condition=[(pop_1 = 2)])
                TableScan(table=[default.dim], columns=[country_1, pop_1])
        """,
    )


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("LEFT", "b.pop = 2"),
        ("LEFT", "b.pop IS NULL"),
        ("RIGHT", "a.pop = 2"),
        ("FULL", "a.pop = 2"),
        ("FULL", "b.pop = 2"),
        ("INNER", "a.pop < b.pop"),
        ("INNER", "rand() < 0.5"),
    ],
)
def test_filter_stays_above_a_join_that_makes_nulls(kind: str, condition: str) -> None:
    expect_not(
        f"SELECT a.pop FROM dim a {kind} JOIN dim b ON a.country = b.country WHERE {condition}", "filter_into_join"
    )


def test_join_condition_push_takes_the_side_that_is_not_preserved() -> None:
    expect(
        "SELECT a.pop FROM dim a LEFT JOIN dim b ON a.country = b.country AND a.pop > 3 AND b.pop > 4",
        "join_condition_push",
        """
        Project(pop=[pop])
          Join(type=[left], condition=[((country = country_1) AND (pop > 3))])
            TableScan(table=[default.dim], columns=[country, pop])
            Filter(condition=[(pop_1 > 4)])
              TableScan(table=[default.dim], columns=[country_1, pop_1])
        """,
    )
    expect_not("SELECT a.pop FROM dim a FULL JOIN dim b ON a.country = b.country AND a.pop > 3", "join_condition_push")
    expect_not("SELECT a.pop FROM dim a LEFT JOIN dim b ON a.country = b.country AND a.pop > 3", "join_condition_push")
    expect_not("SELECT a.pop FROM dim a RIGHT JOIN dim b ON a.country = b.country AND b.pop > 3", "join_condition_push")


def test_filter_set_op_transpose_goes_into_each_branch() -> None:
    expect(
        "SELECT * FROM (SELECT pop FROM dim UNION ALL SELECT clicks FROM ev) x WHERE pop > 3",
        "filter_set_op_transpose",
        """
        Project(pop_1=[pop_1])
          SetOp(kind=[union], all=[true])
            Filter(condition=[(pop > 3)])
              Project(pop=[pop])
                TableScan(table=[default.dim], columns=[pop])
            Filter(condition=[(clicks > 3)])
              Project(clicks=[clicks])
                TableScan(table=[default.ev], columns=[clicks])
        """,
    )
    expect_not(
        "SELECT * FROM (SELECT pop FROM dim UNION SELECT clicks FROM ev) x WHERE rand() > 0.5",
        "filter_set_op_transpose",
    )


def test_druid_filter_takes_what_is_exact_and_leaves_the_rest() -> None:
    expect(
        "SELECT clicks FROM ev WHERE clicks > 3 AND md5(country) = 'a'",
        "druid_scan druid_filter",
        """
        Project(clicks=[clicks])
          Filter(condition=[(md5(country) = 'a')])
            DruidQuery(table=[default.ev], filter=[(clicks > 3)], projects=[country, clicks])
        """,
    )
    expect_not("SELECT clicks FROM ev WHERE md5(country) = 'a'", "druid_scan druid_filter")
    expect_not("SELECT clicks FROM ev WHERE clicks > 3 OR md5(country) = 'a'", "druid_scan druid_filter")
    expect_not("SELECT pop FROM dim WHERE pop > 3", "druid_scan druid_filter")


def test_druid_filter_does_not_pass_a_limit() -> None:
    expect(
        "SELECT c FROM (SELECT clicks c FROM ev LIMIT 3) x WHERE c > 5",
        "druid_scan project_remove druid_project druid_sort druid_filter",
        """
        DruidQuery(filter=[(clicks > 5)], projects=[clicks])
          DruidQuery(table=[default.ev], projects=[clicks], fetch=[3])
        """,
    )


# --- projections ---------------------------------------------------------------------------------------------------


def test_druid_scan_is_of_druid_tables_only() -> None:
    expect(
        "SELECT clicks FROM ev",
        "druid_scan",
        "Project(clicks=[clicks])\n  DruidQuery(table=[default.ev], projects=[clicks])",
    )
    expect_not("SELECT pop FROM dim", "druid_scan")


def test_project_remove_needs_the_same_columns() -> None:
    expect(
        "SELECT country, region, pop FROM dim",
        "project_remove",
        "TableScan(table=[default.dim], columns=[country, region, pop])",
    )
    expect_not("SELECT region, country FROM dim", "project_remove")
    expect_not("SELECT country, country FROM dim", "project_remove")
    expect_not("SELECT country, region, pop + 1 FROM dim", "project_remove")


def test_project_merge_computes_nothing_twice() -> None:
    expect(
        "SELECT a + 1 FROM (SELECT pop + 1 a FROM dim) x",
        "project_merge",
        "Project(_c0=[((pop + 1) + 1)])\n  TableScan(table=[default.dim], columns=[pop])",
    )
    expect_not("SELECT a + a FROM (SELECT pop + 1 a FROM dim) x", "project_merge")
    expect_not("SELECT a + 1 FROM (SELECT rand() a FROM dim) x", "project_merge")
    expect_not("SELECT a + 1 FROM (SELECT sum(pop) OVER () a FROM dim) x", "project_merge")


def test_druid_project_is_all_or_nothing_and_druid_project_part_takes_what_is_exact() -> None:
    expect(
        "SELECT clicks, imps + 1 FROM ev",
        "druid_scan druid_project",
        "DruidQuery(table=[default.ev], projects=[clicks, (imps + 1)])",
    )
    expect_not("SELECT factorial(clicks), imps + 1 FROM ev", "druid_scan druid_project")
    expect(
        "SELECT factorial(clicks), imps + 1 FROM ev",
        "druid_scan druid_project druid_project_part",
        """
        Project(_c0=[factorial(clicks)], _c1=[_c1_1])
          DruidQuery(table=[default.ev], projects=[clicks, (imps + 1)])
        """,
    )
    expect(
        "SELECT imps, factorial(imps + clicks), clicks * 2, rand(), factorial(clicks), country FROM ev",
        "druid_scan druid_project druid_project_part",
        """
        Project(imps=[imps], _c1=[factorial((imps + clicks))], _c2=[_c2_1], _c3=[rand()], _c4=[factorial(clicks)], country=[country])
          DruidQuery(table=[default.ev], projects=[imps, clicks, (clicks * 2), country])
        """,
    )
    expect_not("SELECT rand() FROM ev", "druid_scan druid_project")


# --- aggregates and order ------------------------------------------------------------------------------------------


def test_aggregate_project_merge_sees_through_the_projection() -> None:
    expect(
        "SELECT a, sum(b) FROM (SELECT upper(country) a, pop b FROM dim) x GROUP BY a",
        "project_remove aggregate_project_merge",
        "Aggregate(groups=[upper(country)], aggs=[sum(pop)])\n  TableScan(table=[default.dim], columns=[country, pop])",
    )
    expect_not("SELECT a, count(*) FROM (SELECT rand() a FROM dim) x GROUP BY a", "aggregate_project_merge")
    same = "SELECT a, b, count(*) FROM (SELECT pop a, pop b FROM dim) x GROUP BY a, b"
    expect_not(same, "aggregate_project_merge")


def test_druid_aggregate_nests_where_the_query_below_has_its_own() -> None:
    expect(
        "SELECT country, count(*) FROM ev GROUP BY country",
        "druid_scan project_remove druid_aggregate",
        "DruidQuery(table=[default.ev], groups=[country], aggs=[count(*)], projects=[country_1, $f1])",
    )
    expect(
        "SELECT max(c) FROM (SELECT count(*) c FROM ev GROUP BY country) x",
        "druid_scan druid_project project_remove druid_aggregate",
        """
        DruidQuery(aggs=[max($f1)], projects=[$f0])
          DruidQuery(table=[default.ev], groups=[country], aggs=[count(*)], projects=[$f1])
        """,
    )
    for sql in (
        "SELECT collect_set(country) FROM ev",
        "SELECT count(DISTINCT country) FROM ev",
        "SELECT sum(pop) FROM dim",
    ):
        expect_not(sql, "druid_scan druid_project druid_aggregate")


def test_aggregate_expand_distinct_groups_by_keys_and_argument_first() -> None:
    expect(
        "SELECT country, count(DISTINCT city), sum(clicks), avg(imps), count(*) FROM ev GROUP BY country",
        "druid_scan project_merge aggregate_expand_distinct",
        """
        Project(country_1=[country_2], $f1=[_t0], $f2=[_t1], $f3=[(_t2 / _t3)], $f4=[coalesce(_t4, 0)])
          Aggregate(groups=[_k0], aggs=[count(_k1), sum(_p0), sum(_p1), sum(_p2), sum(_p3)])
            DruidQuery(table=[default.ev], groups=[country, city], aggs=[sum(clicks), sum(imps), count(imps), count(*)], projects=[_k0, _k1, _p0, _p1, _p2, _p3])
        """,
    )
    for sql in (
        "SELECT count(DISTINCT city), collect_set(country) FROM ev",  # no partial form
        "SELECT count(city) FROM ev",
        "SELECT count(DISTINCT country) FROM dim",
    ):
        expect_not(sql, "druid_scan druid_project aggregate_expand_distinct")


def test_druid_sort_takes_the_orders_that_druid_has() -> None:
    expect(
        "SELECT `__time`, clicks FROM ev ORDER BY `__time` DESC LIMIT 5 OFFSET 1",
        "druid_scan druid_project druid_sort",
        "DruidQuery(table=[default.ev], projects=[__time, clicks], sort=[__time DESC NULLS FIRST], offset=[1], fetch=[5])",
    )
    expect(
        "SELECT clicks FROM ev LIMIT 5",
        "druid_scan druid_project druid_sort",
        "DruidQuery(table=[default.ev], projects=[clicks], fetch=[5])",
    )
    expect_not("SELECT clicks FROM ev ORDER BY clicks", "druid_scan druid_project druid_sort")
    expect_not("SELECT clicks FROM ev LIMIT 0", "druid_scan druid_project druid_sort")


def test_a_smaller_limit_of_a_limit_is_kept_and_an_order_of_it_is_not_pushed() -> None:
    rules = "druid_scan project_remove druid_project druid_sort"
    text, _ = rewritten("SELECT * FROM (SELECT clicks FROM ev LIMIT 5) x LIMIT 9", *rules.split())
    assert text == "DruidQuery(table=[default.ev], projects=[clicks], fetch=[5])"
    text, _ = rewritten("SELECT * FROM (SELECT `__time` FROM ev LIMIT 5) x ORDER BY `__time`", *rules.split())
    assert text.splitlines()[0] == "Sort(sort=[__time ASC NULLS LAST])"


def test_every_rule_has_its_test_here() -> None:
    from pathlib import Path

    here = Path(__file__).parent
    texts = [*here.glob("test_*.py"), *(here.parent / "unit" / "plan").glob("test_*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in texts)
    assert [name for name in NAMES if name not in text] == []
