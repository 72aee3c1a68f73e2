"""Recurring parts of a time, within a range that bounds it: intervals if they are few, otherwise a filter."""

from __future__ import annotations

import pytest

from tests.support.planning import where

MIDNIGHT = "T00:00:00.000Z"

WITHIN = [
    ("year(`__time`) = 1997 AND month(`__time`) IN (4, 6)", ["1997-04-01/1997-05-01", "1997-06-01/1997-07-01"]),
    ("year(`__time`) = 1997 AND month(`__time`) = 4 AND day(`__time`) IN (10, 11, 20)", ["1997-04-10/1997-04-12", "1997-04-20/1997-04-21"]),
    ("day(`__time`) = 29 AND month(`__time`) = 2 AND year(`__time`) = 2020", ["2020-02-29/2020-03-01"]),
    ("year(`__time`) = 1997 AND quarter(`__time`) = 2", ["1997-04-01/1997-07-01"]),
    ("year(`__time`) BETWEEN 1997 AND 1998 AND NOT month(`__time`) > 1", ["1997-01-01/1997-02-01", "1998-01-01/1998-02-01"]),
    ("`__time` >= '1997-01-15' AND `__time` < '1997-03-01' AND month(`__time`) = 1", ["1997-01-15/1997-02-01"]),
    ("`__time` >= '2020-01-01' AND `__time` < '2020-01-08' AND dayofweek(`__time`) = 1", ["2020-01-05/2020-01-06"]),
    ("(year(`__time`) = 1997 AND month(`__time`) = 4) OR (year(`__time`) = 1998 AND month(`__time`) = 1)", ["1997-04-01/1997-05-01", "1998-01-01/1998-02-01"]),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), WITHIN)
def test_parts_beside_a_bound_are_intervals(condition: str, expected: list[str]) -> None:
    found, rest = where(condition)
    assert rest is None
    assert found == ["/".join(day + MIDNIGHT for day in pair.split("/")) for pair in expected]


def test_parts_are_those_of_the_sessions_calendar() -> None:
    found, rest = where("year(`__time`) = 2020 AND month(`__time`) = 3", "US/Pacific")
    assert (found, rest) == (["2020-03-01T08:00:00.000Z/2020-04-01T07:00:00.000Z"], None)


@pytest.mark.parametrize(
    ("condition", "zone", "bounds"),
    [
        ("month(`__time`) = 4", "UTC", False),
        ("`__time` >= '1997-01-01' AND month(`__time`) = 4", "UTC", True),  # no end
        ("year(`__time`) = 1997 AND hour(`__time`) = 3", "UTC", True),  # 365 intervals
        ("year(`__time`) BETWEEN 1900 AND 1999 AND day(`__time`) = 1", "UTC", True),
        ("to_date(`__time`) = '2020-11-01' AND hour(`__time`) = 1", "US/Pacific", True),  # which occurs twice
        ("year(`__time`) = 1997 AND month(`__time`) = clicks", "UTC", True),
    ],
)
def test_what_would_be_too_many_or_is_not_known_stays_a_filter(condition: str, zone: str, bounds: bool) -> None:
    found, rest = where(condition, zone)
    assert rest is not None
    assert (not found[0].startswith("-")) is bounds


def test_an_hour_of_a_day_is_an_interval() -> None:
    found, rest = where("to_date(`__time`) = '1997-04-10' AND hour(`__time`) >= 22")
    assert (found, rest) == (["1997-04-10T22:00:00.000Z/1997-04-11T00:00:00.000Z"], None)
