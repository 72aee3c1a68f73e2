"""The clock changes that move the beginning of an hour, a day, a week or a month."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from hivedruid.druid.clocks import changes, disturbance
from hivedruid.druid.interval_sets import ALL, MAX
from tests.support.planning import native


def millis(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def year(number: int) -> tuple[tuple[int, int]]:
    return ((millis(f"{number}-01-01"), millis(f"{number + 1}-01-01")),)


@pytest.mark.parametrize(
    ("zone", "unit", "number", "expected"),
    [
        ("Africa/Cairo", "day", 2023, "skipped"),
        ("Africa/Cairo", "day", 2018, ""),
        ("Africa/Cairo", "week", 2500, "skipped"),  # the rule has no end
        ("Africa/Cairo", "month", 2023, ""),
        ("Africa/Cairo", "hour", 2023, ""),
        ("America/Havana", "day", 2023, "skipped repeated"),
        ("America/Havana", "hour", 2023, ""),
        ("America/Asuncion", "month", 2023, "skipped"),  # on the 1st of October
        ("America/Sao_Paulo", "day", 2023, ""),
        ("America/Sao_Paulo", "day", 2018, "skipped"),
        ("Australia/Lord_Howe", "hour", 2023, "skipped repeated"),
        ("Australia/Lord_Howe", "day", 2023, ""),
        ("Pacific/Apia", "day", 2011, "skipped"),  # all of the 30th of December
        ("US/Pacific", "day", 2023, ""),
        ("US/Pacific", "hour", 2023, ""),
        ("UTC", "day", 2023, ""),
    ],
)
def test_years(zone: str, unit: str, number: int, expected: str) -> None:
    found = disturbance(ZoneInfo(zone), unit, year(number))
    assert " ".join(name for name in ("skipped", "repeated") if getattr(found, name)) == expected


def test_a_summer_between_two_changes_is_not_disturbed() -> None:
    assert not disturbance(ZoneInfo("Africa/Cairo"), "day", ((millis("2045-06-15"), millis("2045-08-15")),))


def test_all_of_time() -> None:
    assert not disturbance(ZoneInfo("US/Pacific"), "day", ALL)
    assert disturbance(ZoneInfo("Europe/Berlin"), "day", ALL).until < millis("1950-01-01")  # 1916-10-01
    assert disturbance(ZoneInfo("America/Havana"), "day", ALL).until == MAX
    assert disturbance(None, "day", ALL)


@pytest.mark.parametrize("zone", ["US/Pacific", "Africa/Cairo", "Asia/Kolkata", "Europe/Dublin", "Africa/Casablanca"])
def test_changes_are_those_of_the_zone(zone: str) -> None:
    listed, yearly = changes(ZoneInfo(zone))
    assert listed
    for change in [change for change in (*listed, *yearly) if change.at > 0]:
        for at, offset in ((change.at - 1000, change.before), (change.at, change.after)):
            found = datetime.fromtimestamp(at // 1000, UTC).astimezone(ZoneInfo(zone)).utcoffset()
            assert found is not None
            assert found.total_seconds() * 1000 == offset


def by_day(zone: str, condition: str = "") -> str:
    query = native(f"SELECT to_date(`__time`) AS d, count(*) FROM ev {condition} GROUP BY to_date(`__time`)", zone)
    return str(query["queryType"])


def test_days_are_a_timeseries_where_each_begins_when_the_one_before_ends() -> None:
    assert by_day("UTC") == by_day("US/Pacific") == "timeseries"
    assert by_day("Africa/Cairo") == by_day("Europe/Berlin") == "groupBy"
    assert by_day("Europe/Berlin", "WHERE `__time` >= '2020-01-01'") == "timeseries"
    assert by_day("Africa/Cairo", "WHERE year(`__time`) = 2018") == "timeseries"
    assert by_day("Africa/Cairo", "WHERE year(`__time`) = 2023") == "groupBy"
