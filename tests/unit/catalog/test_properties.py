"""The table of table properties, and how they are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.catalog.kinds import TableKind
from hivedruid.catalog.names import columns_by_field, with_field_names
from hivedruid.catalog.properties import PROPERTIES, TableProperty, find, parse_mapping
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING, TIMESTAMP
from hivedruid.errors import SemanticError, Span
from hivedruid.parser.statements.ddl import Property
from hivedruid.tables.property_checks import check_value, validate

KEY, VALUE = Span(1, 1, 1, "k"), Span(1, 5, 1, "k = v")


def prop(key: str, value: str) -> Property:
    return Property(key, value, KEY, VALUE)


@pytest.mark.parametrize("item", PROPERTIES.values(), ids=lambda item: item.key)
def test_the_table_is_sound(item: TableProperty) -> None:
    assert item.doc.endswith(".") or item.doc.endswith("…")
    assert item.kinds
    assert find(item.key + ("x" if item.key.endswith(".") else "")) is item
    if item.default is not None:
        check_value(item, prop(item.key, item.default))
    assert bool(item.values) is (item.type == "enum")


ELSEWHERE = {"druid.storage.storageDirectory", "external.table.purge"}
"""Properties of Druid tables that are not listed in the documentation."""


@pytest.mark.parametrize(
    "item", [i for i in PROPERTIES.values() if "druid" in i.kinds and i.key not in ELSEWHERE], ids=lambda item: item.key
)
def test_the_documentation_has_it(item: TableProperty) -> None:
    pages = (Path(__file__).parents[3] / "docs").glob("*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    (line,) = [line for line in text.splitlines() if line.startswith((f"| `{item.key}` |", f"| `{item.key}…` |"))]
    assert line.endswith(f"| {'' if item.default is None else f'`{item.default}`'} | {item.doc} |")


@pytest.mark.parametrize(
    "key",
    """
    druid.datasource druid.segment.granularity druid.query.granularity druid.rollup
    druid.segment.targetShardsPerGranularity druid.storage.storageDirectory druid.kafka.ingestion
    druid.timestamp.column druid.timestamp.format druid.parseSpec.format druid.parseSpec.columns
    druid.parseSpec.delimiter druid.parseSpec.listDelimiter druid.parseSpec.hasHeaderRows druid.parseSpec.skipHeaderRows
    avro.schema.literal kafka.topic kafka.bootstrap.servers external.table.purge hivedruid.malformed.rows
    druid.kafka.ingestion.maxRowsInMemory druid.kafka.ingestion.taskDuration druid.kafka.ingestion.useEarliestOffset
    druid.kafka.ingestion.consumer.retries druid.kafka.ingestion.consumer.max.poll.records kafka.consumer.max.poll.records
    kafka.serde.class kafka.write.semantic hive.kafka.poll.timeout.ms hive.kafka.ssl.truststore.location
    """.split(),  # noqa: SIM905 - a list of words reads better as words
)
def test_known(key: str) -> None:
    assert find(key) is not None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("druid.segment.granularity", "day"),
        ("druid.segment.granularity", "SIX_HOUR"),
        ("druid.query.granularity", "NONE"),
        ("druid.rollup", "FALSE"),
        ("druid.kafka.ingestion.maxRowsInMemory", "5"),
        ("druid.kafka.ingestion.maxRowsInMemory", "-1"),
        ("druid.kafka.ingestion.maxTotalRows", "9223372036854775807"),
        ("druid.kafka.ingestion.taskDuration", "PT60S"),
        ("druid.kafka.ingestion.taskDuration", "PT1M"),
        ("druid.kafka.ingestion.taskDuration", "P1W2DT3H4M5.5S"),
        ("druid.kafka.ingestion.intermediatePersistPeriod", "P1Y2M3W4DT5H6M7.5S"),
        ("druid.kafka.ingestion.lateMessageRejectionStartDateTime", "2024-01-01T00:00:00Z"),
        ("druid.kafka.ingestion.indexSpec", '{"bitmap": {"type": "roaring"}}'),
        ("druid.kafka.ingestion.skipOffsetGaps", "true"),
        ("druid.kafka.ingestion.consumer.client.id", "me"),
        ("druid.columns.aggregators", "a:min, b : HLLSketchBuild( user name ),c:count(), d:count(*)"),
        ("druid.columns.multivalue", "tags:sorted_set"),
        ("druid.metricsSpec", "[]"),
        ("druid.kafka.ingestion", "start"),
        ("druid.kafka.ingestion.check", "refuse"),
        ("druid.kafka.ingestion.consumer.ssl.key.password", "session:0123456789ab"),
        ("druid.parseSpec.columns", "a,b"),
        ("avro.schema.literal", '{"type":"record"}'),
        ("avro.schema.literal", "none"),
        ("druid.columns.mapping", "cityName:city, CITYNAME:city_2"),
        ("my.own", "anything"),
        ("comment", "hello"),
        ("transactional", "true"),
        ("my.password", "env:MY_PASSWORD"),
        ("my.password", ""),
    ],
)
def test_let_through_as_given(key: str, value: str) -> None:
    assert validate([prop(key, value)]) == {key: value}


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("druid.segment.granularty", "druid.segment.granularity"),
        ("druid.dataSource", "druid.datasource"),
        ("druid.kafka.ingestion.maxRowInMemory", "druid.kafka.ingestion.maxRowsInMemory"),
        ("druid.kafka.ingestion.topic", "did you mean 'kafka.topic'?"),
        ("druid.kafka.ingestion.consumerProperties", "druid.kafka.ingestion.consumer.…"),
        ("druid.kafka.ingestion.transformSpec", "druid.transformSpec"),
        ("DRUID.DATASOURCE", "druid.datasource"),
        ("druid.kafka.ingestion.taskDurations", "druid.kafka.ingestion.taskDuration"),
        ("kafka.topics", "kafka.topic"),
        ("kafka.bootstrap.server", "kafka.bootstrap.servers"),
        ("hivedruid.malformed.row", "hivedruid.malformed.rows"),
        ("External.Table.Purge", "external.table.purge"),
        ("druid.query.json", "remove it"),
    ],
)
def test_unknown_keys(key: str, hint: str) -> None:
    with pytest.raises(SemanticError) as error:
        validate([prop(key, "x")])
    assert error.value.span is KEY
    assert hint in (error.value.hint or "")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("druid.segment.granularity", "DAYS", "one of SECOND"),
        ("druid.segment.granularity", "P1D", "one of SECOND"),
        ("druid.rollup", "yes", "true or false"),
        ("druid.rollup", " true", "true or false"),
        ("druid.kafka.ingestion.maxRowsInMemory", "5.0", "an integer"),
        ("druid.kafka.ingestion.maxRowsInMemory", "", "an integer"),
        ("druid.kafka.ingestion.maxRowsInMemory", "٣", "an integer"),
        ("druid.kafka.ingestion.maxRowsInMemory", "2147483648", "up to 2147483647"),
        ("druid.kafka.ingestion.maxTotalRows", "9223372036854775808", "up to"),
        ("druid.kafka.ingestion.taskDuration", "60", "period"),
        ("druid.kafka.ingestion.taskDuration", "PT", "period"),
        ("druid.kafka.ingestion.taskDuration", "P", "period"),
        ("druid.kafka.ingestion.taskDuration", "PT59.9S", "PT1M or more"),
        ("druid.kafka.ingestion.taskDuration", "PT0S", "PT1M or more"),
        ("druid.kafka.ingestion.taskDuration", "P1M", "without years and months"),
        ("druid.kafka.ingestion.period", "P1Y", "without years and months"),
        ("druid.kafka.ingestion.lateMessageRejectionStartDateTime", "yesterday", "ISO 8601 time"),
        ("druid.kafka.ingestion.indexSpec", "[]", "a JSON object"),
        ("druid.kafka.ingestion.idleConfig", "true", "a JSON object"),
        ("druid.metricsSpec", "{}", "a JSON array"),
        ("druid.transformSpec", "[" * 100_000, "a JSON object"),
        ("druid.columns.aggregators", "a", "column:function(field)"),
        ("druid.columns.aggregators", " , ", "column:function(field)"),
        ("druid.columns.aggregators", "a:min, A:max", "each column at most once"),
        ("druid.columns.aggregators", "a:min(b", "column:function(field)"),
        ("druid.columns.aggregators", "a:median(b)", "functions sum, min"),
        ("druid.columns.aggregators", "a:count(b)", "field of count"),
        ("druid.columns.aggregators", "a:sum(*)", "field of count"),
        ("druid.columns.multivalue", "a", "SORTED_ARRAY, SORTED_SET, ARRAY"),
        ("druid.columns.multivalue", "a:ARRAY,A:ARRAY", "each column at most once"),
        ("druid.columns.multivalue", ",", "column:handling"),
        ("druid.kafka.ingestion", "PAUSE", "START, STOP, RESET, SUSPEND, RESUME or HANDOFF"),
        ("druid.kafka.ingestion.check", "false", "WARN, REFUSE, OFF"),
        ("druid.parseSpec.format", "parquet", "JSON, CSV, DELIMITED, TSV, AVRO"),
        ("druid.parseSpec.columns", " , ", "names"),
        ("avro.schema.literal", "{", "JSON"),
        ("druid.columns.mapping", "a", "field:column"),
        ("druid.columns.mapping", "a:x,b:X", "each name at most once"),
        ("hivedruid.malformed.rows", "ignore", "FAIL, NULL, SKIP"),
    ],
)
def test_values_of_the_wrong_type(key: str, value: str, message: str) -> None:
    with pytest.raises(SemanticError, match="must be") as error:
        validate([prop(key, value)])
    assert message in error.value.message
    assert error.value.span is VALUE


def test_the_reason_of_the_shortest_task_duration() -> None:
    with pytest.raises(SemanticError) as error:
        validate([prop("druid.kafka.ingestion.taskDuration", "PT30S")])
    assert "whole minutes" in (error.value.hint or "")


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("files", "druid.rollup"),
        ("iceberg", "kafka.topic"),
        ("druid", "kafka.consumer.retries"),
        ("kafka", "druid.datasource"),
        ("druid", "hivedruid.malformed.rows"),
    ],
)
def test_properties_of_other_kinds_of_tables(kind: TableKind, key: str) -> None:
    value = "fail" if "malformed" in key else "true"
    with pytest.raises(SemanticError, match="does not apply to") as error:
        validate([prop(key, value)], kind)
    assert error.value.span is KEY


def test_the_consumer_property_meant_is_named() -> None:
    with pytest.raises(SemanticError) as error:
        validate([prop("kafka.consumer.retries", "2")], "druid")
    assert error.value.hint == "did you mean 'druid.kafka.ingestion.consumer.retries'?"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("kafka.consumer.enable.auto.commit", "kafka"),
        ("kafka.producer.transactional.id", "kafka"),
        ("druid.kafka.ingestion.consumer.bootstrap.servers", "druid"),
        ("druid.kafka.ingestion.consumer.druid.dynamic.config.provider", "druid"),
    ],
)
def test_what_the_table_sets_itself(key: str, kind: TableKind) -> None:
    with pytest.raises(SemanticError) as error:
        validate([prop(key, "x")], kind)
    assert error.value.span is KEY


@pytest.mark.parametrize("value", ["hunter2", "env:", "env:a b", "env:${X}"])
def test_secrets_do_not_go_into_the_catalog(value: str) -> None:
    for key in ("druid.kafka.ingestion.consumer.ssl.key.password", "kafka.consumer.sasl.jaas.config", "my.password"):
        with pytest.raises(SemanticError, match="secret") as error:
            validate([prop(key, value)])
        assert error.value.span is VALUE
        assert "env:" in (error.value.hint or "")
        assert "hunter2" not in error.value.message + (error.value.hint or "")


@pytest.mark.parametrize("value", ["env:KEY", "${env:KEY}"])
@pytest.mark.parametrize("key", ["my.password", "druid.kafka.ingestion.consumer.sasl.username"])
def test_references_are_kept_in_one_form(key: str, value: str) -> None:
    assert validate([prop(key, value)]) == {key: "env:KEY"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("druid.kafka.ingestion.consumer.proxy", "http://me:hunter2@h", "contains a password"),
        ("druid.kafka.ingestion.inputFormat", '{"a": [{"basic.auth.user.info": "hunter2"}]}', "'basic.auth.user.info'"),
        ("druid.transformSpec", '{"password": "hunter2"}', "'password' in 'druid.transformSpec'"),
    ],
)
def test_secrets_inside_values(key: str, value: str, message: str) -> None:
    with pytest.raises(SemanticError, match="in plain text in the catalog") as error:
        validate([prop(key, value)])
    assert message in error.value.message
    assert "hunter2" not in error.value.message + (error.value.hint or "")


def test_secrets_that_druid_looks_up_itself() -> None:
    value = '{"password": {"type": "environment", "variable": "KEY"}}'
    assert validate([prop("druid.kafka.ingestion.inputFormat", value)]) == {"druid.kafka.ingestion.inputFormat": value}


def test_parse_mapping() -> None:
    assert parse_mapping("") == {}
    assert parse_mapping("a:B, c d : e ,") == {"a": "b", "c d": "e"}
    assert parse_mapping("urn:x:y") == {"urn:x": "y"}
    assert parse_mapping(":a") is None
    assert parse_mapping("a:b,a:c") is None


# ---- names


def table(*names: str, mapping: str = "") -> Table:
    columns = (Column("__time", TIMESTAMP), *(Column(name, STRING) for name in names))
    return Table("default", "t", "druid", columns, properties={"druid.columns.mapping": mapping} if mapping else {})


SCHEMA = {"__time": "LONG", "cityName": "STRING", "page": "STRING", "Tag": "STRING", "TAG": "STRING"}


def fields(resolved: Table) -> dict[str, str]:
    return {column.name: column.field_name for column in resolved.columns}


def test_fields_are_found_in_any_case() -> None:
    assert fields(with_field_names(table("cityname", "page"), SCHEMA)) == {
        "__time": "__time",
        "cityname": "cityName",
        "page": "page",
    }


def test_nothing_to_do_is_nothing_done() -> None:
    plain = table("page", "nope")
    assert with_field_names(plain, SCHEMA) is plain


def test_two_fields_for_one_column() -> None:
    with pytest.raises(SemanticError, match="ambiguous: it matches the fields TAG, Tag") as error:
        with_field_names(table("tag"), SCHEMA)
    assert "druid.columns.mapping" in (error.value.hint or "")


def test_fields_nobody_asked_for_may_be_ambiguous() -> None:
    assert fields(with_field_names(table("page"), SCHEMA))["page"] == "page"


def test_the_mapping_decides() -> None:
    resolved = with_field_names(table("tag", "tag_2", "city", mapping="TAG:tag_2,Tag:tag,cityName:city"), SCHEMA)
    assert fields(resolved) == {"__time": "__time", "tag": "Tag", "tag_2": "TAG", "city": "cityName"}


def test_the_mapping_of_one_leaves_the_other() -> None:
    assert fields(with_field_names(table("tag", "tag_2", mapping="TAG:tag_2"), SCHEMA))["tag"] == "Tag"


def test_columns_by_field() -> None:
    assert columns_by_field(["__time", "cityName"], {}) == {"__time": "__time", "cityName": "cityname"}
    with pytest.raises(SemanticError, match=r"Duplicate column name tag in the table definition\.") as error:
        columns_by_field(["Tag", "TAG"], {}, span=KEY)
    assert error.value.span is KEY
    assert columns_by_field(["Tag", "TAG"], {"druid.columns.mapping": "TAG:tag_2"}) == {"Tag": "tag", "TAG": "tag_2"}
    with pytest.raises(SemanticError, match="Duplicate column name page"):
        columns_by_field(["page", "x"], {"druid.columns.mapping": "x:page"})
