"""START, STOP, RESET and related statements with a real Druid and Kafka: the resulting state, and the counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from hivedruid.errors import DruidError, ExecutionError, SemanticError, UnsupportedError
from tests.support.ingestion import Feed, IngestionHome, record, until

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics


@pytest.fixture
def home(cluster: Cluster, tmp_path: Path) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path / "home", cluster.services)
    yield made
    made.close()


@pytest.fixture
def feed(topics: Topics) -> Feed:
    return Feed(topics, partitions=2)


def spec_notes(home: IngestionHome) -> list[str]:
    """The reported changes of specs. Druid may fail a task that is suspended right after its start, which is reported,
    too.
    """
    return [note for note in home.notes if not note.startswith("task ")]


def test_start_is_idempotent_and_stop_leaves_no_task(home: IngestionHome, feed: Feed) -> None:
    table = home.create(feed.topic, taskCount="2")
    feed.send(20)
    home.run(f"START INGESTION {table}")
    tasks = home.tasks(table)
    assert len(tasks) == 2
    home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('druid.kafka.ingestion' = 'start')")
    home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('comment' = 'the tasks are left alone')")
    assert home.tasks(table) == tasks
    home.run(f"WAIT INGESTION {table}")
    home.expect(table, feed.expected)
    home.stop(table, feed.expected)
    assert home.tasks(table) == []
    assert home.overlord.spec(home.sources[table]) is None
    home.run(f"STOP INGESTION {table}")
    home.expect(table, feed.expected)


def test_stop_at_once_leaves_no_task_alone(home: IngestionHome, feed: Feed) -> None:
    """Terminating a supervisor does not stop tasks that it has not discovered yet."""
    table = home.create(feed.topic, period="PT30S")
    feed.send(10)
    home.run(f"START INGESTION {table}")
    home.run(f"STOP INGESTION {table}")
    assert home.tasks(table) == []
    home.run(f"START INGESTION {table}")
    home.expect(table, feed.expected)


def test_suspend_alter_rollback_handoff(home: IngestionHome, feed: Feed) -> None:
    table = home.create(feed.topic)
    feed.send(6)
    home.run(f"START INGESTION {table}")
    home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '2')")
    assert spec_notes(home) == [f"supervisor {table}: ioConfig.taskCount 1 -> 2"]
    until(lambda: home.ingestion(table)["tasks"] == "2/2")  # the one with the old spec publishes, and ends
    home.run(f"SUSPEND INGESTION {table}")
    assert home.tasks(table) == []
    home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('druid.kafka.ingestion.replicas' = '2')")
    assert home.ingestion(table)["state"] == "SUSPENDED"
    home.run(f"ALTER TABLE {table} ROLLBACK INGESTION")
    home.run(f"RESUME INGESTION {table}")
    feed.send(6)
    home.run(f"HANDOFF INGESTION {table}")
    home.run(f"WAIT INGESTION {table}")
    home.expect(table, feed.expected)
    home.run(f"ALTER TABLE {table} ROLLBACK INGESTION")
    until(lambda: home.ingestion(table)["tasks"] == "1/1")
    with pytest.raises(SemanticError, match="no earlier working ingestion spec"):
        home.run(f"ALTER TABLE {table} ROLLBACK INGESTION")
    home.expect(table, feed.expected)


def test_fewer_tasks_read_every_partition(home: IngestionHome, feed: Feed) -> None:
    """Druid assigns tasks that it has not discovered yet to the new supervisor, which then reads only one of the
    partitions.
    """
    table = home.create(feed.topic, taskCount="2", period="PT30S")
    feed.send(20)
    home.run(f"START INGESTION {table}")
    home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('druid.kafka.ingestion.taskCount' = '1')")
    feed.send(20)
    home.expect(table, feed.expected)


def test_reset(home: IngestionHome, feed: Feed) -> None:
    table = home.create(feed.topic)
    numbers = feed.send(10)
    home.run(f"START INGESTION {table}")
    home.run(f"WAIT INGESTION {table}")
    home.run(f"RESET INGESTION {table} TO OFFSETS (0:3)")
    assert home.asked[-1] == f"RESET of default.{table}: 0 records are lost, 2 records are read again"
    feed.expected.update(numbers[6::2])  # the fourth and fifth record of partition 0
    home.run(f"WAIT INGESTION {table}")
    home.expect(table, feed.expected)
    home.run(f"SUSPEND INGESTION {table}")
    lost = feed.send(8)
    home.run(f"RESET INGESTION {table} TO LATEST")
    assert home.ingestion(table)["state"] == "SUSPENDED"
    for number in lost:
        del feed.expected[number]
    home.run(f"RESUME INGESTION {table}")
    feed.send(4)
    home.run(f"WAIT INGESTION {table}")
    home.expect(table, feed.expected)
    home.run(f"STOP INGESTION {table}")
    home.run(f"RESET INGESTION {table}")  # to the earliest, as the table specifies; nothing runs before and after
    assert home.asked[-1] == f"RESET of default.{table}: 0 records are lost, {feed.sent} records are read again"
    assert home.overlord.spec(home.sources[table]) is None
    home.run(f"START INGESTION {table}")
    feed.expected.update(str(number) for number in range(feed.sent))
    home.expect(table, feed.expected)


def test_nothing_is_reset_without_consent(cluster: Cluster, home: IngestionHome, feed: Feed) -> None:
    table = home.create(feed.topic)
    feed.send(4)
    home.run(f"START INGESTION {table}")
    home.run(f"WAIT INGESTION {table}")
    home.session._confirm = lambda _: False
    home.session._services = None
    tasks = home.tasks(table)
    with pytest.raises(ExecutionError, match=r"4 records are read again; nothing was changed"):
        home.run(f"RESET INGESTION {table} TO EARLIEST")
    assert home.tasks(table) == tasks
    with pytest.raises(SemanticError, match="has no partition 7"):
        home.run(f"RESET INGESTION {table} TO OFFSETS (7:1)")
    with pytest.raises(SemanticError, match="offset 99 is out of range for partition 0 "):
        home.run(f"RESET INGESTION {table} TO OFFSETS (0:99)")


def test_a_table_that_is_fed_stays_with_its_supervisor(home: IngestionHome, feed: Feed) -> None:
    table = home.create(feed.topic)
    home.run(f"START INGESTION {table}")
    with pytest.raises(SemanticError, match="would no longer ingest from Kafka"):
        home.run(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('kafka.topic')")
    with pytest.raises(SemanticError, match="would use another data source"):
        home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('druid.datasource' = 'elsewhere')")
    with pytest.raises(SemanticError, match="cannot TRUNCATE"):
        home.run(f"TRUNCATE TABLE {table}")
    home.run(f"ALTER TABLE {table} RENAME TO {table}_renamed")
    home.run(f"STOP INGESTION {table}_renamed")


def test_drop_ends_the_supervisor_and_keeps_the_offsets(home: IngestionHome, feed: Feed) -> None:
    """DROP keeps the rows of a data source that was named by druid.datasource, with or without PURGE."""
    table = home.create(feed.topic)
    feed.send(4)
    home.run(f"START INGESTION {table}")
    home.run(f"WAIT INGESTION {table}")
    source = home.sources[table]
    home.run(f"DROP TABLE {table} PURGE")
    assert home.overlord.spec(source) is None
    assert home.tasks(table) == []
    again = home.create(feed.topic, source)
    feed.send(4)
    home.run(f"START INGESTION {again}")
    home.run(f"WAIT INGESTION {again}")
    home.expect(again, feed.expected)


def test_purge_forgets_rows_and_offsets(home: IngestionHome, feed: Feed) -> None:
    name = f"own_{uuid4().hex[:8]}"
    home.sources[name] = f"default.{name}"
    create = (
        f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, id string) STORED BY 'druid' TBLPROPERTIES ("
        f"'kafka.topic' = '{feed.topic}', 'kafka.bootstrap.servers' = '{home.services.kafka}', 'druid.rollup' = 'false', "
        "'druid.timestamp.column' = 'time', 'druid.kafka.ingestion.useEarliestOffset' = 'true', "
        "'druid.kafka.ingestion.startDelay' = 'PT0S', 'druid.kafka.ingestion.offsetFetchPeriod' = 'PT1S')"
    )
    feed.send(4)
    for _ in range(2):
        home.run(create)
        home.run(f"START INGESTION {name}")
        home.run(f"WAIT INGESTION {name}")
        home.expect(name, feed.expected)
        home.run(f"DROP TABLE {name} PURGE")
        assert home.counted(name) == {}


def test_start_says_why_tasks_do_not_run(home: IngestionHome, topics: Topics) -> None:
    many = home.create(topics.new([record(1)], partitions=6), taskCount="6")
    home.session.settings.set("hivedruid.ingestion.timeout", "PT10S")

    def reason() -> str:
        """The supervisor may not have created its tasks after the timeout: the next START waits again."""
        with pytest.raises(DruidError) as error:
            home.run(f"START INGESTION {many}")
        return error.value.message

    until(lambda: "waiting for a slot (4 of 4 in use)" in reason(), "tasks that wait for a slot")
    home.problem(many, "no free slots")
    home.session.settings.reset("hivedruid.ingestion.timeout")
    home.run(f"DROP TABLE {many}")
    lost = home.create("nowhere", **{"consumer.default.api.timeout.ms": "1000"})
    home.run(
        f"ALTER TABLE {lost} SET TBLPROPERTIES ('kafka.bootstrap.servers' = '127.0.0.1:1', 'druid.kafka.ingestion.taskCount' = '1')"
    )
    with pytest.raises(DruidError, match="cannot ingest"):
        home.run(f"START INGESTION {lost}")
    home.run(f"DROP TABLE {lost}")


SEED = """CREATE EXTERNAL TABLE druid_kafka_table_1 (`__time` TIMESTAMP, `dimension1` STRING, `dimension2` STRING, `metric1` INT, `metric2` DOUBLE)
STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'
TBLPROPERTIES ("kafka.bootstrap.servers" = "{kafka}", "kafka.topic" = "{topic}",
  "druid.kafka.ingestion.useEarliestOffset" = "true", "druid.kafka.ingestion.maxRowsInMemory" = "5",
  "druid.kafka.ingestion.startDelay" = "PT1S", "druid.kafka.ingestion.period" = "PT1S",
  "druid.kafka.ingestion.consumer.retries" = "2", "druid.kafka.ingestion.taskDuration" = "PT60S")"""


def test_the_statements_of_hives_page(cluster: Cluster, home: IngestionHome, topics: Topics) -> None:
    rows = [
        {
            "__time": f"2024-05-01T{hour:02}:00:00Z",
            "dimension1": "a",
            "dimension2": "b",
            "metric1": hour,
            "metric2": 0.5,
        }
        for hour in range(10)
    ]
    home.run(SEED.format(kafka=cluster.services.kafka, topic=topics.new(rows)))
    verb = "ALTER TABLE druid_kafka_table_1 SET TBLPROPERTIES('druid.kafka.ingestion' = '{}')"
    try:
        home.run(verb.format("START"))
        home.run("WAIT INGESTION druid_kafka_table_1")
        (row,) = home.run("SELECT sum(metric1) AS n, sum(metric2) AS x FROM druid_kafka_table_1")
        assert (row["n"], row["x"]) == (45, 5.0)
        home.run(verb.format("STOP"))
        home.run(verb.format("RESET"))
        home.run(verb.format("START"))
        home.run("WAIT INGESTION druid_kafka_table_1")
        (row,) = home.run("SELECT sum(metric1) AS n, sum(metric2) AS x FROM druid_kafka_table_1")
        assert (row["n"], row["x"]) == (90, 10.0)
    finally:
        home.run("DROP TABLE druid_kafka_table_1 PURGE")


def test_what_druid_refuses_is_not_begun(home: IngestionHome, feed: Feed) -> None:
    table = home.create(feed.topic, autoScalerConfig='{"enableTaskAutoScaler": true}')
    with pytest.raises(DruidError, match="taskCountMin can't be null"):
        home.run(f"START INGESTION {table}")
    assert home.problems(table) == {}
    assert home.ingestion(table)["state"] == "STOPPED"
    home.run(f"DROP TABLE {table}")


def test_a_refused_spec_leaves_all_as_it_was(home: IngestionHome, feed: Feed) -> None:
    table = home.create(feed.topic)
    feed.send(4)
    home.run(f"START INGESTION {table}")
    with pytest.raises(DruidError, match="taskCountMin can't be null"):
        home.run(
            f"""ALTER TABLE {table} SET TBLPROPERTIES ('druid.kafka.ingestion.autoScalerConfig' = '{{"enableTaskAutoScaler": true}}')"""
        )
    home.settle(table, "tasks failing")  # Druid may have the one suspended at its start
    until(lambda: home.ingestion(table)["tasks"] == "1/1")
    feed.send(4)
    home.run(f"START INGESTION {table}")
    home.expect(table, feed.expected)


def test_what_is_not_the_tables_stays(home: IngestionHome, feed: Feed, cluster: Cluster, tmp_path: Path) -> None:
    table = home.create(feed.topic)
    feed.send(4)
    home.run(f"START INGESTION {table}")
    home.expect(table, feed.expected)
    other = IngestionHome(tmp_path / "other", cluster.services)
    try:
        shared = other.create(feed.topic, home.sources[table])
        with pytest.raises(DruidError, match="belongs to table"):
            other.run(f"START INGESTION {shared}")
        other.run(f"DROP TABLE {shared} PURGE")
        other.sources.clear()
        assert home.ingestion(table)["state"] == "RUNNING"
        home.expect(table, feed.expected)
        with pytest.raises(SemanticError, match="stores offsets of another topic"):
            home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('kafka.topic' = 'another')")
        home.run("CREATE EXTERNAL TABLE unfed (`__time` timestamp, id string) STORED BY 'druid'")
        home.run("DROP TABLE unfed")
    finally:
        other.close()


def test_what_druid_makes_of_a_spec_is_no_difference(home: IngestionHome, feed: Feed) -> None:
    scaler = {
        "enableTaskAutoScaler": True, "taskCountMin": 1, "taskCountMax": 2, "autoScalerStrategy": "lagBased",
        "lagCollectionIntervalMillis": 30000,
    }  # fmt: skip
    table = home.create(
        feed.topic, autoScalerConfig=json.dumps(scaler), lateMessageRejectionStartDateTime="2014-01-01T00:00:00Z",
        reportParseExceptions="true", indexSpecForIntermediatePersists='{"longEncoding": "auto"}',
    )  # fmt: skip
    home.run(f"START INGESTION {table}")
    tasks = home.tasks(table)
    home.run(f"START INGESTION {table}")
    assert home.notes == []
    assert home.tasks(table) == tasks
    assert "spec differs" not in home.problems(table)
    home.run(f"ALTER TABLE {table} SET TBLPROPERTIES ('druid.kafka.ingestion.maxRowsInMemory' = '1000')")
    assert spec_notes(home) == [f"supervisor {table}: tuningConfig.maxRowsInMemory 150000 -> 1000"]


def test_an_id_of_its_own_needs_a_newer_druid(home: IngestionHome, feed: Feed) -> None:
    """Druid 33 ignores the id in a spec: its supervisor would have the name of the data source."""
    name = home.create(feed.topic, **{"supervisor.id": "second"})
    with pytest.raises(UnsupportedError, match=r"supervisor\.id needs Druid 34 or later\. Druid 33\.0\.0: "):
        home.run(f"START INGESTION {name}")
    home.run(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('druid.kafka.ingestion.supervisor.id')")
    shown = "\n".join(row["Explain"] for row in home.run(f"EXPLAIN EXTENDED START INGESTION {name}"))
    assert "By the version of Druid:\n  Druid 33.0.0: a supervisor's id is the name of its data source" in shown
