"""CREATE: managed and external tables, without Druid and Kafka."""

from __future__ import annotations

import pytest

from hivedruid.actions.build import build
from hivedruid.catalog import types as t
from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.parser import parse
from hivedruid.script import SourceStatement
from tests.unit.actions.ddl_world import World, create


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize(
    "stored", ["", "STORED AS ORC", "ROW FORMAT SERDE 'org.apache.hadoop.hive.ql.io.orc.OrcSerde'"]
)
def test_managed_tables(world: World, stored: str) -> None:
    table = create(world, f"CREATE TABLE m (a INT, b ARRAY<STRING>) {stored}")
    assert (table.kind, table.format, table.external, table.location, table.serde) == (
        "iceberg",
        "orc",
        False,
        None,
        {},
    )


@pytest.mark.parametrize(
    ("rest", "file_format", "library"),
    [
        ("", "textfile", "serde2.lazy.LazySimpleSerDe"),
        ("STORED AS PARQUET", "parquet", "ParquetHiveSerDe"),
        ("STORED AS JSONFILE", "jsonfile", "serde2.JsonSerDe"),
        ("ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe'", "jsonfile", "hcatalog.data.JsonSerDe"),
        (
            "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe' STORED AS TEXTFILE",
            "jsonfile",
            "serde2.JsonSerDe",
        ),
        ("ROW FORMAT DELIMITED FIELDS TERMINATED BY ','", "textfile", "LazySimpleSerDe"),
    ],
)
def test_external_tables(world: World, rest: str, file_format: str, library: str) -> None:
    table = create(world, f"CREATE EXTERNAL TABLE f (a INT) {rest} LOCATION '/data'")
    assert (table.kind, table.format, table.location) == ("files", file_format, "/data")
    assert table.serde["serialization.lib"].endswith(library)


def test_open_csv_reads_strings(world: World) -> None:
    table = create(
        world,
        "CREATE EXTERNAL TABLE f (a INT, b DATE) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' "
        "WITH SERDEPROPERTIES ('separatorChar'=';') LOCATION '/data'",
    )
    assert {c.type for c in table.columns} == {t.STRING}
    assert table.serde["separatorChar"] == ";"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/data", "/data"),
        ("file:/data", "/data"),
        ("file:///data/a%20b", "/data/a b"),
        ("file://localhost/data", "/data"),
        ("data/rows.json", "data/rows.json"),
        ("s3a://bucket/x%20y", "s3a://bucket/x%20y"),
    ],
)
def test_locations(world: World, given: str, kept: str) -> None:
    assert create(world, f"CREATE EXTERNAL TABLE f (a INT) LOCATION '{given}'").location == kept


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("CREATE EXTERNAL TABLE m (a INT) STORED BY ICEBERG LOCATION '/x'", UnsupportedError, "STORED BY ICEBERG"),
        (
            "CREATE TABLE m (a INT) STORED AS INPUTFORMAT 'x.Sequence' OUTPUTFORMAT 'y'",
            UnsupportedError,
            "STORED AS INPUTFORMAT",
        ),
        (
            "CREATE TABLE m (a INT) LOCATION '/x' TBLPROPERTIES ('transactional'='true')",
            UnsupportedError,
            "LOCATION is only supported for external tables",
        ),
        ("CREATE TABLE m", SemanticError, "Either list of columns or a query"),
        ("CREATE EXTERNAL TABLE f (a INT)", SemanticError, "an external file table requires a LOCATION"),
        ("CREATE EXTERNAL TABLE f LOCATION '/x'", SemanticError, "Either list of columns or a query"),
        ("CREATE EXTERNAL TABLE f (a INT) LOCATION ''", SemanticError, "the LOCATION is empty"),
        (
            "CREATE EXTERNAL TABLE f (a INT) PARTITIONED BY SPEC (a) LOCATION '/x'",
            UnsupportedError,
            "PARTITIONED BY SPEC is not supported",
        ),
        (
            "CREATE EXTERNAL TABLE f (a INT) ROW FORMAT SERDE 'x.RegexSerDe' LOCATION '/x'",
            UnsupportedError,
            "SerDe 'x.RegexSerDe'",
        ),
        (
            "CREATE EXTERNAL TABLE f (a INT) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' STORED AS ORC LOCATION '/x'",
            SemanticError,
            "ROW FORMAT SERDE",
        ),
        ("CREATE TABLE m (a INT) TBLPROPERTIES ('EXTERNAL'='TRUE')", UnsupportedError, "the property EXTERNAL"),
        (
            "CREATE TABLE m (a INT) TBLPROPERTIES ('druid.rollup'='true')",
            SemanticError,
            "property 'druid.rollup' does not apply to a managed table",
        ),
        ("CREATE TABLE nope.m (a INT)", SemanticError, "Database does not exist: nope"),
        (
            "CREATE EXTERNAL TABLE f (a INT) ROW FORMAT DELIMITED LOCATION '/x' WITH SERDEPROPERTIES ('a.password'='hunter2')",
            SemanticError,
            "the value of 'a.password' is a secret",
        ),
    ],
)
def test_tables_that_are_refused(world: World, text: str, kind: type[HiveDruidError], message: str) -> None:
    error = world.refused(text, kind)
    assert error.message.startswith(message)
    assert error.hint or kind is SemanticError
    assert error.span is not None


def test_the_comment_may_be_a_property(world: World) -> None:
    table = create(world, "CREATE TABLE m (a INT) TBLPROPERTIES ('comment'='hello', 'x'='y')")
    assert (table.comment, table.properties) == ("hello", {"x": "y"})


def test_purge_default(world: World) -> None:
    world.settings.set("hive.external.table.purge.default", "true")
    given = "CREATE EXTERNAL TABLE {} (`__time` TIMESTAMP) STORED BY druid"
    assert create(world, given.format("a")).properties["external.table.purge"] == "true"
    kept = create(world, given.format("b") + " TBLPROPERTIES ('external.table.purge'='false')")
    assert kept.properties["external.table.purge"] == "false"
    assert "external.table.purge" not in create(world, "CREATE TABLE c (a INT)").properties


def test_if_not_exists(world: World) -> None:
    world.run("CREATE TABLE m (a INT)")
    error = world.refused("CREATE TABLE m (b INT)")
    assert error.message == "Table default.m already exists"
    assert world.run("CREATE TABLE IF NOT EXISTS m (b INT)") == ()
    assert world.table("m").column("a")


def test_the_table_of_if_not_exists_has_other_columns(world: World) -> None:
    world.run("CREATE TABLE m (a INT)")
    notes: list[str] = []
    for columns in ("A STRING", "b INT, a INT, c INT", ", ".join(f"x{n} INT" for n in range(7))):
        statement = parse(SourceStatement(f"CREATE TABLE IF NOT EXISTS m ({columns})"))
        build(statement, world.snapshot(statement), lambda text, _: notes.append(text))
    kept = "default.m exists with other columns and is kept: it has no "
    assert notes == [f"{kept}b, c", f"{kept}x0, x1, x2, x3, x4 and 2 more"]
