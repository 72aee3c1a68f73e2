"""Every repair that SHOW PROBLEMS prints ends its problem, with a real Druid and Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.opening import catalog_name
from hivedruid.clients import wire
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.errors import DruidError, KafkaError, SemanticError
from hivedruid.ingestion.owners import owned
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID, OWNER_TABLE, SUPERVISOR, supervisor_path
from tests.support import killed
from tests.support.ingestion import Feed, IngestionHome, record
from tests.support.kafka import kafka_python

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path / "home", cluster.services)
    try:
        yield made
    finally:
        made.close()


def test_a_misspelt_topic(home: IngestionHome, topics: Topics) -> None:
    """It does not exist, or was created by a broker or by another program, and is empty."""
    meant = topics.new((record(n) for n in range(3)), name="page-views")
    misspelt = meant.replace("page-views", "page-veiws")
    name = home.create(misspelt)
    home.run("SET hivedruid.kafka.check=warn")
    for statement in (
        f"START INGESTION {name}",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('druid.kafka.ingestion' = 'START')",
    ):
        with pytest.raises(
            KafkaError, match=f"default.{name} cannot start: topic '{misspelt}' does not exist"
        ) as raised:
            home.run(statement)
        assert raised.value.hint == f"did you mean '{meant}'?"
    assert home.ingestion(name)["state"] == "STOPPED"

    topics.admin.create_topics({misspelt: {"num_partitions": 2}}, wait_for_metadata=True)
    topics.made.append(misspelt)
    home.run(f"START INGESTION {name}")
    with pytest.raises(KafkaError, match="topic 'nowhere' does not exist"):
        home.run(f"ALTER TABLE {name} SET TBLPROPERTIES ('kafka.topic' = 'nowhere')")
    assert home.session.catalog.get("default", name).properties["kafka.topic"] == misspelt
    problem = home.repaired(name, "empty topic")
    assert problem["cause"] == f"nothing was ever written to topic {misspelt}: did you mean '{meant}'?"
    expected = {str(n): 1 for n in range(3)}
    home.expect(name, expected)
    home.stop(name, expected)  # the offsets of the topic before would keep its records from being published
    with pytest.raises(SemanticError, match="stores offsets of another topic"):
        home.run(f"ALTER TABLE {name} SET TBLPROPERTIES ('kafka.topic' = '{misspelt}')")
    with pytest.raises(SemanticError, match="no earlier working ingestion spec"):
        home.run(f"ALTER TABLE {name} ROLLBACK INGESTION")


def test_a_topic_that_was_deleted(home: IngestionHome, topics: Topics) -> None:
    """Its records are lost, so that the offsets in Druid are of no use."""
    doomed = topics.new((record(n) for n in range(2)), name="clicks")
    meant = topics.new((record(n) for n in range(2, 4)), name="clixks")
    name = home.create(doomed)
    home.run(f"START INGESTION {name}")
    first = {"0": 1, "1": 1}
    home.expect(name, first)
    home.stop(name, first)
    topics.admin.delete_topics([doomed])
    home.run(f"ALTER TABLE {name} SET TBLPROPERTIES ('kafka.topic' = '{meant}')")
    home.run(f"START INGESTION {name}")
    both = {str(n): 1 for n in range(4)}
    home.expect(name, both)
    home.stop(name, both)


def test_a_spec_with_which_no_supervisor_begins(home: IngestionHome, topics: Topics) -> None:
    """Its consumer has an environment variable that is not set on Druid's overlord, whose error does not name it."""
    topic = topics.new(record(n) for n in range(2))
    name = home.create(topic)
    home.run(f"START INGESTION {name}")
    alter = (
        f"ALTER TABLE {name} SET TBLPROPERTIES ('druid.kafka.ingestion.consumer.client.id' = 'env:NOT_SET_ANYWHERE')"
    )
    home.run("SET hivedruid.kafka.check=warn")
    with pytest.raises(KafkaError, match="cannot start: the environment variable NOT_SET_ANYWHERE is not set"):
        home.run(alter)
    assert "env:" not in str(home.session.catalog.get("default", name).properties)
    assert home.ingestion(name)["state"] == "RUNNING"
    home.run("SET hivedruid.kafka.check=off")
    home.run("SET hivedruid.ingestion.timeout=PT3S")
    with pytest.raises(DruidError, match="timed out"):
        home.run(alter)
    home.run("SET hivedruid.ingestion.timeout=PT5M")
    problem = home.repaired(name, "unhealthy")
    assert problem["cause"].endswith("may not have the environment variable(s) NOT_SET_ANYWHERE")
    assert problem["repair"] == f"ALTER TABLE default.{name} ROLLBACK INGESTION;"
    home.expect(name, {"0": 1, "1": 1})


def test_records_that_are_lost_without_an_error(home: IngestionHome, topics: Topics) -> None:
    """One is older than lateMessageRejectionStartDateTime allows; those of another topic have times in seconds."""
    late = topics.new([record(0), {"time": "2014-01-01T00:00:00Z", "id": "old"}])
    name = home.create(late, lateMessageRejectionStartDateTime="2015-01-01T00:00:00Z")
    in_seconds = home.create(topics.new({"time": 1_442_016_000 + n, "id": str(n)} for n in range(3)))
    for each in (name, in_seconds):
        home.run(f"START INGESTION {each}")
    problem = home.repaired(name, "records thrown away")
    assert problem["cause"] == "their times are outside of lateMessageRejectionStartDateTime"
    assert problem["evidence"] == "1 record(s) read by the running tasks, beside 1 that were kept"
    problem = home.repaired(in_seconds, "unlikely times")
    assert problem["evidence"].startswith("3 row(s): 3 in 1970, from 1970-01-17T16:33:36.000Z to ")
    assert home.asked[-1].endswith("3 records are read again")
    home.expect(in_seconds, {str(n): 1 for n in range(3)})


def test_offsets_of_all_partitions_have_expired(home: IngestionHome, topics: Topics) -> None:
    feed = Feed(topics, 2)
    feed.send(20)
    name = home.create(feed.topic)
    home.run(f"START INGESTION {name}")
    home.expect(name, feed.expected)
    home.suspend(name, feed.expected)
    lost = feed.send(20)
    places = {kafka_python().TopicPartition(feed.topic, number): 20 for number in range(2)}
    topics.admin.delete_records(places)
    with pytest.raises(DruidError, match="no longer available") as raised:
        home.run(f"RESUME INGESTION {name}")
    assert (
        raised.value.hint == f"RESET INGESTION default.{name} TO EARLIEST continues at the first records that Kafka has"
    )
    feed.expected.subtract(lost)
    feed.expected += type(feed.expected)()
    feed.send(10)
    problem = home.repaired(name, "offsets expired")
    assert home.asked == [
        f"RESET of default.{name}: no records are lost or read again; Kafka deleted 20 records before they were read"
    ]
    assert problem["evidence"] == "partition 0: 10 record(s) from offset 10; partition 1: 10 record(s) from offset 10"
    home.expect(name, feed.expected)

    home.suspend(name, feed.expected)
    home.run(f"RESUME INGESTION {name}")
    feed.recreate(1)  # a supervisor that looks for tasks and partitions again would not know the other one
    problem = home.repaired(name, "partition not found")
    assert problem["evidence"] == "partition(s) 1 were read, the topic has 0"
    feed.send(5)
    home.expect(name, feed.expected)


def post(home: IngestionHome, name: str, *, context: Mapping[str, str] | None = None, **io: Any) -> None:
    """Post a suspended supervisor of a table, as START and SUSPEND would but for these keys of its ioConfig."""
    table = home.session.catalog.get("default", name)
    spec = supervisor_spec(table, home.session.settings)
    ingestions = Ingestions(home.session.catalog)
    ingestions.record_spec(table, spec, "2026-01-01T00:00:00+00:00")
    ingestions.finish(table.table_id, started=True)
    spec = owned(spec, table, catalog_name(home.folder, home.session.catalog), suspended=True)
    spec["spec"]["ioConfig"].update(io)
    spec["context"].update(context or {})
    home.druid.client.post("overlord", SUPERVISOR, wire.SupervisorId, spec)


def test_an_expression_that_druid_misreads(home: IngestionHome, topics: Topics) -> None:
    """Another program has posted it: hivedruid accepts none. The repair of "no table" comes first."""
    name = home.create(topics.new(record(n) for n in range(2)))
    spec = supervisor_spec(home.session.catalog.get("default", name), home.session.settings)
    home.session.catalog.remove(home.session.catalog.get("default", name))
    filter_ = {"type": "expression", "expression": "id = '1'"}
    spec["spec"]["dataSchema"]["transformSpec"] = {"filter": filter_}
    home.druid.client.post("overlord", SUPERVISOR, wire.SupervisorId, spec)
    assert home.problem(name, "invalid expression")["repair"].startswith("-- correct transformSpec in the spec of")
    home.repaired(name, "no table")
    assert "START INGESTION" in home.repaired(name, "invalid expression")["repair"]
    home.expect(name, {"0": 1, "1": 1})


def test_supervisors_and_tables_that_do_not_fit(home: IngestionHome, topics: Topics) -> None:
    """One topic for all of them; most supervisors are suspended, so that no task starts."""
    expected = {"0": 1, "1": 1}
    topic = topics.new((record(n) for n in range(2)), name="page-views")
    lost, changed, theirs, missing, beyond = (home.create(topic) for _ in range(5))
    Ingestions(home.session.catalog).finish(home.session.catalog.get("default", lost).table_id, started=True)
    post(home, changed, taskCount=2)
    post(home, theirs, context={OWNER_ID: "theirs", OWNER_TABLE: "default.theirs", OWNER_HOME: "ann@there:/home"})
    home.run(f"ALTER TABLE {missing} SET TBLPROPERTIES ('kafka.topic' = '{topic.replace('views', 'veiws')}')")
    post(home, missing)
    assert home.repaired(missing, "topic not found")["cause"].endswith(f": did you mean '{topic}'?")
    assert home.ingestion(missing)["state"] == "SUSPENDED"
    home.repaired(theirs, "owned by another table")
    assert home.session.catalog.get("default", theirs).data_source == f"default.{theirs}"

    home.repaired(lost, "not running")
    home.repaired(changed, "spec differs")
    for name in (lost, changed):
        home.expect(name, expected)
        home.run(f"STOP INGESTION {name}")

    post(home, beyond)
    moved = {"type": "kafka", "partitions": {"type": "end", "stream": topic, "partitionOffsetMap": {"0": 10}}}
    home.druid.client.post("overlord", supervisor_path(beyond, "resetOffsets"), wire.Acknowledgement, moved)
    home.druid.client.post("overlord", supervisor_path(beyond, "resume"), wire.Acknowledgement)
    problem = home.repaired(beyond, "offsets beyond the end")
    assert problem["evidence"] == "partition 0: next offset 10, end offset 2"
    home.expect(beyond, expected)


def test_a_statement_that_was_interrupted(home: IngestionHome, topics: Topics) -> None:
    """And an ingestion that keeps nothing, and one whose replicas do not share a worker."""
    topic = topics.new((record(n) for n in range(2)), name="page-views")
    nothing = home.create(topic, lateMessageRejectionStartDateTime="2030-01-01T00:00:00Z")
    home.run(f"START INGESTION {nothing}")
    assert home.repaired(nothing, "all records thrown away")["evidence"] == (
        "2 record(s) read by the running tasks, none of them kept"
    )
    moments = (killed.run(home.folder, home.conf, f"SUSPEND INGESTION {nothing}", moment) for moment in count(1))
    assert next(outcome for outcome in moments if outcome.is_begun).killed
    home.repaired(nothing, "interrupted")
    assert home.ingestion(nothing)["state"] == "SUSPENDED"

    replicated = home.create(topic, replicas="2")
    post(home, replicated)
    home.druid.client.post("overlord", supervisor_path(replicated, "resume"), wire.Acknowledgement)
    problem = home.repaired(replicated, "tasks waiting")
    assert problem["cause"] == "replicas do not share a worker: 2 replicas need 2 workers"
    home.expect(replicated, {"0": 1, "1": 1})
