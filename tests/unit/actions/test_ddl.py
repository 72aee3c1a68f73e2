"""CREATE: what each kind of table may be, and what becomes of it."""

from __future__ import annotations

import pytest

from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.ddl.new_table import new_table
from hivedruid.catalog import types as t
from hivedruid.catalog.kinds import KAFKA_STORAGE_HANDLER
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from tests.unit.actions.ddl_world import World, at


@pytest.fixture
def world() -> World:
    return World()


def create(world: World, text: str) -> Table:
    (action,) = world.run(text)
    assert isinstance(action, AddTable)
    return action.table


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
        Column("user_unique", t.STRING, found),
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
            "Connected to Druid but could not retrieve datasource information: there is no data source 'wikitickr'",
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


KAFKA = "'kafka.topic'='t', 'kafka.bootstrap.servers'='h:9092'"


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


# ---- Hive's side


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
        ("CREATE TABLE m (a INT) STORED AS PARQUET", UnsupportedError, "a managed table cannot be stored as PARQUET"),
        (
            "CREATE TABLE m (a INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','",
            UnsupportedError,
            "a managed table cannot be stored as TEXTFILE",
        ),
        ("CREATE TABLE m (a INT) LOCATION '/x'", UnsupportedError, "LOCATION is only supported for external tables"),
        ("CREATE TABLE m", SemanticError, "Either list of columns or a query"),
        ("CREATE EXTERNAL TABLE f (a INT)", SemanticError, "an external file table requires a LOCATION"),
        ("CREATE EXTERNAL TABLE f LOCATION '/x'", SemanticError, "Either list of columns or a query"),
        ("CREATE EXTERNAL TABLE f (a INT) LOCATION ''", SemanticError, "the LOCATION is empty"),
        (
            "CREATE EXTERNAL TABLE f (a INT) PARTITIONED BY (b INT) LOCATION '/x'",
            UnsupportedError,
            "PARTITIONED BY is not supported",
        ),
        ("CREATE TABLE m (a INT) CLUSTERED BY (a) INTO 4 BUCKETS", UnsupportedError, "CLUSTERED BY is not supported"),
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
    assert "view" in world.refused("CREATE TABLE v2 LIKE v", UnsupportedError).message
    assert world.refused("CREATE TABLE x LIKE ww").hint == "did you mean 'w'?"


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
