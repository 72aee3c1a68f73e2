"""Statements with hundreds of nested or chained parts run, on Druid's rows and on constant rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from hivedruid.errors import HiveDruidError
from hivedruid.session import Session
from tests.support.loads import ingest

if TYPE_CHECKING:
    from hivedruid.plan.physical import DruidRead
    from hivedruid.results import Batches

DEPTH = 500


def statements(depth: int) -> dict[str, tuple[str, int]]:
    """Queries of a table with one row (b = 3, page = 'p'), with their one value."""
    ctes = "".join(f", c{n} AS (SELECT b FROM c{n - 1})" for n in range(1, depth))
    return {
        "sum": (f"SELECT {' + '.join(['b'] * depth)} FROM {{t}}", 3 * depth),
        "sum of an aggregate": (f"SELECT sum({' + '.join(['b'] * depth)}) FROM {{t}}", 3 * depth),
        "sum in a condition": (f"SELECT b FROM {{t}} WHERE {' + '.join(['b'] * depth)} = {3 * depth}", 3),
        "concatenation": (f"SELECT length({' || '.join(['page'] * depth)}) FROM {{t}}", depth),
        "parentheses": (f"SELECT {'(' * depth}b{')' * depth} FROM {{t}}", 3),
        "calls": (f"SELECT {'abs(' * depth}b{')' * depth} FROM {{t}}", 3),
        "NOT": (f"SELECT b FROM {{t}} WHERE {'NOT ' * depth} b = 3", 3),
        "CASE": (f"SELECT {'CASE WHEN b = 1 THEN 2 ELSE ' * depth}7{' END' * depth} FROM {{t}}", 7),
        "subqueries": (f"SELECT b FROM {'(SELECT b FROM ' * depth}{{t}}{') x' * depth}", 3),
        "CTEs": (f"WITH c0 AS (SELECT b FROM {{t}}){ctes} SELECT b FROM c{depth - 1}", 3),
    }


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("nesting")
    (folder / "in").mkdir()
    (folder / "in" / "rows.json").write_text(json.dumps({"__time": 0, "page": "p", "b": 3}) + "\n", encoding="utf-8")
    dimensions = ["page", {"type": "long", "name": "b"}]
    schema = {
        "dataSource": "ds",
        "timestampSpec": {"column": "__time", "format": "millis"},
        "dimensionsSpec": {"dimensions": dimensions},
        "metricsSpec": [],
        "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False},
    }
    source = {
        "type": "index_parallel",
        "inputSource": {"type": "local", "baseDir": str(folder / "in"), "filter": "*"},
        "inputFormat": {"type": "json"},
        "appendToExisting": True,
    }
    with Session(folder / "home") as session:
        ingest(session.store, {"type": "index_parallel", "spec": {"dataSchema": schema, "ioConfig": source}})
        run(session, "CREATE EXTERNAL TABLE t STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'ds')")
        yield session


def run(session: Session, text: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for statement in session.statements(text):
        rows = list(session.execute(statement).rows)
    return rows


@pytest.mark.parametrize("name", statements(DEPTH))
def test_hundreds_of_parts_over_constants(session: Session, name: str) -> None:
    text, value = statements(DEPTH)[name]
    assert run(session, text.format(t="(SELECT 3 AS b, 'p' AS page) t")) == [(value,)]


@pytest.mark.parametrize("name", statements(DEPTH))
def test_hundreds_of_parts_are_one_native_query(session: Session, name: str) -> None:
    plan = run(session, f"EXPLAIN {statements(DEPTH)[name][0].format(t='t')}")
    assert sum('"queryType"' in str(line) for line in plan) == 1


@pytest.mark.parametrize("name", statements(DEPTH))
def test_a_hundred_parts_over_druid(session: Session, name: str) -> None:
    text, value = statements(100)[name]
    assert run(session, text.format(t="t")) == [(value,)]


@pytest.mark.parametrize("text", [f"SELECT {'(' * 50_000}", f"SELECT {'-(' * 20_000}1{')' * 20_000}"])
def test_too_many_parts_are_an_error_with_a_position(session: Session, text: str) -> None:
    with pytest.raises(HiveDruidError) as error:
        run(session, text)
    assert error.value.span is not None


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_the_native_query_of_a_cte_runs_once(session: Session, levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    queries: list[object] = []
    rows = session.store.rows

    def counted(read: DruidRead) -> Batches:
        queries.append(read.query)
        return rows(read)

    monkeypatch.setattr(session.store, "rows", counted)
    joins = "".join(
        f", c{n} AS (SELECT x.page, x.s + y.s AS s FROM c{n - 1} x JOIN c{n - 1} y ON x.page = y.page)"
        for n in range(1, levels + 1)
    )
    text = f"WITH c0 AS (SELECT page, sum(b) AS s FROM t GROUP BY page){joins} SELECT s FROM c{levels}"
    assert run(session, text) == [(3 * 2**levels,)]
    assert len(queries) == 1
