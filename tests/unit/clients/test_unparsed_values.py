"""Which values of running tasks could not be parsed: what the overlord answers, and what follows from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.clients.address import DruidAddress
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.unparsed_values import RecentUnparsedValues, unparsed_values
from hivedruid.ingestion.model import UnparsedValues
from tests.unit.clients.conftest import Answer, Asked, Serve

TASK = {"id": "index_kafka_s_1", "type": "index_kafka", "dataSource": "t", "groupId": "index_kafka_s"}
SPEC = {
    "type": "kafka",
    "spec": {
        "dataSchema": {"dataSource": "t", "dimensionsSpec": {"dimensions": ["id", {"type": "long", "name": "v"}]}},
        "tuningConfig": {"intermediatePersistPeriod": "PT1M"},
    },
}


def record(details: str, kind: str = "processedWithError", millis: int = 5_000) -> dict[str, Any]:
    return {"input": "{}", "errorType": kind, "details": [details], "timeOfExceptionMillis": millis}


OF_DIMENSION = record("Could not convert value [a]b] to long for dimension [v].")
OF_METRIC = record("Unable to parse value[abc] for field[m]", millis=9_000)


def found(serve: Serve, kept: int, events: list[dict[str, Any]], *, is_fed: bool = True) -> tuple[Any, list[str]]:
    """The values for a task with this report, and the requests."""
    counts = {"totals": {"buildSegments": {"processed": 2, "processedWithError": kept}}}
    payload = {"rowStats": counts, "unparseableEvents": {"buildSegments": events}}
    answers = {
        "tasks": [{**TASK, "statusCode": "RUNNING"}] if is_fed else [],
        "reports": {"ingestionStatsAndErrors": {"payload": payload}},
        "s": SPEC,
    }

    def respond(asked: Asked) -> Answer:
        return Answer(json.dumps(answers[asked.path.partition("?")[0].rpartition("/")[2]]).encode())

    served = serve(respond)
    client = DruidClient(DruidAddress(served.url, served.url, served.url, served.url))
    return unparsed_values(client, "t"), served.paths()


@pytest.mark.parametrize(
    ("kept", "events", "values"),
    [
        (0, [], None),
        (1, [OF_DIMENSION], UnparsedValues(frozenset({"v"}), 65_000)),
        (2, [OF_METRIC, OF_DIMENSION], UnparsedValues(frozenset({"v"}), 69_000)),
        (1, [OF_METRIC], None),
        (1, [record("no row", "unparseable")], UnparsedValues(frozenset({"v"}))),
        (1, [], UnparsedValues(frozenset({"v"}))),
    ],
    ids=["none", "a dimension", "and a metric", "a metric alone", "others alone are saved", "none is saved"],
)
def test_the_dimensions_with_such_values(
    serve: Serve, kept: int, events: list[dict[str, Any]], values: UnparsedValues | None
) -> None:
    assert found(serve, kept, events)[0] == values


def test_a_data_source_that_no_task_feeds_costs_one_request(serve: Serve) -> None:
    values, paths = found(serve, 1, [], is_fed=False)
    assert values is None
    assert len(paths) == 1


def test_a_query_does_not_wait_for_an_overlord_that_is_busy(serve: Serve) -> None:
    """One request, which is not repeated; the next query makes none for a while."""
    served = serve(lambda _: Answer(b"", status=503))
    address = DruidAddress(served.url, served.url, served.url, served.url)
    notes: list[str] = []
    recent = RecentUnparsedValues()
    for _ in range(2):
        assert recent.of("t", DruidClient(address), notes.append) is None
    assert len(served.asked) == 1
    assert notes == []
