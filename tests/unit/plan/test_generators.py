"""A table-generating function changes the number of rows: it must not be dropped, and aggregates must not move past
it.
"""

from __future__ import annotations

import pytest

from hivedruid.errors import SemanticError
from hivedruid.plan import nodes
from hivedruid.plan.nodes import LateralView, Node
from hivedruid.plan.rex import Subquery, walk
from hivedruid.plan.split import spark_job
from tests.support.planning import plan

WORDS = "explode(split(city, ' '))"
MADE = f"SELECT {WORDS} AS w, country FROM ev"


def views(node: Node) -> list[LateralView]:
    """The nodes that generate rows, including those in subqueries."""
    found = [n for n in node.walk() if isinstance(n, LateralView)]
    for inner in node.walk():
        for rex in inner.expressions():
            found += [v for part in walk(rex) if isinstance(part, Subquery) for v in views(part.plan)]
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM (SELECT explode(split('a,b,c', '[,]'))) t",
        "SELECT 1 FROM (SELECT explode(split('a,b,c', '[,]'))) t",
        "SELECT count(*) FROM (SELECT posexplode(split('a,b,c', '[,]'))) t",
        "SELECT count(*) FROM (SELECT stack(2, city, 'b') FROM ev) t",
        "SELECT count(*) FROM (SELECT inline(array(struct(1, initcap('a'))))) t",
        "SELECT count(*) FROM (SELECT json_tuple(city, 'a', 'b') FROM ev) t",
        f"SELECT count(*) FROM ({MADE}) t",
        f"SELECT count(DISTINCT country) FROM ({MADE}) t",
        f"SELECT country, count(*) FROM ({MADE}) t GROUP BY country",
        f"SELECT country FROM ({MADE}) t",
        f"SELECT country FROM ({MADE}) t ORDER BY country LIMIT 3",
        f"SELECT country FROM ({MADE} LIMIT 3) t",
        f"SELECT count(*) FROM ({MADE} UNION ALL {MADE}) t WHERE country = 'a'",
        f"SELECT 1 FROM ({MADE}) t WHERE country = 'a'",
        f"SELECT d.pop FROM dim d JOIN ({MADE}) t ON d.country = t.country",
        f"SELECT pop FROM dim WHERE EXISTS ({MADE})",
        f"SELECT pop FROM dim d WHERE EXISTS (SELECT {WORDS} FROM ev e WHERE e.country = d.country)",
        f"SELECT pop FROM dim WHERE country IN (SELECT {WORDS} FROM ev)",
        f"SELECT pop FROM dim WHERE country NOT IN (SELECT country FROM ({MADE}) t)",
        f"SELECT (SELECT count(*) FROM ({MADE}) t) FROM dim",
        "SELECT count(*) FROM ev LATERAL VIEW explode(split(city, ' ')) t AS w",
        "SELECT count(*) FROM ev LATERAL VIEW OUTER explode(split(city, ' ')) t AS w",
        "SELECT count(*) FROM dim LATERAL VIEW explode(split(region, ' ')) t AS w WHERE country = 'a'",
        "SELECT pop FROM dim d WHERE EXISTS (SELECT 1 FROM ev e LATERAL VIEW explode(split(city, ' ')) t AS w"
        " WHERE e.country = d.country)",
    ],
)
def test_rows_that_are_made_are_counted(sql: str) -> None:
    assert len(views(plan(sql).node)) == max(1, sql.count(MADE))


def test_a_select_makes_the_rows_of_a_lateral_view() -> None:
    """With the function's columns, by its default names or those of AS; over the output of GROUP BY."""
    assert [c.name for c in plan("SELECT posexplode(tags) FROM tagged").node.columns] == ["pos", "col"]
    assert [c.name for c in plan("SELECT posexplode(tags) AS (p, t) FROM tagged").node.columns] == ["p", "t"]
    assert [c.type.name for c in plan("SELECT (explode(tags)) AS x FROM tagged").node.columns] == ["string"]
    assert [c.name for c in plan("SELECT stack(2, 1, 2, 3), json_tuple FROM (SELECT 1 json_tuple) t").node.columns] == [
        "col0", "col1", "json_tuple",
    ]  # fmt: skip
    grouped = plan("SELECT explode(collect_set(city)) AS c, country FROM ev GROUP BY country ORDER BY c").node
    (view,) = views(grouped)
    assert isinstance(view.input, nodes.Aggregate)


def test_a_window_function_is_computed_before_the_rows_are_made() -> None:
    made = plan("SELECT explode(collect_list(city) OVER (PARTITION BY country)) AS c FROM ev")
    (view,) = views(made.node)
    assert isinstance(view.input, nodes.Project)
    assert "OVER" not in spark_job(made).sql.split("LATERAL VIEW")[1]


def test_conditions_of_a_subquery_pass_the_rows_that_are_made_of_them() -> None:
    made = plan(
        "SELECT pop FROM dim d WHERE region IN"
        " (SELECT w FROM ev e LATERAL VIEW explode(split(city, ' ')) t AS w WHERE e.country = d.country)"
    )
    (join,) = [n for n in made.node.walk() if isinstance(n, nodes.Join)]
    assert join.kind == "semi"
    assert views(join.right)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (f"SELECT upper({WORDS}) FROM ev", "explode.. is a table-generating function"),
        ("SELECT explode(explode(tags)) FROM tagged", "table-generating function"),
        (f"SELECT country FROM ev WHERE {WORDS} = 'a'", "table-generating function"),
        (f"SELECT {WORDS} AS w, count(*) FROM ev GROUP BY w", "cannot be combined with GROUP BY"),
        (f"SELECT sum({WORDS}) FROM ev", "table-generating function"),
        (f"SELECT {WORDS}, {WORDS} FROM ev", "only one table-generating function"),
        (
            "SELECT explode(collect_set(city)) AS c FROM ev GROUP BY country HAVING c > 'a'",
            "cannot be combined with GROUP BY",
        ),
        ("SELECT upper(city) AS (a, b) FROM ev", "several names for a single column"),
    ],
)
def test_rows_are_made_in_one_place_alone(sql: str, message: str) -> None:
    with pytest.raises(SemanticError, match=message) as raised:
        plan(sql)
    assert raised.value.hint
