"""The conversion of single properties of Hive's Druid and Kafka handlers."""

from __future__ import annotations

import pytest

from hivedruid.catalog.kinds import TableKind
from hivedruid.hive_ddl.draft import Pair
from hivedruid.hive_ddl.properties import BOOKKEEPING, INTERNAL, revised, variable_name

INGESTION = "druid.kafka.ingestion."
CONSUMER = INGESTION + "consumer."


def became(
    key: str, value: str, kind: TableKind | None = "druid", **before: str
) -> tuple[tuple[str, str] | None, str, str]:
    """The property, the kind of the only finding, and its text; empty if there is none."""
    pairs, findings = revised([Pair(key, value)], kind, before)
    (finding,) = findings or (None,)
    pair = (pairs[0].key, pairs[0].value) if pairs else None
    return pair, finding.kind if finding else "", finding.text if finding else ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kafka.topic", "edits"),
        (INGESTION + "taskDuration", "PT60S"),
        (INGESTION + "taskDuration", "not a period"),  # refused elsewhere
        (INGESTION + "useEarliestOffset", "TRUE"),
        (INGESTION + "useEarliestOffset", "${earliest}"),
        (CONSUMER + "sasl.jaas.config", "env:KAFKA_JAAS"),
        (CONSUMER + "sasl.jaas.config", "${env:KAFKA_JAAS}"),
        (CONSUMER + "retries", "2"),
        ("druid.rollup", "false"),
        ("druid.parseSpec.format", "delimited"),
        ("druid.kafka.ingestion", "START"),
        ("owner.team", "wiki"),
        ("external.table.purge", "true"),
    ],
)
def test_what_stays_as_it_is(key: str, value: str) -> None:
    assert became(key, value) == ((key, value), "", "")


@pytest.mark.parametrize(
    ("key", "value", "now", "text"),
    [
        (INGESTION + "taskDuration", "PT30S", (INGESTION + "taskDuration", "PT1M"), "less than a minute"),
        (INGESTION + "taskduration", "PT10M", (INGESTION + "taskDuration", "PT10M"), "Hive ignored the former"),
        ("Kafka.Topic", "x", ("kafka.topic", "x"), "is now 'kafka.topic'"),
        ("druid.parseSpec.hasHeaderRow", "true", ("druid.parseSpec.hasHeaderRows", "true"), "hasHeaderRows"),
        ("druid.timestampSpec.column", "ts", ("druid.timestamp.column", "ts"), "druid.timestamp.column"),
        (
            INGESTION + "useEarliestOffset",
            "yes",
            (INGESTION + "useEarliestOffset", "false"),
            "every value other than true",
        ),
    ],
)
def test_what_is_written_differently(key: str, value: str, now: tuple[str, str], text: str) -> None:
    pair, kind, found = became(key, value)
    assert (pair, kind) == (now, "changed")
    assert text in found


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (INGESTION + "skipOffsetGaps", "true", "Druid skips gaps by itself"),
        (INGESTION + "chatThreads", "3", "Druid chooses the threads itself"),
        (INGESTION + "buildV9Directly", "true", "Druid always does so"),
        (INGESTION + "basePersistDirectory", "/scratch", "their own folder"),
        ("druid.storage.storageDirectory", "/segments", "deep storage"),
        (INGESTION + "taskCont", "3", "did you mean 'taskCount'?"),
        ("druid.segment.granularty", "DAY", "did you mean 'druid.segment.granularity'?"),
        ("druid.query.json", '{"queryType": "select"}', "`select` queries"),
        ("druid.query.json", '{"queryType": "groupBy"}', "queries are planned again"),
        ("druid.query.json", "no json", "queries are planned again"),
        ("druid.fieldNames", "a,b", "queries are planned again"),
        ("kafka.consumer.max.poll.records", "5", f"'{CONSUMER}max.poll.records' applies"),
        ("kafka.serde.class", "x.Y", "does not apply to a Druid table"),
        ("numRows", "0", "numRows (Hive's own bookkeeping)"),
    ],
)
def test_what_is_left_out(key: str, value: str, text: str) -> None:
    pair, kind, found = became(key, value)
    assert (pair, kind) == (None, "dropped")
    assert text in found


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("druid.rollup", "true", "Hive read every value of the property as false"),
        ("druid.parseSpec.format", "TSV", "the same as 'delimited'"),
        ("druid.parseSpec.format", "avro", "druid-avro-extensions"),
        ("druid.kafka.ingestion", "reset", "need --yes"),
    ],
)
def test_what_means_something_else(key: str, value: str, text: str) -> None:
    pair, kind, found = became(key, value)
    assert (pair, kind) == ((key, value), "note")
    assert text in found


def test_brokers_are_named_once() -> None:
    pairs, findings = revised(
        [Pair("kafka.bootstrap.servers", "b:9092"), Pair(CONSUMER + "bootstrap.servers", "b:9092")], "druid"
    )
    assert [pair.key for pair in pairs] == ["kafka.bootstrap.servers"]
    assert [finding.kind for finding in findings] == ["dropped"]


def test_a_misspelt_property_beside_the_right_one_is_left_out() -> None:
    pairs, findings = revised([Pair("kafka.topic", "a"), Pair("kafka.Topic", "b")], "druid")
    assert [(pair.key, pair.value) for pair in pairs] == [("kafka.topic", "a")]
    assert "'kafka.topic' is also specified" in findings[0].text


def test_the_last_of_a_property_counts() -> None:
    pairs, findings = revised([Pair("a", "1"), Pair("b", "2"), Pair("a", "3")], None)
    assert [(pair.key, pair.value) for pair in pairs] == [("a", "3"), ("b", "2")]
    assert "specified more than once" in findings[0].text


def test_what_a_property_has_become_is_looked_at_again() -> None:
    pairs, findings = revised([Pair(INGESTION + "TaskDuration", "PT5S")], "druid")
    assert [(pair.key, pair.value) for pair in pairs] == [(INGESTION + "taskDuration", "PT1M")]
    assert [finding.kind for finding in findings] == ["changed", "changed"]


@pytest.mark.parametrize(
    ("key", "kind", "name"),
    [
        (CONSUMER + "sasl.jaas.config", "druid", "KAFKA_SASL_JAAS_CONFIG"),
        (CONSUMER + "ssl.keystore.password", "druid", "KAFKA_SSL_KEYSTORE_PASSWORD"),
        ("kafka.consumer.ssl.key.password", "kafka", "KAFKA_SSL_KEY_PASSWORD"),
        ("hive.kafka.ssl.truststore.password", "kafka", "KAFKA_SSL_TRUSTSTORE_PASSWORD"),
        ("my-own.api.token", "files", "MY_OWN_API_TOKEN"),
    ],
)
def test_a_secret_becomes_a_reference(key: str, kind: TableKind, name: str) -> None:
    pair, said, text = became(key, "hunter2", kind)
    assert (pair, said) == ((key, f"env:{name}"), "changed")
    assert variable_name(key) == name
    assert name in text
    assert "hunter2" not in text


def test_a_login_module_that_is_not_allowed_is_told() -> None:
    jaas = 'com.sun.security.auth.module.JndiLoginModule required user.provider.url="ldap://x/hunter2";'
    _, _, text = became(CONSUMER + "sasl.jaas.config", jaas)
    assert "names the login module com.sun.security.auth.module.JndiLoginModule" in text
    assert "hunter2" not in text


@pytest.mark.parametrize("key", sorted(BOOKKEEPING | INTERNAL))
@pytest.mark.parametrize("kind", ["druid", "kafka", "files", "iceberg"])
def test_what_hive_noted_down_is_dropped_from_every_table(key: str, kind: TableKind) -> None:
    assert became(key, "x", kind)[:2] == (None, "dropped")
