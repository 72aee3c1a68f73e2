"""Spark sends the scans of a real Druid as queries of single segments, and returns the same rows as one query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.clients.segments import Segments
from hivedruid.druid.interval_sets import ALL
from hivedruid.errors import DruidError
from hivedruid.plan.physical import scan_of
from hivedruid.plan.segment_queries import SegmentQuery, divided
from hivedruid.qtest.runner import transcribe
from hivedruid.responses.queries import DruidAccess, SegmentQueries
from hivedruid.spark import segment_scans
from tests.equivalence.test_goldens import answers
from tests.integration.test_goldens import settings
from tests.integration.test_segment_scans import CONDITIONS, plan, table, text
from tests.support.ingestion import Feed, IngestionHome, until

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
QUERIES = {
    "hivedruid.druid.read": "query", "hive.druid.select.threshold": "2", "hivedruid.local.evaluation.max.rows": "0",
}  # fmt: skip
"""Spark queries the segments. Druid has no md5(): a query with it is one for Spark."""
SENT = "druid.queries: Spark sends"
NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path, cluster.services, **QUERIES)
    yield made
    made.close()


@pytest.fixture
def hours(home: IngestionHome) -> str:
    """A table with 24 segments of an hour, each with a row, n being the hour."""
    name = table(home, "s string, n bigint", "HOUR")
    rows = ", ".join(f"(timestamp '2024-01-01 {n:02}:30:00', {text(n)}, {n})" for n in range(24))
    home.run(f"INSERT INTO {name} VALUES {rows}")
    return name


@pytest.mark.parametrize("name", ["arrays", "write_types"])
def test_goldens(name: str, cluster: Cluster, tmp_path: Path) -> None:
    """Every query of a golden, with its filters, types and times."""
    script = ROOT / "tests" / "q" / f"{name}.q"
    expected = list(answers(script.with_name(f"{script.name}.out").read_text(encoding="utf-8")))
    given = {**settings(cluster), **QUERIES, "hive.druid.select.threshold": "1", "hivedruid.pushdown": "scans"}
    transcript = transcribe(script, scratch=tmp_path, settings=given)
    assert transcript.bugs == ()
    assert list(answers(transcript.text)) == expected


def test_conditions(home: IngestionHome, hours: str) -> None:
    home.run("SET hive.druid.select.threshold=1")
    shown = plan(home, f"SELECT n, md5(s) FROM {hours} WHERE n > 3")
    assert f"{SENT} 24 queries to 1 server, of 24 segments, about 24 rows" in shown
    assert "in 24 partitions; the query above is not sent" in shown
    for condition, holds in CONDITIONS.items():
        found = sorted(row["n"] for row in home.run(f"SELECT n, md5(s) FROM {hours} WHERE {condition}"))
        assert found == [n for n in range(24) if holds(n)], condition
    assert home.notes == []


def test_small_segments_are_read_together(home: IngestionHome, hours: str) -> None:
    home.run("SET hive.druid.select.threshold=10")
    query = f"SELECT n, md5(s) FROM {hours} WHERE `__time` >= '2024-01-01 02:00:00'"
    assert f"{SENT} 22 queries to 1 server, of 22 segments" in plan(home, query)
    assert "in 3 partitions" in plan(home, query)
    assert sorted(row["n"] for row in home.run(query)) == [*range(2, 24)]
    assert home.notes == []


def test_queries_that_are_not_divided(home: IngestionHome, hours: str) -> None:
    for query in (
        f"SELECT md5(s), count(*) FROM {hours} GROUP BY s",
        f"SELECT md5(s) FROM (SELECT s FROM {hours} LIMIT 3) x",
        f"SELECT md5(s) FROM {hours} WHERE `__time` < '2024-01-01 01:00:00'",  # one row
    ):
        assert SENT not in plan(home, query)
    query = f"SELECT md5(s) FROM {hours}"
    for key, value, is_sent in (
        ("hive.druid.select.threshold", "25", False),
        ("hive.druid.select.threshold", "0", False),
        ("hive.druid.select.threshold", "24", True),
        ("hivedruid.druid.read", "auto", False),  # a hundred rows stay one query
    ):
        home.run(f"SET {key}={value}")
        assert (SENT in plan(home, query)) == is_sent, (key, value)


def test_a_segment_that_is_hidden_in_part(home: IngestionHome) -> None:
    name = table(home, "n bigint")
    rows = ", ".join(f"(timestamp '2024-01-01 {n:02}:30:00', {n})" for n in range(24))
    home.run(f"INSERT INTO {name} VALUES {rows}")
    home.run(f"ALTER TABLE {name} SET TBLPROPERTIES ('druid.segment.granularity'='HOUR')")
    home.run("SET hivedruid.overwrite.mode=dynamic")
    home.run(f"INSERT OVERWRITE TABLE {name} VALUES (timestamp '2024-01-01 05:10:00', 100)")
    home.notes.clear()
    query = f"SELECT n, md5(cast(n AS string)) FROM {name}"
    assert f"{SENT} 3 queries to 1 server, of 3 segments" in plan(home, query)
    assert sorted(row["n"] for row in home.run(query)) == [n for n in range(24) if n != 5] + [100]
    assert home.notes == []


def test_rows_that_only_tasks_have(home: IngestionHome, topics: Topics) -> None:
    """While records are ingested, and published, each is read once."""
    feed = Feed(topics)
    feed.send(50)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    home.expect(name, feed.expected)
    query = f"SELECT id, md5(id) FROM {name}"
    assert SENT in plan(home, query)
    assert Counter(str(row["id"]) for row in home.run(query)) == feed.expected
    home.run(f"HANDOFF INGESTION {name}")
    feed.send(30)
    home.expect(name, feed.expected)
    assert Counter(str(row["id"]) for row in home.run(query)) == feed.expected
    home.stop(name, feed.expected)
    assert Counter(str(row["id"]) for row in home.run(query)) == feed.expected


def rows_of(queries: SegmentQueries, part: SegmentQuery) -> int:
    return sum(batch.num_rows for batch in queries.batches(vars(part), "test"))


def queries_of(home: IngestionHome, name: str) -> tuple[SegmentQueries, SegmentQuery]:
    """The queries of the column n of a table, and its first segment."""
    read = scan_of(name, ALL, {"n": "LONG"})
    scan = divided(ALL, ("LONG",), home.druid.served_segments(name), 1)
    return SegmentQueries(read.query, [("n", "LONG", "bigint")], scan.broker, 60.0, DruidAccess()), scan.pieces[0][0]


def test_the_broker_gets_what_data_servers_do_not_answer(home: IngestionHome, hours: str) -> None:
    queries, first = queries_of(home, hours)
    (server,) = first.servers
    assert server != home.services.broker
    assert rows_of(queries, first) == 1
    for servers in ((), (NOBODY,), (NOBODY, server)):
        assert rows_of(queries, replace(first, servers=servers)) == 1
    alone = replace(queries, broker=NOBODY)
    assert rows_of(alone, first) == 1  # the data server answers without the broker
    lost = replace(first, version="2020-01-01T00:00:00.000Z")
    with pytest.raises(DruidError, match=f"{server}: does not have it; {NOBODY}: "):
        rows_of(alone, lost)
    with pytest.raises(DruidError, match="it was replaced while its rows were read"):
        rows_of(queries, lost)


def test_compaction_during_a_statement(home: IngestionHome, hours: str) -> None:
    """When its segments are gone from all servers, the statement starts again."""
    queries, first = queries_of(home, hours)
    (statement,) = home.session.statements(f"SELECT n, md5(s) FROM {hours}")
    before = home.session._built

    def is_dropped() -> bool:
        try:
            rows_of(replace(queries, broker=NOBODY), first)
        except DruidError:
            return True
        return False

    def then_compacted(*arguments: Any) -> Any:
        built = before(*arguments)
        home.session._built = before  # type: ignore[method-assign]
        home.run(f"ALTER TABLE {hours} SET TBLPROPERTIES ('druid.segment.granularity'='DAY')")
        home.run(f"ALTER TABLE {hours} COMPACT 'major' AND WAIT")
        segments = Segments(home.druid.client, hours)  # a coordinator does so 15 minutes after it became the leader
        segments.mark_unused([s for s in segments.used(ALL) if s.version == first.version])
        until(is_dropped, "the historical drops the replaced segments")
        home.notes.clear()
        return built

    home.session._built = then_compacted  # type: ignore[method-assign, assignment]
    found = sorted(row[0] for row in home.session.execute(statement).rows)
    assert found == [*range(24)]
    (note,) = home.notes
    assert note.startswith(f"segment {hours}_2024-01-01T")
    assert note.endswith(": it was replaced while its rows were read; reading the rows with queries")


def test_secrets(home: IngestionHome, hours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They reach Spark's processes on this machine, but not Spark's options, and no other machine."""
    monkeypatch.setenv("SEGMENT_SECRET", "sesame")
    home.run("SET druid.auth.token=env:SEGMENT_SECRET")  # this Druid accepts every token
    found: list[str] = []
    made = segment_scans._frame

    def noted(spark: Any, request: Any, *arguments: Any, **named: Any) -> Any:
        found.extend((repr(request), Path(request.access).read_text(encoding="utf-8")))
        assert Path(request.access).stat().st_mode & 0o077 == 0
        return made(spark, request, *arguments, **named)

    monkeypatch.setattr(segment_scans, "_frame", noted)
    query = f"SELECT n, md5(s) FROM {hours}"
    assert sorted(row["n"] for row in home.run(query)) == [*range(24)]
    request, access = found
    assert "sesame" not in request
    assert '"Bearer sesame"' in access
    assert home.notes == []
    home.run("SET spark.remote=sc://spark.example.com:15002")
    reason = "Spark runs on other machines (spark.remote), to which druid.auth.token is not sent"
    assert f"druid.queries: one, through this process: {reason}" in plan(home, query)
    home.run("SET druid.auth.token=")
    assert SENT in plan(home, query)
