"""Instants and intervals: text to milliseconds and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.embedded.intervals import (
    ETERNITY,
    MAX_INSTANT,
    MIN_INSTANT,
    condition,
    format_instant,
    parse_instant,
    parse_interval,
    parse_intervals,
)
from hivedruid.errors import DruidError


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("1970", 0),
        ("1970-01-01T00:00:00.000Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2015-09-12T01", 1442019600000),
        ("2015-09-12T01:00+01:00", 1442016000000),
        ("2015-09-11T21:00:00-0400", 1442019600000),
        ("2024-02-29", 1709164800000),
        ("10000-01-01", 253402300800000),
        ("0000-01-01", -62167219200000),
        ("-0001-01-01", -62198755200000),
        ("2020-01-01T10:00:00.5Z", 1577872800500),
        ("2020-01-01T24:00", 1577923200000),
        ("-146136543-09-08T08:23:32.096Z", MIN_INSTANT),
        ("146140482-04-24T15:36:27.903Z", MAX_INSTANT),
    ],
)
def test_instants(text: str, millis: int) -> None:
    assert parse_instant(text) == millis
    assert parse_instant(format_instant(millis)) == millis


@given(st.integers(MIN_INSTANT, MAX_INSTANT))
def test_every_instant_survives_the_round_trip(millis: int) -> None:
    assert parse_instant(format_instant(millis)) == millis


@pytest.mark.parametrize(
    "text", ["", "junk", "2020-13-01", "2020-02-30", "2020-01-01T25", "2020-01-01T10:60", "20-1-1-1"]
)
def test_no_instant(text: str) -> None:
    with pytest.raises(DruidError):
        parse_instant(text)


def test_interval_with_a_period() -> None:
    january = (parse_instant("2015-01-31"), parse_instant("2015-02-28"))
    assert parse_interval("2015-01-31/P1M") == january
    assert parse_interval("P1DT6H/2015-01-31") == (parse_instant("2015-01-29T18:00"), january[0])
    with pytest.raises(DruidError, match="separator"):
        parse_interval("2015")
    with pytest.raises(DruidError, match="must be greater"):
        parse_interval("2016/2015")


def test_interval_lists() -> None:
    assert parse_intervals(None) == ETERNITY
    year = (parse_instant("2015"), parse_instant("2016"))
    for spec in ("2015/2016", ["2015/2016"], {"type": "intervals", "intervals": ["2015/2016"]}):
        assert parse_intervals(spec) == (year,)
    with pytest.raises(DruidError, match="segments"):
        parse_intervals({"type": "segments"})


def test_conditions_are_half_open() -> None:
    assert condition("t", ETERNITY) is None
    assert condition("t", ((0, 10),)) == "((t >= 0 AND t < 10))"
    assert condition("t", ((MIN_INSTANT, 10), (20, 20))) == "((t < 10) OR (FALSE))"
    assert condition("t", ()) == "FALSE"
