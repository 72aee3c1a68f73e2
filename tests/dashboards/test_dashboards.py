"""Dashboards' queries on the embedded store: without Spark, and with the rows that Spark computes over the raw rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hivedruid.actions.build import build
from hivedruid.actions.gather import gather
from hivedruid.actions.select.model import AnswerRows, EvaluateLocally, RunDruidQuery
from hivedruid.parser import parse
from hivedruid.parser.statements import Query
from hivedruid.plan.split import plan_query, spark_job
from hivedruid.session import Session
from hivedruid.spark import session as spark_session
from tests.dashboards.sample import NOW, fill, queries, regions, sales
from tests.equivalence.comparison import Rows, same, shown
from tests.support.reference import Confirmed, Reference
from tests.support.spark_settings import FEW_ROWS

ENOUGH = 105
"""Queries that must run without Spark."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("dashboards")
    with Session(folder / "home", hiveconf={"hivedruid.now": NOW, "hive.local.time.zone": "UTC"}) as made:
        fill(made, folder / "rows")
        yield made
    spark_session.release_all()


@pytest.fixture(scope="module")
def answers(session: Session) -> dict[str, Rows]:
    """The results of hivedruid, by query."""
    return {sql: _run(session, sql) for sql in queries()}


def _run(session: Session, sql: str) -> Rows:
    (statement,) = session.statements(sql)
    return [tuple(row) for row in session.execute(statement).rows]


def _actions(session: Session, sql: str) -> tuple[Any, ...]:
    (statement,) = session.statements(sql)
    parsed = parse(statement)
    return build(parsed, gather(parsed, session.facts())).actions


def test_there_are_107_queries() -> None:
    assert len(set(queries())) == 107


def test_they_are_planned_without_spark(session: Session) -> None:
    without = [
        sql
        for sql in queries()
        if all(isinstance(a, AnswerRows | RunDruidQuery | EvaluateLocally) for a in _actions(session, sql))
    ]
    assert len(without) >= ENOUGH, "\n".join(set(queries()) - set(without))


def test_they_run_without_spark(session: Session, answers: dict[str, Rows]) -> None:
    """No plan falls back to Spark at run time, either."""
    assert len(answers) == 107
    assert session._spark is None


def test_too_many_rows_go_to_spark(session: Session) -> None:
    limited = "SELECT country, n, rank() OVER (ORDER BY n, country) AS r FROM (SELECT country, count(*) AS n FROM sales GROUP BY country) t ORDER BY r"
    here = _run(session, limited)
    before = session.settings["hivedruid.local.evaluation.max.rows"]
    session.settings.set("hivedruid.local.evaluation.max.rows", "5")
    assert _run(session, limited) == here
    assert session._spark is not None
    session.settings.set("hivedruid.local.evaluation.max.rows", before)


def test_they_answer_as_spark_does_over_the_raw_rows(
    session: Session, answers: dict[str, Rows], confirmed_in: Callable[[Path], Confirmed]
) -> None:
    confirmed = confirmed_in(Path(__file__).parent)
    reference = Reference(lambda: spark_session.session(FEW_ROWS, session.home), confirmed)
    for name, rows in (("sales", sales()), ("regions", regions())):
        table = session.catalog.find("default", name)
        assert table is not None
        reference.load(table, ([row[c.name] for c in table.columns] for row in rows))
    wrong = []
    for sql, found in answers.items():
        (statement,) = session.statements(sql)
        parsed = parse(statement)
        assert isinstance(parsed, Query)
        bare = plan_query(parsed.expression, statement, gather(parsed, session.facts()), rules=())
        types = [column.type for column in bare.columns]
        ordered = "ORDER BY" in sql.rpartition(")")[2]
        expected = reference.rows(spark_job(bare), found, types, ordered=ordered)
        if not same(found, expected, types, ordered=ordered):
            wrong.append(f"{sql}\n  found:\n{shown(found)}\n  expected:\n{shown(expected)}")
    assert not wrong, "\n\n".join(wrong)
