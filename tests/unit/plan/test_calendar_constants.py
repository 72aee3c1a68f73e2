"""Calendar functions of constants: Hive 4.0.1's values, and the intervals of conditions with them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from tests.support.planning import ETERNITY, where
from tests.unit.plan.test_fold import folded, value

HIVE: list[tuple[str, Any]] = [
    ("add_months(date '2025-01-31', 1)", "2025-02-28"),
    ("add_months(date '2025-02-28', 1)", "2025-03-31"),
    ("add_months(timestamp '2025-02-28 10:11:12.5', -1)", "2025-01-31"),
    ("add_months('2025-02-28 10:11:12', 1)", "2025-03-31"),
    ("add_months('2025-2-8', 1)", "2025-03-08"),
    ("add_months('x', 1)", None),
    ("add_months(date '2024-02-28', 12)", "2025-02-28"),
    ("add_months(date '2023-02-28', 12)", "2024-02-29"),
    ("add_months(date '2025-01-01', cast(null as int))", None),
    ("trunc(date '2025-05-17', 'MM')", "2025-05-01"),
    ("trunc(timestamp '2025-05-17 10:00:00', 'YEAR')", "2025-01-01"),
    ("trunc('2025-05-17', 'Q')", "2025-04-01"),
    ("trunc(date '2025-05-17', 'DD')", None),
    ("last_day(date '2024-02-10')", "2024-02-29"),
    ("last_day(timestamp '2025-12-10 10:00:00')", "2025-12-31"),
    ("last_day('2025-02-03 10:00:00')", "2025-02-28"),
    ("next_day(date '2026-01-15', 'MO')", "2026-01-19"),
    ("next_day(date '2026-01-15', 'thu')", "2026-01-22"),
    ("next_day('2026-01-15 10:00:00', 'Fr')", "2026-01-16"),
    ("next_day(date '2026-01-15', 'xx')", None),
    ("next_day(timestamp '2026-01-15 23:59:59', 'TU')", "2026-01-20"),
    ("date_format(date '2026-01-05', 'yyyy-MM')", "2026-01"),
    ("date_format(timestamp '2026-01-05 07:08:09.123', 'yyyy/M/d H:m:s.SSS')", "2026/1/5 7:8:9.123"),
    ("date_format('2026-01-05', 'yyyyMMdd')", "20260105"),
    ("date_format(date '2026-01-05', 'yy D DDD')", "26 5 005"),
    ("date_format(date '0026-01-05', 'yyyy y yy')", "0026 26 26"),
    ("date_format(timestamp '2026-01-05 00:08:09.12', 'h S SS SSS')", "12 1 12 120"),
    ("date_format(date '2026-01-05', \"yyyy-MM-dd'T'HH\")", "2026-01-05T00"),
    ("date_format(date '2026-01-05', 'yyyy-MM-01')", "2026-01-01"),
    ("date_format(date '2026-01-05', \"yyyy'a''b'MM''dd\")", "2026a'b01'05"),
    ("unix_timestamp('2024年02月30日', 'yyyy年MM月dd日')", 1709164800),
    ("year('2026-01-05')", 2026),
    ("day('2026-01-05 10:11:12')", 5),
    ("quarter(date '2026-05-01')", 2),
    ("weekofyear(date '2024-12-30')", 1),
    ("dayofweek(date '2026-01-04')", 1),
    ("hour(date '2026-01-05')", 0),
    ("second(timestamp '2026-01-05 07:08:09.9')", 9),
    ("from_unixtime(0, 'yyyy-MM-dd')", "1970-01-01"),
    ("from_unixtime(1768473000, 'yyyyMMdd HH')", "20260115 10"),
    ("from_unixtime(-1)", "1969-12-31 23:59:59"),
    ("unix_timestamp('20251201', 'yyyyMMdd')", 1764547200),
    ("unix_timestamp('2025-12-1', 'yyyy-MM-dd')", None),
    ("unix_timestamp('20240631', 'yyyyMMdd')", 1719705600),
    ("to_unix_timestamp('2023-02-29', 'yyyy-MM-dd')", 1677542400),
    ("unix_timestamp('2024-02-32', 'yyyy-MM-dd')", None),
    ("unix_timestamp('2024-12-31 24:00:00', 'yyyy-MM-dd HH:mm:ss')", 1735689600),
    ("unix_timestamp('2024-01-01 24:00:01', 'yyyy-MM-dd HH:mm:ss')", None),
    ("from_unixtime(unix_timestamp('30 Feb 2024 0:30 pm', 'dd MMM yyyy h:mm a'))", "2024-02-29 12:30:00"),
    ("to_date(from_unixtime(unix_timestamp('2024-02-30', 'yyyy-MM-dd')))", date(2024, 2, 29)),
    ("unix_timestamp(date '2025-12-01')", 1764547200),
    ("datediff(date '2026-01-05', '2025-12-31')", 5),
    ("datediff('2026-01-05 23:00:00', timestamp '2026-01-04 00:00:00')", 1),
    ("date '2026-01-05' - 7", date(2025, 12, 29)),
    ("date '2026-01-05' + 7", date(2026, 1, 12)),
    ("from_utc_timestamp(timestamp '2026-07-01 00:00:00', 'Asia/Kolkata')", datetime(2026, 7, 1, 5, 30)),
    ("to_utc_timestamp(date '2026-07-01', 'America/New_York')", datetime(2026, 7, 1, 4)),
    ("to_utc_timestamp(timestamp '2026-03-08 02:30:00', 'America/New_York')", datetime(2026, 3, 8, 7, 30)),
    ("to_utc_timestamp(timestamp '2026-11-01 01:30:00', 'America/New_York')", datetime(2026, 11, 1, 5, 30)),
    ("floor_month(timestamp '2026-05-17 10:00:00')", datetime(2026, 5, 1)),
    ("pmod(-7, 3)", 2),
    ("pmod(7, -3)", -2),
    ("pmod(-7, -3)", -1),
    ("pmod(5, 0)", None),
    ("concat(2026, '-01-01')", "2026-01-01"),
    ("substr(date '2026-01-05', 1, 7)", "2026-01"),
    ("substr('abc', 0, 2)", "ab"),
    ("substr('abc', -2)", "bc"),
    ("substr('abc', 2, 0)", ""),
    ("substr('abc', 5)", ""),
    ("substr('abc', -5, 3)", ""),
    ("substr('abc', 2, -1)", ""),
    ("lpad(month(date '2026-01-05'), 2, '0')", "01"),
    ("lpad('abc', 2, '0')", "ab"),
    ("greatest(1, null)", None),
    ("least(date '2026-01-01', date '2025-01-01')", date(2025, 1, 1)),
    ("greatest('a', 'b')", "b"),
    ("case when 1 = 1 then 'a' else 'b' end", "a"),
    ("if(false, 1, 2)", 2),
    ("case when null then 1 end", None),
]


@pytest.mark.parametrize(("expression", "expected"), HIVE)
def test_a_calendar_function_of_constants_is_the_constant_that_hive_answers(expression: str, expected: object) -> None:
    found = value(expression)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "expression",
    [
        "date_format(date '2026-01-05', 'E')",  # names depend on the locale
        "add_months(date '2025-02-28', 1, 'yyyy/MM/dd')",
        "add_months(date '9999-12-31', 1)",
        "trunc('2025-05-17 10:11:12', 'mon')",
        "unix_timestamp('2024-02-30 24:00:00 PST', 'yyyy-MM-dd HH:mm:ss z')",
        "unix_timestamp('9999-12-31 24:00:00', 'yyyy-MM-dd HH:mm:ss')",
        "substr('\u00e9a', 1, 1)",
        "greatest(1.5, 2.5)",
    ],
)
def test_what_is_not_certain_is_left_to_the_engine(expression: str) -> None:
    assert "Literal" not in type(folded(expression)).__name__


# the statement's clock is 2026-01-15 10:30 UTC, a Thursday
SINCE = [
    ("__time >= add_months(current_date, -3)", "2025-10-15T00:00"),
    ("__time >= trunc(current_date, 'MM')", "2026-01-01T00:00"),
    ("__time >= floor_month(current_timestamp)", "2026-01-01T00:00"),
    ("__time >= floor_day(current_timestamp) - INTERVAL '7' DAY", "2026-01-08T00:00"),
    ("__time >= current_date - 7", "2026-01-08T00:00"),
    ("__time >= date_format(current_date, 'yyyy-MM-01')", "2026-01-01T00:00"),
    ("__time >= concat(year(current_date) - 1, '-01-01')", "2025-01-01T00:00"),
    ("__time >= date_add(last_day(add_months(current_date, -2)), 1)", "2025-12-01T00:00"),
    ("__time >= next_day(date_sub(current_date, 7), 'MO')", "2026-01-12T00:00"),
    ("__time >= date_sub(current_date, pmod(datediff(current_date, '1900-01-08'), 7))", "2026-01-12T00:00"),
    ("__time >= if(day(current_date) > 10, trunc(current_date, 'Q'), trunc(current_date, 'YEAR'))", "2026-01-01T00:00"),
    ("__time >= to_date(from_unixtime(unix_timestamp('20251201', 'yyyyMMdd')))", "2025-12-01T00:00"),
    ("year(__time) >= year(current_date)", "2026-01-01T00:00"),
    ("date_format(__time, 'yyyy-MM') >= date_format(current_date, 'yyyy-MM')", "2026-01-01T00:00"),
    ("year(__time) * 100 + month(__time) >= year(current_date) * 100 + month(current_date)", "2026-01-01T00:00"),
    ("year(__time) * 10000 + month(__time) * 100 + day(__time) > 20260104", "2026-01-05T00:00"),
    ("CAST(date_format(__time, 'yyyyMM') AS INT) >= 202512", "2025-12-01T00:00"),
]


@pytest.mark.parametrize("table", ["ev", "evt"])
@pytest.mark.parametrize(("condition", "start"), SINCE)
def test_a_condition_with_calendar_constants_is_an_interval(condition: str, start: str, table: str) -> None:
    intervals, left = where(condition, table=table)
    assert left is None
    assert intervals == [f"{start}:00.000Z/{ETERNITY.split('/')[1]}"]


def test_the_calendar_of_a_zoned_time_is_that_of_the_session() -> None:
    for condition in ("__time >= trunc(current_date, 'MM')", "year(__time) * 100 + month(__time) >= 202601"):
        assert where(condition, "America/New_York")[0][0].startswith("2026-01-01T05:00:00.000Z")
    assert where("floor_month(__time) = floor_month(current_timestamp)", "Asia/Kolkata")[0] == [
        "2025-12-31T18:30:00.000Z/2026-01-31T18:30:00.000Z"
    ]
    assert where("year(__time) = year(current_date) AND month(__time) = month(current_date)", "Asia/Kolkata")[0] == [
        "2025-12-31T18:30:00.000Z/2026-01-31T18:30:00.000Z"
    ]


def test_a_number_that_is_no_month_is_compared_row_by_row() -> None:
    assert where("year(__time) * 100 + month(__time) = 202613")[0] == [ETERNITY]
