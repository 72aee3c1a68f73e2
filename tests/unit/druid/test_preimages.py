"""Functions of the time compared with constants: which times each comparison leaves."""

from __future__ import annotations

import pytest

from tests.support.planning import ETERNITY, where

START, END = ETERNITY.split("/")


def between(start: str, end: str) -> list[str]:
    def full(moment: str) -> str:
        return f"{moment}T00:00:00.000Z" if len(moment) == 10 else f"{moment}Z" if "." in moment else f"{moment}.000Z"

    return [f"{full(start) if start else START}/{full(end) if end else END}"]


CASES = [
    ("ceil(`__time` TO month) = '2020-04-01'", between("2020-03-01T00:00:00.001", "2020-04-01T00:00:00.001")),
    ("ceil(`__time` TO day) < '2020-04-01 12:00:00'", between("", "2020-04-01T00:00:00.001")),
    ("unix_timestamp(`__time`) >= 1577836800", between("2020-01-01", "")),
    ("unix_timestamp(`__time`) > 1577836800", between("2020-01-01T00:00:01", "")),
    ("CAST(`__time` AS bigint) < 1577836800", between("", "2020-01-01")),
    ("date_add(to_date(`__time`), 1) = '2020-03-01'", between("2020-02-29", "2020-03-01")),
    ("date_sub(`__time`, 7) >= '2020-03-01'", between("2020-03-08", "")),
    ("datediff(`__time`, '2020-01-01') < 10", between("", "2020-01-11")),
    ("datediff('2020-01-11', `__time`) <= 10", between("2020-01-01", "")),
    ("`__time` + interval '1' day >= '2020-01-02'", between("2020-01-01", "")),
    ("`__time` - interval '90' minute < '2020-01-01'", between("", "2020-01-01T01:30:00")),
    ("CAST(to_date(`__time`) AS string) = '2020-01-01'", between("2020-01-01", "2020-01-02")),
    ("CAST(`__time` AS string) >= '2020-02'", between("2020-02-01", "")),
    ("CAST(`__time` AS string) < '2020'", between("", "2020-01-01")),
    ("date_format(`__time`, 'yyyy-MM') = '2020-02'", between("2020-02-01", "2020-03-01")),
    ("date_format(`__time`, 'yyyyMMdd') > '20200201'", between("2020-02-02", "")),
    ("trunc(`__time`, 'MM') = '2020-02-01'", between("2020-02-01", "2020-03-01")),
    ("trunc(`__time`, 'YEAR') >= '2020-01-01'", between("2020-01-01", "")),
    ("floor_month(to_date(`__time`)) = '2020-02-01'", between("2020-02-01", "2020-03-01")),
    ("year(floor_month(`__time`)) = 2020", between("2020-01-01", "2021-01-01")),
    ("(`__time` >= '2020-01-01') IS NOT FALSE", between("2020-01-01", "")),
    ("(`__time` >= '2020-01-01') IS NOT TRUE", between("", "2020-01-01")),
    ("`__time` <=> '2020-01-01'", between("2020-01-01", "2020-01-01T00:00:00.001")),
]


@pytest.mark.parametrize("table", ["ev", "evt"])
@pytest.mark.parametrize(("condition", "expected"), CASES)
def test_comparison_is_an_interval(condition: str, expected: list[str], table: str) -> None:
    assert where(condition, table=table) == (expected, None)


@pytest.mark.parametrize(
    "condition", ["CAST(`__time` AS string) = '2020'", "date_format(`__time`, 'yyyy-MM') = '2020-2'", "trunc(`__time`, 'MM') = '2020-02-02'"]
)  # fmt: skip
def test_a_text_that_no_time_has_leaves_nothing(condition: str) -> None:
    assert where(condition)[1] is not None


@pytest.mark.parametrize(
    "condition",
    [
        "`__time` + interval '1' month >= '2020-01-02'",  # the last days of a month move to one day
        "CAST(`__time` AS string) LIKE '2020%'",
        "date_format(`__time`, 'MM-yyyy') >= '02-2020'",
        "date_format(`__time`, 'yyyy-MM') >= '2020-2'",
        "CAST(`__time` AS string) > '2020-1'",
        "datediff(`__time`, `__time`) = 0",
    ],
)
def test_what_does_not_rise_with_the_time_stays_a_filter(condition: str) -> None:
    found, rest = where(condition)
    assert found == [ETERNITY]
    assert rest is not None


def test_a_wall_clock_that_is_put_back_leaves_two_ranges() -> None:
    """01:30 comes twice on 2020-11-01, first in summer time."""
    found, rest = where("CAST(`__time` AS timestamp) < '2020-11-01 01:30:00'", "US/Pacific")
    assert rest is None
    assert found == [f"{START}/2020-11-01T08:30:00.000Z", "2020-11-01T09:00:00.000Z/2020-11-01T09:30:00.000Z"]


def test_a_wall_clock_that_is_put_forward_skips() -> None:
    found, _ = where("CAST(`__time` AS timestamp) >= '2020-03-08 02:30:00'", "US/Pacific")
    assert found == [f"2020-03-08T10:00:00.000Z/{END}"]


def test_a_zoned_text_is_cut_in_the_sessions_calendar() -> None:
    found, _ = where("date_format(`__time`, 'yyyy-MM') = '2020-03'", "US/Pacific")
    assert found == ["2020-03-01T08:00:00.000Z/2020-04-01T07:00:00.000Z"]
