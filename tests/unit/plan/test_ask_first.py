"""Totals of times that are queried first, and the plan with their results."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hivedruid.plan.split import QueryPlan, constant_rows, druid_read, plan_query
from tests.support.planning import ETERNITY, parse, snapshot

LATEST = datetime(2020, 3, 9, 12, 0, tzinfo=UTC)
NEVER = ETERNITY.split("/")[1]


def planned(sql: str, zone: str = "UTC", answers: dict[str, Any] | None = None) -> QueryPlan:
    return plan_query(*parse(sql), replace(snapshot(zone), answers=answers or {}))


def answered(sql: str, *row: Any, zone: str = "UTC") -> dict[str, Any]:
    """The native query when the single total has this result."""
    (ask,) = planned(sql, zone).asks
    known = planned(sql, zone, {ask.key: row})
    assert known.asks == ()
    read = druid_read(known)
    assert read is not None
    return dict(read.query)


@pytest.mark.parametrize(
    ("condition", "value", "interval"),
    [
        ("__time > (SELECT max(__time) FROM ev) - INTERVAL '7' DAY", LATEST, f"2020-03-02T12:00:00.001Z/{NEVER}"),
        ("(SELECT max(__time) FROM ev) <= __time", LATEST, f"2020-03-09T12:00:00.000Z/{NEVER}"),
        ("year(__time) = (SELECT max(year(__time)) FROM ev)", 2020, "2020-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z"),
        ("__time >= trunc((SELECT max(__time) FROM evt), 'MM')", LATEST.replace(tzinfo=None), f"2020-03-01T00:00:00.000Z/{NEVER}"),
    ],
)  # fmt: skip
def test_a_condition_on_a_total_of_times_is_an_interval(condition: str, value: Any, interval: str) -> None:
    query = answered(f"SELECT country, sum(clicks) FROM ev WHERE {condition} GROUP BY country", value)
    assert query["dataSource"] == "events"
    assert query["intervals"] == [interval]
    assert "filter" not in query


def test_a_total_in_a_cte_that_is_joined_is_asked_first() -> None:
    sql = "WITH m AS (SELECT max(__time) x FROM ev) SELECT count(*) FROM ev, m WHERE to_date(__time) = to_date(x)"
    query = answered(sql, LATEST, zone="America/New_York")
    assert query["intervals"] == ["2020-03-09T04:00:00.000Z/2020-03-10T04:00:00.000Z"]


def test_of_no_rows_nothing_is_greater() -> None:
    sql = "SELECT count(*) FROM ev WHERE __time > (SELECT max(__time) FROM ev WHERE city = 'nowhere')"
    (ask,) = planned(sql).asks
    assert constant_rows(planned(sql, answers={ask.key: (None,)})) == ((0,),)


def test_what_is_computed_of_an_answer_is_asked_after_it() -> None:
    sql = "SELECT count(*) FROM ev WHERE __time > (SELECT max(__time) FROM evt WHERE __time < (SELECT max(__time) FROM ev))"
    (first,) = planned(sql).asks
    (second,) = planned(sql, answers={first.key: (LATEST,)}).asks
    assert second.read.query["intervals"] == [ETERNITY.split("/")[0] + "/2020-03-09T12:00:00.000Z"]
    made = druid_read(planned(sql, answers={first.key: (LATEST,), second.key: (datetime(2020, 3, 1),)}))
    assert made is not None
    assert made.query["intervals"] == [f"2020-03-01T00:00:00.001Z/{NEVER}"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city FROM ev WHERE clicks > (SELECT avg(clicks) FROM ev)",  # not of times
        "SELECT city FROM ev e WHERE __time = (SELECT max(__time) FROM ev i WHERE i.city = e.city)",  # one for each row
        "SELECT max(__time) - INTERVAL '1' DAY FROM ev",
        "SELECT region FROM dim WHERE pop > (SELECT max(pop) FROM dim)",
    ],
)
def test_nothing_else_is_asked_first(sql: str) -> None:
    assert planned(sql).asks == ()


def test_a_statement_that_is_not_a_query_asks_nothing_first() -> None:
    sql = "SELECT city FROM ev WHERE __time = (SELECT max(__time) FROM ev)"
    assert plan_query(*parse(sql), snapshot()).asks == ()
