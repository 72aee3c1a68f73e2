"""DROP, ALTER, TRUNCATE, views, databases and SET."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.actions.ddl import build as ddl
from hivedruid.actions.ddl.model import (
    AddDatabase,
    AddTable,
    EmptyTable,
    RemoveDatabase,
    RemoveTable,
    ReplaceTable,
    UseDatabaseAction,
)
from hivedruid.actions.ddl.views import qualified
from hivedruid.actions.utility.model import ChangeSetting, ResetSetting
from hivedruid.catalog import types as t
from hivedruid.catalog.table import Column
from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.parser import parse
from hivedruid.script import SourceStatement
from tests.unit.actions.ddl_world import World, at

SETUP = """
CREATE EXTERNAL TABLE w STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker');
CREATE EXTERNAL TABLE purged (`__time` TIMESTAMP) STORED BY druid TBLPROPERTIES ('external.table.purge'='TRUE');
CREATE TABLE managed (`__time` TIMESTAMP) STORED BY druid;
CREATE EXTERNAL TABLE fed (`__time` TIMESTAMP, a INT) STORED BY druid
  TBLPROPERTIES ('kafka.topic'='t', 'kafka.bootstrap.servers'='h:1');
CREATE TABLE m (a INT) COMMENT 'old' TBLPROPERTIES ('x'='1');
CREATE EXTERNAL TABLE f (a INT) LOCATION '/x';
CREATE EXTERNAL TABLE k (a INT) STORED BY kafka TBLPROPERTIES ('kafka.topic'='t', 'kafka.bootstrap.servers'='h:1');
CREATE VIEW v AS SELECT 1;
CREATE TABLE other.o (a INT);
"""


@pytest.fixture
def world() -> World:
    made = World()
    made.run(SETUP)
    return made


# ---- DROP


@pytest.mark.parametrize(
    ("name", "delete_data"),
    [("w", False), ("purged", True), ("managed", True), ("fed", True), ("m", True), ("f", False), ("k", False)],
)
def test_drop_table(world: World, name: str, delete_data: bool) -> None:
    (action,) = world.build(f"DROP TABLE {name}")
    assert isinstance(action, RemoveTable)
    assert (action.table.name, action.delete_data, action.purge) == (name, delete_data, name == "purged")
    for_good = delete_data and action.table.kind == "druid"
    assert world.build(f"DROP TABLE IF EXISTS default.{name} PURGE") == (replace(action, purge=for_good),)


def test_what_goes_for_good(world: World) -> None:
    world.run("ALTER TABLE managed SET TBLPROPERTIES ('auto.purge'='true')")
    world.run("ALTER TABLE w SET TBLPROPERTIES ('auto.purge'='true')")
    drops = [action for name in ("managed", "w") for action in world.build(f"DROP TABLE {name}")]
    assert [(a.delete_data, a.purge) for a in drops if isinstance(a, RemoveTable)] == [(True, True), (False, False)]
    empties = [action for name in ("managed", "w", "purged", "fed") for action in world.build(f"TRUNCATE TABLE {name}")]
    assert [a.purge for a in empties if isinstance(a, EmptyTable)] == [True, False, True, False]
    world.run("ALTER TABLE w SET TBLPROPERTIES ('external.table.purge'='true')")
    (action,) = world.build("DROP TABLE w")
    assert isinstance(action, RemoveTable)
    assert (action.delete_data, action.purge) == (True, True)


def test_a_data_source_that_a_table_was_put_over_outlives_it(world: World) -> None:
    world.run("CREATE TABLE over (`__time` TIMESTAMP) STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker')")
    world.run("CREATE TABLE new (`__time` TIMESTAMP) STORED BY druid TBLPROPERTIES ('druid.datasource'='none_there')")
    world.run("ALTER TABLE managed SET TBLPROPERTIES ('druid.datasource'='wikiticker')")
    drops = [action for name in ("over", "managed", "new") for action in world.build(f"DROP TABLE {name} PURGE")]
    assert [action.delete_data for action in drops if isinstance(action, RemoveTable)] == [False, False, True]


def test_drop_what_is_not_there(world: World) -> None:
    for text in ("TABLE manged", "VIEW nope", "MATERIALIZED VIEW nope", "TABLE nope.t", "VIEW nope.t"):
        assert world.build(f"DROP {text}") == ()  # hive.exec.drop.ignorenonexistent
    world.settings.set("hive.exec.drop.ignorenonexistent", "false")
    error = world.refused("DROP TABLE manged")
    assert (error.message, at(error.span)) == ("Table not found manged", "manged")
    assert world.build("DROP TABLE IF EXISTS manged") == ()
    assert world.build("DROP VIEW IF EXISTS nope") == ()
    assert world.refused("DROP VIEW nope").message == "Table not found nope"
    assert "Database does not exist" in world.refused("DROP TABLE nope.t").message


def test_drop_a_view(world: World) -> None:
    assert world.refused("DROP TABLE v").message == "Cannot drop a view with DROP TABLE"
    assert world.refused("DROP VIEW m").message == "Cannot drop a base table with DROP VIEW"
    assert world.build("DROP TABLE IF EXISTS v") == world.build("DROP VIEW IF EXISTS m") == ()
    (action,) = world.build("DROP VIEW v")
    assert isinstance(action, RemoveTable)
    assert not action.delete_data


# ---- TBLPROPERTIES


def test_set_properties(world: World) -> None:
    (action,) = world.run("ALTER TABLE m SET TBLPROPERTIES ('y'='2', 'x'='3', 'comment'='new')")
    assert isinstance(action, ReplaceTable)
    assert (action.after.properties, action.after.comment) == ({"x": "3", "y": "2"}, "new")
    assert action.before.properties == {"x": "1"}
    assert world.run("ALTER TABLE m SET TBLPROPERTIES ('x'='3')") == ()


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            "ALTER TABLE w SET TBLPROPERTIES ('druid.rollup'='no')",
            SemanticError,
            "property 'druid.rollup' must be true or false",
        ),
        ("ALTER TABLE w SET TBLPROPERTIES ('druid.datasource'='a/b')", SemanticError, "data source name"),
        (
            "ALTER TABLE m SET TBLPROPERTIES ('druid.rollup'='true')",
            SemanticError,
            "property 'druid.rollup' does not apply",
        ),
        (
            "ALTER TABLE w SET TBLPROPERTIES ('kafka.topic'='x')",
            SemanticError,
            "kafka.topic requires kafka.bootstrap.servers",
        ),
        ("ALTER TABLE m SET TBLPROPERTIES ('EXTERNAL'='TRUE')", UnsupportedError, "the property EXTERNAL"),
        (
            "ALTER TABLE fed SET TBLPROPERTIES ('a.password'='hunter2')",
            SemanticError,
            "the value of 'a.password' is a secret",
        ),
        (
            "ALTER TABLE fed SET TBLPROPERTIES ('druid.kafka.ingestion'='START')",
            UnsupportedError,
            "cannot START the ingestion",
        ),
        (
            "ALTER TABLE fed SET TBLPROPERTIES ('druid.kafka.ingestion'='PAUSE')",
            SemanticError,
            "property 'druid.kafka.ingestion' must be START",
        ),
        (
            "ALTER TABLE w SET TBLPROPERTIES ('druid.kafka.ingestion'='START')",
            SemanticError,
            "cannot START the ingestion: the table has no kafka",
        ),
        ("ALTER TABLE v SET TBLPROPERTIES ('x'='y')", SemanticError, "Cannot alter a view with ALTER TABLE"),
        ("ALTER TABLE m UNSET TBLPROPERTIES ('nope')", SemanticError, "property 'nope' of default.m is not set"),
        ("ALTER TABLE w UNSET TBLPROPERTIES ('druid.datasource')", SemanticError, "druid.datasource cannot be unset"),
        (
            "ALTER TABLE fed UNSET TBLPROPERTIES ('kafka.bootstrap.servers')",
            SemanticError,
            "kafka.topic requires kafka.bootstrap.servers",
        ),
        ("ALTER TABLE k UNSET TBLPROPERTIES ('kafka.topic')", SemanticError, "Set Table property kafka.topic"),
    ],
)
def test_properties_that_are_refused(world: World, text: str, kind: type[HiveDruidError], message: str) -> None:
    before = dict(world.tables)
    error = world.refused(text, kind)
    assert error.message.startswith(message)
    assert error.span is not None
    assert "hunter2" not in error.span.source_line
    assert world.tables == before


def test_a_druid_table_becomes_one_fed_from_kafka(world: World) -> None:
    world.run("ALTER TABLE managed SET TBLPROPERTIES ('kafka.topic'='x', 'kafka.bootstrap.servers'='h:1')")
    assert world.table("managed").properties["kafka.topic"] == "x"


def test_a_new_mapping_has_the_fields_looked_up_again(world: World) -> None:
    assert world.table("w").columns[1].field == "cityName"
    world.run("ALTER TABLE w SET TBLPROPERTIES ('mine'='1')")
    assert world.table("w").columns[1].field == "cityName"
    world.run("ALTER TABLE w SET TBLPROPERTIES ('druid.columns.mapping'='CITY:cityname')")
    assert world.table("w").columns[1].field is None


def test_unset_properties(world: World) -> None:
    world.run("ALTER TABLE m UNSET TBLPROPERTIES ('x', 'comment')")
    assert (world.table("m").properties, world.table("m").comment) == ({}, "")
    assert world.run("ALTER TABLE m UNSET TBLPROPERTIES IF EXISTS ('x', 'y')") == ()


# ---- columns and names


def test_add_columns(world: World) -> None:
    world.run("ALTER TABLE w ADD COLUMNS (z INT COMMENT 'last', y STRING); ALTER TABLE m ADD COLUMNS (d DATE)")
    assert world.table("w").columns[-2:] == (Column("z", t.INT, "last"), Column("y", t.STRING))
    assert world.table("m").columns[-1] == Column("d", t.DATE)
    world.run("ALTER TABLE k ADD COLUMNS (b STRING)")
    assert [c.name for c in world.table("k").columns][:3] == ["a", "b", "__key"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ALTER TABLE w ADD COLUMNS (z INT, Added INT)", "Duplicate column name: added"),
        ("ALTER TABLE w ADD COLUMNS (z INT, z INT)", "Duplicate column name z"),
        ("ALTER TABLE w ADD COLUMNS (`z,y` INT)", "column name 'z,y' contains a comma"),
        ("ALTER TABLE w ADD COLUMNS (z DATE)", "Dimension z does not have STRING type: DATE"),
        ("ALTER TABLE k ADD COLUMNS (`__key` INT)", "Duplicate column name: __key"),
        ("ALTER TABLE v ADD COLUMNS (z INT)", "Cannot alter a view"),
        ("ALTER TABLE nope ADD COLUMNS (z INT)", "Table not found nope"),
        ("ALTER TABLE w RENAME TO m", "Table default.m already exists"),
        ("ALTER TABLE w RENAME TO nope.w", "Database does not exist: nope"),
    ],
)
def test_alters_that_are_refused(world: World, text: str, message: str) -> None:
    assert world.refused(text).message.startswith(message)


def test_rename_keeps_data_source_and_id(world: World) -> None:
    before = world.table("managed")
    world.run("ALTER TABLE managed RENAME TO other.moved")
    after = world.table("moved", "other")
    assert (after.data_source, after.table_id) == ("default.managed", before.table_id)
    assert ("default", "managed") not in world.tables


# ---- TRUNCATE


@pytest.mark.parametrize("name", ["w", "managed", "m"])
def test_truncate(world: World, name: str) -> None:
    (action,) = world.build(f"TRUNCATE TABLE {name}")
    assert action == EmptyTable(world.table(name))


def test_truncates_that_are_refused(world: World) -> None:
    assert world.refused("TRUNCATE TABLE f").message == "Cannot truncate non-managed table default.f"
    world.run("ALTER TABLE f SET TBLPROPERTIES ('external.table.purge'='true')")
    assert len(world.build("TRUNCATE TABLE f")) == 1
    assert "view" in world.refused("TRUNCATE TABLE v").message
    assert "topic" in world.refused("TRUNCATE TABLE k", UnsupportedError).message


# ---- views


def test_create_view(world: World) -> None:
    (action,) = world.run("CREATE VIEW v2 (y COMMENT 'why') COMMENT 'c' AS SELECT a FROM m")
    assert isinstance(action, AddTable)
    assert not action.replace
    assert action.table.columns == (Column("y", t.STRING, "why"),)
    assert action.table.view_text == "SELECT a FROM `default`.m"
    assert (action.table.kind, action.table.comment) == ("view", "c")


def test_create_a_view_that_exists(world: World) -> None:
    assert world.refused("CREATE VIEW v AS SELECT 2").message == "View default.v already exists"
    assert world.run("CREATE VIEW IF NOT EXISTS v AS SELECT 2") == ()
    (action,) = world.build("CREATE OR REPLACE VIEW v AS SELECT 2")
    assert isinstance(action, AddTable)
    assert (action.replace, action.table.table_id) == (True, "id")
    assert world.refused("CREATE OR REPLACE VIEW m AS SELECT 2").message == "default.m is not a view"
    assert "lists 2 columns, but its query returns 1" in world.refused("CREATE VIEW v2 (a, b) AS SELECT 1").message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM t", "SELECT a FROM `d`.t"),
        ("SELECT `t`.a FROM `t`, e.u", "SELECT `t`.a FROM `d`.`t`, e.u"),
        ("SELECT * FROM t x JOIN t y ON x.a = y.a", "SELECT * FROM `d`.t x JOIN `d`.t y ON x.a = y.a"),
        (
            "SELECT * FROM (SELECT a FROM t) q WHERE a IN (SELECT b FROM u)",
            "SELECT * FROM (SELECT a FROM `d`.t) q WHERE a IN (SELECT b FROM `d`.u)",
        ),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", "WITH t AS (SELECT * FROM `d`.t) SELECT * FROM t"),
        (
            "WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, c",
            "WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, `d`.c",
        ),
        ("FROM t SELECT a", "FROM `d`.t SELECT a"),
        ("SELECT a FROM t UNION ALL SELECT a FROM u", "SELECT a FROM `d`.t UNION ALL SELECT a FROM `d`.u"),
        ("SELECT 'FROM t' FROM t -- t\n", "SELECT 'FROM t' FROM `d`.t -- t\n"),
    ],
)
def test_a_views_text_names_its_database(text: str, expected: str) -> None:
    assert qualified(text, "d") == expected
    assert qualified(expected, "e") == expected


def test_a_view_in_another_database_reads_the_current_one(world: World) -> None:
    world.run("CREATE VIEW other.v2 AS SELECT a FROM m")
    assert world.table("v2", "other").view_text == "SELECT a FROM `default`.m"


# ---- databases


def test_databases(world: World) -> None:
    assert world.build("CREATE DATABASE d3 COMMENT 'x'") == (AddDatabase("d3", "x"),)
    assert world.build("CREATE DATABASE IF NOT EXISTS other") == ()
    assert world.refused("CREATE DATABASE other").message == "Database other already exists"
    assert world.build("USE other") == (UseDatabaseAction("other"),)
    error = world.refused("USE othr")
    assert (error.hint, at(error.span)) == ("did you mean 'other'?", "othr")


def test_drop_database(world: World) -> None:
    assert world.refused("DROP DATABASE other").message.startswith("Database other is not empty")
    world.run("CREATE VIEW other.av AS SELECT 1; CREATE VIEW other.zv AS SELECT 1")
    (action,) = world.build("DROP DATABASE other CASCADE")
    assert isinstance(action, RemoveDatabase)
    assert [(r.table.name, r.delete_data) for r in action.tables] == [("av", False), ("zv", False), ("o", True)]
    assert world.build("DROP DATABASE IF EXISTS nope") == ()
    assert "does not exist" in world.refused("DROP DATABASE nope").message
    assert world.refused("DROP DATABASE default CASCADE").message == "Can not drop default database"


def test_dropping_the_current_database_goes_back_to_default(world: World) -> None:
    world.database = "other"
    assert world.build("DROP DATABASE other CASCADE")[1:] == (UseDatabaseAction("default"),)


# ---- SET


def test_set(world: World) -> None:
    assert world.build("SET hive.druid.rollup=FALSE") == (ChangeSetting("hive.druid.rollup", "false"),)
    assert world.build("SET hiveconf:a.b = c d") == (ChangeSetting("a.b", "c d"),)
    assert world.build("SET hivevar:x=1") == (ChangeSetting("hivevar:x", "1"),)
    assert world.build("RESET") == (ResetSetting(None),)
    assert world.build("RESET a.b") == (ResetSetting("a.b"),)
    error = world.refused("SET hivedruid.nov=true")
    assert (error.hint, at(error.span)) == ("did you mean 'hivedruid.now'?", "hivedruid.nov")
    assert "cannot be set" in world.refused("SET env:HOME=/x").message


def test_drop_leaves_a_data_source_that_the_table_was_put_over(world: World) -> None:
    world.run("CREATE EXTERNAL TABLE own (`__time` timestamp) STORED BY druid;")
    world.run(
        "CREATE EXTERNAL TABLE over (`__time` timestamp) STORED BY druid TBLPROPERTIES ('druid.datasource'='default.over');"
    )
    world.run("ALTER TABLE own RENAME TO renamed;")
    dropped = {name: world.build(f"DROP TABLE {name}")[0] for name in ("renamed", "over")}
    assert [(name, bool(action.empties)) for name, action in dropped.items()] == [("renamed", True), ("over", False)]


# ---- what a change leaves as it is


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "ALTER TABLE managed SET TBLPROPERTIES ('druid.segment.granularity'='HOUR')",
            "the new druid.segment.granularity applies only to rows written from now on; "
            "ALTER TABLE managed COMPACT 'major' or INSERT OVERWRITE rewrites existing rows",
        ),
        (
            "ALTER TABLE managed SET TBLPROPERTIES ('druid.rollup'='false', 'druid.query.granularity'='DAY')",
            "the new druid.query.granularity, druid.rollup applies only to rows written from now on; "
            "INSERT OVERWRITE rewrites existing rows",
        ),
        ("ALTER TABLE managed ADD COLUMNS (x INT)", "existing rows have no value in the new columns: x"),
        ("ALTER TABLE managed RENAME TO other.n", "other.n still uses the data source default.managed"),
        ("ALTER TABLE managed SET TBLPROPERTIES ('auto.purge'='true')", None),
        ("ALTER TABLE m ADD COLUMNS (x INT)", None),
    ],
)
def test_what_a_change_leaves_as_it_is_is_said(world: World, statement: str, expected: str | None) -> None:
    notes: list[str] = []
    ddl.build(parse(SourceStatement(statement)), world.snapshot(), note=lambda text, _: notes.append(text))
    assert notes == ([] if expected is None else [expected])


def test_types_that_a_property_gives(world: World) -> None:
    world.run(
        "CREATE TABLE a (`__time` TIMESTAMP, p DECIMAL(9,2), q DECIMAL(9,2), b BINARY, d DATE, tags ARRAY<STRING>) "
        "STORED BY druid TBLPROPERTIES ('druid.columns.as'='p:double, Q:STRING, b:string, d:string')"
    )
    table = world.tables["default", "a"]
    assert [c.type for c in table.columns[1:]] == [t.DOUBLE, t.STRING, t.STRING, t.STRING, t.array_of(t.STRING)]
    error = world.refused("ALTER TABLE a ADD COLUMNS (more DECIMAL(9,2))")
    choices = "'more:double' or 'more:string'"
    assert error.hint == (
        f"TBLPROPERTIES ('druid.columns.as' = {choices}) sets the stored type, or CAST it in the SELECT"
    )
