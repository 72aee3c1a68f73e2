"""Invalid operands of operators, casts and functions are rejected during planning, with their position."""

from __future__ import annotations

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    HiveType,
    array_of,
)
from hivedruid.errors import HiveDruidError, SemanticError
from hivedruid.plan.split import spark_job
from tests.support.planning import plan

POINT = HiveType("struct", children=(INT, HiveType("struct", children=(STRING,), fields=("z",))), fields=("x", "y"))
X = Table(
    "default", "x", "files",
    (
        Column("b", BOOLEAN), Column("i", INT), Column("n", BIGINT), Column("d", DOUBLE), Column("s", STRING), Column("bin", BINARY),
        Column("dt", DATE), Column("ts", TIMESTAMP), Column("ar", array_of(INT)), Column("mp", HiveType("map", children=(STRING, INT))),
        Column("st", POINT), Column("sts", array_of(POINT)), Column("deep", array_of(array_of(POINT))),
    ),
    True, format="orc", location="/nowhere",
)  # fmt: skip


def refused(query: str) -> HiveDruidError:
    with pytest.raises(HiveDruidError) as caught:
        spark_job(plan(query, tables=(X,)))
    return caught.value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("CAST(ar AS string)", "array<int> cannot be cast to string"),
        ("CAST(i AS date)", "int cannot be cast to date"),
        ("CAST(n AS timestamp)", "bigint cannot be cast to timestamp"),
        ("CAST(i AS binary)", "int cannot be cast to binary"),
        ("CAST(bin AS int)", "binary cannot be cast to int"),
        ("CAST(INTERVAL '1' DAY AS int)", "interval_day_time cannot be cast to int"),
        ("dt = i", "date and int cannot be compared"),
        ("ts > b", "timestamp and boolean cannot be compared"),
        ("ar = array('a')", "array<int> and array<string> cannot be compared"),
        ("ar < ar", "< does not take array<int>"),
        ("i IN (SELECT ar FROM x)", "int and array<int> cannot be compared"),
        ("i BETWEEN dt AND ts", "int and date cannot be compared"),
        ("b + 1", "+ does not take boolean and int"),
        ("dt + d", "+ does not take date and double"),
        ("ts * INTERVAL '1' DAY", "* does not take timestamp and interval_day_time"),
        ("INTERVAL '1' DAY - ts", "- does not take interval_day_time and timestamp"),
        ("INTERVAL '1' DAY + INTERVAL '1' YEAR", "+ does not take interval_day_time and interval_year_month"),
        ("d & 1", "& takes integers, not double"),
        ("~ s", "~ takes integers, not string"),
        ("- ar", "- does not take array<int>"),
        ("if(b, mp, i)", "the values of CASE and IF must have the same type, not map<string,int> and int"),
        ("CASE WHEN mp THEN 1 END", "a condition must be boolean, not map<string,int>"),
        ("coalesce(b, i)", "the arguments of coalesce() and nvl() must have the same type, not boolean and int"),
        ("array(i, dt)", "array elements must have the same type, not int and date"),
        ("map('a', i, 'b', ar)", "map values must have the same type, not int and array<int>"),
        ("max(mp)", "max() takes a value without maps as argument 1, not map<string,int>"),
        ("row_number()", "row_number() requires a window"),
        ("upper(s) OVER ()", "OVER is only allowed after an aggregate or window function"),
        ("CASE WHEN named_struct() THEN 1 END", "a condition must be boolean, not struct<>"),
        ("grouping(i)", "grouping() requires GROUP BY"),
        ("hash(d)", "hash() of double is not supported: Spark cannot compute its Java hash code"),
        ("upper(instr(s, 'a', i))", "instr() with a position requires a constant string, and constants of at least 1 as position and occurrence"),
        ("xpath_int(s, s)", "the path in xpath_int() must be constant"),
        ("hour(INTERVAL '1' YEAR)", "hour() does not take interval_year_month"),
    ],
)  # fmt: skip
def test_an_expression_is_refused_where_it_stands(expression: str, message: str) -> None:
    error = refused(f"SELECT i,\n  {expression}\nFROM x")
    assert error.message == message
    assert error.span is not None
    assert error.span.line in (1, 2)
    assert error.span.source_line in ("SELECT i,", f"  {expression}")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT i FROM x WHERE row_number() OVER (ORDER BY i) = 1", "window functions are not allowed in WHERE"),
        (
            "SELECT i FROM x GROUP BY i HAVING rank() OVER (ORDER BY i) = 1",
            "window functions are not allowed in HAVING",
        ),
        ("SELECT 1 FROM x GROUP BY sum(i)", "an aggregate function is not allowed in GROUP BY"),
        ("SELECT a.i FROM x a JOIN x b ON sum(a.i) = b.i", "aggregate functions are not allowed in ON"),
        ("SELECT a.i FROM x a JOIN x b ON rand() > 0.5", "non-deterministic functions in ON are not supported"),
        ("VALUES ((SELECT max(i) FROM x))", "a subquery, an aggregate or a window function in VALUES is not supported"),
        ("SELECT k FROM x LATERAL VIEW explode(mp) e AS k", "explode() returns 2 columns, but AS names 1"),
        ("SELECT k FROM x LATERAL VIEW explode(NULL) e AS k", "explode() takes an array or a map, not NULL"),
        ("SELECT k FROM x LATERAL VIEW upper(s) e AS k", "a table-generating function is required here"),
    ],
)
def test_a_clause_is_refused_where_it_stands(query: str, message: str) -> None:
    error = refused(query)
    assert error.message == message
    assert error.span is not None


def test_the_values_of_a_column_are_of_one_type() -> None:
    assert (
        refused("VALUES (1), (array(1))").message
        == "the values of column 1 must have the same type, not int and array<int>"
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i FROM x WHERE EXISTS (SELECT 1 FROM x a WHERE a.i = x.n AND a.s NOT IN (SELECT x.s))",
        "SELECT i FROM x WHERE n IN (SELECT max(x.d) FROM x a WHERE a.b)",
    ],
)
def test_a_subquery_that_spark_cannot_connect_is_refused(query: str) -> None:
    assert refused(query).message.startswith(("a subquery", "a nested subquery"))


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("st.x", "int"), ("x.st.x", "int"), ("default.x.st.x", "int"), ("st.y.z", "string"), ("ST.Y.Z", "string"), ("sts.x", "array<int>"),
        ("sts.y", "array<struct<z:string>>"), ("sts.y.z", "array<string>"), ("sts[0].y.z", "string"), ("deep[0].x", "array<int>"),
        ("deep[0][1].y.z", "string"),
    ],
)  # fmt: skip
def test_a_field_of_a_struct_and_of_an_array_of_structs(name: str, type_: str) -> None:
    assert str(plan(f"SELECT {name} FROM x", tables=(X,)).columns[0].type) == type_


@pytest.mark.parametrize(
    "type_",
    ["struct<x:int,y:struct<z:string>>", "array<struct<x:int,y:string>>", "map<string,struct<x:decimal(5,2)>>"],
)
def test_casts_of_null_to_nested_types(type_: str) -> None:
    assert str(plan(f"SELECT CAST(NULL AS {type_}) v FROM x", tables=(X,)).columns[0].type) == type_


def test_casts_of_structs_keep_their_fields() -> None:
    cast = "SELECT CAST(st AS STRUCT<X: BIGINT, y: STRUCT<z: STRING>>) v FROM x"
    assert str(plan(cast, tables=(X,)).columns[0].type) == "struct<x:bigint,y:struct<z:string>>"
    assert "cannot be cast to" in refused("SELECT CAST(st AS STRUCT<y: STRUCT<z: STRING>, x: INT>) FROM x").message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("st.nope", "struct<x:int,y:struct<z:string>> has no field 'nope'"),
        ("st.y.z.w", "'.w' is not valid: string has no fields"),
        ("x.st.x.y", "'.y' is not valid: int has no fields"),
        ("i.x", "'.x' is not valid: int has no fields"),
        ("mp.x", "'.x' is not valid: map<string,int> has no fields"),
        ("ar.x", "'.x' is not valid: array<int> has no fields"),
        ("deep.x", "'.x' is not valid: array<array<struct<x:int,y:struct<z:string>>>> has no fields"),
        ("sts.nope", "struct<x:int,y:struct<z:string>> has no field 'nope'"),
        ("a.b.c.d", "unknown column 'a.b.c.d'"),
        ("st[0]", "[ ] requires an array or a map, not struct<x:int,y:struct<z:string>>"),
    ],
)
def test_a_field_that_is_not_there(name: str, message: str) -> None:
    error = refused(f"SELECT i, {name} FROM x")
    assert isinstance(error, SemanticError)
    assert error.message == message
    assert error.span is not None
    assert (error.span.line, error.span.column) >= (1, 11)


def test_a_date_and_a_bigint_of_days() -> None:
    assert "CAST(`n` AS INT)" in spark_job(plan("SELECT dt + n, date_sub(dt, n) FROM x", tables=(X,))).sql


def test_maps_are_compared_by_their_entries() -> None:
    assert "sort_array(map_entries(`mp`))" in spark_job(plan("SELECT mp = mp FROM x WHERE i > 1", tables=(X,))).sql


def test_a_constant_orders_nothing() -> None:
    assert "ORDER BY" not in spark_job(plan("SELECT i FROM x ORDER BY -1, 'a'", tables=(X,))).sql
