"""The problems that follow from the state of Kafka and Druid."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hivedruid.errors import ConnectError, DruidError, KafkaError
from hivedruid.ingestion.checks import EVIDENCE, Finding, Sample, Seen, findings, skipped
from hivedruid.ingestion.model import Slots, TopicOffsets, UnparseableRecord

SPEC: dict[str, Any] = {
    "spec": {"ioConfig": {"topic": "t", "inputFormat": {"type": "avro_stream"}}, "dataSchema": {"metricsSpec": []}}
}
LOADED = ("druid-kafka-indexing-service", "druid-avro-extensions", "druid-datasketches")
GOOD = Seen((TopicOffsets("t", {0: 0}, {0: 5}),), None, Sample(5, 5), LOADED, Slots(4, 1, 3))
BAD = UnparseableRecord('{"a": 1}', "Timestamp[null] is unparseable!")
UNREACHABLE = ConnectError("cannot reach Kafka", hint="start it")


def seen(**changed: Any) -> Seen:
    return Seen(**{name: changed.get(name, getattr(GOOD, name)) for name in Seen.__dataclass_fields__})


@pytest.mark.parametrize(
    "well",
    [
        GOOD,
        Seen(),
        seen(topics=(TopicOffsets("t", {0: 5, 1: 0}, {0: 5, 1: 0}),), sample=Sample(0, 0)),
        seen(sample=Sample(5, 0)),
        seen(kafka=UNREACHABLE, topics=()),
        seen(slots=None),
    ],
    ids=["good", "nothing seen", "empty topic", "all records filtered out", "seen by Druid alone", "slots unknown"],
)
def test_nothing_is_wrong(well: Seen) -> None:
    assert findings(SPEC, well) == ()


def test_records_before_the_first_start() -> None:
    assert "5 record(s) that are in it now are not read" in skipped(SPEC, GOOD)
    earliest = {"spec": {**SPEC["spec"], "ioConfig": {**SPEC["spec"]["ioConfig"], "useEarliestOffset": True}}}
    empty = seen(topics=(TopicOffsets("t", {0: 5}, {0: 5}),))
    assert [skipped(earliest, GOOD), skipped(SPEC, empty), skipped(SPEC, Seen())] == ["", "", ""]


def test_how_many_records_there_are() -> None:
    assert Seen().records is None
    assert seen(topics=(TopicOffsets("t", {0: 5}, {0: 5}),)).records == 0
    assert seen(topics=(TopicOffsets("t", {0: 5, 1: 0}, {0: 7, 1: 3}), *GOOD.topics)).records == 10


def test_an_extension_is_missing() -> None:
    """Druid's error about an unknown name would report the same problem twice."""
    (found,) = findings(SPEC, seen(modules=LOADED[:1], sample=DruidError("does not know the type")))
    assert found.what == "Druid's overlord has not loaded druid-avro-extensions"
    assert "druid.extensions.loadList" in found.next


def test_druid_cannot_read() -> None:
    error = DruidError("the environment variable X is not set on Druid's overlord", hint="set it")
    (found,) = findings(SPEC, seen(sample=error))
    assert found == Finding("the environment variable X is not set on Druid's overlord", "", "set it")
    assert str(found) == "the environment variable X is not set on Druid's overlord (set it)"
    (found,) = findings(SPEC, seen(sample=error, kafka=UNREACHABLE))
    assert found.evidence == "cannot reach Kafka"


def test_there_is_no_topic() -> None:
    (found,) = findings(SPEC, seen(sample=None, kafka=KafkaError("topic 't' does not exist", hint="create it")))
    assert found == Finding("topic 't' does not exist", "", "create it")


@pytest.mark.parametrize(("rows", "is_fatal"), [(0, True), (4, False)])
def test_records_cannot_be_parsed(rows: int, is_fatal: bool) -> None:
    errors = (BAD,) * (5 - rows)
    (found,) = findings(SPEC, seen(sample=Sample(5, rows, errors)))
    assert found.what == f"{5 - rows} of 5 sampled records cannot be parsed"
    assert found.evidence == 'Timestamp[null] is unparseable!, in {"a": 1}'
    assert found.is_fatal is is_fatal


def test_a_record_that_the_message_shows_is_shown_once_and_not_at_length() -> None:
    (found,) = findings(SPEC, seen(sample=Sample(1, 0, (UnparseableRecord("bad{", "Unable to parse row [bad{]"),))))
    assert found.evidence == "Unable to parse row [bad{]"
    (found,) = findings(SPEC, seen(sample=Sample(1, 0, (UnparseableRecord("x" * 1000, "no"),))))
    assert len(found.evidence) == EVIDENCE


def test_task_slots() -> None:
    (found,) = findings(SPEC, seen(slots=Slots(4, 3, 2)))
    assert (found.what, found.evidence) == ("not enough task slots", "2 needed, 1 of 4 is free")
    (found,) = findings(SPEC, seen(slots=Slots(0, 0, 1)))
    assert found.evidence == "1 needed, 0 of 0 are free"


def test_everything_is_told() -> None:
    found = findings(SPEC, Seen((), UNREACHABLE, None, (), Slots(0, 0, 1)))
    assert [f.what.split()[0] for f in found] == ["Druid's", "cannot", "not"]


def test_times_in_1970() -> None:
    now = datetime(2026, 1, 15, tzinfo=UTC)
    spec = {"spec": {**SPEC["spec"], "dataSchema": {"metricsSpec": [], "timestampSpec": {"column": "ts"}}}}
    (found,) = findings(spec, seen(sample=Sample(2, 2, times=(1_760_000_000, 1_760_000_000_000)), now=now))
    assert str(found) == (
        "1 of 2 sampled times are unlikely: 1 in 1970, from 1970-01-21T08:53:20.000Z; ts is read as 'auto' (set"
        " druid.timestamp.format to 'posix')"
    )
    assert not found.is_fatal
