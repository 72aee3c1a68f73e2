"""The types of expressions: Hive's rules for arithmetic, comparisons and branches."""

from __future__ import annotations

import pytest

from hivedruid.catalog.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    UNKNOWN,
    VOID,
    HiveType,
    decimal,
)
from hivedruid.plan.common_types import common_type, comparison_type
from tests.support.planning import plan

TYPES = [
    ("clicks + imps", "bigint"),
    ("imps + small_c", "int"),
    ("tiny_c + tiny_c", "tinyint"),
    ("tiny_c + 1", "int"),
    ("score + imps", "float"),
    ("score + revenue", "double"),
    ("clicks / imps", "double"),
    ("imps / 2", "double"),
    ("imps div 2", "bigint"),
    ("imps % small_c", "int"),
    ("country + 1", "double"),
    ("imps + 1.5", "decimal(12,1)"),
    ("1.5 + 300", "decimal(5,1)"),
    ("CAST(1 AS decimal(10,2)) / 3", "decimal(14,6)"),
    ("3 / CAST(7 AS decimal(10,2))", "decimal(14,11)"),
    ("revenue + 1.5", "double"),
    ("1.5 * 2.25", "decimal(6,3)"),
    ("1.5 / 2", "decimal(7,6)"),
    ("- tiny_c", "tinyint"),
    ("abs(tiny_c)", "int"),
    ("abs(revenue)", "double"),
    ("floor(revenue)", "bigint"),
    ("round(revenue, 2)", "double"),
    ("sqrt(imps)", "double"),
    ("pmod(imps, 3)", "int"),
    ("length(country)", "int"),
    ("country || city", "string"),
    ("CASE WHEN is_mobile THEN tiny_c ELSE clicks END", "bigint"),
    ("CASE WHEN is_mobile THEN 1 ELSE 'a' END", "string"),
    ("CASE WHEN is_mobile THEN 1 END", "int"),
    ("coalesce(imps, 1.5)", "decimal(11,1)"),
    ("if(is_mobile, imps, NULL)", "int"),
    ("nullif(clicks, 1)", "bigint"),
    ("greatest(imps, revenue)", "double"),
    ("year(`__time`)", "int"),
    ("floor_day(`__time`)", "timestamp with local time zone"),
    ("to_date(`__time`)", "date"),
    ("date_add('2020-01-01', 1)", "date"),
    ("`__time` + INTERVAL '1' DAY", "timestamp with local time zone"),
    ("to_date(`__time`) + INTERVAL '1' MONTH", "date"),
    ("to_date(`__time`) + INTERVAL '1' HOUR", "timestamp"),
    ("datediff(`__time`, '2020-01-01')", "int"),
    ("unix_timestamp(`__time`)", "bigint"),
    ("date_format(`__time`, 'yyyy')", "string"),
    ("current_timestamp", "timestamp"),
    ("clicks > 1", "boolean"),
    ("CAST(country AS varchar(5))", "varchar(5)"),
    ("CAST(country AS char(5))", "char(5)"),
    ("CAST(clicks AS decimal)", "decimal(10,0)"),
    ("2147483648", "bigint"),
    ("9223372036854775808", "decimal(19,0)"),
    ("1e3", "double"),
    ("1.50", "decimal(2,1)"),
    ("0.0", "decimal(1,0)"),
    ("NULL", "void"),
]


@pytest.mark.parametrize(("expression", "expected"), TYPES)
def test_type_of_an_expression(expression: str, expected: str) -> None:
    (column,) = plan(f"SELECT {expression} FROM ev", rules=()).columns
    assert str(column.type) == expected


AGGREGATES = [
    ("count(*)", "bigint"),
    ("sum(tiny_c)", "bigint"),
    ("sum(score)", "double"),
    ("sum(country)", "double"),
    ("sum(1.5)", "decimal(12,1)"),
    ("avg(clicks)", "double"),
    ("avg(1.5)", "decimal(6,5)"),
    ("min(small_c)", "smallint"),
    ("max(`__time`)", "timestamp with local time zone"),
    ("collect_set(country)", "array<string>"),
    ("stddev(clicks)", "double"),
]


@pytest.mark.parametrize(("call", "expected"), AGGREGATES)
def test_type_of_an_aggregate(call: str, expected: str) -> None:
    (column,) = plan(f"SELECT {call} FROM ev", rules=()).columns
    assert str(column.type) == expected


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([TINYINT, INT], INT),
        ([INT, FLOAT], FLOAT),
        ([BIGINT, DOUBLE, VOID], DOUBLE),
        ([INT, STRING], STRING),
        ([DATE, TIMESTAMP], TIMESTAMP),
        ([TIMESTAMP, TIMESTAMP_LTZ], TIMESTAMP_LTZ),
        ([INT, decimal(5, 2)], decimal(12, 2)),
        ([DOUBLE, decimal(5, 2)], DOUBLE),
        ([HiveType("varchar", (3,)), STRING], STRING),
        ([VOID], VOID),
        ([], VOID),
        ([BOOLEAN, INT], UNKNOWN),
    ],
)
def test_common_type(types: list[HiveType], expected: HiveType) -> None:
    assert common_type(types) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (INT, STRING, DOUBLE),
        (STRING, STRING, STRING),
        (TIMESTAMP, STRING, TIMESTAMP),
        (DATE, STRING, DATE),
        (DATE, TIMESTAMP, TIMESTAMP),
        (SMALLINT, FLOAT, FLOAT),
        (INT, VOID, INT),
        (BOOLEAN, BOOLEAN, BOOLEAN),
        (BOOLEAN, DATE, UNKNOWN),
    ],
)
def test_comparison_type_is_the_same_from_both_sides(a: HiveType, b: HiveType, expected: HiveType) -> None:
    assert comparison_type(a, b) == comparison_type(b, a) == expected
