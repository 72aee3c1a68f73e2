"""The table of a supervisor that another program posted: its spec says everything that the supervisor's says."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from hivedruid.actions.utility.show import create_statement
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import locks_concurrently
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.ingestion.adoption import Adoption, adoption
from hivedruid.ingestion.compare import changes
from hivedruid.ingestion.lifecycle import IngestionFacts, is_foreign, start
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from hivedruid.tables.definition import define_table
from tests.unit.ingestion.foreign_specs import SPECS, consumer, inputs, posted

Json = dict[str, Any]


def adopted(spec: Mapping[str, Any], discovered: Mapping[str, str] | None = None, **settings: str) -> Adoption:
    name = spec.get("id") or (spec.get("spec") or spec)["dataSchema"]["dataSource"]
    return adoption(name, spec, settings, discovered or {})


def created(text: str, **settings: str) -> Table:
    statement = parse(SourceStatement(text))
    assert isinstance(statement, CreateTable)
    return define_table(statement, "default", settings, {})


def pasted(spec: Mapping[str, Any], discovered: Mapping[str, str] | None = None, **settings: str) -> Table:
    """The table that the printed CREATE statement of a spec makes."""
    table = replace(adopted(spec, discovered, **settings).table, database="default", name="t")
    return created(create_statement(table), **settings)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values of a spec that are neither objects nor lists, with their places; elements of lists by their names."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for n, item in enumerate(value):
            element: Any = {"name": item} if path[-1] == "dimensions" and isinstance(item, str) else item
            inner = (element.get("aggregator") or {}) if isinstance(element, Mapping) else {}
            name = (element.get("name") or inner.get("name")) if isinstance(element, Mapping) else None
            yield from leaves(element, (*path, str(name or n)))
    elif value is not None:
        yield path, value


SAID_OTHERWISE = {
    "granularities by name": ("hour",),  # HOUR
    "no granularity": ("all", "none"),  # ALL, NONE
    "sketches": (12, 128, "HLL_4"),  # Druid's defaults
    "consumer": (500, False, ""),  # as Druid gives them to Kafka's client
    "scaled": (3,),  # the auto scaler changes it
    "concurrent locks": (True,),  # START adds it
}
"""Values that the table's spec has in another form of the same meaning."""
DEFAULTS = ("SORTED_ARRAY", "roaring", "lz4", "uniform", "iso")


def test_there_are_enough_specs() -> None:
    assert len(SPECS) >= 60


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_survives_the_round_trip(name: str) -> None:
    """Spec, statement, table, spec: no difference for START, and no value that is left out."""
    spec = SPECS[name]
    before = copy.deepcopy(spec)
    table = pasted(spec)
    again = supervisor_spec(table, {})
    assert changes(again, spec, None) == ()
    assert spec == before
    said = dict(leaves(again))
    missing = [
        (place, value)
        for place, value in leaves({key: item for key, item in spec.items() if key not in ("suspended", "id")})
        if said.get(place, ABSENT) != value and value not in SAID_OTHERWISE.get(name, ()) and value not in DEFAULTS
    ]
    assert missing == []


ABSENT = object()


@pytest.mark.parametrize("name", SPECS)
def test_start_submits_nothing(name: str) -> None:
    spec = SPECS[name]
    table = pasted(spec)
    change = start(table, supervisor_spec(table, {}), IngestionFacts(running=spec))
    paths = [step.text for step in change.steps]
    resumes = [f"POST /druid/indexer/v1/supervisor/{spec['spec']['dataSchema']['dataSource']}/resume"]
    assert paths == [*(resumes if spec.get("suspended") else []), "wait until running"]


@pytest.mark.parametrize("name", SPECS)
def test_a_changed_value_is_a_difference(name: str) -> None:
    """No rule of the comparison is so loose that it would not see another value of a spec."""
    spec = SPECS[name]
    again = supervisor_spec(pasted(spec), {})
    for place, value in leaves(spec["spec"]):
        if place[-1] == "taskCount" and "autoScalerConfig" in spec["spec"]["ioConfig"]:
            continue
        other = copy.deepcopy(spec)
        changed = not value if isinstance(value, bool) else "another" if isinstance(value, str) else 77
        if put(other["spec"], place, changed):
            assert changes(again, other, None) != (), place


def put(value: Any, place: tuple[str, ...], new: Any) -> bool:
    """Set the value at a place of objects; not in lists."""
    for key in place[:-1]:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict) or place[-1] not in value:
        return False
    value[place[-1]] = new
    return True


SECRETS = (
    posted(io=consumer(sasl_jaas_config="x.PlainLoginModule required password='hunter2';", security_protocol="SASL_SSL")),
    posted(io=consumer(ssl_keystore_password={"type": "default", "password": "hunter2"})),
    posted(io=consumer(ssl_key_password="hunter2", druid_dynamic_config_provider={"type": "environment", "variables": {"a": "B"}})),
    posted(io=consumer(druid_dynamic_config_provider={"type": "mapString", "config": {"plain": "hunter2"}})),
    posted(io=inputs(type="avro_stream", avroBytesDecoder={"type": "schema_registry", "url": "http://me:hunter2@r:81"})),
    posted(io=inputs(type="avro_stream", avroBytesDecoder={"type": "r", "config": {"basic.auth.user.info": "me:hunter2"}})),
    posted(context={"token": "hunter2"}),
)  # fmt: skip


@pytest.mark.parametrize("spec", SECRETS)
def test_secrets_become_references(spec: Json) -> None:
    found = adopted(spec)
    text = create_statement(replace(found.table, database="default", name="t"))
    assert "hunter2" not in text
    (variable,) = found.variables.values()
    assert variable in text
    table = created(text)
    assert changes(supervisor_spec(table, {}), spec, None) != ()
    assert found.table.properties == table.properties


def test_variables_of_several_secrets_differ() -> None:
    both = {"valueFormat": {"type": "a", "password": "one"}, "keyFormat": {"type": "a", "password": "two"}}
    found = adopted(posted(io=inputs(type="kafka", **both)))
    assert sorted(found.variables.values()) == ["KAFKA_PASSWORD", "KAFKA_PASSWORD_2"]


def test_a_secret_that_the_session_keeps_stays_a_reference_to_it() -> None:
    spec = posted(io=consumer(sasl_jaas_config="session:0123456789ab"))
    table = pasted(spec)
    assert table.properties["druid.kafka.ingestion.consumer.sasl.jaas.config"] == "session:0123456789ab"
    assert changes(supervisor_spec(table, {}), spec, None) == ()


def test_discovered_columns_are_those_of_the_data_source() -> None:
    spec = SPECS["discovery of types"]
    table = pasted(spec, {"__time": "LONG", "a": "STRING", "N": "LONG", "d": "DOUBLE"})
    assert [f"{column.name} {column.type}" for column in table.columns[1:]] == ["a string", "n bigint", "d double"]
    assert changes(supervisor_spec(table, {}), spec, None) == ()


def test_settings_do_not_change_what_the_statement_means() -> None:
    settings = {
        "hive.druid.bitmap.type": "concise", "hive.druid.rollup": "false",
        "hive.druid.indexer.segments.granularity": "YEAR",
    }  # fmt: skip
    spec = SPECS["no part of a default"]
    table = pasted(spec, None, **settings)
    assert changes(supervisor_spec(table, settings), spec, None) == ()


def test_what_druid_33_writes_and_does_not_read_is_said_as_it_reads_it() -> None:
    """GET returns tryParseNumbers under another name, which POST ignores."""
    format_ = {"type": "csv", "columns": ["ts", "page"], "shouldTryParseNumbers": True}
    spec = posted(io={"inputFormat": {"type": "kafka", "valueFormat": format_}})
    again = supervisor_spec(pasted(spec), {})
    assert again["spec"]["ioConfig"]["inputFormat"]["valueFormat"]["tryParseNumbers"] is True
    assert changes(again, spec, None) == ()


def test_a_spec_with_a_parser_has_the_columns_of_the_parser() -> None:
    """As Hive's handler posts it, without `spec` around the parts."""
    parsed = {"format": "json", "timestampSpec": {"column": "t"}, "dimensionsSpec": {"dimensions": ["a"]}}
    spec = {
        "type": "kafka", "dataSchema": {"dataSource": "d", "parser": {"type": "string", "parseSpec": parsed}},
        "ioConfig": {"topic": "t", "stream": "t", "consumerProperties": {"bootstrap.servers": "h:1"}}, "tuningConfig": {},
    }  # fmt: skip
    table = pasted(spec)
    assert [column.name for column in table.columns] == ["__time", "a"]
    assert changes(supervisor_spec(table, {}), spec, None) == ()


@pytest.mark.parametrize("key", ["dotted.key", "", ".", '"', '"quoted"', "a\\.b", "it's"])
@pytest.mark.parametrize("place", ["dataSchema", "ioConfig", "tuningConfig", "context"])
def test_a_key_with_any_characters_has_a_path(place: str, key: str) -> None:
    spec = posted(tuning={"type": "kafka"}, context={})
    (spec if place == "context" else spec["spec"])[place][key] = 1
    again = supervisor_spec(pasted(spec), {})
    assert (again if place == "context" else again["spec"])[place][key] == 1
    assert changes(again, spec, None) == ()


@pytest.mark.parametrize("key", ["newKey", "my-key", "apiKey", "accessKeyId", "token", "password"])
@pytest.mark.parametrize("value", [True, False, {}, [], "", {"a": [True]}])
def test_a_value_that_can_be_no_secret_is_not_hidden(key: str, value: Any) -> None:
    for spec in (posted(context={key: value}), posted(tuning={"type": "kafka", key: value})):
        assert adopted(spec).variables == {}
        assert changes(supervisor_spec(pasted(spec), {}), spec, None) == ()


@pytest.mark.parametrize("key", ["newKey", "my-key"])
@pytest.mark.parametrize("value", [5, -5, 1.5, 1e-9, [1, 2], {"a": 1, "type": "fixed"}, {"a": {"b": [-1]}}])
def test_numbers_of_a_key_are_not_hidden(key: str, value: Any) -> None:
    """A name that ends in `key` alone is that of a secret only if its value is a text."""
    for spec in (posted(context={key: value}), posted(tuning={"type": "kafka", key: value})):
        assert adopted(spec).variables == {}
        assert changes(supervisor_spec(pasted(spec), {}), spec, None) == ()


@pytest.mark.parametrize("key", ["newKey", "my-key", "apiKey", "token", "db_password"])
@pytest.mark.parametrize(
    "value", ["hunter2", ["hunter2"], {"a": "hunter2", "n": 1}, {"a": [{"b": "hunter2"}]}, "hunter 2; x"]
)
def test_texts_of_a_secret_key_become_references(key: str, value: Any) -> None:
    for spec in (posted(context={key: value}), posted(tuning={"type": "kafka", key: value})):
        found = adopted(spec)
        text = create_statement(replace(found.table, database="default", name="t"))
        assert "hunter" not in text
        assert all(variable in text for variable in found.variables.values())
        table = created(text)
        assert table.properties == found.table.properties
        assert found.variables
        assert "hunter" not in str([item.texts for item in changes(supervisor_spec(table, {}), spec, None)])


@pytest.mark.parametrize("value", [4711, -4711, 47.11, [4711], {"a": 4711}])
def test_a_password_may_be_a_number(value: Any) -> None:
    for spec in (posted(context={"password": value}), posted(tuning={"type": "kafka", "password": value})):
        found = adopted(spec)
        text = create_statement(replace(found.table, database="default", name="t"))
        assert "47" not in text
        assert created(text).properties == found.table.properties


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "kinesis", "spec": posted()["spec"]}, "of type kinesis"),
        (posted(keep_topic=False), "has no topic"),
        (posted(io={"consumerProperties": {}}), "no bootstrap.servers"),
    ],
)
def test_what_cannot_be_taken_over_is_told(spec: Json, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        adopted(spec)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("'druid.spec.dataSchem.x' = '1'", "is not a part of a supervisor's spec"),
        ("'druid.spec.dataSchema' = '{}'", "names a whole part of the spec"),
        ("'druid.spec.ioConfig.consumerProperties' = '{}'", "names a whole part of the spec"),
        ("'druid.spec.ioConfig.topic' = '\"t\"'", "has a property of its own"),
        ("'druid.spec.ioConfig.\"topic\"' = '\"t\"'", "needs no quotes"),
        ("'druid.spec.\"\"' = '1'", "is not a part of a supervisor's spec"),
        ("'druid.spec.tuningConfig.a..b' = '1'", "has an empty key"),
        ("'druid.spec.tuningConfig.\"a.b' = '1'", "has a quote without an end"),
        ("'druid.spec.tuningConfig.newKey' = '\"hunter2\"'", "is a secret"),
        ("'druid.spec.tuningConfig.newKey' = '{\"a\": \"hunter2\"}'", "is a secret"),
        ("'druid.spec.context.password' = '4711'", "is a secret"),
        ("'druid.spec.context.hivedruid.home' = '\"t\"'", "is set automatically"),
        ("'druid.spec.context.a' = 'text'", "must be JSON"),
        ("'druid.spec.dataSchema.metricsSpec' = '{}'", "must be a JSON array"),
        ("'druid.spec.ioConfig.taskCount' = '\"2\"'", "must be an integer"),
        ("'druid.spec.ioConfig.consumerProperties.ssl.key.password' = '\"hunter2\"'", "is a secret"),
        ("'druid.spec.ioConfig.inputFormat' = '{\"password\": \"hunter2\"}'", "'password' in"),
        ("'druid.dimensionsSpec' = '[1]'", "is not an object with a name"),
    ],
)
def test_parts_of_a_spec_that_no_property_may_set(pair: str, message: str) -> None:
    with pytest.raises(SemanticError) as told:
        created(
            "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid' TBLPROPERTIES ('kafka.topic' = 't',"
            f" 'kafka.bootstrap.servers' = 'h:1', 'druid.datasource' = 'd', {pair})"
        )
    assert message in told.value.message
    assert "hunter2" not in str(told.value.message)


def test_added_columns_are_dimensions_beside_described_ones() -> None:
    table = pasted(SPECS["no bitmap"])
    wider = replace(table, columns=(*table.columns, replace(table.columns[1], name="more")))
    dimensions_ = supervisor_spec(wider, {})["spec"]["dataSchema"]["dimensionsSpec"]["dimensions"]
    assert [item["name"] for item in dimensions_] == ["id", "n", "more"]
    assert dimensions_[0]["createBitmapIndex"] is False


def test_a_null_removes_a_part() -> None:
    table = pasted(SPECS["the smallest"])
    without = replace(table, properties={**table.properties, "druid.spec.ioConfig.inputFormat": "null"})
    assert "inputFormat" not in supervisor_spec(without, {})["spec"]["ioConfig"]


def test_a_supervisor_without_concurrent_locks_keeps_them_from_inserts() -> None:
    assert not locks_concurrently(pasted(posted()))
    assert locks_concurrently(pasted(posted(context={"useConcurrentLocks": True})))


def test_only_what_another_program_started_is_foreign() -> None:
    ours = {"context": {"hivedruid.home": "here"}}
    assert is_foreign(IngestionFacts(running=posted(), home="here"))
    assert not is_foreign(IngestionFacts(running={**posted(), **ours}, home="here"))
    assert not is_foreign(IngestionFacts(running={**posted(), "context": {"hivedruid.table.id": "x"}}, home="here"))
    assert not is_foreign(IngestionFacts(home="here"))
