"""The work of planning, in instructions, for statements with many equal parts."""

from __future__ import annotations

import pytest

from tests.support.instructions import instructions
from tests.support.planning import parse, plan


def parts(part: str, number: int, between: str) -> str:
    return between.join(part.format(n=n) for n in range(number))


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
        "EXISTS (SELECT 1 FROM ev v WHERE v.city = ev.city AND v.clicks = {n})", " AND ", 2.2, 40,
    ),
    "conditions on one column": ("SELECT city FROM ev WHERE {}", "clicks <> {n}", " AND ", 2.2, 300),
    "ranges of one column": ("SELECT city FROM ev WHERE {}", "(clicks < {n}0 OR clicks > {n}5)", " AND ", 2.2, 200),
    "scalar subqueries": (
        "SELECT city FROM ev WHERE {}", "clicks > (SELECT max(clicks) FROM ev WHERE city = 'c{n}')", " AND ", 2.25, 40
    ),
}  # fmt: skip
"""A statement with many parts: around them, the part, between two of them, the limit of the work for twice as many,
and how many."""


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_work_grows_with_the_number_of_parts(name: str) -> None:
    around, part, between, most, number = STATEMENTS[name]
    few, many = (around.format(parts(part, n, between)) for n in (number, 2 * number))
    plan(few)  # loads the modules
    parse.cache_clear()
    assert instructions(lambda: plan(many)) < most * instructions(lambda: plan(few))
