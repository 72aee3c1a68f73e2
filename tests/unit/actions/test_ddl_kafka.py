"""CREATE: tables that ingest from Kafka, and tables over topics."""

from __future__ import annotations

import pytest

from hivedruid.catalog import types as t
from hivedruid.catalog.kinds import KAFKA_STORAGE_HANDLER
from hivedruid.errors import UnsupportedError
from tests.unit.actions.ddl_world import KAFKA, World, at, create


@pytest.fixture
def world() -> World:
    return World()


def test_a_table_fed_from_kafka(world: World) -> None:
    table = create(
        world,
        f"CREATE EXTERNAL TABLE k (`__time` TIMESTAMP, a INT) STORED BY druid TBLPROPERTIES ({KAFKA}, "
        "'druid.kafka.ingestion.taskDuration'='PT60S', 'druid.kafka.ingestion.consumer.retries'='2')",
    )
    assert table.properties["kafka.topic"] == "t"
    assert table.properties["druid.kafka.ingestion.consumer.retries"] == "2"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("'druid.parseSpec.format'='avro'", "Please specify avro schema literal when using avro parser"),
        (
            "'druid.parseSpec.format'='avro', 'avro.schema.literal'='none'",
            "Please specify avro schema literal when using avro parser",
        ),
        (
            "'druid.parseSpec.format'='csv'",
            "csv messages require druid.parseSpec.columns, the names of the fields in order",
        ),
        (
            "'druid.kafka.ingestion.period'='soon'",
            "property 'druid.kafka.ingestion.period' must be an ISO 8601 period such as PT10M, not 'soon'",
        ),
    ],
)
def test_kafka_feeds_that_are_refused(world: World, extra: str, message: str) -> None:
    text = f"CREATE EXTERNAL TABLE k (`__time` TIMESTAMP) STORED BY druid TBLPROPERTIES ({KAFKA}, {extra})"
    assert world.refused(text).message == message


def test_a_kafka_feed_checks_the_columns_of_a_given_data_source(world: World) -> None:
    text = f"CREATE EXTERNAL TABLE k (a INT) STORED BY druid TBLPROPERTIES ({KAFKA}, 'druid.datasource'='x')"
    assert "Timestamp column" in world.refused(text).message


@pytest.mark.parametrize("verb", ["START", "stop", "Reset"])
def test_ingestion_needs_a_cluster_and_is_never_stored(world: World, verb: str) -> None:
    text = f"CREATE EXTERNAL TABLE k (`__time` TIMESTAMP) STORED BY druid TBLPROPERTIES ({KAFKA}, 'druid.kafka.ingestion'='{verb}')"
    error = world.refused(text, UnsupportedError)
    assert "embedded store" in error.message
    assert "Druid cluster" in (error.hint or "")
    assert at(error.span) == f"'{verb}'"
    assert world.tables == {}


# ---- Kafka


def test_a_kafka_table(world: World) -> None:
    table = create(
        world, f"CREATE EXTERNAL TABLE k (a INT) STORED BY kafka TBLPROPERTIES ({KAFKA}, 'hive.kafka.max.retries'='9')"
    )
    assert [(c.name, c.type) for c in table.columns] == [
        ("a", t.INT),
        ("__key", t.BINARY),
        ("__partition", t.INT),
        ("__offset", t.BIGINT),
        ("__timestamp", t.BIGINT),
    ]
    assert table.properties["hive.kafka.max.retries"] == "9"
    assert table.properties["hive.kafka.poll.timeout.ms"] == "5000"
    assert table.properties["kafka.write.semantic"] == "AT_LEAST_ONCE"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"CREATE TABLE k (a INT) STORED BY kafka TBLPROPERTIES ({KAFKA})",
            f"{KAFKA_STORAGE_HANDLER} supports only EXTERNAL_TABLE",
        ),
        ("CREATE EXTERNAL TABLE k (a INT) STORED BY kafka", "Set Table property kafka.topic"),
        (
            "CREATE EXTERNAL TABLE k (a INT) STORED BY kafka TBLPROPERTIES ('kafka.topic'='t')",
            "Set Table property kafka.bootstrap.servers",
        ),
        (
            f"CREATE EXTERNAL TABLE k (`__key` INT) STORED BY kafka TBLPROPERTIES ({KAFKA})",
            "column '__key' is reserved: every Kafka table has it",
        ),
        (
            f"CREATE EXTERNAL TABLE k (a INT) STORED BY kafka LOCATION '/x' TBLPROPERTIES ({KAFKA})",
            "LOCATION may not be specified for Kafka",
        ),
        (
            f"CREATE EXTERNAL TABLE k STORED BY kafka TBLPROPERTIES ({KAFKA})",
            "Either list of columns or a custom serializer should be specified",
        ),
    ],
)
def test_kafka_tables_that_are_refused(world: World, text: str, message: str) -> None:
    assert world.refused(text).message == message
