"""Folding may remove an aggregate, a window or a column; the query keeps the meaning that it has as it is written."""

from __future__ import annotations

import random

import pytest

from hivedruid.errors import SemanticError
from hivedruid.plan.ctes import all_nodes
from hivedruid.plan.nodes import Aggregate, Project
from hivedruid.plan.rex import Call, Literal
from tests.support.planning import plan

WRAPPERS = (
    "(NULL + {})", "coalesce(1, {})", "nvl(2, {})", "if(true, 1, {})", "if('a' = 'b', {}, 0)", "CAST(NULL * {} AS BIGINT)",
    "CASE WHEN 1 = 2 THEN {} ELSE 5 END", "CASE 1 WHEN 1 THEN 3 WHEN 2 THEN {} END", "if(true OR {} > 1, 1, 2)",
    "if(false AND {} IN (1, 2), 1, 2)", "length(concat(NULL, CAST({} AS STRING)))", "length(typeof({}))",
    "if(array_contains(array({}), NULL), 1, 2)", "if(if({} > 1, NULL, NULL), 1, 2)", "field(1, 'a', {})", "abs({})", "(1 + {})",
)  # fmt: skip
AGGREGATES = ("count(*)", "max(clicks)", "sum(imps)", "count(DISTINCT city)")
ONE_ROW = (
    "SELECT {} FROM ev", "SELECT 1 FROM ev ORDER BY {}", "SELECT 1 FROM ev HAVING {} > 0 OR true", "SELECT 2, {} AS x FROM ev",
    "SELECT country FROM dim WHERE EXISTS (SELECT {} FROM ev WHERE false)", "SELECT (SELECT {} FROM ev), pop FROM dim",
    "SELECT x FROM (SELECT {} AS x FROM ev) q", "WITH q AS (SELECT {} AS x FROM ev) SELECT x FROM q",
)  # fmt: skip
REFUSED = (
    "SELECT clicks FROM ev WHERE {} > 1", "SELECT 1 FROM ev JOIN dim ON ev.country = dim.country AND {} > 1",
    "SELECT 1 FROM ev GROUP BY {}", "SELECT sum({}) FROM ev", "SELECT clicks, {} FROM ev", "SELECT {} FROM ev ORDER BY city",
    "SELECT NULL + clicks + {} FROM ev", "SELECT if(true, 1, clicks), {} FROM ev", "SELECT {} FROM ev HAVING true OR clicks > 1",
)  # fmt: skip


def wrapped(rng: random.Random) -> str:
    text = rng.choice(AGGREGATES)
    for _ in range(rng.randrange(1, 4)):
        text = rng.choice(WRAPPERS).format(text)
    return text


@pytest.mark.parametrize("seed", range(60))
def test_an_aggregate_that_is_folded_away_still_makes_one_row(seed: int) -> None:
    rng = random.Random(seed)
    for clause in ONE_ROW:
        sql = clause.format(wrapped(rng))
        totals = [n for n in all_nodes(plan(sql, rules=()).node) if isinstance(n, Aggregate) and not n.keys]
        assert totals, sql
        plan(sql)


@pytest.mark.parametrize("seed", range(60))
def test_an_aggregate_that_is_folded_away_is_refused_where_aggregates_are(seed: int) -> None:
    rng = random.Random(seed)
    for clause in REFUSED:
        sql = clause.format(wrapped(rng))
        with pytest.raises(SemanticError):
            plan(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT country FROM ev GROUP BY country HAVING true OR clicks > 1",
        "SELECT country, if(true, 1, city) FROM ev GROUP BY country",
        "SELECT country FROM ev GROUP BY country ORDER BY NULL + clicks",
        "SELECT DISTINCT country FROM ev ORDER BY if(true, country, city)",
        "SELECT clicks FROM ev WHERE true OR row_number() OVER (ORDER BY clicks) = 1",
        "SELECT country FROM ev GROUP BY country HAVING true OR max(clicks) OVER () > 1",
        "SELECT clicks FROM ev WHERE true OR grouping(country) = 1",
        "SELECT true OR grouping(country) = 1 FROM ev",
        "SELECT true OR grouping(city) = 1 FROM ev GROUP BY country",
    ],
)
def test_a_part_that_is_folded_away_is_checked(sql: str) -> None:
    with pytest.raises(SemanticError):
        plan(sql)


@pytest.mark.parametrize(
    "item", ["NULL + clicks", "if(true, 1, city)", "coalesce(1, clicks)", "NULL + row_number() OVER (ORDER BY clicks)"]
)
def test_the_complete_plan_has_constants_in_place_of_these_expressions(item: str) -> None:
    for sql in (
        f"SELECT {item} FROM ev",
        f"WITH q AS (SELECT {item} FROM ev) SELECT 1 FROM ev WHERE EXISTS (SELECT * FROM q)",
    ):
        exprs = [e for n in all_nodes(plan(sql, rules=()).node) if isinstance(n, Project) for e in n.exprs]
        assert any(isinstance(e, Literal) for e in exprs)
        assert not any(isinstance(e, Call) for e in exprs), exprs


def test_a_condition_that_is_always_true_is_no_filter() -> None:
    assert plan("SELECT clicks FROM ev WHERE true OR city = 'x'").node == plan("SELECT clicks FROM ev").node
