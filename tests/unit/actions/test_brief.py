"""A plan in one line: the table, groups and aggregates of a native query."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid import parser
from hivedruid.actions.brief import brief
from hivedruid.actions.brief import native as line
from hivedruid.actions.build import build
from hivedruid.engine.capabilities import SegmentRoot
from hivedruid.script import SourceStatement
from tests.support.planning import native, snapshot

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


def test_statements_that_are_evaluated_locally_have_a_line() -> None:
    ranks = "SELECT country, rank() OVER (ORDER BY n) FROM (SELECT country, count(*) AS n FROM ev GROUP BY country) x"
    assert planned(ranks) == ["evaluated locally over a native query: groupBy over events by country: count(*)"]
    scanned = planned("SELECT city, rank() OVER (ORDER BY country) FROM ev")
    assert scanned == ["evaluated locally over a native query: scan over events"]  # not the limit of local evaluation
    counts = "SELECT a, count(*) FROM (SELECT explode(array(1, 2)) AS a) x GROUP BY a"
    assert planned(counts) == ["evaluated locally: no query is sent"]


@pytest.mark.parametrize(
    ("way", "line"),
    [
        ("native", "Druid appends the rows to data source events"),  # the embedded store has no tasks
        ("segments", "Druid appends the rows to data source events, in segments that Spark builds"),
    ],
)
def test_a_write_says_who_builds_the_segments(way: str, line: str) -> None:
    statement = parser.parse(SourceStatement("INSERT INTO ev SELECT * FROM ev"))
    root = SegmentRoot("/deep-storage") if way == "segments" else None
    settings = {**snapshot().settings, "hivedruid.druid.write": way}
    home = replace(snapshot(), settings=settings, segment_root=root)
    assert brief(build(statement, home).actions)[-1] == line


def planned(sql: str) -> list[str]:
    return brief(build(parser.parse(SourceStatement(sql)), snapshot()).actions)
