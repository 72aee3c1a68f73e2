"""Queries that a cluster refuses for lack of resources still have a result, from Spark over plain scans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.actions.facts import Facts
from hivedruid.session import Session

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark

ROWS = 5000


@pytest.fixture(scope="module")
def session(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A table of ROWS rows of different keys, in segments of an hour."""
    settings = {"druid.url": cluster.services.broker, "druid.coordinator.url": cluster.services.coordinator}
    notes: list[str] = []
    with Session(tmp_path_factory.mktemp("home"), hiveconf=settings, note=notes.append) as made:
        made.notes = notes  # type: ignore[attr-defined]
        run(
            made,
            """CREATE TABLE refusals STORED BY 'druid'
               TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'HOUR') AS
               SELECT CAST(concat('2020-01-01 ', lpad(CAST(i % 24 AS string), 2, '0'), ':00:00') AS timestamp) AS `__time`,
                      concat('k', CAST(i AS string)) AS k, CAST(i AS bigint) AS n
               FROM (SELECT 1) one LATERAL VIEW posexplode(split(repeat(',', 4999), ',')) numbers AS i, x""",
        )
        yield made
        run(made, "DROP TABLE refusals")


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for statement in session.statements(text):
        rows = list(session.execute(statement).rows)
    return rows


def refused(session: Session, context: dict[str, Any], text: str) -> list[tuple[Any, ...]]:
    """The result of a query that the limited cluster refuses."""
    notes: list[str] = session.notes  # type: ignore[attr-defined]
    notes.clear()
    run(session, f"SET druid.query.context={json.dumps(context)}")
    try:
        rows = run(session, text)
    finally:
        run(session, "RESET druid.query.context")
    assert [note for note in notes if note.startswith("Druid rejected the query")], notes
    return rows


GROUPED = "SELECT k, sum(n) AS s FROM refusals GROUP BY k ORDER BY s DESC LIMIT 3"


def test_a_group_by_of_more_groups_than_its_buffers_hold(session: Session) -> None:
    expected = run(session, GROUPED)
    assert expected == [("k4999", 4999), ("k4998", 4998), ("k4997", 4997)]
    assert refused(session, {"bufferGrouperMaxSize": 10, "maxOnDiskStorage": 0}, GROUPED) == expected


def test_a_query_over_more_rows_of_a_subquery_than_the_broker_takes(session: Session) -> None:
    grouped = "SELECT k, sum(n) AS s FROM refusals GROUP BY k"  # the broker holds the right side of a join
    text = f"SELECT count(*), max(g.s) FROM refusals r JOIN ({grouped}) g ON r.k = g.k WHERE g.s >= 10"
    assert refused(session, {"maxSubqueryRows": 100}, text) == run(session, text) == [(ROWS - 10, ROWS - 1)]


def test_a_scan_by_time_of_more_segments_of_one_hour_than_are_merged(session: Session) -> None:
    run(session, "CREATE TABLE twice STORED BY 'druid' AS SELECT `__time`, n FROM refusals WHERE n < 30")
    run(session, "INSERT INTO twice SELECT `__time`, n FROM refusals WHERE n BETWEEN 30 AND 59")
    ordered = "SELECT `__time` FROM twice ORDER BY `__time` LIMIT 7"
    limits = {"maxRowsQueuedForOrdering": 1, "maxSegmentPartitionsOrderedInMemory": 1}
    assert refused(session, limits, ordered) == run(session, ordered)
    run(session, "DROP TABLE twice")


def test_what_is_written_is_written_once(session: Session) -> None:
    """The second of two targets is refused; the first is not written again."""
    run(session, "CREATE TABLE few (k string, s bigint); CREATE TABLE all_of_them (k string, s bigint)")
    refused(
        session,
        {"bufferGrouperMaxSize": 10, "maxOnDiskStorage": 0},
        """FROM refusals
           INSERT INTO few SELECT k, n WHERE k = 'k7'
           INSERT INTO all_of_them SELECT k, sum(n) GROUP BY k""",
    )
    assert run(session, "SELECT count(*) FROM few") == [(1,)]
    assert run(session, "SELECT count(*), sum(s) FROM all_of_them") == [(ROWS, ROWS * (ROWS - 1) // 2)]
    run(session, "DROP TABLE few; DROP TABLE all_of_them")


def test_a_table_is_made_from_what_was_refused(session: Session) -> None:
    refused(
        session,
        {"bufferGrouperMaxSize": 10, "maxOnDiskStorage": 0},
        "CREATE TABLE summed STORED BY 'druid' AS SELECT max(`__time`) AS `__time`, k, sum(n) AS s FROM refusals GROUP BY k",
    )
    assert run(session, "SELECT count(*), sum(s) FROM summed") == [(ROWS, ROWS * (ROWS - 1) // 2)]
    run(session, "DROP TABLE summed")


def test_the_brokers_limits_reach_the_plan(session: Session) -> None:
    facts: Facts = session.facts()
    limits = facts.druid().limits()
    assert limits.merge_buffers == 2
    assert limits.subquery_rows == 100_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT k, n FROM nulls INTERSECT SELECT k, n FROM whole", [("a", 1)]),
        ("SELECT x.k FROM nulls x LEFT JOIN (SELECT DISTINCT n FROM whole) y ON x.n <=> y.n", [("a",), ("b",)]),
    ],
)
def test_a_null_that_is_joined_with_numbers_without_nulls(
    session: Session, text: str, expected: list[tuple[Any, ...]]
) -> None:
    """Druid 33's broker, or its historical, fails (IndexedTableJoinMatcher.matchSingleRow)."""
    properties = "STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false')"
    for name in ("nulls", "whole"):
        run(session, f"CREATE TABLE IF NOT EXISTS {name} (`__time` timestamp, k string, n bigint) {properties}")
    run(
        session,
        "INSERT OVERWRITE TABLE nulls VALUES ('2026-01-01 00:00:00', 'a', 1), ('2026-01-02 00:00:00', 'b', NULL)",
    )
    run(session, "INSERT OVERWRITE TABLE whole VALUES ('2026-01-01 00:00:00', 'a', 1)")
    assert sorted(refused(session, {}, text)) == expected
    run(session, "DROP TABLE nulls; DROP TABLE whole")
