"""The checks of Kafka and Druid by CREATE of a table that ingests from Kafka, before anything is started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.clients import sampler
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.kafka import Kafka
from hivedruid.clients.sampler import sample, unset_variables
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.errors import DruidError, ExecutionError
from hivedruid.ingestion.checks import Sample
from hivedruid.session import Session
from tests.support.ingestion import until

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.kafka
GOOD = {"time": "2024-01-01T00:00:00Z", "page": "a", "added": 1}
CONSUMER = "druid.kafka.ingestion.consumer."

Create = Callable[..., list[str]]


def set_timeouts(monkeypatch: pytest.MonkeyPatch, *, read: int, kafka: int) -> None:
    """Set the timeouts of reading and of Kafka's requests, in seconds."""
    monkeypatch.setattr(sampler, "READ_TIMEOUT", read * 1000)
    for key in ("default.api.timeout.ms", "request.timeout.ms"):
        monkeypatch.setitem(sampler._HASTE, key, str(kafka * 1000))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch, task_slot: None) -> None:
    """A busy machine reads a sample slowly. Kafka's timeouts are shorter than the HTTP timeout of 60 seconds."""
    set_timeouts(monkeypatch, read=60, kafka=45)


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def session(cluster: Cluster, tmp_path: Path, notes: list[str]) -> Iterator[Session]:
    """A session on the cluster with its own catalog."""
    conf = {"druid.url": cluster.services.broker, "druid.coordinator.url": cluster.services.coordinator}
    with Session(tmp_path, hiveconf=conf, note=notes.append) as made:
        yield made


@pytest.fixture
def create(session: Session, cluster: Cluster, notes: list[str]) -> Create:
    """Create the table `name`, and return the notes about it."""

    def run(name: str = "t", **properties: str) -> list[str]:
        notes.clear()
        given = {"kafka.bootstrap.servers": cluster.services.kafka, "druid.timestamp.column": "time"}
        given["druid.kafka.ingestion.useEarliestOffset"] = "true"
        given |= {key.replace("_", "."): value for key, value in properties.items()}
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        text = f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, page string, added bigint) STORED BY 'druid'"
        (statement,) = session.statements(f"{text} TBLPROPERTIES ({pairs})")
        session.execute(statement)
        return list(notes)

    return run


def test_all_is_well(create: Create, topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = topics.new([GOOD] * 5)
    assert create("a", kafka_topic=topic) == []
    (note,) = create("late", kafka_topic=topic, druid_kafka_ingestion_useEarliestOffset="false")
    assert "begins at the end of the topic: 5 record(s) that are in it now are not read" in note
    set_timeouts(monkeypatch, read=10, kafka=10)  # a busy Druid may take longer to reach a topic that is new
    names = (f"b{number}" for number in count())
    until(lambda: create(next(names), kafka_topic=topics.new()) == [], "no finding about an empty topic")


def test_the_topic_is_not_there(create: Create, session: Session, cluster: Cluster, topics: Topics) -> None:
    topic = topics.new([GOOD], name="page-views")
    (note,) = create("misspelt", kafka_topic=topic.replace("views", "veiws"))
    assert note.endswith(f" (did you mean '{topic}'?)")
    (note,) = create(kafka_topic="not_there")
    assert note.startswith("default.t: topic 'not_there' does not exist in Kafka at ")
    assert session.catalog.find("default", "t") is not None
    with pytest.raises(ExecutionError, match="cannot start: topic 'not_there' does not exist"):
        create("u", kafka_topic="not_there", druid_kafka_ingestion_check="REFUSE")
    assert session.catalog.find("default", "u") is None
    assert create("v", kafka_topic="not_there", druid_kafka_ingestion_check="off") == []
    session.settings.set("hivedruid.kafka.check", "off")
    assert create("w", kafka_topic="not_there") == []
    with Kafka(cluster.services.kafka, {}) as kafka:
        assert "not_there" not in kafka.topics()


def test_records_cannot_be_parsed(create: Create, session: Session, topics: Topics) -> None:
    topic = topics.new([b"bad{", *[GOOD] * 4])
    (note,) = create("a", kafka_topic=topic)
    assert note.startswith("default.a: 1 of 5 sampled records cannot be parsed: Unable to parse row [bad{]")
    (note,) = create("b", kafka_topic=topic, druid_kafka_ingestion_check="REFUSE")
    assert "1 of 5" in note, "some malformed records keep no ingestion from starting"
    session.settings.set("hivedruid.kafka.check", "refuse")
    with pytest.raises(ExecutionError, match="5 of 5 sampled records cannot be parsed: "):
        create("c", kafka_topic=topic, druid_timestamp_column="when")


def test_records_before_1970_are_refused_by_the_sampler_alone(
    create: Create, session: Session, client: DruidClient, topics: Topics
) -> None:
    old = {**GOOD, "time": "1960-01-01T00:00:00Z"}
    topic = topics.new([GOOD, old, {**GOOD, "time": "yesterday"}, GOOD])
    (note,) = create("a", kafka_topic=topic)
    assert note.startswith("default.a: 1 of 4 sampled records cannot be parsed: Timestamp[yesterday] is unparseable!")
    shifted = (
        '{"transforms": [{"type": "expression", "name": "__time", "expression": "__time - 1"},'
        ' {"type": "expression", "name": "page", "expression": "upper(page)"}]}'
    )
    made = spec(create, session, kafka_topic=topic, druid_transformSpec=shifted)
    found = sample(client, made, rows=4)
    assert (found.records, found.rows, len(found.errors)) == (4, 3, 1)


def test_a_filter_that_removes_every_record_and_fields_that_none_has(
    create: Create, session: Session, client: DruidClient, topics: Topics
) -> None:
    topic = topics.new([GOOD] * 3)
    removing = r"""{"filter": {"type": "expression", "expression": "pages == \'b\'"}}"""
    first, second = create("a", kafka_topic=topic, druid_transformSpec=removing)
    assert first.startswith("default.a: the filter of druid.transformSpec removes all of the 3 sampled records: {")
    assert second == (
        "default.a: none of the sampled records has the field 'pages': filter.expression: pages == 'b' (did you mean"
        " 'page'?)"
    )
    keeping = r"""{"filter": {"type": "expression", "expression": "page == \'a\'"}}"""
    assert create("b", kafka_topic=topic, druid_transformSpec=keeping) == []


def test_nobody_listens(create: Create, monkeypatch: pytest.MonkeyPatch) -> None:
    set_timeouts(monkeypatch, read=2, kafka=2)
    (note,) = create(kafka_topic="t", kafka_bootstrap_servers="127.0.0.1:1")
    assert note.startswith("default.t: Druid cannot reach Kafka at 127.0.0.1:1: cannot reach Kafka at 127.0.0.1:1 from")
    assert "connection refused" in note


def test_variables_of_druids_hosts(create: Create, topics: Topics) -> None:
    topic = topics.new([GOOD])
    (note,) = create("a", kafka_topic=topic, druid_kafka_ingestion_consumer_client_id="env:NOT_SET_ANYWHERE")
    assert note.startswith(
        "default.a: the environment variable NOT_SET_ANYWHERE is not set on Druid's overlord (set it"
    )
    assert create("b", kafka_topic=topic, druid_kafka_ingestion_consumer_client_id="env:PATH") == []


def test_too_few_task_slots(create: Create, topics: Topics) -> None:
    topic = topics.new([GOOD], partitions=2)
    (note,) = create("a", kafka_topic=topic, druid_kafka_ingestion_taskCount="9", druid_kafka_ingestion_replicas="9")
    assert note.startswith("default.a: not enough task slots: 18 needed, ")


def test_an_extension_is_not_loaded(create: Create, topics: Topics) -> None:
    schema = '{"type": "record", "name": "r", "fields": []}'
    properties = {"druid_parseSpec_format": "avro", "avro_schema_literal": schema}
    (note,) = create(kafka_topic=topics.new([GOOD]), **properties)
    assert note.startswith("default.t: Druid's overlord has not loaded druid-avro-extensions: the supervisor needs it")


def test_topics_of_a_pattern(create: Create, topics: Topics) -> None:
    topic = topics.new([GOOD], name="patterned")
    assert create("a", druid_kafka_ingestion_topicPattern=f"{topic}.*") == []
    (note,) = create("b", druid_kafka_ingestion_topicPattern=f"{topic}_and_more.*")
    assert "no topic in Kafka" in note


def test_explain_tells_and_does_not_look(session: Session, notes: list[str]) -> None:
    text = (
        "EXPLAIN CREATE EXTERNAL TABLE t (`__time` timestamp) STORED BY 'druid' "
        "TBLPROPERTIES ('kafka.topic' = 'x', 'kafka.bootstrap.servers' = '127.0.0.1:1')"
    )
    (statement,) = session.statements(text)
    lines = [row[0] for row in session.execute(statement).rows]
    assert lines[:5] == [
        "Stage-0",
        "  Check Ingestion Operator:",
        "    name: default.t",
        "    brokers: 127.0.0.1:1",
        "    topic: x",
    ]
    assert notes == []


# --- the sampler --------------------------------------------------------------------------------------------------


@pytest.fixture
def client(druid: DruidCluster) -> DruidClient:
    return druid.client


def spec(create: Create, session: Session, **properties: str) -> dict[str, Any]:
    create("s", druid_kafka_ingestion_check="OFF", **properties)
    return supervisor_spec(session.catalog.get("default", "s"), session.settings)


def test_a_sample(create: Create, session: Session, client: DruidClient, topics: Topics) -> None:
    late = {**GOOD, "time": "yesterday"}
    made = spec(create, session, kafka_topic=topics.new([GOOD, b"bad{", late, {**GOOD, "added": "many"}]))
    found = sample(client, made, rows=4)
    assert (found.records, found.rows, found.fields) == (4, 1, {"time", "page", "added"})
    assert [error.details for error in found.errors] == [
        "Unable to parse row [bad{] into JSON",
        "Timestamp[yesterday] is unparseable!",
        "Unable to parse value[many] for field[added]",
    ]
    assert [error.input for error in found.errors][:2] == ["bad{", '{"time": "yesterday", "page": "a", "added": 1}']
    assert sample(client, made, rows=2) == Sample(2, 1, found.errors[:1], fields=found.fields, times=found.times)
    assert sample(client, made, rows=0) == Sample(0, 0)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"kafka_topic": "not_there"}, "Druid cannot find topic not_there"),
        ({"kafka_bootstrap_servers": "no.such.host.invalid:1"}, "Druid cannot resolve kafka.bootstrap.servers no.such"),
        ({"druid_kafka_ingestion_inputFormat": '{"type": "kafkas"}'}, "Druid does not know the type 'kafkas'"),
        (
            {
                "druid_transformSpec": '{"transforms": [{"type": "expression", "name": "x", "expression": "upper(1, 2)"}]}'
            },
            "Druid cannot read the topic: Druid's overlord at .*: Failed to sample data: Function.upper. requires 1 arg",
        ),
    ],
)
def test_why_there_is_no_sample(
    properties: dict[str, str], message: str, create: Create, session: Session, client: DruidClient, topics: Topics
) -> None:
    made = spec(create, session, **{"kafka_topic": topics.new([GOOD]), **properties})
    with pytest.raises(DruidError, match=f"^{message}"):
        sample(client, made)


def test_unset_variables(client: DruidClient) -> None:
    assert unset_variables(client, ["PATH", "NOT_SET_B", "NOT_SET_A", "NOT_SET_A"]) == ("NOT_SET_A", "NOT_SET_B")
