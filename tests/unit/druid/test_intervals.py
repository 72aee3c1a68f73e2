"""The algebra of time intervals, and the times for which each predicate on `__time` is true."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hivedruid.druid import intervals
from hivedruid.druid.intervals import ALL, MAX, MIN, NONE, IntervalSet
from hivedruid.plan.split import constant_rows
from tests.support.instructions import instructions
from tests.support.planning import ETERNITY, plan, where

# --- algebra against brute force ---------------------------------------------------------------------------------

SPAN = range(-12, 13)
pairs = (
    st.tuples(st.integers(-10, 10), st.integers(-10, 10)).map(lambda p: (min(p), max(p))).filter(lambda p: p[0] < p[1])
)
sets = st.lists(pairs, max_size=5).map(lambda found: intervals.union([tuple(found)]))


def members(found: IntervalSet) -> set[int]:
    return {i for i in SPAN if any(start <= i < end for start, end in found)}


def is_canonical(found: IntervalSet) -> bool:
    ends_before_next = all(a[1] < b[0] for a, b in itertools.pairwise(found))
    return ends_before_next and all(start < end for start, end in found)


@given(sets, sets)
def test_union_holds_what_either_holds(a: IntervalSet, b: IntervalSet) -> None:
    assert members(intervals.union([a, b])) == members(a) | members(b)
    assert is_canonical(intervals.union([a, b]))


@given(sets, sets)
def test_intersection_holds_what_both_hold(a: IntervalSet, b: IntervalSet) -> None:
    assert members(intervals.intersection(a, b)) == members(a) & members(b)
    assert is_canonical(intervals.intersection(a, b))


def test_the_work_of_an_intersection_is_linear() -> None:
    def work(size: int) -> int:
        every_day = tuple((4 * n, 4 * n + 3) for n in range(size))
        shifted = tuple((start + 1, end + 1) for start, end in every_day)
        return instructions(lambda: intervals.intersection(every_day, shifted))

    assert work(400) < 8.5 * work(50)


@given(sets)
def test_complement_holds_everything_else(a: IntervalSet) -> None:
    assert members(intervals.complement(a)) == set(SPAN) - members(a)
    assert is_canonical(intervals.complement(a))
    assert intervals.complement(intervals.complement(a)) == a


def test_everything_and_nothing_are_each_others_complement() -> None:
    assert intervals.complement(ALL) == NONE
    assert intervals.complement(NONE) == ALL
    assert intervals.union([]) == NONE


# --- text --------------------------------------------------------------------------------------------------------


@given(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(
        lambda d: d.replace(microsecond=d.microsecond // 1000 * 1000)
    )
)
@example(datetime(1600, 2, 29))
@example(datetime(1969, 12, 31, 23, 59, 59, 999000))
@example(datetime(2100, 3, 1))
def test_iso_is_the_calendars_own_text(moment: datetime) -> None:
    millis = (moment - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
    expected = f"{moment.year:04d}" + moment.strftime("-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    assert intervals.iso(millis) == expected


def test_iso_reaches_the_ends_of_druids_eternity() -> None:
    assert f"{intervals.iso(MIN)}/{intervals.iso(MAX)}" == ETERNITY


def test_no_time_at_all_is_one_empty_interval() -> None:
    assert intervals.to_json(NONE) == ["1970-01-01T00:00:00.000Z/1970-01-01T00:00:00.000Z"]


# --- predicates --------------------------------------------------------------------------------------------------


def between(*edges: str) -> list[str]:
    """Intervals in short notation: `a/b`, `a/` and `/b`; times without their trailing zero parts."""
    first, last = ETERNITY.split("/")

    def full(text: str) -> str:
        return text + "0000-01-01T00:00:00.000Z"[len(text) :]

    return [f"{full(a) if a else first}/{full(b) if b else last}" for a, b in (edge.split("/") for edge in edges)]


UTC_PREDICATES = [
    ("t = '2020-01-01 10:00:00'", ["2020-01-01T10/2020-01-01T10:00:00.001"]),
    ("t = '2020-01-01'", ["2020/2020-01-01T00:00:00.001"]),
    ("'2020-01-01' = t", ["2020/2020-01-01T00:00:00.001"]),
    ("t <> '2020-01-01'", ["/2020", "2020-01-01T00:00:00.001/"]),
    ("t < '2020-01-01'", ["/2020"]),
    ("t <= '2020-01-01'", ["/2020-01-01T00:00:00.001"]),
    ("t > '2020-01-01'", ["2020-01-01T00:00:00.001/"]),
    ("t >= '2020-01-01'", ["2020/"]),
    ("'2020-01-01' > t", ["/2020"]),
    ("t > '2020-01-01 00:00:00.0005'", ["2020-01-01T00:00:00.001/"]),
    ("t >= '2020-01-01 00:00:00.0005'", ["2020-01-01T00:00:00.001/"]),
    ("t < '2020-01-01 00:00:00.0005'", ["/2020-01-01T00:00:00.001"]),
    ("t <= '2020-01-01 00:00:00.0005'", ["/2020-01-01T00:00:00.001"]),
    ("t >= timestamp '2020-01-01 00:00:00'", ["2020/"]),
    ("t >= date '2020-01-01'", ["2020/"]),
    ("t >= cast('2020-01-01' as timestamp)", ["2020/"]),
    ("t BETWEEN '2020-01-01' AND '2021-01-01'", ["2020/2021-01-01T00:00:00.001"]),
    ("t NOT BETWEEN '2020-01-01' AND '2021-01-01'", ["/2020", "2021-01-01T00:00:00.001/"]),
    ("t >= '2020-01-01' AND t < '2021-01-01'", ["2020/2021"]),
    ("t >= '2020-01-01' AND t < '2021-01-01' OR t >= '2020-06-01' AND t < '2022-01-01'", ["2020/2022"]),
    ("t >= '2020-01-01' AND t < '2021-01-01' OR t >= '2021-01-01' AND t < '2022-01-01'", ["2020/2022"]),
    ("t < '2020-01-01' OR t > '2021-01-01'", ["/2020", "2021-01-01T00:00:00.001/"]),
    ("NOT (t < '2020-01-01' OR t > '2021-01-01')", ["2020/2021-01-01T00:00:00.001"]),
    ("NOT (t >= '2020-01-01' AND t < '2021-01-01')", ["/2020", "2021/"]),
    ("NOT NOT t < '2020-01-01'", ["/2020"]),
    ("(t < '2020-01-01' OR t >= '2021-01-01') AND t >= '2019-01-01'", ["2019/2020", "2021/"]),
    ("t IN ('2020-01-01', '2021-01-01')", ["2020/2020-01-01T00:00:00.001", "2021/2021-01-01T00:00:00.001"]),
    ("t NOT IN ('2020-01-01')", ["/2020", "2020-01-01T00:00:00.001/"]),
    ("t IS NOT NULL AND t < '2020-01-01'", ["/2020"]),
    ("floor_day(t) = '2020-01-01'", ["2020/2020-01-02"]),
    ("floor(t TO DAY) = '2020-01-01'", ["2020/2020-01-02"]),
    ("floor_day(t) = '2020-01-01 12:00:00'", None),
    ("floor_day(t) <> '2020-01-01 12:00:00'", ["/"]),
    ("floor_day(t) < '2020-01-01 12:00:00'", ["/2020-01-02"]),
    ("floor_day(t) <= '2020-01-01'", ["/2020-01-02"]),
    ("floor_day(t) > '2020-01-01'", ["2020-01-02/"]),
    ("floor_day(t) >= '2020-01-01'", ["2020/"]),
    ("floor_day(t) >= '2020-01-01 00:00:01'", ["2020-01-02/"]),
    ("floor_second(t) = '2020-01-01 10:00:01'", ["2020-01-01T10:00:01/2020-01-01T10:00:02"]),
    ("floor_minute(t) = '2020-01-01 10:01:00'", ["2020-01-01T10:01/2020-01-01T10:02"]),
    ("floor_hour(t) = '2020-01-01 10:00:00'", ["2020-01-01T10/2020-01-01T11"]),
    ("floor_week(t) = '2020-01-06'", ["2020-01-06/2020-01-13"]),
    ("floor_week(t) = '2020-01-07'", None),
    ("floor_month(t) = '2020-02-01'", ["2020-02/2020-03"]),
    ("floor_quarter(t) = '2020-04-01'", ["2020-04/2020-07"]),
    ("floor_year(t) = '2020-01-01'", ["2020/2021"]),
    ("floor_month(t) BETWEEN '2020-01-01' AND '2020-03-01'", ["2020/2020-04"]),
    ("floor_month(t) IN ('2020-01-01', '2020-03-01')", ["2020/2020-02", "2020-03/2020-04"]),
    ("year(t) = 2020", ["2020/2021"]),
    ("year(t) <> 2020", ["/2020", "2021/"]),
    ("year(t) < 2020", ["/2020"]),
    ("year(t) <= 2020", ["/2021"]),
    ("year(t) > 2020", ["2021/"]),
    ("year(t) >= 2020", ["2020/"]),
    ("year(t) IN (2018, 2020)", ["2018/2019", "2020/2021"]),
    ("year(t) BETWEEN 2018 AND 2019", ["2018/2020"]),
    ("extract(year FROM t) = 2020", ["2020/2021"]),
    ("cast(t AS date) = '2020-01-01'", ["2020/2020-01-02"]),
    ("to_date(t) = '2020-01-01'", ["2020/2020-01-02"]),
    ("to_date(t) > '2020-01-01'", ["2020-01-02/"]),
    ("cast(t AS date) BETWEEN '2020-01-01' AND '2020-01-31'", ["2020/2020-02"]),
    ("cast(t AS date) IN (date '2020-01-01', date '2020-01-03')", ["2020/2020-01-02", "2020-01-03/2020-01-04"]),
    ("t >= current_date", ["2026-01-15/"]),
    ("t >= current_date - interval '7' day", ["2026-01-08/"]),
    ("t >= date_sub(current_date, 7)", ["2026-01-08/"]),
    ("t >= current_timestamp - interval '1' hour", ["2026-01-15T09:30/"]),
    ("t >= current_timestamp - interval '1' month", ["2025-12-15T10:30/"]),
    ("cast(t AS timestamp) >= '2020-01-01'", ["2020/"]),
]  # fmt: skip


@pytest.mark.parametrize("table", ["ev", "evt"])
@pytest.mark.parametrize(("condition", "expected"), UTC_PREDICATES)
def test_time_predicate_in_utc(condition: str, expected: list[str] | None, table: str) -> None:
    found, rest = where(_named(condition), table=table)
    if expected is None:
        assert rest == {"type": "false"}
    else:
        assert (found, rest) == (between(*expected), None)


def _named(condition: str) -> str:
    """`t` as `__time`."""
    import re

    return re.sub(r"\bt\b", "`__time`", condition)


ZONED_PREDICATES = [
    # a literal without zone is the session's time, with one it is that zone's
    ("US/Pacific", "t >= '2020-01-01'", ["2020-01-01T08/"]),
    ("US/Pacific", "t >= '2020-01-01 00:00:00 UTC'", ["2020/"]),
    ("US/Pacific", "t >= '2020-01-01 00:00:00 Asia/Kolkata'", ["2019-12-31T18:30/"]),
    ("US/Pacific", "t >= timestamp '2020-01-01 00:00:00'", ["2020-01-01T08/"]),
    ("US/Pacific", "t >= date '2020-07-01'", ["2020-07-01T07/"]),
    ("Asia/Kolkata", "t = '2020-01-01'", ["2019-12-31T18:30/2019-12-31T18:30:00.001"]),
    ("Asia/Kolkata", "floor_hour(t) = '2020-01-01 10:00:00'", ["2020-01-01T04:30/2020-01-01T05:30"]),
    ("Asia/Kolkata", "floor_hour(t) = '2020-01-01 10:30:00'", None),
    ("Asia/Kolkata", "floor_month(t) = '2020-02-01'", ["2020-01-31T18:30/2020-02-29T18:30"]),
    # the day on which clocks go forward has 23 hours, and no 02:30
    ("US/Pacific", "floor_day(t) = '2020-03-08'", ["2020-03-08T08/2020-03-09T07"]),
    ("US/Pacific", "cast(t AS date) = '2020-03-08'", ["2020-03-08T08/2020-03-09T07"]),
    ("US/Pacific", "t >= '2020-03-08 02:30:00'", ["2020-03-08T10:30/"]),
    ("US/Pacific", "floor_hour(t) = '2020-03-08 03:00:00'", ["2020-03-08T10/2020-03-08T11"]),
    # the day on which they go back has 25, and 01:30 twice: the earlier one is used
    ("US/Pacific", "floor_day(t) = '2020-11-01'", ["2020-11-01T07/2020-11-02T08"]),
    ("US/Pacific", "t >= '2020-11-01 01:30:00'", ["2020-11-01T08:30/"]),
    ("US/Pacific", "floor_hour(t) = '2020-11-01 01:00:00'", ["2020-11-01T08/2020-11-01T09"]),
    ("US/Pacific", "floor_hour(t) > '2020-11-01 01:00:00'", ["2020-11-01T09/"]),
    ("US/Pacific", "floor_week(t) = '2020-03-02'", ["2020-03-02T08/2020-03-09T07"]),
    ("US/Pacific", "floor_month(t) = '2020-03-01'", ["2020-03-01T08/2020-04-01T07"]),
    ("US/Pacific", "year(t) = 2020", ["2020-01-01T08/2021-01-01T08"]),
    ("US/Pacific", "year(t) = 2020 AND t < '2020-02-01'", ["2020-01-01T08/2020-02-01T08"]),
    ("US/Pacific", "t >= current_date", ["2026-01-15T08/"]),
]  # fmt: skip


@pytest.mark.parametrize(("zone", "condition", "expected"), ZONED_PREDICATES)
def test_zoned_time_predicate(zone: str, condition: str, expected: list[str] | None) -> None:
    found, rest = where(_named(condition), zone)
    if expected is None:
        assert rest == {"type": "false"}
    else:
        assert (found, rest) == (between(*expected), None)


@pytest.mark.parametrize("zone", ["UTC", "US/Pacific", "Asia/Kolkata"])
@pytest.mark.parametrize(("condition", "expected"), UTC_PREDICATES[:40])
def test_plain_time_knows_no_zone(zone: str, condition: str, expected: list[str] | None) -> None:
    found, _ = where(_named(condition), zone, "evt")
    assert found == between(*(["/"] if expected is None else expected))


def test_conditions_that_are_no_intervals_stay_filters_and_the_others_still_prune() -> None:
    found, rest = where("`__time` >= '2020-01-01' AND hour(`__time`) = 3")
    assert found == between("2020/")
    assert rest == {"type": "equals", "column": "vc0", "matchValueType": "LONG", "matchValue": 3}


@pytest.mark.parametrize(
    "condition",
    [
        "`__time` < '2020-01-01' OR hour(`__time`) = 3",
        "`__time` < '2020-01-01' OR quarter(`__time`) = 2",
        "year(`__time`) = 2020 OR month(`__time`) = 4",
        "`__time` < '2020-01-01' OR country = 'US'",
        "NOT (`__time` < '2020-01-01' AND country = 'US')",
    ],
)
def test_or_with_another_condition_reads_all_time(condition: str) -> None:
    found, rest = where(condition)
    assert found == [ETERNITY]
    assert rest is not None
    assert rest["type"] in ("or", "not")


@pytest.mark.parametrize("table", ["ev", "evt"])
def test_an_empty_time_range_is_not_queried(table: str) -> None:
    empty = "`__time` < '2020-01-01' AND `__time` > '2021-01-01'"
    assert constant_rows(plan(f"SELECT clicks FROM {table} WHERE {empty}")) == ()
    assert constant_rows(plan(f"SELECT count(*), sum(clicks) FROM {table} WHERE {empty}")) == ((0, None),)


# --- predicates against the calendar -------------------------------------------------------------------------------

ZONES = ["UTC", "US/Pacific", "Asia/Kolkata", "America/Havana", "America/St_Johns"]
"""Havana changes its clocks at midnight; St. John's did until 2011 at one minute past it: a day ended twice."""
UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
OPERATORS = {
    "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
near_changes = st.sampled_from(
    [
        datetime(2020, 3, 8, 10),
        datetime(2020, 11, 1, 9),
        datetime(2019, 12, 31, 8),
        datetime(1969, 12, 31),
        datetime(2020, 3, 8, 5),
        datetime(2020, 11, 1, 5),
        datetime(2010, 3, 14, 3, 31),
        datetime(2010, 11, 7, 2, 31),
    ]
)
instants = st.builds(
    lambda base, minutes, ms: base + timedelta(minutes=minutes, milliseconds=ms),
    near_changes,
    st.integers(-4000, 4000),
    st.integers(0, 999),
)


def floored(local: datetime, unit: str) -> datetime:
    """The start of the local unit."""
    if unit == "week":
        return datetime(local.year, local.month, local.day) - timedelta(days=local.weekday())
    if unit == "quarter":
        return datetime(local.year, (local.month - 1) // 3 * 3 + 1, 1)
    fields = ["year", "month", "day", "hour", "minute", "second"]
    keep = fields.index(unit) + 1
    values = [local.year, local.month, local.day, local.hour, local.minute, local.second]
    year, *rest = [*values[:keep], *([0, 1, 1, 0, 0, 0][keep:])]
    month, day, hour, minute, second = rest
    return datetime(year, month, day, hour, minute, second)


def instant_of(local: datetime, zone: str) -> datetime:
    return local.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


@given(zone=st.sampled_from(ZONES), unit=st.sampled_from(UNITS), op=st.sampled_from(sorted(OPERATORS)), moment=instants,
       literal=instants, aligned=st.booleans())  # fmt: skip
def test_floor_predicate_means_what_the_calendar_says(
    zone: str, unit: str, op: str, moment: datetime, literal: datetime, aligned: bool
) -> None:
    session = ZoneInfo(zone)
    text = (
        literal.replace(tzinfo=UTC).astimezone(session).replace(tzinfo=None, fold=0)
    )  # a string does not determine which 1:30
    text = floored(text, unit) if aligned else text
    local = moment.replace(tzinfo=UTC).astimezone(session)
    if unit in ("hour", "minute", "second"):  # of the instant: a repeated hour is two hours
        start = moment.replace(tzinfo=UTC) - (local.replace(tzinfo=None) - floored(local.replace(tzinfo=None), unit))
    else:
        start = instant_of(floored(local.replace(tzinfo=None), unit), zone)
    expected = OPERATORS[op](start, instant_of(text, zone))
    found, rest = where(f"floor_{unit}(`__time`) {op} '{text}'", zone)
    at = intervals.iso((moment - datetime(1970, 1, 1)) // timedelta(milliseconds=1))
    if unit == "hour" and rest is not None:  # an hour of other than 60 minutes is near
        assert zone == "America/St_Johns"
        return
    holds = rest is None and any(_key(a) <= _key(at) < _key(b) for a, b in (i.split("/") for i in found))
    assert holds == expected


def _key(text: str) -> tuple[int, str]:
    sign = -1 if text.startswith("-") else 1
    year, _, rest = text.lstrip("-").partition("-")
    return sign * int(year), rest
