"""Hive's strings of times and intervals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.plan import literals, number_text

TIMESTAMPS = [
    ("2020-01-02", datetime(2020, 1, 2)),
    ("2020-1-2", datetime(2020, 1, 2)),
    ("2020-01-02 03:04:05", datetime(2020, 1, 2, 3, 4, 5)),
    ("2020-01-02 3:4:5", datetime(2020, 1, 2, 3, 4, 5)),
    ("2020-01-02 03:04", datetime(2020, 1, 2)),
    ("2020-01-02 03:04:05.6", datetime(2020, 1, 2, 3, 4, 5, 600000)),
    ("2020-01-02 03:04:05.123456789", datetime(2020, 1, 2, 3, 4, 5, 123456)),
    (" 2020-01-02 ", datetime(2020, 1, 2)),
    ("2020-02-30", None),
    ("2020-13-01", None),
    ("2020-01-02T03:04:05.5", datetime(2020, 1, 2, 3, 4, 5, 500000)),
    ("2020-01-02T03:04", datetime(2020, 1, 2, 3, 4)),
    ("2020-01-02T03:04:05Z", datetime(2020, 1, 2)),  # Hive parses an ISO string only without a zone; of others the date
    ("2020-01-02T03:04:05+02:00", datetime(2020, 1, 2)),
    ("2020-01-02-04:30:00", datetime(2020, 1, 2)),
    ("2020-01-02 03:04:05 +02:00", datetime(2020, 1, 2, 3, 4, 5)),  # the zone is ignored
    ("2020-01-02 03:04:05Z", datetime(2020, 1, 2, 3, 4, 5)),
    ("2020-01-02 03:04:05 abc", datetime(2020, 1, 2)),
    ("2020-01-02abc", datetime(2020, 1, 2)),
    ("2020-01-023", None),
    ("95-2-02", datetime(95, 2, 2)),
    ("13:14:15", None),
    ("2020-01-02 25:00:00", datetime(2020, 1, 2)),
    ("2020-01-02 03", datetime(2020, 1, 2)),
    ("20200102", None),
    ("", None),
    ("abc", None),
]


@pytest.mark.parametrize(("text", "expected"), TIMESTAMPS)
def test_parse_timestamp(text: str, expected: datetime | None) -> None:
    assert literals.parse_timestamp(text) == expected
    assert literals.parse_date(text) == (expected.date() if expected else None)


ZONED = [
    ("2020-01-01 00:00:00", "US/Pacific", datetime(2020, 1, 1, 8)),
    ("2020-07-01", "US/Pacific", datetime(2020, 7, 1, 7)),
    ("2020-01-01 00:00:00 UTC", "US/Pacific", datetime(2020, 1, 1)),
    ("2020-01-01 00:00:00 Asia/Kolkata", "UTC", datetime(2019, 12, 31, 18, 30)),
    ("2020-01-01 00:00:00.5 +05:30", "UTC", datetime(2019, 12, 31, 18, 30, 0, 500000)),
    ("2020-01-01 00:00:00 GMT-08:00", "UTC", datetime(2020, 1, 1, 8)),
    ("2020-03-08 02:30:00", "US/Pacific", datetime(2020, 3, 8, 10, 30)),  # in the gap: shifted forward
    ("2020-11-01 01:30:00", "US/Pacific", datetime(2020, 11, 1, 8, 30)),  # twice: the earlier
    ("2020-01-01 00:00:00 Mars/Base", "UTC", None),
    ("x", "UTC", None),
]


@pytest.mark.parametrize(("text", "zone", "expected"), ZONED)
def test_parse_timestamp_with_zone(text: str, zone: str, expected: datetime | None) -> None:
    found = literals.parse_timestamp_ltz(text, zone)
    assert found == (expected.replace(tzinfo=UTC) if expected else None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("UTC", UTC), ("z", UTC), ("+05:30", timezone(timedelta(hours=5, minutes=30))), ("UTC-8", timezone(-timedelta(hours=8))),
     ("US/Pacific", ZoneInfo("US/Pacific")), ("Mars/Base", None), ("../etc/passwd", None), ("", None)],
)  # fmt: skip
def test_zone_of(name: str, expected: object) -> None:
    assert literals.zone_of(name) == expected


INTERVALS = [
    ("1", "day", (0, 86_400_000_000)),
    ("-1", "DAY", (0, -86_400_000_000)),
    ("2", "weeks", (0, 1_209_600_000_000)),
    ("1.5", "second", (0, 1_500_000)),
    ("3", "months", (3, 0)),
    ("2", "quarter", (6, 0)),
    ("-2", "year", (-24, 0)),
    ("1-2", "year to month", (14, 0)),
    ("-1-2", "YEAR TO MONTH", (-14, 0)),
    ("1 02:03:04.5", "day to second", (0, 93_784_500_000)),
    ("-0 00:00:01", "day to second", (0, -1_000_000)),
    ("1.5", "month", None),
    ("1", "fortnight", None),
    ("1", "day to second", None),
    ("x", "day", None),
]


@pytest.mark.parametrize(("text", "unit", "expected"), INTERVALS)
def test_parse_interval(text: str, unit: str, expected: tuple[int, int] | None) -> None:
    assert literals.parse_interval(text, unit) == expected


NINES = "9" * 6000


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (NINES, "day"), (NINES, "year"), (f"-{NINES}.5", "second"), (f"{NINES}-1", "year to month"), (f"1-{NINES}", "year to month"),
        (f"{NINES} 01:00:00", "day to second"), (f"1 {NINES}:00:00", "day to second"), (f"{'0' * 6000}1", "day"),
    ],
    ids=range(8),
)  # fmt: skip
def test_an_interval_of_thousands_of_digits_is_invalid(text: str, unit: str) -> None:
    assert literals.parse_interval(text, unit) is None


def test_digits_of_a_fraction_do_not_count() -> None:
    assert literals.parse_interval(f"1 00:00:00.{NINES}", "day to second") == (0, 86_400_999_999)


@pytest.mark.parametrize(
    ("parse", "expected"),
    [(number_text.parse_integer, None), (number_text.parse_double, None), (number_text.parse_decimal, None)],
)
def test_a_string_of_many_digits_is_read_in_linear_time(parse: Callable[[str], object], expected: object) -> None:
    """Patterns with two ways to read the same digits take minutes for such a string."""
    assert parse("9" * 200_000 + "x") is expected


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_text_and_micros_lose_nothing(moment: datetime) -> None:
    assert literals.parse_timestamp(literals.timestamp_text(moment)) == moment
    assert literals.EPOCH + timedelta(microseconds=literals.to_micros(moment)) == moment


@pytest.mark.parametrize(
    ("day", "months", "expected"),
    [(date(2020, 1, 31), 1, date(2020, 2, 29)), (date(2020, 3, 31), -1, date(2020, 2, 29)), (date(2019, 12, 15), 1, date(2020, 1, 15)),
     (date(2020, 2, 29), 12, date(2021, 2, 28)), (date(2020, 2, 29), 0, date(2020, 2, 29))],
)  # fmt: skip
def test_add_months_stays_within_the_month(day: date, months: int, expected: date) -> None:
    assert literals.add_months(day, months) == expected
