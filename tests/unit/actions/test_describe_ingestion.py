"""The last block of DESCRIBE EXTENDED: Hive's lines about a supervisor, and its tasks, which Hive never lists."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.actions.ingesting.describe import rows
from hivedruid.ingestion.lifecycle import IngestionFacts
from hivedruid.ingestion.model import ReadingTask, SupervisorError
from tests.unit.ingestion.world import running, supervisor, table, task, with_status


def told(known: IngestionFacts | None, unreachable: str | None = None) -> list[str]:
    found = rows(table(), known, unreachable)
    assert all(row[1:] == ("", "") for row in found)
    return [row[0] for row in found]


def test_a_running_supervisor() -> None:
    status = with_status(
        running(), publishing=(ReadingTask(task(3).id),), offsets_updated="2026-01-15T10:29:40Z"
    ).status
    tasks = (task(4, "PENDING"), task(3), task(2), task(1))
    assert told(IngestionFacts(supervisor(table()).spec, status, tasks)) == [
        "",
        "StorageHandlerInfo",
        "Druid Storage Handler Runtime Status for default.wiki",
        "kafkaPartitions=2",
        "activeTasks=[index_kafka_default.wiki_2, index_kafka_default.wiki_1]",
        "publishingTasks=[index_kafka_default.wiki_3]",
        "waitingTasks=[index_kafka_default.wiki_4]",
        "latestOffsets={0=100, 1=90}",
        "minimumLag={0=0, 1=0}",
        "aggregateLag=0",
        "lastUpdateTime=2026-01-15T10:29:40Z",
        "state=RUNNING",
        "detailedState=RUNNING",
    ]


def test_what_is_not_known_yet_is_left_out() -> None:
    fresh = with_status(running(), partitions=None, latest_offsets={}, lag={}, offsets_updated=None).status
    assert told(IngestionFacts(supervisor(table()).spec, fresh, (task(1),)))[3:] == [
        "kafkaPartitions=null",
        "activeTasks=[index_kafka_default.wiki_1]",
        "publishingTasks=[]",
        "state=RUNNING",
        "detailedState=RUNNING",
    ]


def test_errors_without_their_secrets() -> None:
    status = with_status(
        running(), errors=(SupervisorError("2026-01-15T10:29:40Z", "no login, password=canary"),)
    ).status
    assert (
        told(IngestionFacts(supervisor(table()).spec, status))[-1]
        == "error=2026-01-15T10:29:40Z no login, password=******"
    )


def test_a_supervisor_that_is_not_there() -> None:
    (line,) = told(IngestionFacts())[2:]
    assert line == "Druid Storage Handler Runtime Status : not running; start it with START INGESTION wiki"
    assert told(IngestionFacts(tasks=(task(1),)))[3:] == ["activeTasks=[index_kafka_default.wiki_1]"]


def test_an_overlord_out_of_reach() -> None:
    assert told(None, "connection refused")[2:] == ["Druid Overlord is Unreachable, Runtime Status : unknown"]


def test_tables_that_are_not_fed_say_nothing() -> None:
    assert rows(replace(table(), properties={}), IngestionFacts(), None) == []
    assert told(None) == []
