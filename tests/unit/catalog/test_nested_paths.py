"""druid.columns.path: columns that are values in nested data."""

from __future__ import annotations

import pytest

from hivedruid.catalog.druid_columns import NestedPath, parse_paths
from hivedruid.catalog.stored_types import JSON
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP
from hivedruid.errors import SemanticError
from hivedruid.plan.json_path import is_plain, spark_path
from hivedruid.tables.kafka_feed import check_druid_properties
from tests.support.planning import is_pushed, native

COLUMNS = (Column("__time", TIMESTAMP), Column("j", STRING, reading=JSON), Column("n", BIGINT), Column("s", STRING))
PATHS = {"druid.datasource": "d", "druid.columns.path": "n:j.a[0].n, s:J.s"}
TABLES = (
    Table("default", "nested", "druid", COLUMNS[:2], external=True, properties={"druid.datasource": "d"}),
    Table("default", "declared", "druid", COLUMNS, external=True, properties=PATHS),
)


def test_paths_are_parsed() -> None:
    assert parse_paths("City:payload.address.city, n:P[1].a-b[2]") == (
        {"city": NestedPath("payload", "$.address.city"), "n": NestedPath("p", "$[1].a-b[2]")},
        None,
    )


@pytest.mark.parametrize("text", ["", "a", "a:b", "a:b.", "a:b.c,a:b.d", "a:b[*]", "a:b[x]", ":b.c", "a:b.c'd", "a:.c"])
def test_invalid_paths(text: str) -> None:
    assert parse_paths(text)[1] is not None


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"druid.columns.path": "x:j.a"}, "column 'x' is not a column"),
        ({"druid.columns.path": "__time:j.a"}, "column '__time' is not a column"),
        ({"druid.columns.path": "n:k.a"}, "'k', in which the value of 'n' is"),
        ({"druid.columns.path": "s:n.a"}, "'n', in which the value of 's' is"),
        ({"druid.columns.path": "s:j.a, n:s.a"}, "'s', in which the value of 'n' is"),
        ({"druid.columns.path": "n:j.a", "tiered.cold": "ORC"}, "does not apply to a tiered table"),
        (
            {"druid.columns.path": "n:j.a", "kafka.topic": "t", "kafka.bootstrap.servers": "h:1"},
            "does not apply to a table that ingests",
        ),
    ],
)
def test_paths_that_do_not_fit(properties: dict[str, str], message: str) -> None:
    with pytest.raises(SemanticError, match=message):
        check_druid_properties(properties, COLUMNS, None)


@pytest.mark.parametrize(
    ("path", "plain"),
    [("$.a", True), ("$.a[0].b c", True), ("$[3]", True), ("$", False), ("$.a[*]", False), ("$.a[99999999999]", False)],
)
def test_plain_paths(path: str, plain: bool) -> None:
    converted = spark_path(path)
    assert converted is not None
    assert is_plain(converted) is plain
    assert is_pushed(f"SELECT get_json_object(j, '{path}') FROM nested", tables=TABLES) is plain


def test_a_path_is_one_virtual_column() -> None:
    query = native(
        "SELECT CAST(get_json_object(j, '$.a') AS bigint) FROM nested WHERE get_json_object(j, '$.a') IN ('1', '2')",
        tables=TABLES,
    )
    first, second = query["virtualColumns"]
    assert "json_query(nvl(try_parse_json(json_value(\"j\",'$')),\"j\"),'$.a')" in first["expression"]
    assert "json_query" not in second["expression"]
    assert query["filter"]["column"] == first["name"]


def test_columns_of_paths_are_casts_of_values() -> None:
    written = (
        "SELECT CAST(get_json_object(j, '$.a[0].n') AS bigint) x, get_json_object(j, '$.s') FROM nested WHERE {} > 5"
    )
    plain = native(written.format("CAST(get_json_object(j, '$.a[0].n') AS bigint)"), tables=TABLES)
    assert native("SELECT n, s FROM declared WHERE n > 5", tables=TABLES) == plain


@pytest.mark.parametrize("condition", ["j = 'x'", "length(j) > 1", "j IN ('x', 'y')"])
def test_rows_of_subqueries_are_not_compared(condition: str) -> None:
    assert not is_pushed(f"SELECT j FROM (SELECT j FROM nested LIMIT 9) t WHERE {condition}", tables=TABLES)


def test_nulls_are_pushed() -> None:
    query = native("SELECT count(j) FROM nested WHERE j IS NOT NULL", tables=TABLES)
    assert query["filter"] == {"type": "not", "field": {"type": "null", "column": "j"}}
