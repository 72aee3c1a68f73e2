"""Random tables: values at the edges of every type, many nulls, many duplicates."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from math import gcd
from typing import Any

from hypothesis import strategies as st

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    HiveType,
    array_of,
)

ZONES = ("UTC", "US/Pacific", "Asia/Kolkata", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe")
"""Havana skips midnights and repeats others, Beirut only skips them; Lord Howe changes its clocks by half an hour."""
TIME_TYPES = (TIMESTAMP_LTZ, TIMESTAMP)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def millis(text: str) -> int:
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)


TIMES = [
    millis(text)
    for text in (
        "2020-01-01T00:00:00", "2020-01-01T00:00:00.001", "2019-12-31T23:59:59.999", "2020-02-29T12:34:56.789",
        # US/Pacific: summer time begins on 2020-03-08 at 10:00 UTC, and ends on 2020-11-01 at 09:00
        "2020-03-08T07:59:59.999", "2020-03-08T08:00:00", "2020-03-08T09:30:00", "2020-03-08T10:00:00", "2020-03-08T10:30:00.5",
        "2020-03-09T06:59:59.999", "2020-11-01T07:00:00", "2020-11-01T08:30:00", "2020-11-01T09:30:00", "2020-11-02T07:59:59",
        # midnights and years of Asia/Kolkata
        "2019-12-31T18:30:00", "2020-06-14T18:29:59.999", "2020-06-14T18:30:00", "2020-06-15T10:15:00.25",
        # America/Havana has no midnight on 2020-03-08, which begins at 05:00 UTC, and two on 2020-11-01, at 04:00 and
        # 05:00
        "2020-03-08T04:59:59.999", "2020-03-08T05:00:00", "2020-03-09T04:30:00", "2020-11-01T04:00:00", "2020-11-01T04:30:00",
        "2020-11-01T05:00:00", "2020-11-01T05:30:00", "2020-11-02T04:59:59.999",
        # Asia/Beirut has no midnight on 2020-03-29, which begins at 2020-03-28 22:00 UTC, and repeats the hour before
        # 2020-10-25
        "2020-03-28T21:59:59.999", "2020-03-28T22:00:00", "2020-03-29T21:30:00", "2020-10-24T20:30:00", "2020-10-24T21:30:00", "2020-10-24T22:00:00",
        # Australia/Lord_Howe: half an hour back on 2020-04-04 at 15:00 UTC, and forward on 2020-10-03 at 15:30
        "2020-04-04T14:15:00", "2020-04-04T14:45:00", "2020-04-04T15:15:00", "2020-10-03T15:15:00", "2020-10-03T15:45:00",
        "2021-01-03T12:00:00", "2021-01-04T00:00:00", "2020-12-31T08:00:00", "2021-01-01T07:59:59.999",
        "1970-01-01T00:00:00", "1969-12-31T23:59:59.999", "1969-07-20T20:17:40.12", "1950-05-05T05:05:05.005", "2050-07-01T00:00:00",
    )
]  # fmt: skip

STRINGS = [
    "", "a", "b", "A", "ab", "Ab", "abc", "a b", " a", "a ", "  ", "a%b", "a_b", "%", "_", "it's", 'say "x"', "back\\slash",
    "ä", "Ärger", "日本語", "naïve", "0", "1", "12", "-7", "3.5", "1e3", "12.7", " 5", "true", "2020-01-01", "a.b", "a+b", "ñ\tz",
    "a😀b", "😀", "😀😀x", "x𝒳yz",
]  # fmt: skip
WORDS = ["x", "y", "z", "X", "😀"]
NUMBERS_AS_TEXT = [
    "0",
    "1",
    "-1",
    "10",
    "9",
    "2.5",
    "-0.5",
    "1e2",
    "007",
    "abc",
    "",
    " 3 ",
    "99999999999",
    "2020-01-01",
    "2020-03-08 10:30:00",
]

SMALL = [0, 1, -1, 2, 3, 5, 7, 10, 100, -100]
BIG = [
    2**53, 2**53 + 1, -(2**53) - 1, 2**31, -(2**31) - 1, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**63 - 2, 4611686018427387905, 0, 1,
]  # fmt: skip
DOUBLES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.1,
    3.14159,
    100.25,
    -99.995,
    1e-300,
    1e300,
    1e15,
    -1e12,
    123456789.123,
    4.9e-324,
]
"""No two large ones of different sign: their sum would depend on the order of the rows."""
FLOATS = [0.0, 1.0, -1.0, 0.5, 1.5, 1.1, -2.25, 100.125, 0.1, 1e10, 1e-10, 16777216.0]

ARRAYS = [
    (), (None,), ("x",), ("x", None), (None, "y"), ("y", "x", "y"), ("",), ("", "X"), ("x", "y"), (None, None), ("a😀b", "z"), ("z",), ("A",),
]  # fmt: skip
"""Druid stores the first two as NULL."""

COLUMNS: dict[str, tuple[HiveType, list[Any]]] = {
    "s": (STRING, STRINGS),
    "w": (STRING, WORDS),
    "n": (STRING, NUMBERS_AS_TEXT),
    "b": (BOOLEAN, [True, False]),
    "ti": (TINYINT, [*SMALL, 127, -128]),
    "sm": (SMALLINT, [*SMALL, 32767, -32768]),
    "i": (INT, [*SMALL, 2**31 - 1, -(2**31), 65536]),
    "l": (BIGINT, [*SMALL, 2**40, -(2**40)]),
    "big": (BIGINT, BIG),
    "d": (DOUBLE, DOUBLES),
    "f": (FLOAT, FLOATS),
    "tags": (array_of(STRING), ARRAYS),
}
"""The columns beside `__time` and the unique `id`, with the values that they are drawn from."""

FIELDS = {"w": "theWord", "l": "Long Number"}
"""Columns that have another name in Druid."""

SECOND: dict[str, tuple[HiveType, list[Any]]] = {name: COLUMNS[name] for name in ("w", "l", "d")}


@dataclass(frozen=True)
class RandomTable:
    """A Druid table and its rows; times are milliseconds since the epoch."""

    table: Table
    rows: tuple[tuple[Any, ...], ...]

    def without(self, start: int, stop: int) -> RandomTable:
        return replace(self, rows=self.rows[:start] + self.rows[stop:])


@dataclass(frozen=True)
class World:
    """The tables of one group of queries: a session zone, the table `t`, and a smaller one `u` to join it with.

    With `split`, a seed, queries also run over tiered tables with the same rows; see `tiered.py`.
    """

    zone: str
    time: HiveType
    t: RandomTable
    u: RandomTable
    split: int | None = None

    @property
    def tables(self) -> tuple[RandomTable, RandomTable]:
        return (self.t, self.u)


def documents(random: RandomTable) -> str:
    """The rows as staged: JSON lines without nulls."""
    names = [column.field_name for column in random.table.columns]
    pairs = (zip(names, row, strict=True) for row in random.rows)
    return "".join(json.dumps({name: v for name, v in row if v is not None}) + "\n" for row in pairs)


def druid_table(name: str, time: HiveType, columns: dict[str, tuple[HiveType, list[Any]]]) -> Table:
    listed = (
        Column("__time", time),
        Column("id", BIGINT),
        *(Column(n, t, field=FIELDS.get(n)) for n, (t, _) in columns.items()),
    )
    return Table(
        "default", name, "druid", listed, properties={"druid.rollup": "false", "druid.segment.granularity": "YEAR"}
    )


def _rows(columns: dict[str, tuple[HiveType, list[Any]]], most: int) -> st.SearchStrategy[tuple[tuple[Any, ...], ...]]:
    cells = [st.one_of(st.sampled_from(values), st.sampled_from(values), st.none()) for _, values in columns.values()]
    rows = st.lists(st.tuples(st.sampled_from(TIMES), *cells), max_size=most)
    return rows.map(lambda found: tuple((time, id_, *rest) for id_, (time, *rest) in enumerate(found)))


@st.composite
def worlds(draw: st.DrawFn, zone: str, time: HiveType) -> World:
    t = RandomTable(druid_table("t", time, COLUMNS), draw(_rows(COLUMNS, 30)))
    return World(zone, time, t, RandomTable(druid_table("u", time, SECOND), draw(_rows(SECOND, 8))))


def _stride(least: int, size: int) -> int:
    """A step for each column that reaches all values, and different steps, so that equal values do not meet in every
    row.
    """
    return next(step for step in count(least) if gcd(step, size) == 1)


def full_world(zone: str, time: HiveType) -> World:
    """Every value of every column, with a null in each, for the sweep over all operators."""
    longest = max(len(TIMES), *(len(values) for _, values in COLUMNS.values())) + 1

    def rows(columns: dict[str, tuple[HiveType, list[Any]]], size: int) -> tuple[tuple[Any, ...], ...]:
        made = []
        for number in range(size):
            cells = [
                [*values, None][(number * _stride(place + 1, len(values) + 1) + place) % (len(values) + 1)]
                for place, (_, values) in enumerate(columns.values())
            ]
            made.append((TIMES[number % len(TIMES)], number, *cells))
        return tuple(made)

    t = RandomTable(druid_table("t", time, COLUMNS), rows(COLUMNS, 3 * longest))
    return World(zone, time, t, RandomTable(druid_table("u", time, SECOND), rows(SECOND, 12)))
