"""Constants computed during planning: only if the result is certain, and as Java computes it."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.catalog.types import BIGINT, BOOLEAN, DATE, INT, SMALLINT, TIMESTAMP, TINYINT
from hivedruid.plan import nodes
from hivedruid.plan.fold import fold, wrap
from hivedruid.plan.rex import Call, Literal, Ref, Rex
from hivedruid.plan.split import constant_rows
from tests.support.planning import plan


def folded(expression: str, zone: str = "UTC") -> Rex:
    node = plan(f"SELECT {expression}", zone, rules=()).node
    assert isinstance(node, nodes.Project)
    return node.exprs[0]


def value(expression: str, zone: str = "UTC") -> Any:
    rex = folded(expression, zone)
    assert isinstance(rex, Literal), f"not folded: {expression}"
    return rex.value


FOLDED = [
    ("1 + 2", 3),
    ("2147483647 + 1", -2147483648),
    ("9223372036854775807 + 1", -9223372036854775808),
    ("-7 % 3", -1),
    ("-7 div 2", -3),
    ("7 div -2", -3),
    ("5 % 0", None),
    ("5 div 0", None),
    ("1 + NULL", None),
    ("- -5", 5),
    ("- '12'", -12.0),
    ("- ' 1.5 '", -1.5),
    ("1 = 1", True),
    ("1 <> 1", False),
    ("2 > 10", False),
    ("'2' > '10'", True),
    ("'a' < 'B'", False),
    ("'\u00e9' > 'z'", True),
    ("1 = NULL", None),
    ("NULL <=> NULL", True),
    ("true = 1", True),
    ("true = 2", False),
    ("1.0 = true", True),
    ("true BETWEEN 0 AND 1", True),
    # a string is compared with a number as a string in CASE x WHEN y, unless y is a constant
    ("CASE ' 12 ' WHEN 12 THEN 1 END", None),
    ("CASE '12' WHEN 12 THEN 1 END", 1),
    ("CASE '1.0' WHEN 1 THEN 1 END", None),
    ("CASE '1' WHEN 1.0 THEN 1 END", 1),
    ("CASE '1.0' WHEN 1.0 THEN 1 END", None),
    ("1 <=> NULL", False),
    ("NULL IS NULL", True),
    ("NOT true", False),
    ("true AND NULL", None),
    ("false AND NULL", False),
    ("true OR NULL", True),
    ("concat('a', 'b', '1')", "ab1"),
    ("'a' || NULL", None),
    ("CAST('12' AS int)", 12),
    ("CAST('\\t1.9\\n' AS int)", 1),
    ("CAST(' 300 ' AS tinyint)", None),
    ("CAST(' 1e1 ' AS double)", 10.0),
    ("CAST(' 1.5 ' AS decimal(3,1))", Decimal("1.5")),
    ("CAST('\\u00a01.5' AS decimal(3,1))", None),
    ("CAST('1.5\\n' AS decimal(3,1))", None),
    ("CAST(300 AS tinyint)", 44),
    ("CAST(1.5 AS int)", 1),
    ("CAST(12 AS string)", "12"),
    ("CAST('abcdef' AS varchar(3))", "abc"),
    ("CAST(1.005 AS decimal(10,2))", Decimal("1.01")),
    ("CAST(12345 AS decimal(4,0))", None),
    ("DATE '2020-02-29'", date(2020, 2, 29)),
    ("date_add(DATE '2020-02-28', 2)", date(2020, 3, 1)),
    ("date_sub('2020-03-01', 1)", date(2020, 2, 29)),
    ("DATE '2020-01-31' + INTERVAL '1' MONTH", date(2020, 2, 29)),
    ("DATE '2020-03-31' - INTERVAL '1-1' YEAR TO MONTH", date(2019, 2, 28)),
    ("TIMESTAMP '2020-01-01 00:00:00' + INTERVAL '1 02:03:04.5' DAY TO SECOND", datetime(2020, 1, 2, 2, 3, 4, 500000)),
    ("current_date", date(2026, 1, 15)),
    ("unix_timestamp()", 1768473000),
    ("unix_timestamp('2020-01-01 00:00:00')", 1577836800),
    ("unix_timestamp('2020-01-01')", None),
    ("unix_timestamp(TIMESTAMP '1969-12-31 23:59:59.5')", -1),
    ("from_unixtime(1577836800)", "2020-01-01 00:00:00"),
    ("1.5 + 2", Decimal("3.5")),
    ("2 - 0.25", Decimal("1.75")),
    ("1.5 * 1.5", Decimal("2.25")),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), FOLDED)
def test_constant_is_folded(expression: str, expected: Any) -> None:
    found = value(expression)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "expression",
    [
        "rand()",
        "1 / 2",
        "1.5 / 2",
        "unix_timestamp('2020', 'yyyy')",
        "0.1 = 1e-1",
        "CAST('abc' AS int)",
        "CAST('1e3' AS bigint)",
        "upper('\u00e4')",
        "1e0 + 1e0",
        "'1' = 1",
    ],
)
def test_what_only_spark_should_say_is_not_folded(expression: str) -> None:
    assert isinstance(folded(expression), Call)


def test_the_clock_is_read_in_the_sessions_zone() -> None:
    """It is 10:30 UTC on the 15th."""
    assert value("current_timestamp", "Asia/Kolkata") == datetime(2026, 1, 15, 16, 0)
    assert value("current_timestamp", "US/Pacific") == datetime(2026, 1, 15, 2, 30)
    assert value("CAST(current_timestamp AS timestamp with local time zone)", "US/Pacific") == datetime(
        2026, 1, 15, 10, 30, tzinfo=UTC
    )
    assert value("to_date(current_timestamp)", "US/Pacific") == date(2026, 1, 15)


def test_months_of_a_zoned_time_move_in_local_time() -> None:
    """From winter to summer time the wall-clock time is kept, the instant moves by an hour."""
    text = "CAST('2020-02-15 10:00:00 US/Pacific' AS timestamp with local time zone) + INTERVAL '1' MONTH"
    assert value(text, "US/Pacific") == datetime(2020, 3, 15, 17, 0, tzinfo=UTC)
    days = "CAST('2020-03-07 10:00:00 US/Pacific' AS timestamp with local time zone) + INTERVAL '1' DAY"
    assert value(days, "US/Pacific") == datetime(2020, 3, 8, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("pop > 3 AND true", "pop > 3"),
        ("pop > 3 OR false", "pop > 3"),
        ("pop > 3 AND pop > 3", "pop > 3"),
        ("pop > 3 AND 1 = 2", "false"),
        ("pop > 3 OR 1 = 1", "true"),
        ("NOT (NOT (pop > 3))", "pop > 3"),
    ],
)
def test_and_and_or_lose_constants_and_repetitions(condition: str, expected: str) -> None:
    def filtered(text: str) -> Rex:
        found = next(
            n for n in plan(f"SELECT pop FROM dim WHERE {text}", rules=()).node.walk() if isinstance(n, nodes.Filter)
        )
        return found.condition

    assert filtered(condition) == filtered(expected)


def test_a_query_of_constants_needs_neither_druid_nor_spark() -> None:
    assert constant_rows(plan("SELECT 1, 'a', NULL, DATE '2020-01-01'")) == ((1, "a", None, date(2020, 1, 1)),)
    assert constant_rows(plan("SELECT initcap('a')")) is None
    assert constant_rows(plan("SELECT pop FROM dim")) is None


@given(st.integers(-(2**70), 2**70), st.sampled_from([(TINYINT, 8), (SMALLINT, 16), (INT, 32), (BIGINT, 64)]))
def test_wrap_is_twos_complement(number: int, width: Any) -> None:
    type_, bits = width
    wrapped = wrap(number, type_)
    assert -(2 ** (bits - 1)) <= wrapped < 2 ** (bits - 1)
    assert (wrapped - number) % 2**bits == 0


def test_null_is_typed_by_its_neighbours() -> None:
    assert folded("1 = NULL").type == BOOLEAN
    assert folded("1 + NULL").type == INT


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "=", "<>"])
@pytest.mark.parametrize("time", ["2020-01-02 00:00:00", "2020-01-02 10:00:00"])
def test_a_date_compared_with_a_time_is_compared_with_a_date(op: str, time: str) -> None:
    """Parts of files are skipped by conditions on the column, and not by those on a cast of it."""
    moment = datetime.fromisoformat(time)
    column = Ref(DATE, "d")
    rex = fold(Call(BOOLEAN, op, (Call(TIMESTAMP, "cast", (column,)), Literal(TIMESTAMP, moment))), "UTC")
    assert isinstance(rex, Call)
    assert (rex.args[0] == column) is (op not in ("=", "<>") or time.endswith("00:00:00"))
    if rex.args[0] == column:
        for day in (date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)):
            (right,) = rex.args[1:]
            assert isinstance(right, Literal)
            assert _OPERATORS[rex.op](day, right.value) is _OPERATORS[op](
                datetime(day.year, day.month, day.day), moment
            )


_OPERATORS: dict[str, Any] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
