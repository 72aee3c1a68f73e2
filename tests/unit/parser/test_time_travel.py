"""FOR SYSTEM_TIME and FOR SYSTEM_VERSION: the forms that Hive 4.0.1 parses, and those that it refuses."""

from __future__ import annotations

import pytest
from sqlglot import exp

from hivedruid.errors import ParseError
from tests.unit.parser.parsing import at, one, refused


@pytest.mark.parametrize(
    ("text", "kind", "value", "alias"),
    [
        ("SELECT * FROM t FOR SYSTEM_VERSION AS OF 12", "VERSION", "12", ""),
        ("select * from t for system_version as of 'a tag' x", "VERSION", "'a tag'", "x"),
        ("SELECT * FROM db.t FOR SYSTEM_TIME AS OF '2024-01-01' AS x WHERE a = 1", "TIMESTAMP", "'2024-01-01'", "x"),
        ("FROM t FOR SYSTEM_TIME AS OF '2024-01-01' SELECT a", "TIMESTAMP", "'2024-01-01'", ""),
    ],
)
def test_forms(text: str, kind: str, value: str, alias: str) -> None:
    table = one(text).expression.find(exp.Table)
    version = table.args["version"]
    assert (version.name, version.expression.sql("hive"), table.alias) == (kind, value, alias)


def test_each_table_has_its_own() -> None:
    query = one(
        "SELECT * FROM t FOR SYSTEM_VERSION AS OF 1 x JOIN t FOR SYSTEM_VERSION AS OF 2 y ON x.a = y.a"
    ).expression
    assert {table.alias: table.args["version"].expression.name for table in query.find_all(exp.Table)} == {
        "x": "1",
        "y": "2",
    }


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT * FROM t x FOR SYSTEM_VERSION AS OF 1", "FOR"),
        ("SELECT * FROM (SELECT 1) FOR SYSTEM_VERSION AS OF 1", "SYSTEM_VERSION"),
        ("SELECT * FROM t FOR VERSION AS OF 1", "FOR"),
        ("SELECT * FROM t FOR TIMESTAMP AS OF '2024-01-01'", "FOR"),
        ("SELECT * FROM t VERSION AS OF 1", "VERSION"),
        ("SELECT * FROM t TIMESTAMP AS OF '2024-01-01'", "TIMESTAMP"),
        ("SELECT * FROM t FOR SYSTEM_TIME FROM 1 TO 2", "FOR"),
    ],
)
def test_refused(text: str, place: str) -> None:
    assert at(refused(text, ParseError).span) == place
