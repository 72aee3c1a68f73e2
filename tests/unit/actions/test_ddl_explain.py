"""EXPLAIN's text of catalog changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.actions.families import explainer, family_of
from hivedruid.actions.model import Action
from tests.unit.actions.ddl_world import World

SETUP = """
CREATE EXTERNAL TABLE wiki (`__time` TIMESTAMP, a INT) STORED BY druid TBLPROPERTIES ('druid.datasource'='wikiticker');
CREATE TABLE m (a INT) TBLPROPERTIES ('x'='1', 'y'='2');
CREATE VIEW v AS SELECT a FROM m;
CREATE TABLE other.o (a INT);
"""


def lines(action: Action) -> list[str]:
    return explainer(family_of(action)).lines(action, {})


def document(action: Action) -> dict[str, Any]:
    return explainer(family_of(action)).document(action, {})


@pytest.fixture
def world() -> World:
    made = World()
    made.run(SETUP)
    return made


def text(world: World, statement: str) -> str:
    return "\n".join(line for action in world.build(statement) for line in lines(action))


def test_create_table(world: World) -> None:
    statement = (
        "CREATE EXTERNAL TABLE f (a INT, b STRING) COMMENT 'rows' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '/data' "
        "TBLPROPERTIES ('skip.header.line.count'='1', 'my.password'='env:PW')"
    )
    assert text(world, statement) == (
        "Stage-0\n"
        "  Create Table Operator:\n"
        "    name: default.f\n"
        "    columns: a int, b string\n"
        "    comment: rows\n"
        "    table type: EXTERNAL_TABLE\n"
        "    format: textfile\n"
        "    location: /data\n"
        "    serde properties:\n"
        "      field.delim ,\n"
        "      serialization.lib org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe\n"
        "    properties:\n"
        "      my.password env:PW\n"
        "      skip.header.line.count 1"
    )


def test_create_druid_table(world: World) -> None:
    assert "    storage handler: org.apache.hadoop.hive.druid.DruidStorageHandler\n" in text(
        world, "CREATE EXTERNAL TABLE d (`__time` TIMESTAMP) STORED BY druid"
    )


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "DROP TABLE wiki",
            ["Drop Table Operator:", "name: default.wiki", "data source: wikiticker", "delete data: false"],
        ),
        ("DROP TABLE m", ["Drop Table Operator:", "name: default.m", "delete data: true"]),
        ("DROP VIEW v", ["Drop View Operator:", "name: default.v"]),
        ("TRUNCATE TABLE wiki", ["Truncate Table Operator:", "name: default.wiki", "data source: wikiticker"]),
        ("ALTER TABLE m RENAME TO other.n", ["Alter Table Operator:", "name: default.m", "new name: other.n"]),
        ("ALTER TABLE m ADD COLUMNS (b STRING)", ["Alter Table Operator:", "name: default.m", "new columns: b string"]),
        (
            "ALTER TABLE m SET TBLPROPERTIES ('y'='3', 'z'='4')",
            ["Alter Table Operator:", "name: default.m", "set properties:", "y 3", "z 4"],
        ),
        (
            "ALTER TABLE m UNSET TBLPROPERTIES ('y', 'x')",
            ["Alter Table Operator:", "name: default.m", "unset properties: x, y"],
        ),
        ("CREATE DATABASE d COMMENT 'mine'", ["Create Database Operator:", "database: d", "comment: mine"]),
        (
            "DROP DATABASE other CASCADE",
            ["Drop Database Operator:", "database: other", "tables:", "o delete data: true"],
        ),
        ("USE other", ["Switch Database Operator:", "database: other"]),
        ("SET my.password=hunter2", ["Set Setting Operator:", "key: my.password", "value: ******"]),
        ("RESET", ["Reset Settings Operator:", "key: (all)"]),
        ("SHOW TABLES", ["Fetch Operator:", "columns: tab_name", "rows: 3"]),
        (
            "CREATE OR REPLACE VIEW v AS SELECT a\nFROM m",
            [
                "Create View Operator:",
                "name: default.v",
                "columns: x string",
                "replace: true",
                "expanded text: SELECT a\\nFROM `default`.m",
            ],
        ),
    ],
)
def test_other_statements(world: World, statement: str, expected: list[str]) -> None:
    assert [line.strip() for line in text(world, statement).split("\n")] == ["Stage-0", *expected]


def test_documents_are_json_and_say_the_same(world: World) -> None:
    (action,) = world.build("ALTER TABLE m SET TBLPROPERTIES ('y'='3')")
    assert json.loads(json.dumps(document(action))) == {
        "operator": "Alter Table Operator",
        "name": "default.m",
        "set properties": {"y": "3"},
    }
    for statement in ("DROP TABLE wiki", "DROP DATABASE other CASCADE", "SHOW TABLES", "CREATE TABLE t (a INT)"):
        for made in world.build(statement):
            json.dumps(document(made))
