"""Tables of other Iceberg catalogs, from their metadata, and databases of such catalogs without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.catalog.iceberg_place import place_of
from hivedruid.catalog.layout import PartitionField
from hivedruid.errors import ConnectError, HiveDruidError, SemanticError, UnsupportedError
from hivedruid.iceberg.tables import hive_type, table_of
from hivedruid.session import Session

PLACE = place_of("lake", {"type": "REST", "uri": "http://c", "namespace": "a.b"})


@pytest.mark.parametrize(
    ("iceberg", "hive"),
    [
        ("long", "bigint"), ("decimal(9, 2)", "decimal(9,2)"), ("fixed[4]", "binary"), ("uuid", "string"),
        ("timestamptz", "timestamp with local time zone"),
        ({"type": "list", "element": {"type": "map", "key": "string", "value": "long"}}, "array<map<string,bigint>>"),
        ({"type": "struct", "fields": [{"name": "X", "type": "int"}]}, "struct<`X`:int>"),
    ],
)  # fmt: skip
def test_types(iceberg: object, hive: str) -> None:
    assert hive_type(iceberg) == hive


def test_metadata() -> None:
    fields = [
        {"id": 1, "name": "Id", "type": "long", "doc": "a number"},
        {"id": 2, "name": "d", "type": "date"},
        {"id": 3, "name": "at", "type": "time"},
    ]
    specs = [
        {"spec-id": 0, "fields": []},
        {"spec-id": 1, "fields": [{"source-id": 2, "transform": "day", "name": "x"}]},
    ]
    metadata = {
        "schemas": [{"schema-id": 0, "fields": fields[:2]}, {"schema-id": 1, "fields": fields}],
        "partition-specs": specs, "default-spec-id": 1, "properties": {"comment": "mine", "owner": "me", "p": "1"},
    }  # fmt: skip
    table = table_of({**metadata, "current-schema-id": 0}, PLACE.table("Orders"))
    assert [(c.name, str(c.type), c.comment, c.field_name) for c in table.columns] == [
        ("id", "bigint", "a number", "Id"), ("d", "date", "", "d"),
    ]  # fmt: skip
    assert (table.full_name, table.comment, dict(table.properties)) == ("lake.orders", "mine", {"p": "1"})
    assert table.partition_spec == (PartitionField("d", "day"),)
    assert table.unreadable is None
    timed = table_of({**metadata, "current-schema-id": 1}, PLACE.table("Orders"))
    assert timed.unreadable is not None
    assert "column 'at' has the type time" in timed.unreadable[0]


def test_a_catalog_has_one_name_in_spark() -> None:
    given = {"type": "rest", "uri": "http://c"}
    assert PLACE.catalog == place_of("other", given).catalog != place_of("lake", {**given, "warehouse": "w"}).catalog
    assert place_of("lake", given).namespace == ("lake",)


def run(opened: Session, text: str) -> list[tuple[object, ...]]:
    return [row for statement in opened.statements(text) for row in opened.execute(statement).rows]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session with a database of a JDBC catalog, in which another program has created a table."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType

    folder = tmp_path_factory.mktemp("jdbc")
    others = SqlCatalog("prod", uri=f"sqlite:///{folder}/c.sqlite", warehouse=str(folder / "w"))
    others.create_namespace("sales")
    schema = Schema(
        NestedField(1, "Id", LongType(), required=True), NestedField(2, "name", StringType(), required=False)
    )
    others.create_table("sales.Orders", schema)
    others.close()
    made = Session(folder / "home")
    run(
        made,
        f"CREATE DATABASE sales USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'jdbc', 'name' = 'prod',"
        f" 'uri' = 'jdbc:sqlite:{folder}/c.sqlite', 'warehouse' = '{folder}/w')",
    )
    return made


def test_names_need_no_spark(opened: Session) -> None:
    assert run(opened, "SHOW TABLES IN sales") == [("orders",)]
    assert run(opened, "DESCRIBE sales.orders") == [("id", "bigint", ""), ("name", "string", "")]
    explained = "\n".join(str(row[0]) for row in run(opened, "EXPLAIN SELECT name FROM sales.ORDERS WHERE id = 1"))
    assert "sales.orders (parquet)" in explained
    assert "USING ICEBERG CATALOG" in str(run(opened, "SHOW CREATE DATABASE sales"))
    assert not (opened.home / "spark").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE sales.ORDERS (x INT)", "already exists in the Iceberg catalog of database sales"),
        ("CREATE VIEW sales.v AS SELECT 1 AS x", "database sales has the tables of an Iceberg catalog, and nothing else"),
        ("CREATE EXTERNAL TABLE sales.e (x INT) LOCATION '/x'", "cannot create sales.e: database sales"),
        ("CREATE TABLE sales.k (x INT NOT NULL)", "with constraints"),
        ("ALTER TABLE sales.orders ADD COLUMNS (x INT)", "cannot change sales.orders with this statement"),
        ("CREATE MATERIALIZED VIEW m AS SELECT id FROM sales.orders", "a materialized view cannot read sales.orders"),
        ("DROP DATABASE sales CASCADE", "CASCADE is not supported"),
        ("ALTER DATABASE sales SET DBPROPERTIES ('token' = 'abc')", "'token' is a secret"),
        ("ALTER DATABASE sales SET DBPROPERTIES ('name' = 'hivedruid')", "not supported as the name"),
        ("CREATE DATABASE d USING ICEBERG CATALOG", "requires the property 'type'"),
        ("CREATE DATABASE d USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'rest')", "requires the property 'uri'"),
        ("CREATE DATABASE d USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'hive')", "does not work with Hive 4"),
        ("CREATE DATABASE d USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'nessie')", "type 'nessie'"),
    ],
)  # fmt: skip
def test_refusals(opened: Session, text: str, message: str) -> None:
    with pytest.raises(HiveDruidError) as caught:
        run(opened, text)
    assert isinstance(caught.value, SemanticError | UnsupportedError)
    assert message in caught.value.message


def test_a_catalog_that_does_not_run(tmp_path: Path) -> None:
    with Session(tmp_path) as opened:
        created = (
            "CREATE DATABASE d USING ICEBERG CATALOG WITH DBPROPERTIES ('type' = 'rest', 'uri' = 'http://127.0.0.1:1')"
        )
        with pytest.raises(
            ConnectError, match=r"cannot reach the Iceberg catalog of database d, http://127.0.0.1:1: Conn"
        ):
            run(opened, created)
        assert run(opened, "SHOW DATABASES") == [("default",)]
