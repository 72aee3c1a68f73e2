"""CREATE: the properties of each kind of table, and the actions."""

from __future__ import annotations

import pytest

from hivedruid.actions.ddl.new_table import new_table
from hivedruid.catalog import types as t
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from tests.unit.actions.ddl_world import KAFKA, World, at, create


@pytest.fixture
def world() -> World:
    return World()


# ---- Druid


def test_a_druid_table_from_columns(world: World) -> None:
    table = create(
        world,
        "CREATE EXTERNAL TABLE druid_table_1 (`__time` TIMESTAMP, Dimension1 STRING COMMENT 'd', metric1 INT, flag BOOLEAN, c CHAR(3)) "
        "COMMENT 'one' STORED BY druid TBLPROPERTIES ('druid.rollup'='false', 'mine'='1')",
    )
    assert table == Table(
        "default",
        "druid_table_1",
        "druid",
        (
            Column("__time", t.TIMESTAMP),
            Column("dimension1", t.STRING, "d"),
            Column("metric1", t.INT),
            Column("flag", t.BOOLEAN),
            Column("c", t.HiveType("char", (3,))),
        ),
        external=True,
        comment="one",
        properties={"druid.rollup": "false", "mine": "1", "druid.datasource": "default.druid_table_1"},
        owns_data_source=True,
    )


def test_the_data_source_is_named_after_database_and_table(world: World) -> None:
    assert create(world, "CREATE EXTERNAL TABLE other.t (`__time` TIMESTAMP) STORED BY druid").data_source == "other.t"
    world.database = "other"
    assert create(world, "CREATE EXTERNAL TABLE u (`__time` TIMESTAMP) STORED BY druid").data_source == "other.u"


def test_a_managed_druid_table(world: World) -> None:
    assert not create(world, "CREATE TABLE t (`__time` TIMESTAMP) STORED BY druid").external


def test_columns_are_discovered(world: World) -> None:
    table = create(world, "CREATE EXTERNAL TABLE w STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker')")
    found = "from deserializer"
    assert table.columns == (
        Column("__time", t.TIMESTAMP_LTZ, found),
        Column("cityname", t.STRING, found, "cityName"),
        Column("added", t.BIGINT, found),
        Column("tags", t.array_of(t.STRING), found),
        Column("user_unique", t.BINARY, found),
    )


def test_discovered_names_that_differ_only_in_case(world: World) -> None:
    text = "CREATE EXTERNAL TABLE w STORED BY druid TBLPROPERTIES ('druid.datasource'='twice'{})"
    error = world.refused(text.format(""))
    assert error.message == "Duplicate column name a in the table definition."
    assert "druid.columns.mapping" in (error.hint or "")
    table = create(world, text.format(", 'druid.columns.mapping'='A:a_2'"))
    assert [(c.name, c.field_name, c.type) for c in table.columns[1:]] == [
        ("a", "a", t.STRING),
        ("a_2", "A", t.DOUBLE),
        ("f", "f", t.FLOAT),
    ]


def test_columns_given_for_an_existing_data_source_are_not_checked(world: World) -> None:
    table = create(
        world,
        "CREATE EXTERNAL TABLE w (cityName DECIMAL(5,2), d DATE) STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker')",
    )
    assert [(c.name, c.field) for c in table.columns] == [("cityname", None), ("d", None)]


@pytest.mark.parametrize(
    ("rest", "message", "place"),
    [
        ("STORED BY druid", "Druid data source not specified; use druid.datasource in table properties", "d"),
        (
            "(x int) STORED BY druid",
            "Timestamp column (' __time') not specified in create table; list of columns is : [x]",
            "d",
        ),
        ("(`__time` string) STORED BY druid", "column '__time' has type string", "`__time`"),
        (
            "(`__time` timestamp, x decimal(3,2)) STORED BY druid",
            "Druid does not support decimal column type cast column [x] to double",
            "x",
        ),
        ("(`__time` timestamp, x timestamp) STORED BY druid", "Dimension x does not have STRING type: TIMESTAMP", "x"),
        (
            "(`__time` timestamp, x timestamp with local time zone) STORED BY druid",
            "Dimension x does not have STRING type: TIMESTAMPLOCALTZ",
            "x",
        ),
        ("(`__time` timestamp, x date) STORED BY druid", "Dimension x does not have STRING type: DATE", "x"),
        ("(`__time` timestamp, x binary) STORED BY druid", "Dimension x does not have STRING type: BINARY", "x"),
        ("(`__time` timestamp, x array<int>) STORED BY druid", "Dimension x does not have STRING type: ARRAY", "x"),
        (
            "(`__time` timestamp, `__time_granularity` string) STORED BY druid",
            "column name '__time_granularity' is reserved for dividing rows into segments",
            "`__time_granularity`",
        ),
        (
            "(`__time` timestamp, `a,b` string) STORED BY druid",
            "column name 'a,b' contains a comma: Druid cannot load segments with such a column",
            "`a,b`",
        ),
        (
            "(`__time` timestamp, `a,b` string) STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker',"
            " 'kafka.topic'='x', 'kafka.bootstrap.servers'='h:9092')",
            "column name 'a,b' contains a comma: Druid cannot load segments with such a column",
            "`a,b`",
        ),
        (
            "(`__time` timestamp, p decimal(9,2)) STORED BY druid TBLPROPERTIES ('druid.columns.as'='q:double')",
            "Druid does not support decimal column type cast column [p] to double",
            "p",
        ),
        (
            "(`__time` timestamp, b binary) STORED BY druid TBLPROPERTIES ('druid.columns.as'='b:double')",
            "Dimension b does not have STRING type: BINARY",
            "b",
        ),
        (
            "(`__time` timestamp, n bigint) STORED BY druid TBLPROPERTIES ('druid.columns.as'='n:string')",
            "druid.columns.as: column 'n' is bigint, which is stored without conversion",
            "d",
        ),
        (
            "(`__time` timestamp, n bigint) STORED BY druid TBLPROPERTIES ('druid.columns.aggregators'='m:max')",
            "druid.columns.aggregators refers to an unknown column: 'm'",
            "d",
        ),
        ("(`__time` timestamp, x map<int,int>) STORED BY druid", "Dimension x does not have STRING type: MAP", "x"),
        ("(`__time` timestamp, x int, X int) STORED BY druid", "Duplicate column name x in the table definition.", "X"),
        ("STORED BY druid LOCATION '/x'", "LOCATION may not be specified for Druid", "LOCATION '/x'"),
        ("PARTITIONED BY (a int) STORED BY druid", "PARTITIONED BY may not be specified for Druid", "PARTITIONED BY"),
        (
            "CLUSTERED BY (a) INTO 2 BUCKETS STORED BY druid",
            "CLUSTERED BY may not be specified for Druid",
            "CLUSTERED BY",
        ),
        ("(`__time` timestamp) STORED BY druid STORED AS ORC", "STORED AS may not be specified for Druid", "druid"),
        (
            "STORED BY druid TBLPROPERTIES ('druid.datasource'='wikitickr')",
            "there is no data source 'wikitickr' from which the table could take its columns",
            "'wikitickr'",
        ),
        ("STORED BY druid TBLPROPERTIES ('druid.datasource'='a/b')", "data source name 'a/b' contains a /", "'a/b'"),
        (
            "STORED BY druid TBLPROPERTIES ('druid.datasource'='.x')",
            "data source name '.x' starts with a dot",
            "'.x'",
        ),
        ("STORED BY druid TBLPROPERTIES ('druid.datasource'='')", "data source name '' is empty", "''"),
        (
            "(`__time` timestamp) STORED BY druid TBLPROPERTIES ('druid.rolup'='true')",
            "unknown table property 'druid.rolup'",
            "'druid.rolup'",
        ),
        (
            "(`__time` timestamp) STORED BY druid TBLPROPERTIES ('kafka.topic'='x')",
            "kafka.topic requires kafka.bootstrap.servers",
            "d",
        ),
    ],
)
def test_druid_tables_that_are_refused(world: World, rest: str, message: str, place: str) -> None:
    error = world.refused(f"CREATE EXTERNAL TABLE d {rest}")
    assert error.message == message
    assert at(error.span) == place
    assert world.tables == {}


def test_clauses_are_checked_in_hives_order(world: World) -> None:
    error = world.refused("CREATE EXTERNAL TABLE d CLUSTERED BY (a) INTO 2 BUCKETS STORED BY druid LOCATION '/x'")
    assert error.message.startswith("LOCATION")


def test_a_data_source_that_is_there_is_not_taken_over(world: World) -> None:
    error = world.refused("CREATE EXTERNAL TABLE taken (`__time` TIMESTAMP) STORED BY druid")
    assert error.message == "Data source [default.taken] already existing"
    create(
        world,
        "CREATE EXTERNAL TABLE taken (`__time` TIMESTAMP) STORED BY druid TBLPROPERTIES ('druid.datasource'='default.taken')",
    )


# ---- LIKE


def test_create_like(world: World) -> None:
    world.run(
        "CREATE EXTERNAL TABLE w STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker', 'druid.rollup'='false');"
        "CREATE TABLE m (a INT) COMMENT 'c'; CREATE EXTERNAL TABLE f (a INT) STORED AS PARQUET LOCATION '/x'; CREATE VIEW v AS SELECT 1"
    )
    w2 = create(world, "CREATE EXTERNAL TABLE w2 LIKE w")
    assert (w2.kind, w2.data_source, w2.properties["druid.rollup"]) == ("druid", "default.w2", "false")
    assert all(column.field is None for column in w2.columns)
    m2 = create(world, "CREATE TABLE m2 LIKE m TBLPROPERTIES ('x'='y')")
    assert (m2.kind, m2.comment, m2.properties) == ("iceberg", "c", {"x": "y"})
    f2 = create(world, "CREATE EXTERNAL TABLE f2 LIKE f LOCATION '/y'")
    assert (f2.kind, f2.format, f2.location) == ("files", "parquet", "/y")
    assert "LOCATION" in world.refused("CREATE EXTERNAL TABLE f3 LIKE f").message
    v2 = create(world, "CREATE TABLE v2 LIKE v")
    assert (v2.kind, v2.format, v2.view_text) == ("iceberg", "orc", None)
    assert [column.name for column in v2.columns] == ["x"]
    assert world.refused("CREATE TABLE x LIKE ww").message == "Table not found ww"


# ---- AS SELECT


def as_select(world: World, text: str, *columns: Column) -> Table | None:
    statement = parse(SourceStatement(text))
    assert isinstance(statement, CreateTable)
    return new_table(statement, world.snapshot(), columns)


def test_new_table_takes_the_columns_of_the_query(world: World) -> None:
    columns = (Column("__time", t.TIMESTAMP), Column("city", t.STRING, "old comment", "cityName"))
    table = as_select(world, "CREATE EXTERNAL TABLE d STORED BY druid AS SELECT 1", *columns)
    assert table is not None
    assert table.columns == (Column("__time", t.TIMESTAMP), Column("city", t.STRING))
    for rest, kind in (("", "iceberg"), ("STORED AS ORC", "iceberg")):
        managed = as_select(world, f"CREATE TABLE m {rest} AS SELECT 1", Column("a", t.INT))
        assert managed is not None
        assert managed.kind == kind
    files = as_select(world, "CREATE EXTERNAL TABLE f STORED AS PARQUET LOCATION '/x' AS SELECT 1", Column("a", t.INT))
    assert files is not None
    assert (files.kind, files.format) == ("files", "parquet")


def test_declared_columns_win_over_those_of_the_query(world: World) -> None:
    table = as_select(world, "CREATE TABLE m (x BIGINT COMMENT 'c') AS SELECT 1", Column("a", t.INT))
    assert table is not None
    assert table.columns == (Column("x", t.BIGINT, "c"),)
    with pytest.raises(SemanticError, match="the table has 1 columns but its query returns 2"):
        as_select(world, "CREATE TABLE m (x BIGINT) AS SELECT 1", Column("a", t.INT), Column("b", t.INT))


def test_queries_that_make_no_table(world: World) -> None:
    time = Column("__time", t.TIMESTAMP)
    druid = "CREATE EXTERNAL TABLE d STORED BY druid AS SELECT 1"
    for columns, message in (
        ((Column("a", t.INT),), "Timestamp column"),
        ((time, Column("d", t.decimal())), "decimal column type"),
        ((time, time), "Duplicate column name __time"),
        ((time, Column("v", t.VOID)), "VOID type, near field: v"),
    ):
        with pytest.raises(SemanticError, match=message):
            as_select(world, druid, *columns)
    existing = "CREATE EXTERNAL TABLE d STORED BY druid TBLPROPERTIES ('druid.datasource'='x') AS SELECT 1"
    with pytest.raises(SemanticError, match="Timestamp column"):
        as_select(world, existing, Column("a", t.INT))
    with pytest.raises(UnsupportedError, match="for Kafka tables"):
        as_select(
            world, f"CREATE EXTERNAL TABLE k STORED BY kafka TBLPROPERTIES ({KAFKA}) AS SELECT 1", Column("a", t.INT)
        )


def test_new_table_if_it_exists(world: World) -> None:
    world.run("CREATE TABLE m (a INT)")
    assert as_select(world, "CREATE TABLE IF NOT EXISTS m AS SELECT 1", Column("a", t.INT)) is None
    with pytest.raises(SemanticError, match="already exists"):
        as_select(world, "CREATE TABLE m AS SELECT 1", Column("a", t.INT))
