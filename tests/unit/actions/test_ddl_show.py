"""DESCRIBE, SHOW and the SET listings; SHOW CREATE TABLE is parsed again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.actions.utility.model import Show
from hivedruid.actions.utility.show import create_statement, matches, quoted
from hivedruid.catalog.table import Table
from hivedruid.parser import parse
from hivedruid.script import SourceStatement
from tests.unit.actions.ddl_world import World, at

SETUP = r"""
CREATE EXTERNAL TABLE wiki STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker', 'a.b'='c');
CREATE EXTERNAL TABLE declared (`__time` TIMESTAMP COMMENT 'when', `select` STRING COMMENT 'it\'s\n\\', n BIGINT)
  COMMENT 'edits; all' STORED BY druid TBLPROPERTIES ('druid.segment.granularity'='HOUR', 'quote'='a\'b"c;d');
CREATE TABLE m (a INT, b ARRAY<STRUCT<x: INT, y: DECIMAL(10,2)>>, c VARCHAR(3), d TIMESTAMP WITH LOCAL TIME ZONE) COMMENT 'x';
CREATE EXTERNAL TABLE f (a INT, b MAP<STRING,DATE>) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' ESCAPED BY '\\'
  NULL DEFINED AS '\u0001' STORED AS TEXTFILE LOCATION '/data/it\'s' TBLPROPERTIES ('hivedruid.malformed.rows'='skip');
CREATE EXTERNAL TABLE j (a INT) ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe' LOCATION '/data';
CREATE EXTERNAL TABLE p (a INT) STORED AS PARQUET LOCATION '/data';
CREATE EXTERNAL TABLE csv (a STRING) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'
  WITH SERDEPROPERTIES ('separatorChar'=';', 'quoteChar'="'") LOCATION '/data';
CREATE EXTERNAL TABLE k (a INT) STORED BY kafka TBLPROPERTIES
  ('kafka.topic'='t', 'kafka.bootstrap.servers'='h:1', 'kafka.consumer.ssl.key.password'='env:KEY');
CREATE VIEW v (`y z` COMMENT 'why') COMMENT 'seen' TBLPROPERTIES ('x'='y') AS SELECT a
  FROM m WHERE c = 'x;y';
CREATE TABLE other.o (a INT);
"""


@pytest.fixture
def world() -> World:
    made = World()
    made.run(SETUP)
    return made


def show(world: World, text: str) -> Show:
    (action,) = world.build(text)
    assert isinstance(action, Show)
    assert all(len(row) == len(action.columns) for row in action.rows)
    return action


def rows(world: World, text: str) -> list[Any]:
    answer = show(world, text).rows
    return [row[0] if len(row) == 1 else row for row in answer]


# ---- SHOW CREATE TABLE


@pytest.mark.parametrize("name", ["wiki", "declared", "m", "f", "j", "p", "csv", "k", "v"])
def test_show_create_table_makes_the_same_table(world: World, name: str) -> None:
    before = world.table(name)
    text = "\n".join(rows(world, f"SHOW CREATE TABLE {name}"))
    world.run(f"DROP {'VIEW' if name == 'v' else 'TABLE'} {name};\n{text};")
    after = world.table(name)
    fields = {column.name: column.field for column in before.columns}
    columns = tuple(replace(column, field=fields[column.name]) for column in after.columns)
    assert replace(after, columns=columns) == before


@given(
    st.text(max_size=20).filter(lambda text: "\x00" not in text and "${" not in text),
    st.text(max_size=20).filter(lambda text: "${" not in text),
)
def test_any_text_survives_quoting(comment: str, value: str) -> None:
    (statement,) = (
        parse(SourceStatement(f"CREATE TABLE t (a INT) COMMENT {quoted(comment)} TBLPROPERTIES ('x'={quoted(value)})")),
    )
    assert statement.comment == comment  # type: ignore[attr-defined]
    assert statement.properties[0].value == value  # type: ignore[attr-defined]


def test_show_create_table_of_druid(world: World) -> None:
    assert rows(world, "SHOW CREATE TABLE wiki") == [
        "CREATE EXTERNAL TABLE `default`.`wiki` (",
        "  `__time` timestamp with local time zone COMMENT 'from deserializer',",
        "  `cityname` string COMMENT 'from deserializer',",
        "  `added` bigint COMMENT 'from deserializer',",
        "  `tags` array<string> COMMENT 'from deserializer',",
        "  `user_unique` binary COMMENT 'from deserializer')",
        "STORED BY",
        "  'org.apache.hadoop.hive.druid.DruidStorageHandler'",
        "TBLPROPERTIES (",
        "  'a.b'='c',",
        "  'druid.datasource'='wikiticker')",
    ]


def test_secrets_are_not_shown(world: World) -> None:
    table = world.table("k")
    world.tables[("default", "k")] = replace(
        table, properties={**table.properties, "my.password": "hunter2"}, serde={"a.secret": "hunter2"}
    )
    for text in ("SHOW CREATE TABLE k", "SHOW TBLPROPERTIES k", "DESCRIBE FORMATTED k", "DESCRIBE EXTENDED k"):
        shown = str(rows(world, text))
        assert "hunter2" not in shown
        assert "******" in shown
        assert "env:KEY" in shown


# ---- DESCRIBE


def test_describe(world: World) -> None:
    assert [c.name for c in show(world, "DESCRIBE m").columns] == ["col_name", "data_type", "comment"]
    assert rows(world, "DESCRIBE m") == [
        ("a", "int", ""),
        ("b", "array<struct<x:int,y:decimal(10,2)>>", ""),
        ("c", "varchar(3)", ""),
        ("d", "timestamp with local time zone", ""),
    ]
    assert rows(world, "DESCRIBE declared")[0] == ("__time", "timestamp", "when")
    assert rows(world, "DESCRIBE declared")[2] == ("n", "bigint", "from deserializer")
    assert rows(world, "DESCRIBE m c") == [("c", "varchar(3)", "")]


def test_describe_what_is_not_there(world: World) -> None:
    error = world.refused("DESCRIBE wiki cityname_")
    assert (error.hint, at(error.span)) == ("did you mean 'cityname'?", "cityname_")
    assert world.refused("DESCRIBE wikki").message == "Table not found wikki"


def test_describe_extended(world: World) -> None:
    last = rows(world, "DESCRIBE EXTENDED f")[-1]
    assert last[0] == "Detailed Table Information"
    assert last[1] == (
        "Table(tableName:f, dbName:default, tableType:EXTERNAL_TABLE, location:/data/it's, format:textfile, "
        "parameters:{EXTERNAL=TRUE, hivedruid.malformed.rows=skip})"
    )


def test_describe_formatted(world: World) -> None:
    assert rows(world, "DESCRIBE FORMATTED f") == [
        ("# col_name", "data_type", "comment"),
        ("a", "int", ""),
        ("b", "map<string,date>", ""),
        ("", "", ""),
        ("# Detailed Table Information", "", ""),
        ("Database:", "default", ""),
        ("Table Type:", "EXTERNAL_TABLE", ""),
        ("Location:", "/data/it's", ""),
        ("Table Parameters:", "", ""),
        ("", "EXTERNAL", "TRUE"),
        ("", "hivedruid.malformed.rows", "skip"),
        ("", "", ""),
        ("# Storage Information", "", ""),
        ("SerDe Library:", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", ""),
        ("Format:", "TEXTFILE", ""),
        ("Storage Desc Params:", "", ""),
        ("", "escape.delim", "\\"),
        ("", "field.delim", "\t"),
        ("", "serialization.null.format", "\x01"),
    ]
    assert ("Table Type:", "VIRTUAL_VIEW", "") in rows(world, "DESCRIBE FORMATTED v")
    assert ("Table Type:", "MANAGED_TABLE", "") in rows(world, "DESCRIBE FORMATTED m")
    druid = rows(world, "DESCRIBE FORMATTED wiki")
    assert ("", "storage_handler", "org.apache.hadoop.hive.druid.DruidStorageHandler") in druid


def test_describe_database(world: World) -> None:
    assert rows(world, "DESCRIBE DATABASE other") == [("other", "the other one")]
    assert world.refused("DESCRIBE DATABASE othr").hint == "did you mean 'other'?"


# ---- names


def test_show_names(world: World) -> None:
    assert rows(world, "SHOW TABLES") == ["csv", "declared", "f", "j", "k", "m", "p", "v", "wiki"]
    assert rows(world, "SHOW TABLES LIKE 'W*|f'") == ["f", "wiki"]
    assert rows(world, "SHOW TABLES LIKE '_'") == ["f", "j", "k", "m", "p", "v"]
    assert rows(world, "SHOW TABLES IN other") == ["o"]
    assert rows(world, "SHOW VIEWS") == ["v"]
    assert rows(world, "SHOW DATABASES") == ["default", "other"]
    assert rows(world, "SHOW DATABASES LIKE 'o%'") == ["other"]
    assert rows(world, "SHOW COLUMNS IN wiki LIKE '*e*'") == ["__time", "cityname", "added", "user_unique"]
    assert "floor_month" in rows(world, "SHOW FUNCTIONS LIKE 'floor_*'")
    assert "does not exist" in world.refused("SHOW TABLES IN nope").message
    world.database = "other"
    assert rows(world, "SHOW TABLES") == ["o"]


@pytest.mark.parametrize(
    ("pattern", "name", "match"),
    [
        ("a*", "abc", True),
        ("a%", "abc", True),
        ("a_c", "abc", True),
        ("a_c", "abbc", False),
        ("A*", "abc", True),
        ("x|a*", "abc", True),
        ("x | abc", "abc", True),
        ("abc", "abcd", False),
        ("a[b]c", "abc", False),
        ("(", "abc", False),
        ("", "abc", False),
        ("*", "abc", True),
    ],
)
def test_matches(pattern: str, name: str, match: bool) -> None:
    assert matches(pattern, name) is match


def test_show_properties(world: World) -> None:
    assert rows(world, "SHOW TBLPROPERTIES wiki") == [
        ("EXTERNAL", "TRUE"),
        ("a.b", "c"),
        ("druid.datasource", "wikiticker"),
        ("storage_handler", "org.apache.hadoop.hive.druid.DruidStorageHandler"),
    ]
    assert rows(world, "SHOW TBLPROPERTIES wiki ('a.b')") == [("a.b", "c")]
    assert rows(world, "SHOW TBLPROPERTIES wiki ('x')") == [("x", "Table default.wiki does not have property: x")]


# ---- SET


def test_set_listings(world: World) -> None:
    assert rows(world, "SET") == []
    world.settings.set("hive.druid.rollup", "false")
    world.settings.set("my.password", "hunter2")
    world.variables["day"] = "2015-09-12"
    world.variables["db_password"] = "hunter2"
    assert rows(world, "SET") == [
        "hive.druid.rollup=false",
        "my.password=******",
        "hivevar:day=2015-09-12",
        "hivevar:db_password=******",
    ]
    everything = rows(world, "SET -v")
    assert "druid.url=embedded:" in everything
    assert "hunter2" not in str(everything)
    assert rows(world, "SET hive.druid.rollup") == ["hive.druid.rollup=false"]
    assert rows(world, "SET hivevar:day") == ["hivevar:day=2015-09-12"]
    assert rows(world, "SET my.password") == ["my.password=******"]
    assert rows(world, "SET nope") == ["nope is undefined"]
    assert world.refused("SET hivedruid.nov").hint == "did you mean 'hivedruid.now'?"
    assert rows(world, "SET hive.druid.rolup") == ["hive.druid.rolup is undefined"]


def test_a_table_is_written_out_the_same_each_time(world: World) -> None:
    table: Table = world.table("f")
    shuffled = replace(table, serde=dict(reversed(list(table.serde.items()))))
    assert create_statement(shuffled) == create_statement(table)
