"""EXPLAIN of native queries."""

from __future__ import annotations

import json

import pytest

from hivedruid import parser
from hivedruid.actions.explain import explain
from hivedruid.parser.statements import Explain
from hivedruid.script import SourceStatement
from tests.support.planning import snapshot

TOTAL = "SELECT country, count(*) FROM ev GROUP BY country WITH ROLLUP"
WINDOW = (
    "SELECT country, rank() OVER (ORDER BY c) FROM (SELECT country, count(*) c FROM ev GROUP BY country WITH CUBE) x"
)
ON_SPARK = "SELECT collect_set(country) FROM (SELECT country, count(*) c FROM ev GROUP BY country WITH CUBE) x"


def explained(text: str) -> str:
    statement = parser.parse(SourceStatement(text))
    assert isinstance(statement, Explain)
    return "\n".join(str(row[0]) for row in explain(statement, snapshot()).rows)


@pytest.mark.parametrize("sql", [TOTAL, WINDOW, ON_SPARK])
def test_the_query_for_the_total_over_no_rows_is_shown(sql: str) -> None:
    text = explained(f"EXPLAIN {sql}")
    first, asked, second = text.partition(
        "(sent if the query above returns no rows, for the total over an empty input)"
    )
    assert asked
    assert '"queryType": "groupBy"' in first
    assert '"queryType": "timeseries"' in second
    reads = json.loads(explained(f"EXPLAIN FORMATTED {sql}"))["actions"][0]
    [read] = [read for read in reads.get("inputs", [reads]) if "query" in read]
    assert read["over_nothing"]["queryType"] == "timeseries"


def test_a_query_without_such_a_total_has_none() -> None:
    sql = "SELECT country, count(*) FROM ev GROUP BY country"
    assert "total over an empty input" not in explained(f"EXPLAIN {sql}")
    assert "over_nothing" not in json.loads(explained(f"EXPLAIN FORMATTED {sql}"))["actions"][0]
