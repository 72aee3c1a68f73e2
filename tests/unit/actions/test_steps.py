"""The steps of a statement: which engine computes what."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hivedruid import parser
from hivedruid.actions.explain import explain
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.writing.local import SETTING
from hivedruid.catalog.statistics import TableStatistics
from hivedruid.parser.statements import Explain
from hivedruid.plan.segment_files import SegmentFile, SegmentFiles
from hivedruid.plan_steps import Step, from_document, to_document
from hivedruid.script import SourceStatement
from hivedruid.settings import SETTINGS
from tests.support.planning import snapshot

GROUPS = "SELECT country, count(*) AS n FROM ev GROUP BY country"
FILE = SegmentFile("events", 0, 86_400_000, "v1", 0, "/events/0", 100)


def steps(sql: str, known: Snapshot | None = None) -> list[Step]:
    statement = parser.parse(SourceStatement(f"EXPLAIN FORMATTED {sql}"))
    assert isinstance(statement, Explain)
    document = json.loads("\n".join(line for (line,) in explain(statement, known or snapshot()).rows))
    found = [from_document(item) for item in document["operators"]]
    assert [to_document(step) for step in found] == document["operators"]
    return found


def shown(step: Step) -> list[tuple[str, str]]:
    return [(item.engine, item.operator) for item in step.walk()]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (GROUPS, [("druid", "groupBy query")]),
        ("SELECT 1", [("hivedruid", "Project"), ("hivedruid", "Values")]),
        (
            f"SELECT country, rank() OVER (ORDER BY n) FROM ({GROUPS}) x",
            [("hivedruid", "Project"), ("druid", "groupBy query")],
        ),
        (
            f"SELECT collect_set(n) FROM ({GROUPS} UNION ALL SELECT city, count(*) FROM ev GROUP BY city) x",
            [("spark", "Aggregate"), ("spark", "Union all"), ("druid", "groupBy query"), ("druid", "groupBy query")],
        ),
        ("SELECT count(*) FROM (SELECT DISTINCT country FROM ev) x", [("druid", "groupBy query"), ("druid", "groupBy query")]),
    ],
)  # fmt: skip
def test_each_operator_has_its_engine(sql: str, expected: list[tuple[str, str]]) -> None:
    (step,) = steps(sql)
    assert shown(step) == expected


WRITE = "CREATE EXTERNAL TABLE totals STORED BY 'druid' AS SELECT `__time`, country, rank() OVER (ORDER BY clicks) AS place FROM ev"


@pytest.mark.parametrize(("most", "engine"), [("900", "hivedruid"), ("899", "spark"), ("0", "spark")])
def test_rows_that_are_written_have_the_engine_that_computes_them(most: str, engine: str) -> None:
    """The estimate and the setting decide."""
    settings = {key: setting.default for key, setting in SETTINGS.items()} | {SETTING: most}
    statistics = {("default", "ev"): TableStatistics(rows=900)}
    known = replace(snapshot(settings=settings), statistics=statistics)
    (step,) = steps(WRITE, known)
    (write, *computed) = shown(step)
    assert write == ("druid", "Appends the rows to data source default.totals")
    assert {found for found, operator in computed if "query" not in operator} == {engine}
    extended = explain_text(f"EXPLAIN EXTENDED {WRITE}", known)
    assert ("Local evaluation: no" in extended) == (engine == "spark")


def explain_text(sql: str, known: Snapshot) -> str:
    statement = parser.parse(SourceStatement(sql))
    assert isinstance(statement, Explain)
    return "\n".join(line for (line,) in explain(statement, known).rows)


def test_an_operator_has_its_expressions_and_its_estimate() -> None:
    statistics = {("default", "ev"): TableStatistics(rows=900)}
    (step,) = steps(f"{GROUPS} ORDER BY n DESC LIMIT 3", replace(snapshot(), statistics=statistics))
    assert (step.rows, step.estimate) == (3, "about 3 rows")
    assert step.attributes["table"] == "default.ev"
    assert step.attributes["aggs"] == "count(*)"
    assert step.attributes["fetch"] == "3"


def test_segment_files_are_read_by_spark() -> None:
    files = SegmentFiles((FILE,), types={"country": "STRING", "clicks": "LONG"})
    settings = {"hivedruid.druid.read": "segments"}
    known = replace(snapshot(settings=settings), segments={"events": files})
    (step,) = steps("SELECT collect_set(country) FROM ev WHERE clicks > 3 AND clicks * 2 < 9", known)
    *_, scan = step.walk()
    assert (scan.engine, scan.operator) == ("spark", "Scan of segment files")
    assert scan.attributes["segments"].startswith("read from 1 file, 100 bytes")


def test_a_statement_without_a_plan_has_no_steps() -> None:
    assert steps("SHOW TABLES") == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT country, sum(clicks) + 1 AS s FROM ev GROUP BY country HAVING max(clicks) > 1",
        "SELECT city, max(n) - min(n) FROM (SELECT city, country, count(*) AS n FROM ev GROUP BY city, country) x"
        " GROUP BY city HAVING count(*) > 1",
        "SELECT size(collect_set(country)), avg(clicks) FROM ev GROUP BY city",
    ],
)
def test_results_of_functions_have_the_names_of_their_calls(sql: str) -> None:
    texts = [text for tree in steps(sql) for step in tree.walk() for pair in step.attributes.items() for text in pair]
    assert not [text for text in texts if "$f" in text]
    assert any("count(*)" in text or "max(" in text or "collect_set(" in text for text in texts)


def test_text_of_the_statement_is_shown_as_it_is() -> None:
    """Also if it looks like the id of a column."""
    (step,) = steps(
        "SELECT country, sum(clicks) + 1 AS s FROM ev GROUP BY country HAVING max(clicks) > 1 AND country <> '$f1'"
    )
    assert step.attributes["filter"] == "(country <> '$f1')"
    assert step.attributes["having"] == "(max(clicks) > 1)"
