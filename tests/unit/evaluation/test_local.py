"""The plans that are evaluated in this process, their EXPLAIN, and the fallback to Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hivedruid.actions.build import build
from hivedruid.actions.explain import document, explain
from hivedruid.actions.select.model import EvaluateLocally, RunSparkJob
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, FLOAT, STRING, TIMESTAMP, HiveType
from hivedruid.evaluation.exactness import Unsure
from hivedruid.evaluation.local import evaluated, fallback_reason, local_plan
from hivedruid.evaluation.relations import Evaluator, Relation, Rows
from hivedruid.parser import parse as parse_statement
from hivedruid.parser.statements import Explain, Query
from hivedruid.plan.nodes import Node, TableScan
from hivedruid.plan.show import show
from hivedruid.plan.split import QueryPlan
from hivedruid.script import SourceStatement
from hivedruid.session import Session
from hivedruid.settings import SETTINGS
from tests.support.planning import TABLES, events, plan, snapshot

RANKED = (
    "SELECT country, rank() OVER (ORDER BY s DESC) AS r FROM (SELECT country, sum(clicks) s FROM ev GROUP BY country) x"
)

DEFAULTS = {key: setting.default for key, setting in SETTINGS.items() if key != "hive.local.time.zone"}


def test_a_window_over_groups_is_evaluated_over_one_native_query() -> None:
    local = local_plan(plan(RANKED))
    (item,) = local.inputs
    assert item.read.query["queryType"] == "groupBy"
    rows = evaluated(local, {item.view: [("NO", 3), ("PE", 5), (None, None)]})
    assert sorted(rows, key=str) == [("NO", 3), ("PE", 2), (None, 1)]  # DESC sorts nulls first


def test_a_scan_ends_where_it_has_too_many_rows() -> None:
    (item,) = local_plan(plan("SELECT city FROM ev ORDER BY city")).inputs
    assert item.read.query["limit"] == 10_001


def test_a_query_that_is_read_twice_is_asked_once() -> None:
    sql = f"WITH r AS ({RANKED}) SELECT a.country, b.country FROM r a JOIN r b ON a.r = b.r"
    assert len(local_plan(plan(sql)).inputs) == 1


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT md5(city) FROM ev", "md5() is not evaluated locally"),
        ("SELECT e.city, d.region FROM ev e JOIN dim d ON e.country = d.country", "default.dim is not a Druid table"),
        ("SELECT country, collect_set(city) FROM ev GROUP BY country", "collect_set() is not evaluated locally"),
        ("SELECT str_to_map(city), rank() OVER (ORDER BY 1) FROM ev", "values of type map<string,string>"),
        ("SELECT tags, city FROM tagged JOIN ev ON array(city) = tags", "a comparison of array<string> and array<string>"),
        ("SELECT sum(clicks) OVER (ORDER BY imps RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM ev", "a window frame with value offsets"),
        ("SELECT round(score, 1), initcap(city) FROM ev", "round() of floats"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_tables_is_left_to_spark(sql: str, reason: str) -> None:
    assert fallback_reason(plan(sql)) == reason


def test_an_input_that_is_known_to_be_large_is_left_to_spark() -> None:
    sql = "SELECT initcap(city) AS c FROM ev"
    assert fallback_reason(plan(sql, rows={"ev": 10_000})) is None
    assert "about 10001 rows" in (fallback_reason(plan(sql, rows={"ev": 10_001})) or "")
    assert fallback_reason(plan(sql, settings={"hivedruid.local.evaluation.max.rows": "0"})) is not None


PLACES = Table(
    "default", "places", "files",
    (Column("country", HiveType("char", (2,))), Column("region", STRING), Column("pop", BIGINT), Column("area", FLOAT),
     Column("seen", TIMESTAMP)),
    True, format="parquet", location="/data/places",
)  # fmt: skip
JOINED = "SELECT region, sum(clicks) FROM ev e JOIN places p ON e.country = p.country WHERE pop > 5 GROUP BY region"


def _joined(sql: str = JOINED, places: Table = PLACES, **known: Any) -> QueryPlan:
    return plan(sql, tables=(events(), places), **known)


def test_small_tables_of_parquet_files_are_inputs() -> None:
    local = local_plan(_joined())
    (native,), (files,) = local.inputs, local.files
    assert (files.rows.columns, len(files.rows.conditions)) == (("country", "region", "pop"), 1)
    rows: dict[str, Rows] = {
        native.view: [("NO", 4), ("PE", 3), (None, 9), ("FI", 2)],
        files.view: [("NO", "north", 6), ("PE", None, 7), ("FI", "north", 8)],
    }
    assert sorted(evaluated(local, rows), key=str) == [("north", 6), (None, 3)]


@pytest.mark.parametrize(
    ("sql", "places", "reason"),
    [
        (JOINED, replace(PLACES, format="orc"), "default.places is not a Druid table"),
        (JOINED, replace(PLACES, location="s3a://data/places"), "default.places is not a Druid table"),
        ("SELECT region FROM places", PLACES, "default.places is not a Druid table"),
        ("SELECT city FROM ev e JOIN places p ON e.country = p.country WHERE area > 2", PLACES, "column area of default.places is read by Spark"),
        ("SELECT city, seen FROM ev e JOIN places p ON e.country = p.country", PLACES, "column seen of default.places is read by Spark"),
        ("SELECT city FROM ev e JOIN places p ON e.country = p.country WHERE md5(region) = 'x'", PLACES, "md5() is not evaluated locally"),
        ("SELECT city FROM ev e JOIN places p ON e.country = p.country WHERE concat(p.country, 'x') = 'NOx'", PLACES, "concat() of CHAR"),
    ],
)  # fmt: skip
def test_other_files_are_left_to_spark(sql: str, places: Table, reason: str) -> None:
    assert fallback_reason(_joined(sql, places)) == reason


def test_files_of_another_machine_are_left_to_spark() -> None:
    assert (
        fallback_reason(_joined(settings={"spark.remote": "sc://elsewhere"})) == "default.places is not a Druid table"
    )


def test_rows_of_files_count_after_their_conditions() -> None:
    assert fallback_reason(_joined(rows={"places": 20_000})) is None
    assert "default.places has about 33333 rows" in (fallback_reason(_joined(rows={"places": 100_000})) or "")
    every = "SELECT region FROM ev e JOIN places p ON e.country = p.country WHERE p.pop = 1 AND p.region = 'x'"
    assert "about 1000001 rows" in (fallback_reason(_joined(every, rows={"places": 1_000_001})) or "")


def test_rows_of_native_queries_count_after_the_keys_of_joins() -> None:
    some, all_of_them = "WHERE pop = 1 AND region = 'x'", "WHERE pop > 0"
    sql = "SELECT e.city FROM ev e JOIN places p ON e.country = p.country "
    assert fallback_reason(_joined(sql + some, rows={"ev": 900_000, "places": 1_000})) is None
    assert "a native query has about 269730 rows" in (
        fallback_reason(_joined(sql + all_of_them, rows={"ev": 900_000, "places": 1_000})) or ""
    )


def test_chars_are_compared_without_trailing_blanks() -> None:
    sql = "SELECT p.country, e.city FROM ev e JOIN places p ON e.country = p.country WHERE p.country = 'N '"
    local = local_plan(_joined(sql))
    (condition,) = local.files[0].rows.conditions
    assert show(condition) == "(country = 'N')"


def test_explain_shows_the_files_that_are_read() -> None:
    text = _explained(JOINED, tables=(events(), PLACES))
    assert 'default.places (parquet, read by this process)\n          Output:["country","region","pop"]' in text
    assert "filter: (pop > 5)" in text
    made = document(build(_query(JOINED), snapshot(tables=(events(), PLACES))), {})
    assert made["actions"][0]["inputs"][1]["table"] == "default.places"


def test_doubtful_values_are_not_answered() -> None:
    local = local_plan(
        plan(
            "SELECT country, rank() OVER (ORDER BY s) AS r FROM (SELECT country, sum(revenue) s FROM ev GROUP BY country) x"
        )
    )
    view = local.inputs[0].view
    for value in (-0.0, float("nan"), float("inf")):
        with pytest.raises(Unsure):
            evaluated(local, {view: [("NO", value), ("PE", 1.0)]})


@pytest.mark.parametrize(
    ("joins", "rows"),
    [
        ("JOIN b ON a.k = b.k JOIN c ON b.k = c.k AND a.n + b.n = c.n", [("NO", 1, 2, 3)]),
        ("LEFT SEMI JOIN c x ON a.k = x.k AND a.n < x.n JOIN b ON a.k = b.k JOIN c ON c.k = b.k AND c.n = a.n * 2 + 1",
         [("NO", 1, 2, 3)]),
        ("LEFT ANTI JOIN c x ON a.k = x.k AND x.n < 9 LEFT JOIN b ON a.k = b.k AND b.n > a.n"
         " FULL JOIN c ON c.k = b.k AND b.n < c.n OR c.n = a.n", [("PE", 7, 8, 9), (None, None, None, 3)]),
        ("JOIN (b JOIN c ON b.k = c.k) ON a.k = c.k AND a.n < b.n AND b.n < c.n",
         [("NO", 1, 2, 3), ("PE", 7, 8, 9)]),
    ],
)  # fmt: skip
def test_chains_of_joins(joins: str, rows: list[tuple[object, ...]]) -> None:
    """The conditions of a join read the columns of all joins below it, and not those of a semi join's right side."""
    tables = ((name, n) for n, name in enumerate("abc", start=1))
    ctes = ", ".join(
        f"{name} AS (SELECT col1 k, col2 n FROM (VALUES ('NO', {n}), ('PE', {n + 6})) v)" for name, n in tables
    )
    sql = f"WITH {ctes} SELECT a.k, a.n, b.n, c.n FROM a {joins}"
    assert sorted(evaluated(local_plan(plan(sql)), {}), key=str) == sorted(rows, key=str)


@pytest.mark.parametrize("condition", ["a.s = b.s", "a.s <> b.s", "a.s <=> b.s", "a.s > b.s", "a.s = b.c"])
def test_nan_is_not_compared(condition: str) -> None:
    groups = "(SELECT country, sum(revenue) s, count(*) c FROM ev GROUP BY country)"
    local = local_plan(plan(f"SELECT a.country, b.country FROM {groups} a FULL JOIN {groups} b ON {condition}"))
    rows = {item.view: [("NO", float("nan"), 1), ("PE", 1.0, 2)] for item in local.inputs}
    with pytest.raises(Unsure):
        evaluated(local, rows)


@pytest.mark.parametrize(
    "call", ["floor(s)", "ceil(s)", "round(s, 1)", "s % 2", "2 % s", "sqrt(s)", "sign(s)", "format_number(s, 2)"]
)
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_functions_of_numbers_that_are_not_finite_are_left_to_spark(call: str, number: float) -> None:
    local = local_plan(
        plan(
            f"SELECT {call}, rank() OVER (ORDER BY country) FROM (SELECT country, sum(revenue) s FROM ev GROUP BY country) x"
        )
    )
    with pytest.raises(Unsure):
        evaluated(local, {local.inputs[0].view: [("NO", number)]})


def _query(sql: str) -> Query:
    statement = parse_statement(SourceStatement(sql))
    assert isinstance(statement, Query)
    return statement


def test_scans_only_leaves_the_rest_to_spark() -> None:
    facts = snapshot()
    (action,) = build(_query(RANKED), facts).actions
    assert isinstance(action, EvaluateLocally)
    (action,) = build(_query(RANKED), replace(facts, scans_only=True)).actions
    assert isinstance(action, RunSparkJob)


def _explained(sql: str, mode: str = "", tables: tuple[Table, ...] = TABLES) -> str:
    statement = parse_statement(SourceStatement(f"EXPLAIN {mode} {sql}"))
    assert isinstance(statement, Explain)
    return "\n".join(str(row[0]) for row in explain(statement, snapshot(tables=tables, settings=DEFAULTS)).rows)


def test_explain_shows_what_this_process_evaluates() -> None:
    text = _explained(RANKED)
    assert "Spark Operator" not in text
    assert "Local Evaluation\n      at most 10000 rows of each input, else Spark\n      Project(" in text
    assert "rank() OVER" in text
    assert '"queryType": "groupBy"' in text


def test_explain_extended_says_why_spark_is_needed() -> None:
    assert "Local evaluation: no, md5() is not evaluated locally" in _explained("SELECT md5(city) FROM ev", "EXTENDED")
    assert "Local evaluation" not in _explained("SELECT city FROM ev", "EXTENDED")


def test_explain_formatted_has_the_operators() -> None:
    made = document(build(_query(RANKED), snapshot()), {})
    (action,) = made["actions"]
    assert (action["action"], action["max_rows"]) == ("EvaluateLocally", 10_000)
    assert action["inputs"][0]["query"] == made["druid_queries"][0]
    assert made["residual"] is None


def _over(sql: str, rows: Rows) -> Rows:
    """The query's rows over rows of `ev` with country, clicks and score."""

    def leaf(node: Node) -> Relation | None:
        if not isinstance(node, TableScan):
            return None
        places = [("country", "clicks", "score").index(column.name) for column in node.columns]
        return lambda: [tuple(row[place] for place in places) for row in rows]

    narrow = replace(events(), columns=tuple(c for c in events().columns if c.name in ("country", "clicks", "score")))
    return Evaluator("UTC", leaf).relation(plan(sql, tables=(narrow,), rules=()).node)()


TENTH, THIRD = 0.10000000149011612, 0.3333333432674408
"""The floats 0.1 and 0.33333334, which is how Druid's responses write them."""


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("score + score", [0.20000000298023224, 0.6666666865348816, None]),
        ("score * 3", [0.30000001192092896, 1.0, None]),
        ("score / 3", [TENTH / 3, THIRD / 3, None]),
        ("abs(-score)", [TENTH, THIRD, None]),
        ("ceil(score)", [1, 1, None]),
        ("CAST(score * 10 AS int)", [1, 3, None]),
        ("score > 0", [True, True, None]),
        ("score = 0.1D", [True, False, None]),
        ("score IN (CAST('0.1' AS float), CAST('7' AS float))", [True, False, None]),
        ("CASE WHEN clicks = 1 THEN score ELSE score * 2 END", [TENTH, 0.6666666865348816, None]),
        ("coalesce(score, CAST(7 AS float))", [TENTH, THIRD, 7.0]),
        ("sum(score) OVER ()", [TENTH + THIRD] * 3),
        ("rank() OVER (ORDER BY score DESC)", [3, 2, 1]),
    ],
)
def test_floats_have_single_precision(expression: str, values: list[Any]) -> None:
    rows = _over(f"SELECT {expression} FROM ev", [("A", 1, 0.1), ("B", 2, 0.33333334), ("A", 3, None)])
    assert [value for (value,) in rows] == values


ROWS: Rows = [("A", 1, 0.1), ("B", 2, 0.33333334), ("A", 3, 0.1), ("A", 4, None)]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT sum(score), avg(score) FROM ev WHERE clicks <> 3", [(TENTH + THIRD, (TENTH + THIRD) / 2)]),
        ("SELECT min(score), max(score), count(DISTINCT score) FROM ev", [(TENTH, THIRD, 2)]),
        ("SELECT score, count(*) FROM ev GROUP BY score", [(TENTH, 2), (THIRD, 1), (None, 1)]),
        ("SELECT score FROM ev UNION SELECT CAST('0.1' AS float) FROM ev", [(TENTH,), (THIRD,), (None,)]),
        ("SELECT clicks FROM ev ORDER BY score DESC, clicks", [(4,), (2,), (1,), (3,)]),
        ("SELECT clicks FROM ev WHERE score IN (SELECT score * 1 FROM ev WHERE clicks = 1)", [(1,), (3,)]),
        ("SELECT clicks, count(DISTINCT country) OVER () FROM ev", [(1, 2), (2, 2), (3, 2), (4, 2)]),
        (
            "SELECT clicks, sum(DISTINCT score) OVER (PARTITION BY country) FROM ev",
            [(1, TENTH), (2, THIRD), (3, TENTH), (4, TENTH)],
        ),
    ],
)
def test_queries_over_floats_and_of_distinct_values(sql: str, rows: Rows) -> None:
    assert _over(sql, ROWS) == rows


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("count(*) = (SELECT count(*) FROM (VALUES (1), (1), (2)) AS c(y) WHERE c.y = a.x)", [(1,), (2,)]),
        ("count(*) < (SELECT count(*) FROM (VALUES (1), (1), (2)) AS c(y) WHERE c.y >= a.x LIMIT 1)", [(1,)]),
        ("count(*) > 1 AND EXISTS (SELECT y FROM (VALUES (1), (1)) AS c(y) WHERE c.y = a.x GROUP BY y HAVING count(*) = 2)", [(1,)]),
        ("count(*) = (SELECT max(n) FROM (SELECT y, count(*) OVER () n FROM (VALUES (1), (1)) AS v(y)) c WHERE c.y = a.x)", [(1,)]),
    ],
)  # fmt: skip
def test_an_aggregate_of_a_subquery_is_not_the_equal_one_of_the_outer_query(
    tmp_path: Path, condition: str, rows: list[tuple[int, ...]]
) -> None:
    with Session(tmp_path) as session:
        (query,) = session.statements(
            f"SELECT x FROM (VALUES (1), (1), (2)) AS a(x) GROUP BY x HAVING {condition} ORDER BY x"
        )
        assert list(session.execute(query).rows) == rows
