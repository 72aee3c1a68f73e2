"""The work of planning, in instructions, for statements with many equal parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hivedruid.actions.plan_text import json_lines
from hivedruid.druid import filters, sources
from hivedruid.plan.rex import Call, Rex
from hivedruid.plan.split import druid_read, spark_job
from tests.support.instructions import instructions
from tests.support.planning import parse, plan


def parts(part: str, number: int, between: str) -> str:
    return between.join(part.format(n=n, next=n + 1) for n in range(number))


def planned(sql: str) -> None:
    """Plan a query to the end: a native query or a Spark job."""
    if druid_read(made := plan(sql)) is None:
        spark_job(made)


STATEMENTS = {
    "UNION ALL of one table": ("{}", "SELECT city FROM ev WHERE clicks = {n}", " UNION ALL ", 2.1, 80),
    "UNION ALL of ranges": (
        "{}", "SELECT city FROM ev WHERE clicks >= {n}0 AND clicks < {n}0 + 10", " UNION ALL ", 2.1, 80
    ),
    "UNION of one table": ("{}", "SELECT city FROM ev WHERE city = 'c{n}'", " UNION ", 2.1, 80),
    "INTERSECT": ("{}", "SELECT city FROM ev WHERE clicks > {n}", " INTERSECT ", 2.1, 80),
    "UNION ALL of constants": ("{}", "SELECT {n} AS a, 'x' AS b", " UNION ALL ", 2.2, 40),
    "GROUP BY over UNION ALL": (
        "SELECT city, count(*) FROM ({}) u GROUP BY city", "SELECT city FROM ev WHERE clicks = {n}", " UNION ALL ", 2.3, 40
    ),
    "count(DISTINCT)": ("SELECT {} FROM ev", "count(DISTINCT clicks + {n})", ", ", 2.15, 160),
    "EXISTS": (
        "SELECT city FROM ev WHERE {}",
        "EXISTS (SELECT 1 FROM ev v WHERE v.city = ev.city AND v.clicks = {n})", " AND ", 2.05, 40,
    ),
    "conditions on one column": ("SELECT city FROM ev WHERE {}", "clicks <> {n}", " AND ", 2.2, 300),
    "ranges of one column": ("SELECT city FROM ev WHERE {}", "(clicks < {n}0 OR clicks > {n}5)", " AND ", 2.2, 200),
    "IN of two types": ("SELECT clicks FROM ev WHERE city IN ({})", "'c{n}', {n}", ", ", 2.1, 60),
    "IN of pairs": ("SELECT imps FROM ev WHERE (city, clicks) IN ({})", "('c{n}', {n})", ", ", 2.1, 60),
    "scalar subqueries": (
        "SELECT city FROM ev WHERE {}", "clicks > (SELECT max(clicks) FROM ev WHERE city = 'c{n}')", " AND ", 2.1, 40
    ),
    "JOIN of one key": (
        "SELECT count(*) FROM ev {}", "JOIN ev e{n} ON ev.city = e{n}.city", " ", 2.15, 40
    ),
    "JOIN of the table before": (
        "SELECT count(*) FROM ev e0 {}", "JOIN ev e{next} ON e{n}.city = e{next}.city", " ", 2.15, 40
    ),
    "LEFT JOIN": ("SELECT count(*) FROM ev {}", "LEFT JOIN ev e{n} ON ev.city = e{n}.city", " ", 2.15, 40),
    "JOIN USING": ("SELECT count(*) FROM ev {}", "JOIN ev e{n} USING (city)", " ", 2.3, 40),
    "JOIN of subqueries": (
        "SELECT count(*) FROM ev {}",
        "JOIN (SELECT city, max(clicks) AS m FROM ev GROUP BY city) e{n} ON ev.city = e{n}.city", " ", 2.15, 40,
    ),
    "JOIN and a condition of its key": (
        "SELECT count(*) FROM ev {} WHERE ev.city > 'c' AND ev.clicks > 5",
        "JOIN ev e{n} ON ev.city = e{n}.city", " ", 2.2, 30,
    ),
}  # fmt: skip
"""A statement with many parts: around them, the part, between two of them, the limit of the work for twice as many,
and how many."""


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_work_grows_with_the_number_of_parts(name: str) -> None:
    around, part, between, most, number = STATEMENTS[name]
    few, many = (around.format(parts(part, n, between)) for n in (number, 2 * number))
    planned(few)  # loads the modules
    parse.cache_clear()
    assert instructions(lambda: planned(many)) < most * instructions(lambda: planned(few))


def in_chain(name: str, number: int) -> str:
    around, part, between, _, _ = STATEMENTS[name]
    return around.format(parts(part, number, between))


@pytest.mark.parametrize("name", ["IN of two types", "IN of pairs"])
def test_each_comparison_of_a_list_is_rendered_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The conditions of a query stay, however often a rule changes the query."""
    rendered: list[Rex] = []
    render = filters._Filters._leaf

    def noted(self: filters._Filters, rex: Call) -> filters.Filter:
        rendered.append(rex)
        return render(self, rex)

    monkeypatch.setattr(filters._Filters, "_leaf", noted)
    assert druid_read(plan(in_chain(name, 50))) is not None
    assert len(rendered) == len(set(rendered)) == 100


@pytest.mark.parametrize("name", ["EXISTS", "scalar subqueries"])
def test_a_join_is_rendered_as_often_in_a_long_chain_as_in_a_short_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each join is checked when it is made, without those below it."""
    visited = {"_join_source": 0, "_narrowed_side": 0}

    def counted(of: str) -> Callable[..., Any]:
        function = getattr(sources, of)

        def call(*args: Any) -> Any:
            visited[of] += 1
            return function(*args)

        return call

    for of in visited:
        monkeypatch.setattr(sources, of, counted(of))
    druid_read(plan(in_chain(name, 20)))
    few = dict(visited)
    druid_read(plan(in_chain(name, 40)))
    assert few["_join_source"] >= 20
    assert {of: number - few[of] for of, number in visited.items()} == {of: 2 * number for of, number in few.items()}


def test_the_text_of_nested_joins_grows_with_their_number() -> None:
    """Not with the margins of all of them."""
    sizes = []
    for number in (60, 90, 120):
        read = druid_read(plan(in_chain("EXISTS", number)))
        assert read is not None
        text = "\n".join(json_lines("", read.query))
        assert json.loads(text) == read.query
        sizes.append(len(text))
    assert sizes[2] - sizes[1] < 1.1 * (sizes[1] - sizes[0])


def test_the_text_of_nested_paths_grows_with_their_number() -> None:
    """Spark's function is written three times for a path that ends at an index."""
    sizes = []
    for number in (4, 8, 12):
        value = "country"
        for index in range(number):
            value = f"get_json_object({value}, '$.a[{index}]')"
        sizes.append(len(spark_job(plan(f"SELECT {value} AS x FROM dim")).sql))
    assert sizes[2] - sizes[1] < 1.1 * (sizes[1] - sizes[0])
