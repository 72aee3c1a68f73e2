"""The rules about aggregates, orders and empty inputs, each alone."""

from __future__ import annotations

import pytest

from hivedruid.plan.rules import RULES
from hivedruid.plan.show import tree
from tests.rules.test_rules import expect, expect_not, rewritten
from tests.support.planning import plan

# --- aggregates ------------------------------------------------------------------------------------------------------


def test_aggregate_expand_distinct_has_a_grouping_set_for_each_list_of_arguments() -> None:
    expect(
        "SELECT country, count(DISTINCT city), count(DISTINCT clicks, imps), sum(revenue) FROM ev GROUP BY country",
        "druid_scan aggregate_expand_distinct",
        """
        Project(country_1=[country_1], $f1=[$f1], $f2=[$f2], $f3=[$f3])
          Project(country_1=[country_2], $f1=[_t0], $f2=[_t1], $f3=[_t2])
            Aggregate(groups=[_k0], aggs=[count(_k1) FILTER ((_g = 3)), count(*) FILTER (((_g = 4) AND is_not_null(_k2) AND is_not_null(_k3))), sum(_p0) FILTER ((_g = 7))])
              DruidQuery(table=[default.ev], groups=[country, city, clicks, imps], sets=[(0, 1), (0, 2, 3), (0)], aggs=[sum(revenue)], projects=[_k0, _k1, _k2, _k3, _p0, _g])
        """,
    )


def test_aggregate_expand_distinct_takes_what_has_no_parts_from_the_set_of_the_keys() -> None:
    expect(
        "SELECT count(DISTINCT city), stddev(clicks) FROM ev",
        "druid_scan project_remove aggregate_expand_distinct",
        """
        Project($f0=[_t0], $f1=[_t1])
          Aggregate(aggs=[count(_k0) FILTER ((_g = 0)), max(_p0) FILTER ((_g = 1))])
            DruidQuery(table=[default.ev], groups=[city], sets=[(0), ()], aggs=[stddev_pop(clicks)], projects=[_k0, _p0, _g])
        """,
    )


def test_aggregate_expand_distinct_makes_a_filter_a_part_of_the_argument() -> None:
    expect(
        "SELECT count(DISTINCT city) FILTER (WHERE clicks > 3) FROM ev",
        "druid_scan project_remove aggregate_expand_distinct",
        """
        Project($f0=[_t0])
          Aggregate(aggs=[count(_k0)])
            DruidQuery(table=[default.ev], groups=[case((clicks > 3), city)], projects=[_k0])
        """,
    )


def test_aggregate_expand_distinct_over_grouping_sets_has_a_set_for_each_below() -> None:
    expect(
        "SELECT country, is_mobile, count(DISTINCT city), sum(clicks), grouping__id FROM ev GROUP BY country, is_mobile WITH ROLLUP",
        "druid_scan project_remove aggregate_expand_distinct",
        """
        Project(country_1=[country_2], is_mobile_1=[is_mobile_2], $f2=[_t0], $f3=[_t1], _grouping_id=[_set])
          DruidQuery(groups=[_k0, _k1, (_g DIV 2)], aggs=[count(_k2), sum(_p0)], projects=[country_2, is_mobile_2, _set, _t0, _t1])
            DruidQuery(table=[default.ev], groups=[country, is_mobile, city], sets=[(0, 1, 2), (0, 2), (2)], aggs=[sum(clicks)], projects=[_k0, _k1, _k2, _p0, _g])
        """,
    )
    expect(
        "SELECT country, count(DISTINCT city), count(DISTINCT clicks) FROM ev GROUP BY country WITH ROLLUP",
        "druid_scan project_remove aggregate_expand_distinct",
        """
        Project(country_1=[country_1], $f1=[$f1], $f2=[$f2])
          Project(country_1=[country_2], $f1=[_t0], $f2=[_t1], _grouping_id=[_set])
            DruidQuery(groups=[_k0, (_g DIV 4)], aggs=[count(_k1) FILTER (in(_g, 1, 5)), count(_k2) FILTER (in(_g, 2, 6))], projects=[country_2, _set, _t0, _t1])
              DruidQuery(table=[default.ev], groups=[country, city, clicks], sets=[(0, 1), (1), (0, 2), (2)], projects=[_k0, _k1, _k2, _g])
        """,
    )
    for sql in (
        "SELECT country, count(DISTINCT country) FROM ev GROUP BY country WITH ROLLUP",  # a set that omits it has nulls
        "SELECT country, count(DISTINCT city), collect_set(city) FROM ev GROUP BY country WITH ROLLUP",
    ):
        expect_not(sql, "druid_scan aggregate_expand_distinct")


def test_aggregate_constant_keys_leaves_one_key_where_there_is_no_other() -> None:
    rules = "druid_scan project_remove aggregate_constant_keys"
    expect(
        "SELECT 'x', country, 1.5, count(*) FROM ev GROUP BY 'x', country, 1.5",
        rules,
        """
        Project(_key=['x'], country_1=[_k], _key_1=[1.5], $f3=[$f3])
          Aggregate(groups=[country], aggs=[count(*)])
            DruidQuery(table=[default.ev], projects=[country])
        """,
    )
    expect(
        "SELECT 'x', count(*) FROM ev GROUP BY 'x'",
        rules,
        """
        Project(_key=['x'], $f1=[$f1])
          Aggregate(groups=[0], aggs=[count(*)])
            DruidQuery(table=[default.ev], projects=[__time])
        """,
    )
    for sql in (
        "SELECT country, count(*) FROM ev GROUP BY country",
        "SELECT 'x', country, count(*) FROM ev GROUP BY 'x', country WITH ROLLUP",
        "SELECT 'x', count(*) FROM dim GROUP BY 'x'",
    ):
        expect_not(sql, rules)


def test_aggregate_case_to_filter() -> None:
    rules = "druid_scan project_remove aggregate_case_to_filter"
    expect(
        "SELECT country, sum(CASE WHEN city = 'Oslo' THEN clicks END) a, count(CASE WHEN is_mobile THEN 1 END) b FROM ev GROUP BY country",
        rules,
        """
        Aggregate(groups=[country], aggs=[sum(clicks) FILTER ((city = 'Oslo')), count(*) FILTER (is_mobile)])
          DruidQuery(table=[default.ev], projects=[country, city, is_mobile, clicks])
        """,
    )
    for sql in (
        "SELECT sum(CASE WHEN imps > 3 THEN clicks ELSE 0 END) FROM ev",  # NULL if all clicks are
        "SELECT sum(CASE WHEN imps > 3 THEN clicks WHEN imps < 0 THEN 1 END) FROM ev",
        "SELECT collect_list(CASE WHEN imps > 3 THEN clicks END) FROM ev",
        "SELECT sum(CASE WHEN rand() > 0.5 THEN clicks END) FROM ev",
        "SELECT sum(CASE WHEN pop > 3 THEN pop END) FROM dim",
    ):
        expect_not(sql, rules)


def test_aggregate_case_to_filter_counts_ones_but_a_sum_of_nothing_is_null() -> None:
    expect(
        "SELECT sum(if(clicks > 3, 1, 0)) FROM ev",
        "druid_scan project_remove aggregate_case_to_filter",
        """
        Project($f0=[case((_rows = 0), NULL, $f0_1)])
          Aggregate(aggs=[count(*) FILTER ((clicks > 3)), count(*)])
            DruidQuery(table=[default.ev], projects=[clicks])
        """,
    )
    expect(
        "SELECT country, sum(if(clicks > 3, 1, 0)) FROM ev GROUP BY country",
        "druid_scan project_remove aggregate_case_to_filter",
        """
        Project(country_1=[country_1], $f1=[$f1_1])
          Aggregate(groups=[country], aggs=[count(*) FILTER ((clicks > 3))])
            DruidQuery(table=[default.ev], projects=[country, clicks])
        """,
    )


def test_aggregate_case_to_filter_sees_through_the_query_below() -> None:
    expect(
        "SELECT sum(a) FROM (SELECT CASE WHEN clicks > 3 THEN imps END a FROM ev) x",
        "druid_scan project_remove druid_project aggregate_case_to_filter",
        """
        Aggregate(aggs=[sum(imps) FILTER ((clicks > 3))])
          DruidQuery(table=[default.ev], projects=[clicks, imps])
        """,
    )


def test_aggregate_filter_true_knows_what_null_does_to_a_condition() -> None:
    rules = "druid_scan project_remove aggregate_filter_true"
    expect(
        "SELECT sum(clicks) FILTER (WHERE imps IN (1, 2, NULL)), count(*) FILTER (WHERE imps NOT IN (1, NULL)) FROM ev",
        rules,
        """
        Aggregate(aggs=[sum(clicks) FILTER (in(imps, 1, 2)), count(*) FILTER (False)])
          DruidQuery(table=[default.ev], projects=[clicks, imps])
        """,
    )
    expect_not("SELECT sum(clicks) FILTER (WHERE imps IN (1, 2)) FROM ev", rules)


def test_aggregate_common_filter_chooses_rows_of_a_grand_total_only() -> None:
    rules = "druid_scan project_remove aggregate_common_filter"
    expect(
        "SELECT sum(clicks) FILTER (WHERE country = 'US' AND imps > 3), count(*) FILTER (WHERE country = 'US') FROM ev",
        rules,
        """
        Aggregate(aggs=[sum(clicks) FILTER ((imps > 3)), count(*)])
          Filter(condition=[(country = 'US')])
            DruidQuery(table=[default.ev], projects=[country, clicks, imps])
        """,
    )
    for sql in (
        "SELECT sum(clicks) FILTER (WHERE country = 'US'), count(*) FROM ev",
        "SELECT sum(clicks) FILTER (WHERE country = 'US'), count(*) FILTER (WHERE country = 'NO') FROM ev",
        "SELECT city, sum(clicks) FILTER (WHERE country = 'US') FROM ev GROUP BY city",  # the other cities have groups, too
    ):
        expect_not(sql, rules)


def test_aggregate_sort_remove_keeps_an_order_that_a_limit_needs() -> None:
    rules = "project_merge aggregate_project_merge aggregate_sort_remove"
    expect(
        "SELECT region, count(*) FROM (SELECT region FROM dim ORDER BY pop) x GROUP BY region",
        f"project_remove {rules}",
        "Aggregate(groups=[region], aggs=[count(*)])\n  TableScan(table=[default.dim], columns=[region])",
    )
    expect_not("SELECT region, count(*) FROM (SELECT region FROM dim ORDER BY pop LIMIT 3) x GROUP BY region", rules)


# --- orders and limits -----------------------------------------------------------------------------------------------


def test_sort_remove_keys_drops_constants_and_what_has_ordered_before() -> None:
    expect(
        "SELECT pop, 'x' k FROM dim ORDER BY k, pop, pop DESC",
        "sort_remove_keys",
        "Sort(sort=[pop ASC NULLS LAST])\n  Project(pop=[pop], k=['x'])\n    TableScan(table=[default.dim], columns=[pop])",
    )
    expect(
        "SELECT pop, 'x' k FROM dim ORDER BY k",
        "sort_remove_keys",
        "Project(pop=[pop], k=['x'])\n  TableScan(table=[default.dim], columns=[pop])",
    )
    expect_not("SELECT pop, region FROM dim ORDER BY pop, region", "sort_remove_keys")


def test_sort_merge_never_passes_a_limit() -> None:
    rules = "project_remove sort_merge"
    expect(
        "SELECT * FROM (SELECT * FROM dim ORDER BY pop) x ORDER BY region LIMIT 3",
        rules,
        "Sort(sort=[region ASC NULLS LAST], fetch=[3])\n  TableScan(table=[default.dim], columns=[country, region, pop])",
    )
    expect(
        "SELECT * FROM (SELECT * FROM dim ORDER BY pop) x LIMIT 3",
        rules,
        "Sort(sort=[pop ASC NULLS LAST], fetch=[3])\n  TableScan(table=[default.dim], columns=[country, region, pop])",
    )
    expect_not("SELECT * FROM (SELECT * FROM dim ORDER BY pop LIMIT 9) x ORDER BY region LIMIT 3", rules)


GROUPS = "druid_scan project_remove druid_project druid_aggregate druid_sort"


def test_druid_sort_orders_the_groups_that_a_limit_left_in_a_query_above() -> None:
    expect(
        "SELECT * FROM (SELECT country, sum(clicks) s, max(revenue) m FROM ev GROUP BY country ORDER BY s LIMIT 3) x ORDER BY country",
        GROUPS,
        """
        DruidQuery(groups=[country_1, $f1], aggs=[max($f2)], projects=[country_1, $f1, $f2], sort=[country_1 ASC NULLS LAST])
          DruidQuery(table=[default.ev], groups=[country], aggs=[sum(clicks), max(revenue)], projects=[country_1, $f1, $f2], sort=[$f1 ASC NULLS LAST], fetch=[3])
        """,
    )


def test_druid_sort_adds_limits_of_the_same_order() -> None:
    expect(
        "SELECT * FROM (SELECT country, sum(clicks) s FROM ev GROUP BY country ORDER BY s LIMIT 3 OFFSET 1) x ORDER BY s LIMIT 5 OFFSET 1",
        GROUPS,
        "DruidQuery(table=[default.ev], groups=[country], aggs=[sum(clicks)], projects=[country_1, $f1], sort=[$f1 ASC NULLS LAST], offset=[2], fetch=[2])",
    )


# --- no rows ---------------------------------------------------------------------------------------------------------


def test_sort_limit_zero_asks_for_nothing() -> None:
    expect("SELECT pop FROM dim LIMIT 0", "sort_limit_zero", "Values()")
    expect("SELECT * FROM (SELECT * FROM dim LIMIT 5) x LIMIT 2 OFFSET 5", "project_remove sort_limit_zero", "Values()")
    expect_not("SELECT * FROM (SELECT * FROM dim LIMIT 5) x LIMIT 2 OFFSET 4", "project_remove sort_limit_zero")


@pytest.mark.parametrize("condition", ["false", "NULL", "pop > 3 AND 1 = 2"])
def test_filter_false_asks_for_nothing(condition: str) -> None:
    expect(f"SELECT pop FROM dim WHERE {condition}", "filter_false empty_input", "Values()")


def test_a_join_with_no_rows() -> None:
    none = "(SELECT country, pop FROM dim WHERE false) b"
    for kind in ("JOIN", "RIGHT JOIN", "LEFT SEMI JOIN"):
        expect(
            f"SELECT a.pop FROM dim a {kind} {none} ON a.country = b.country",
            "filter_false empty_input join_empty_side",
            "Values()",
        )
    for kind in ("LEFT JOIN", "FULL JOIN"):
        expect(
            f"SELECT a.pop, b.pop FROM dim a {kind} {none} ON a.country = b.country",
            "filter_false empty_input project_merge join_empty_side",
            """
            Project(pop=[pop], pop_1=[NULL])
              TableScan(table=[default.dim], columns=[pop])
            """,
        )
    expect(
        f"SELECT a.pop FROM dim a LEFT ANTI JOIN {none} ON a.country = b.country",
        "filter_false empty_input project_merge join_empty_side",
        """
        Project(pop=[pop])
          TableScan(table=[default.dim], columns=[pop])
        """,
    )


def test_set_operations_with_no_rows() -> None:
    none = "SELECT country FROM dim WHERE false"
    rules = "filter_false empty_input set_op_merge set_op_empty_branch project_merge"
    fired = rewritten(f"SELECT country FROM dim UNION ALL {none}", *rules.split())
    assert "set_op_empty_branch" in fired[1]
    assert "SetOp" not in fired[0]
    assert fired[0].count("TableScan") == 1
    for sql in (
        f"SELECT country FROM dim INTERSECT {none}",
        f"{none} EXCEPT SELECT country FROM dim",
        f"{none} UNION ALL {none}",
    ):
        assert rewritten(sql, *rules.split())[0] == "Values()", sql
    text = rewritten(f"SELECT country FROM dim EXCEPT {none}", *rules.split())[0]
    assert "Aggregate(groups=[country])" in text
    assert "SetOp" not in text
    text = rewritten(f"SELECT country FROM dim UNION ALL {none} UNION ALL SELECT city FROM ev", *rules.split())[0]
    assert text.count("TableScan") == 2


def test_empty_input_leaves_the_row_of_a_grand_total() -> None:
    expect(
        "SELECT pop, count(*) FROM (SELECT * FROM dim LIMIT 0) x WHERE pop > 3 GROUP BY pop",
        "sort_limit_zero empty_input",
        "Values()",
    )
    expect(
        "SELECT count(*), sum(pop) FROM (SELECT * FROM dim LIMIT 0) x",
        "project_remove sort_limit_zero empty_input",
        "Values(rows=[1])",
    )
    expect_not("SELECT pop FROM (VALUES (1)) x (pop) WHERE pop > 3", "empty_input")


def test_aggregate_estimate_distinct_only_applies_if_the_session_accepts_estimates() -> None:
    expect_not("SELECT count(DISTINCT country) FROM ev", "druid_scan aggregate_estimate_distinct")
    rules = tuple(rule for rule in RULES if rule.__name__ in ("druid_scan", "aggregate_estimate_distinct"))
    sql = "SELECT city, count(DISTINCT country), sum(clicks) FROM ev GROUP BY city"
    made = plan(sql, rules=rules, settings={"hivedruid.approximate": "sketches"})
    assert "aggs=[approx_distinct(country), sum(clicks)]" in "\n".join(tree(made.node))
