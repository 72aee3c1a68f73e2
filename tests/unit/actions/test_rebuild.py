"""The intervals that an incremental REBUILD recomputes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hivedruid.actions.materialized.rebuild import Incremental, incremental, within
from hivedruid.catalog.materialized_views import Built, SourceState, ViewFacts
from hivedruid.catalog.table import Column, Table
from hivedruid.plan.build import Builder
from hivedruid.plan.nodes import Node
from hivedruid.plan.show import tree
from tests.support.planning import parse, snapshot

DAY = 86_400_000


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def segment(day: str, name: str, days: int = 1) -> tuple[int, int, str]:
    return (at(day), at(day) + days * DAY, name)


OLD = SourceState("d", (segment("2020-01-01", "a"), segment("2020-01-02", "b")))
NEW = replace(OLD, segments=(segment("2020-01-01", "a"), segment("2020-01-02", "b2"), segment("2020-01-03", "c")))
OWN = SourceState("v", ())


def node_of(sql: str, zone: str = "UTC") -> Node:
    expression, source = parse(sql)
    return Builder(source, snapshot(zone)).query(expression, None)


def changes(
    sql: str, *, granularity: str = "DAY", zone: str = "UTC", old: SourceState = OLD, new: SourceState = NEW
) -> Incremental | str:
    node = node_of(sql, zone)
    columns = tuple(Column(c.name, c.type) for c in node.columns)
    table = Table(
        "default", "v", "druid", columns, properties={"druid.segment.granularity": granularity}, view_text=sql
    )
    then = Built(("default.ev",), {"default.ev": old}, OWN, {"hive.local.time.zone": zone})
    return incremental(ViewFacts(table, then, {}, OWN), replace(then, sources={"default.ev": new}), node)


def spans(found: Incremental | str) -> list[tuple[str, str]]:
    assert isinstance(found, Incremental), found
    return [
        tuple(datetime.fromtimestamp(edge / 1000, UTC).isoformat(" ")[:16] for edge in span)  # type: ignore[misc]
        for span in found.intervals
    ]


def test_the_segments_that_differ() -> None:
    found = changes("SELECT `__time`, country FROM ev WHERE clicks > 3")
    assert spans(found) == [("2020-01-02 00:00", "2020-01-04 00:00")]


@pytest.mark.parametrize(
    ("unit", "granularity", "expected"),
    [
        ("day", "DAY", ("2020-01-02 00:00", "2020-01-04 00:00")),
        ("hour", "HOUR", ("2020-01-02 00:00", "2020-01-04 00:00")),
        ("day", "MONTH", ("2020-01-01 00:00", "2020-02-01 00:00")),
        ("month", "DAY", ("2020-01-01 00:00", "2020-01-04 00:00")),
        ("month", "YEAR", ("2020-01-01 00:00", "2021-01-01 00:00")),
        ("week", "WEEK", ("2019-12-30 00:00", "2020-01-06 00:00")),
        ("year", "QUARTER", ("2020-01-01 00:00", "2020-04-01 00:00")),
        ("day", "SIX_HOUR", ("2020-01-02 00:00", "2020-01-04 00:00")),
    ],
)
def test_whole_segments_of_the_view_from_the_bucket_on(unit: str, granularity: str, expected: tuple[str, str]) -> None:
    sql = f"SELECT floor_{unit}(`__time`) AS `__time`, count(*) AS n FROM ev GROUP BY floor_{unit}(`__time`)"
    assert spans(changes(sql, granularity=granularity)) == [expected]


def test_buckets_of_another_zone_begin_up_to_their_length_before() -> None:
    sql = "SELECT floor_day(`__time`) AS `__time`, count(*) AS n FROM ev GROUP BY floor_day(`__time`)"
    assert spans(changes(sql, zone="US/Pacific")) == [("2019-12-31 00:00", "2020-01-04 00:00")]


def test_segments_that_went_or_that_grow_count() -> None:
    sql = "SELECT `__time`, country FROM ev"
    assert spans(changes(sql, new=replace(OLD, segments=OLD.segments[:1] if OLD.segments else ()))) == [
        ("2020-01-02 00:00", "2020-01-03 00:00")
    ]
    growing = replace(OLD, growing=((at("2020-01-09"), at("2020-01-09") + 3_600_000),))
    assert spans(changes(sql, new=growing)) == [("2020-01-09 00:00", "2020-01-10 00:00")]
    assert spans(changes(sql, old=growing, new=OLD)) == [("2020-01-09 00:00", "2020-01-10 00:00")]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT `__time`, clicks FROM ev ORDER BY clicks LIMIT 3", "its query has LIMIT over the tables"),
        ("SELECT max(`__time`) AS `__time`, country FROM ev GROUP BY country", "its __time is not the source's __time, nor that rounded down"),
        ("SELECT e.`__time`, d.region FROM ev e JOIN dim d ON e.country = d.country", "its query reads more than one Druid table"),
        ("SELECT `__time`, sum(clicks) OVER (PARTITION BY country) AS s FROM ev", "its query has a window function or a subquery over the tables"),
    ],
)  # fmt: skip
def test_what_needs_all_rows(sql: str, reason: str) -> None:
    assert changes(sql) == reason


def test_segments_without_a_known_cut_need_all_rows() -> None:
    sql = "SELECT `__time`, country FROM ev"
    assert changes(sql, granularity="ALL") == "its segments (ALL) cannot be replaced individually"
    eternal = replace(OLD, segments=((-(1 << 62), (1 << 62) - 1, "e"),))
    assert changes(sql, old=eternal, new=OLD) == "its source's segments are not partitioned by time"
    assert changes(sql, new=replace(NEW, definition="d9")) == "the definition of its sources has changed"


def test_the_query_of_the_intervals() -> None:
    node = node_of("SELECT floor_day(`__time`) AS `__time`, count(*) AS n FROM evt GROUP BY floor_day(`__time`)")
    text = tree(within(node, Incremental(((0, DAY), (3 * DAY, 4 * DAY)))))[0]
    assert "1970-01-01 00:00:00" in text
    assert "1970-01-05 00:00:00" in text
    assert " OR " in text
