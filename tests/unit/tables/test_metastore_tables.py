"""Tables of a Hive metastore become tables of hivedruid. `metastore_tables.json` and `metastore_partitions.json` contain
what a metastore 4.0.1 returned: tables that Hive 4.0.1 created, an Iceberg, a Druid and a Kafka table, and an
insert-only ACID table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.metastore import Storage, StoredPartition, StoredTable
from hivedruid.catalog.partitions import Files
from hivedruid.catalog.table import Table
from hivedruid.tables.metastore_tables import at_home, partition_of, stored_of, table_of

URIS = "thrift://localhost:9083"


def recorded(name: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(Path(__file__).with_name(name).read_text())
    return [{**item, "storage": Storage(**item["storage"])} for item in items]


STORED = {item["name"]: StoredTable(**item) for item in recorded("metastore_tables.json")}


def table(name: str, **properties: str) -> Table:
    stored = STORED[name]
    return table_of(replace(stored, properties={**stored.properties, **properties}), URIS)


def shape(table: Table) -> list[str]:
    return [f"{column.name} {column.type}" for column in table.columns]


def test_delimited_text() -> None:
    people = table("people")
    assert (people.kind, people.format, people.external, people.unreadable) == ("files", "textfile", True, None)
    assert shape(people) == ["name string", "age int"]
    assert [column.comment for column in people.columns] == ["who", ""]
    assert people.location == "/data/people"
    assert people.properties == {"owner.team": "a"}
    assert people.serde == {
        "serialization.lib": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", "field.delim": ",",
    }  # fmt: skip
    assert people.metastore == URIS


@pytest.mark.parametrize(
    ("name", "format_", "columns"),
    [
        ("orcs", "orc", ["a int", "b struct<x:int,date:array<string>>", "m map<string,decimal(10,2)>", "t timestamp"]),
        ("parq", "parquet", ["a int", "v varchar(5)", "k string", "i int"]),
        ("js", "jsonfile", ["a int", "b array<int>"]),
        ("csv", "textfile", ["a string", "b string"]),
        ("managed", "orc", ["a int", "s string"]),
    ],
)
def test_formats(name: str, format_: str, columns: list[str]) -> None:
    made = table(name)
    assert (made.kind, made.format, made.unreadable) == ("files", format_, None)
    assert shape(made) == columns


def test_serdes_that_the_format_means_are_left_out() -> None:
    assert [table(name).serde for name in ("orcs", "parq", "js", "days")] == [{}, {}, {}, {}]
    assert table("csv").serde == {"serialization.lib": "org.apache.hadoop.hive.serde2.OpenCSVSerde"}
    assert table("csv").properties == {"skip.header.line.count": "1"}


def test_partitions() -> None:
    days = table("days")
    assert [column.name for column in days.partition_columns] == ["d"]
    found = [partition_of(StoredPartition(**item), days) for item in recorded("metastore_partitions.json")]
    assert [each.name(days.partition_columns) for each in found] == ["d=2024-01-01", "d=2024-01-02", "d=2024-01-03"]
    assert [each.folder(days) for each in found] == [
        "/data/days/d=2024-01-01", "/data/days/d=2024-01-02", "/data/other/x",
    ]  # fmt: skip
    assert [each.location for each in found] == [None, None, "/data/other/x"]
    assert [each.files for each in found] == [None, Files("orc"), None]


def test_locations_are_not_decoded() -> None:
    storage = replace(STORED["days"].storage, location="file:/data/days/d=a%2Fb")
    assert partition_of(StoredPartition(["a/b"], storage), table("days")).location is None
    elsewhere = partition_of(StoredPartition(["x"], replace(storage, location="hdfs://h/a%2Fb")), table("days"))
    assert elsewhere.location == "hdfs://h/a%2Fb"


def test_a_partition_of_an_unsupported_format() -> None:
    rc = "org.apache.hadoop.hive.ql.io.RCFileInputFormat"
    storage = replace(STORED["seq"].storage, location="/data/days/d=2024-01-04", input_format=rc)
    assert "RCFileInputFormat is not supported" in (
        partition_of(StoredPartition(["2024-01-04"], storage), table("days")).unreadable
    )


def test_view() -> None:
    view = table("adults")
    assert (view.kind, view.is_view) == ("view", True)
    assert view.view_text == (
        "SELECT `people`.`name`, `people`.`age` + 1 AS `next` FROM `sales`.`people` WHERE `people`.`age` > 18"
    )


def test_druid_and_kafka_tables_keep_their_properties() -> None:
    wiki = table("wiki")
    assert (wiki.kind, wiki.data_source, wiki.location) == ("druid", "default.wiki", None)
    topic = table("topic")
    assert topic.kind == "kafka"
    assert topic.properties["kafka.topic"] == "t"
    assert shape(topic) == ["id int", "__key binary", "__partition int", "__offset bigint", "__timestamp bigint"]


def test_the_columns_of_a_topic_that_hive_has_stored_are_not_added_twice() -> None:
    stored = STORED["topic"]
    columns = [*stored.storage.columns, ("__key", "binary", ""), ("__partition", "int", ""),
               ("__offset", "bigint", ""), ("__timestamp", "bigint", "")]  # fmt: skip
    again = table_of(replace(stored, storage=replace(stored.storage, columns=columns)), URIS)
    assert shape(again) == shape(table("topic"))


def test_sequence_files() -> None:
    seq = table("seq")
    assert (seq.format, seq.unreadable) == ("sequencefile", None)
    assert seq.unwritable is None
    assert table_of(stored_of(seq), URIS).unreadable is None


def test_iceberg() -> None:
    ice = table("ice")
    assert (ice.kind, ice.format, ice.unreadable) == ("files", "iceberg", None)
    assert ice.properties["metadata_location"].endswith(".metadata.json")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("un", "column 'a' has the type uniontype<int,string>, which is not supported"),
        ("acid", "it is an ACID table, whose folders contain the delta files of Hive's transactions"),
    ],
)
def test_tables_that_cannot_be_read_say_why(name: str, reason: str) -> None:
    made = table(name)
    assert made.unreadable is not None
    assert made.unreadable[0] == reason
    assert made.columns


def test_tables_of_other_systems_say_why() -> None:
    hbase = table("people", storage_handler="org.apache.hadoop.hive.hbase.HBaseStorageHandler")
    assert hbase.unreadable is not None
    assert "HBaseStorageHandler is not supported" in hbase.unreadable[0]
    delta = table("seq", **{"spark.sql.sources.provider": "delta"})
    assert delta.unreadable is not None
    assert "a Spark table of delta files" in delta.unreadable[0]
    presto = table_of(replace(STORED["adults"], view_text="/* Presto View: eyJ= */"), URIS)
    assert presto.unreadable is not None
    assert "Presto" in presto.unreadable[0]
    gone = replace(STORED["ice"], properties={"table_type": "ICEBERG"})
    assert "without the property metadata_location" in (table_of(gone, URIS).unreadable or ("",))[0]


@pytest.mark.parametrize("name", ["adults", "av", "csv", "days", "js", "orcs", "parq", "people", "topic", "wiki"])
def test_what_is_stored_is_the_table(name: str) -> None:
    made = table(name)
    again = replace(stored_of(made), id=STORED[name].id)
    assert table_of(again, URIS) == made
    storage, recorded = again.storage, STORED[name].storage
    if made.format is not None:
        assert (storage.input_format, storage.serde) == (recorded.input_format, recorded.serde)
        assert dict(storage.serde_properties) == dict(recorded.serde_properties)


def test_what_insert_refuses() -> None:
    allowed = [name for name in STORED if table(name).unwritable is None]
    assert allowed == ["adults", "av", "csv", "days", "ice", "js", "managed", "orcs", "parq", "people", "seq"]
    assert table("wiki").unwritable == (
        "it is a Druid table", "create one in the home with TBLPROPERTIES ('druid.datasource' = 'default.wiki')",
    )  # fmt: skip
    own = table_of(replace(STORED["orcs"], type="MANAGED_TABLE"), URIS)
    assert own.unwritable is own.unreadable is None


def test_a_table_like_one_of_a_metastore_is_an_ordinary_one() -> None:
    ice = at_home(table("ice"))
    assert (ice.metastore, ice.format) == ("", "orc")
    assert "metadata_location" not in ice.properties
    assert at_home(table("acid")).unreadable is None
