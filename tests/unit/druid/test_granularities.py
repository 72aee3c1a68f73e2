"""Time buckets, compared with Python's own calendar and beyond it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.catalog.properties import GRANULARITIES
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import MAX, MIN, iso

INSTANTS = st.integers(-9_000_000_000_000_000, 9_000_000_000_000_000)


@pytest.mark.parametrize(
    ("granularity", "begin", "end"),
    [
        ("NONE", "2015-09-12T13:47:31.123Z", "2015-09-12T13:47:31.124Z"),
        ("SECOND", "2015-09-12T13:47:31.000Z", "2015-09-12T13:47:32.000Z"),
        ("FIFTEEN_MINUTE", "2015-09-12T13:45:00.000Z", "2015-09-12T14:00:00.000Z"),
        ("EIGHT_HOUR", "2015-09-12T08:00:00.000Z", "2015-09-12T16:00:00.000Z"),
        ("DAY", "2015-09-12T00:00:00.000Z", "2015-09-13T00:00:00.000Z"),
        ("WEEK", "2015-09-07T00:00:00.000Z", "2015-09-14T00:00:00.000Z"),
        ("MONTH", "2015-09-01T00:00:00.000Z", "2015-10-01T00:00:00.000Z"),
        ("QUARTER", "2015-07-01T00:00:00.000Z", "2015-10-01T00:00:00.000Z"),
        ("YEAR", "2015-01-01T00:00:00.000Z", "2016-01-01T00:00:00.000Z"),
    ],
)
def test_bucket(granularity: str, begin: str, end: str) -> None:
    millis = 1_442_065_651_123
    found = granularities.interval(granularities.number(millis, granularity), granularity)
    assert tuple(map(iso, found)) == (begin, end)
    assert granularities.floor(millis, granularity) == found[0]
    assert granularities.ceiling(found[1], granularity) == granularities.ceiling(found[0] + 1, granularity) == found[1]


def test_all_of_time() -> None:
    assert granularities.interval(granularities.number(0, "ALL"), "ALL") == (MIN, MAX)


@given(INSTANTS, st.sampled_from(GRANULARITIES))
def test_buckets_follow_each_other(millis: int, granularity: str) -> None:
    number = granularities.number(millis, granularity)
    begin, end = granularities.interval(number, granularity)
    assert begin <= millis < end
    if granularity != "ALL":
        assert granularities.number(begin, granularity) == number == granularities.number(end - 1, granularity)
        assert granularities.interval(number + 1, granularity)[0] == end


@given(INSTANTS)
def test_calendar_in_every_year(millis: int) -> None:
    year, month = iso(granularities.floor(millis, "MONTH")).rsplit("-", 2)[:2]
    assert iso(millis).startswith(f"{year}-{month}-")
    assert iso(granularities.floor(millis, "MONTH")).endswith("-01T00:00:00.000Z")


@given(st.integers(-60_000_000_000_000, 250_000_000_000_000))
def test_weeks_begin_on_monday(millis: int) -> None:
    begin, end = granularities.interval(granularities.number(millis, "WEEK"), "WEEK")
    assert (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=begin)).weekday() == 0
    assert end - begin == 7 * granularities.DAY
