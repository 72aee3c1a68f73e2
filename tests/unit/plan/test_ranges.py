"""Estimates from the bounds and nulls of columns."""

from __future__ import annotations

from itertools import pairwise

import pytest

from hivedruid.catalog.statistics import ColumnStatistics, Statistics, TableStatistics
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP, HiveType
from hivedruid.plan.ranges import ValueRange, value_range
from hivedruid.plan.statistics import estimate_groups, estimate_rows
from tests.support.planning import TABLES, plan

DECIMAL = HiveType("decimal", (10, 2))
FILES = Table(
    "default", "p", "files",
    (
        Column("i", INT), Column("n", BIGINT), Column("few", INT), Column("d", DATE), Column("ts", TIMESTAMP), Column("m", DECIMAL),
        Column("f", DOUBLE), Column("s", STRING), Column("one", INT), Column("counted", INT), Column("x", INT),
    ),
    True, format="parquet",
)  # fmt: skip
ROWS = 10_000
FACTS = TableStatistics(
    ROWS,
    columns={
        "i": ColumnStatistics(None, False, low="1", high="1000", nulls=0),
        "n": ColumnStatistics(None, True, low="-5000000000", high="5000000000", nulls=ROWS // 2),
        "few": ColumnStatistics(None, None, low="1", high="4"),
        "d": ColumnStatistics(None, False, low="2024-01-01", high="2024-01-20", nulls=0),
        "ts": ColumnStatistics(None, True, low="2024-01-01 00:00:00.000000", high="2024-01-10 23:59:59.999000", nulls=ROWS // 5),
        "m": ColumnStatistics(None, False, low="-10.00", high="10.00", nulls=0),
        "f": ColumnStatistics(None, False, low="0.0", high="1.0", nulls=0),
        "s": ColumnStatistics(None, True, nulls=100),
        "one": ColumnStatistics(None, False, low="7", high="7", nulls=0),
        "counted": ColumnStatistics(50, False, low="1", high="1000", nulls=0),
    },
)  # fmt: skip
KNOWN: Statistics = {("default", "p"): FACTS, ("default", "ev"): TableStatistics(2_000_000)}


def rows(condition: str, statistics: Statistics = KNOWN) -> int | None:
    return estimate_rows(plan(f"SELECT s FROM p WHERE {condition}", tables=(*TABLES, FILES)).node, statistics)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("i < 101", 1_000),
        ("i <= 100", 1_000),
        ("100 >= i", 1_000),
        ("i > 900", 1_000),
        ("i >= 901", 1_000),
        ("i < 100.5", 1_000),
        ("i > 900.5", 1_000),
        ("i BETWEEN 11 AND 20", 100),
        ("i > 10 AND i <= 20 AND i < 16", 50),
        ("NOT i < 101", 9_000),
        ("i < 101 OR i > 900", 1_900),
        ("i < 1", 1),
        ("i > 5000000000", 1),
        ("i BETWEEN 20 AND 11", 0),
        ("i <= 1000", 10_000),
        ("i < 99999", 10_000),
        ("i = 5", 10),
        ("i = 5.0", 10),
        ("i IN (5, 6, 7000, -1)", 20),
        ("i = 1001", 1),
        ("i = 0", 1),
        ("n > 0", 2_500),
        ("few = 2", 2_000),  # null may be a value, too
        ("few <= 2", 5_000),
        ("d < '2024-01-11'", 5_000),
        ("d = '2024-01-05'", 500),
        ("d = '2023-12-31'", 1),
        ("d < timestamp '2024-01-11 00:00:00'", 5_000),
        ("d BETWEEN '2024-01-19' AND '2025-01-01'", 1_000),
        ("ts < '2024-01-06'", 4_000),
        ("ts >= '2024-01-10'", 800),
        ("ts > '2025-01-01'", 1),
        ("to_date(ts) = '2024-01-03'", 800),
        ("year(ts) = 2024", 8_000),
        ("ts = '2024-01-03 04:05:06'", 1_000),
        ("ts = '2025-01-03 04:05:06'", 1),
        ("m > 5.00", 2_500),
        ("m > 5", 2_500),
        ("m = 5", 1_000),
        ("m = 11", 1),
        ("f < 0.25", 2_500),
        ("one = 7", 10_000),
        ("one = 8", 1),
        ("one < 8", 10_000),
        ("one > 7", 1),
        ("counted = 5", 200),
        ("counted <= 100", 1_000),
        ("s = 'x'", 1_000),
        ("s > 'x'", 3_333),
        ("s IS NULL", 100),
        ("s IS NOT NULL", 9_900),
        ("i IS NULL", 1),
        ("x < 5", 3_333),
        ("x IS NULL", 1_000),
        ("i < 101 AND f < 0.5", 500),
        ("i = 5 AND d = '2024-01-05' AND m = 11", 1),
        ("s LIKE 'x%' AND i > 900", 100),
        ("false", 0),
    ],
)  # fmt: skip
def test_rows_of_a_condition(condition: str, expected: int) -> None:
    assert rows(condition) == expected


@pytest.mark.parametrize(
    ("keys", "groups"),
    [
        ("i", 1_000),
        ("n", ROWS),
        ("few", 5),
        ("d", 20),
        ("one", 1),
        ("counted", 50),
        ("few, d", 100),
        ("i, d", ROWS),
        ("s", 1_000),
        ("m", 1_000),
        ("i + 1", 1_000),
        ("floor_day(ts)", 10),
    ],
)
def test_groups(keys: str, groups: int) -> None:
    assert estimate_rows(plan(f"SELECT count(*) FROM p GROUP BY {keys}", tables=(*TABLES, FILES)).node, KNOWN) == groups


def test_groups_of_a_filtered_and_renamed_column() -> None:
    sql = "SELECT k, count(*) FROM (SELECT i AS k FROM p) q WHERE k <= 100 GROUP BY k"
    node = plan(sql, tables=(*TABLES, FILES)).node
    assert estimate_rows(node, KNOWN) == 1_000
    assert estimate_groups((node.columns[0].ref,), node, KNOWN) == 1_000


def test_joins_match_by_the_larger_range() -> None:
    node = plan("SELECT a.s FROM p a JOIN p b ON a.i = b.few", tables=(*TABLES, FILES)).node
    assert estimate_rows(node, KNOWN) == ROWS * ROWS // 1_000


@pytest.mark.parametrize("column", ["i", "n", "m", "f", "few", "one"])
def test_estimates_grow_with_the_range_and_never_vanish(column: str) -> None:
    edges = [-10e9, -5, 0, 0.2, 0.5, 1, 2, 3.5, 7, 500, 999, 1000, 1001, 10e9]
    for op in ("<", "<="):
        found = [rows(f"{column} {op} {edge:.1f}") for edge in edges]
        assert all(a is not None and b is not None and 1 <= a <= b <= ROWS for a, b in pairwise(found)), found
    for op in (">", ">="):
        found = [rows(f"{column} {op} {edge:.1f}") for edge in reversed(edges)]
        assert all(a is not None and b is not None and 1 <= a <= b <= ROWS for a, b in pairwise(found)), found


CONTRADICTIONS = {
    ("i < 100", "i = 5000"),
    ("i > 2000", "i = 5"),
    ("ts < '2024-01-03'", "ts > '2024-01-05'"),
    ("s LIKE 'a%'", "s IS NULL"),
}


@pytest.mark.parametrize(
    "more", ["i > 5", "i = 5", "i = 5000", "few IN (1, 2)", "ts > '2024-01-05'", "s IS NULL", "x > 3"]
)
@pytest.mark.parametrize("condition", ["i < 100", "i > 2000", "d = '2024-01-05'", "ts < '2024-01-03'", "s LIKE 'a%'"])
def test_a_further_condition_never_adds_rows(condition: str, more: str) -> None:
    one, two, both = rows(condition), rows(more), rows(f"{condition} AND {more}")
    assert one is not None
    assert two is not None
    assert both is not None
    assert (0 if (condition, more) in CONTRADICTIONS else 1) <= both <= min(one, two)


def test_without_rows_nothing_is_estimated() -> None:
    unknown = {("default", "p"): TableStatistics(None, columns=FACTS.columns)}
    assert rows("i < 5", unknown) is None
    node = plan("SELECT i FROM p", tables=(*TABLES, FILES)).node
    assert estimate_groups((node.columns[0].ref,), node, unknown) == 1_000


@pytest.mark.parametrize(
    ("low", "high", "type_", "expected"),
    [
        ("1", "5", INT, ValueRange(1, 5, True)),
        ("1970-01-02", "1970-01-03", DATE, ValueRange(1, 2, True)),
        ("86400000", "172800001", DATE, ValueRange(1, 2, True)),  # Druid's milliseconds
        ("-86400000", "43200000", TIMESTAMP, ValueRange(-1, 0.5, False)),
        ("1970-01-01 12:00:00", "1970-01-02 06:00:00.000", TIMESTAMP, ValueRange(0.5, 1.25, False)),
        ("1.5", "2E+1", DECIMAL, ValueRange(1.5, 20, False)),
        ("1", None, INT, None),
        ("5", "1", INT, None),
        ("a", "b", INT, None),
        ("a", "b", STRING, None),
        ("true", "true", HiveType("boolean"), None),
        ("nan", "1.0", DOUBLE, None),
        ("-inf", "1.0", DOUBLE, None),
        ("+12345-01-01", "+12345-01-02", DATE, None),
        ("1", "1e999999999", DECIMAL, None),
    ],
)  # fmt: skip
def test_ranges_of_statistics(low: str, high: str | None, type_: HiveType, expected: ValueRange | None) -> None:
    assert value_range(ColumnStatistics(low=low, high=high), type_) == expected
