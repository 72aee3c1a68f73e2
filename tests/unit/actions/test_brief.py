"""A plan in one line: the table, groups and aggregates of a native query."""

from __future__ import annotations

import pytest

from hivedruid.actions.brief import native as line
from tests.support.planning import native

UNNEST = "groupBy over default.tagged with each element of its arrays by tag: count(*), filtered"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT city FROM ev LIMIT 5", "scan over events, 5 rows"),
        ("SELECT country, count(*) FROM ev GROUP BY country", "groupBy over events by country: count(*)"),
        (
            "SELECT tag, count(*) FROM tagged LATERAL VIEW explode(tags) t AS tag WHERE size(tags) > 1 GROUP BY tag",
            UNNEST,
        ),
    ],
)
def test_a_native_query_in_one_line(sql: str, expected: str) -> None:
    assert line(native(sql)) == expected
