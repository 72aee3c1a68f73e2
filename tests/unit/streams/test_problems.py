"""The problems of streams: each rule, and the statements that repair it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hivedruid import parser, script
from hivedruid.catalog.streams import Position, Stream, StreamRecord, StreamStatus
from hivedruid.ingestion.feed import Feed
from hivedruid.ingestion.model import TopicOffsets
from hivedruid.ingestion.overview import Unreachable
from hivedruid.ingestion.repairs import Problem
from hivedruid.streams.overview import ManagerId, StreamOverview, WatchedStream
from hivedruid.streams.problems import problems

NOW = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)
STREAM = Stream("abc", "default", "s", "default.r", "default.t", "SELECT id FROM r", "default")
STOPPED = replace(
    StreamRecord(STREAM, "stopped", Position(3, {0: 10, 1: 20}, "id")), status=StreamStatus(records=1000)
)  # fmt: skip
OFFSETS = TopicOffsets("edits", {0: 0, 1: 0}, {0: 10, 1: 20}, "id")


def ago(**units: float) -> str:
    return (NOW - timedelta(**units)).isoformat()


def one(manager: str = "here:1:a", status: dict[str, Any] | None = None, **given: Any) -> WatchedStream:
    """A running stream that has read everything."""
    known = replace(STOPPED.status, **{"checked_at": ago(seconds=5), **(status or {})})
    record = replace(STOPPED, desired="running", manager=manager, beat=NOW.timestamp(), status=known)
    feed = Feed("kafka:9092", (), "edits")
    return replace(WatchedStream(record, record.position, feed=feed, offsets=OFFSETS), **given)


def look(*streams: WatchedStream, **given: Any) -> tuple[Problem, ...]:
    """Every repair consists of statements that can be parsed, or is a comment."""
    found = problems(StreamOverview(NOW, streams, **given))
    for problem in found:
        if not problem.repair.startswith("-- "):
            assert [parser.parse(each) for each in script.split(problem.repair)]
    return found


def only(*streams: WatchedStream, **given: Any) -> tuple[str, str]:
    (problem,) = look(*streams, **given)
    return problem.problem, problem.repair


def restarted(statement: str) -> str:
    return f"STOP STREAM default.s; {statement}; START STREAM default.s"


def test_nothing_where_all_is_well() -> None:
    assert look() == ()
    assert look(one(), replace(one(), record=STOPPED)) == ()


BEHIND = {"left": 9_000, "records_per_second": 10.0, "begun_at": ago(seconds=10)}
FULL = TopicOffsets("edits", {0: 0, 1: 0}, {0: 10_010, 1: 20}, "id")


@pytest.mark.parametrize(
    ("stream", "problem", "repair"),
    [
        (one(misfit="2 columns", missing=("b int",)), "target altered", "ALTER TABLE default.t ADD COLUMNS (b int)"),
        (one(has_no_topic=True, topic_problem="none", offsets=None), "topic not found", "-- create the topic edits"),
        (one(offsets=replace(OFFSETS, topic_id="x")), "topic created again", restarted("RESET STREAM default.s TO EARLIEST")),
        (one(offsets=replace(OFFSETS, earliest={0: 12, 1: 0}, latest={0: 12, 1: 20})), "offsets expired",
         restarted("RESET STREAM default.s TO OFFSETS (0:12)")),
        (one(offsets=replace(OFFSETS, latest={0: 10, 1: 19})), "offsets beyond the end",
         restarted("RESET STREAM default.s TO OFFSETS (1:19)")),
        (one(offsets=replace(OFFSETS, latest={0: 10})), "partition not found",
         restarted("RESET STREAM default.s TO EARLIEST")),
        (one(position_problem="rolled back", rolled_back_to=2), "offsets unknown",
         restarted("ROLLBACK STREAM default.s TO BATCH 2")),
        (one(status={"error": "no space", "hint": "free some"}), "failing", "-- free some"),
        (one(status={"checked_at": ago(minutes=4)}, offsets=FULL), "stalled",
         "STOP STREAM default.s; START STREAM default.s"),
        (one(status=BEHIND, offsets=FULL), "growing lag",
         "ALTER STREAM default.s SET PROPERTIES ('max.records.per.batch' = '1000000')"),
        (one(status={**BEHIND, "left": 9_990}, offsets=FULL), "lag",
         "ALTER STREAM default.s SET PROPERTIES ('max.records.per.batch' = '1000000')"),
        (one(status={"rejects": 11}, rejects="default.bad"), "rejects",
         "SELECT error, count(*) AS records FROM default.bad GROUP BY error"),
    ],
)  # fmt: skip
def test_a_problem_and_its_repair(stream: WatchedStream, problem: str, repair: str) -> None:
    found = only(stream)
    assert found[0] == problem
    assert found[1].startswith(repair)


def test_near_misses() -> None:
    assert look(one(status={"checked_at": ago(minutes=2)}, offsets=FULL)) == ()
    assert look(one(status={**BEHIND, "left": 0}, offsets=FULL)) == ()
    assert look(one(status={"rejects": 10}, rejects="default.bad")) == ()


def test_managers() -> None:
    assert only(one(manager=""), is_managed=False) == ("no manager", "START STREAM default.s")
    assert only(one(manager=""))[1].startswith("-- start another manager")
    assert only(one(), one(manager="here:2:b"))[0] == "two managers"
    assert only(one(), one(manager="there:2:b"))[0] == "managers on two machines"
    sharing = [str(ManagerId("here", number, "a", is_sharing=True)) for number in (1, 2)]
    assert look(*(one(manager=each) for each in sharing)) == ()
    assert ManagerId.of(sharing[0]) == ManagerId("here", 1, "a", is_sharing=True)


def test_a_kafka_that_does_not_respond() -> None:
    away = Unreachable("Kafka at kafka:9092", "refused", "start it")
    assert only(one(offsets=None), unreachable=(away,)) == ("unreachable", "-- start it")
