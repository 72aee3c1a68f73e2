"""explode() of an array column is an `unnest` data source; conditions on its elements are in that data source only."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.plan.reasons import left_outside
from tests.rules.test_rules import expect, expect_not
from tests.support.planning import native, plan

EXPLODE = "FROM tagged LATERAL VIEW explode(tags) t AS tag"


def test_druid_unnest_makes_rows_of_a_column() -> None:
    expect(
        f"SELECT tag {EXPLODE} WHERE tag > 'a' AND `__time` > '2020-01-01'",
        "druid_scan druid_filter druid_project druid_unnest",
        """
        DruidQuery(filter=[((tag > 'a') AND (__time > '2020-01-01 00:00:00'))], projects=[tag])
          DruidUnnest(array=[tags])
            TableScan(table=[default.tagged], columns=[__time, tags])
        """,
    )


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT posexplode(tags) FROM tagged", "native queries do not support LATERAL VIEW posexplode()"),
        ("SELECT tag FROM ev LATERAL VIEW explode(split(city, ' ')) t AS tag", "explode() of an array that is not a column"),
        ("SELECT tag FROM (SELECT tags FROM tagged LIMIT 3) x LATERAL VIEW explode(tags) t AS tag", "explode() of grouped, sorted or limited rows"),
    ],
)  # fmt: skip
def test_druid_unnest_leaves_alone(sql: str, reason: str) -> None:
    expect_not(sql, "druid_scan druid_project druid_filter druid_sort druid_unnest")
    assert reason in [left.reason for left in left_outside(plan(sql)) if left.operator == "LateralView"]


def unnest_of(sql: str) -> tuple[dict[str, Any], Any]:
    """The data source, and the query's own filter."""
    query = native(sql)
    assert query["dataSource"]["type"] == "unnest"
    return query["dataSource"], query.get("filter")


def equals(column: str, value: str) -> dict[str, Any]:
    return {"type": "equals", "column": column, "matchValueType": "STRING", "matchValue": value}


def test_elements_are_a_virtual_column() -> None:
    source, _ = unnest_of(f"SELECT tag, count(*) {EXPLODE} GROUP BY tag")
    assert source["base"] == {"type": "table", "name": "default.tagged"}
    virtual = {"type": "expression", "name": "tag", "expression": 'mv_to_array("tags")', "outputType": "ARRAY<STRING>"}
    assert source["virtualColumn"] == virtual
    outer, _ = unnest_of("SELECT v.tags FROM tagged LATERAL VIEW OUTER explode(tagged.tags) v AS tags")
    assert outer["virtualColumn"]["name"] == "tags_1"  # the table has a column of the name
    assert outer["virtualColumn"]["expression"].startswith('if(array_length(mv_to_array("tags")) > 0,')


def test_conditions_on_elements_are_the_unnest_s_own() -> None:
    """Outside, Druid 33 loses rows: it drops `not` under `or` from the filter that it derives for the array's
    column."""
    source, above = unnest_of(f"SELECT tag {EXPLODE} WHERE (NOT tag = 'a' OR tag = 'b') AND array_contains(tags, 'c')")
    assert source["unnestFilter"] == {
        "type": "or",
        "fields": [{"type": "not", "field": equals("tag", "a")}, equals("tag", "b")],
    }
    contains = {"type": "arrayContainsElement", "column": "tags", "elementMatchValueType": "STRING"}
    assert above == {"type": "istrue", "field": {**contains, "elementMatchValue": "c"}}


def test_each_unnest_has_its_own_conditions() -> None:
    sql = f"SELECT x {EXPLODE} LATERAL VIEW explode(tags) v AS x WHERE x = 'a' AND tag = 'b'"
    source, above = unnest_of(sql)
    assert above is None
    assert source["unnestFilter"] == equals("x", "a")
    assert source["base"]["unnestFilter"] == equals("tag", "b")


def test_conditions_on_elements_and_other_columns_are_expressions() -> None:
    source, above = unnest_of(
        f"SELECT tag {EXPLODE} WHERE (NOT tag = 'a' OR size(tags) = 1) AND array_contains(tags, tag)"
    )
    assert "unnestFilter" not in source
    assert above == {
        "type": "and",
        "fields": [
            {
                "type": "expression",
                "expression": '(!(("tag" == \'a\')) || (nvl(array_length(mv_to_array("tags")),-1) == 1))',
            },
            {
                "type": "expression",
                "expression": 'if(isnull("tag"),0,nvl(scalar_in_array("tag",mv_to_array("tags")),0))',
            },
        ],
    }
