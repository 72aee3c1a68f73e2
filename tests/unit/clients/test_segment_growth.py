"""Segments of one ingestion have the same version and number: comparing them is linear all the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from hivedruid.clients import fitting, wire
from hivedruid.clients.published import overwritten
from hivedruid.clients.segment_list import combined
from hivedruid.clients.segments import not_hidden
from hivedruid.druid.interval_sets import Cover
from hivedruid.embedded.remainders import cut_segments
from hivedruid.engine.segments import Segment, hidden, parts_of
from tests.support.instructions import instructions

FEW, MANY = 50, 400
LINEAR = 1.3
"""The most by which the work for MANY segments exceeds that for FEW, beyond their number: logarithms."""
DAY = timedelta(days=1)
FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def millis(day: int) -> int:
    return int((FIRST + day * DAY).timestamp() * 1000)


def segments(size: int, version: str = "v1") -> list[Segment]:
    return [
        Segment("t", millis(2 * n), millis(2 * n + 1), version, 0, state="available", replicas=1) for n in range(size)
    ]


def stored(size: int) -> list[wire.DataSegment]:
    return [
        fitting.fitted(
            {
                "dataSource": "d", "overshadowed": False, "replicationFactor": 1, "interval": segment.interval, "version": "v1", "size": 9,
                "shardSpec": {"type": "numbered", "partitionNum": 0, "partitions": 1}, "identifier": segment.id,
            },
            wire.DataSegment,
        )
        for segment in segments(size)
    ]  # fmt: skip


def listing(size: int) -> Callable[[], object]:
    found, visible = stored(size), segments(size)
    return lambda: combined("t", found, visible, {})


def waiting(size: int) -> Callable[[], object]:
    some = segments(size)

    def missing() -> list[Segment]:
        parts = parts_of(some)
        return [segment for segment in some if not segment.has_part_in(parts)]

    return missing


def restoring(size: int) -> Callable[[], object]:
    old, new = segments(size), segments(size, "v2")
    return lambda: not_hidden(old, new)


def replaced(size: int) -> Callable[[], object]:
    old, new = segments(size), segments(size, "v2")
    return lambda: hidden(old, new)


def taken_back(size: int) -> Callable[[], object]:
    old, new = segments(size), segments(size, "v2")
    return lambda: overwritten(old, new)


def cutting(size: int) -> Callable[[], object]:
    some = segments(size)
    return lambda: cut_segments(some, [(segment.start, segment.end) for segment in some])


@pytest.mark.parametrize("work", [listing, waiting, restoring, replaced, taken_back, cutting])
def test_work_is_linear(work: Callable[[int], Callable[[], object]]) -> None:
    few, many = (instructions(work(size)) for size in (FEW, MANY))
    assert many / few < MANY / FEW * LINEAR


def test_every_visible_part_is_listed_with_its_segment() -> None:
    found = combined("t", stored(MANY), segments(MANY), {s.id: n for n, s in enumerate(segments(MANY))})
    assert [segment.rows for segment in found] == list(range(MANY))
    assert {segment.state for segment in found} == {"available"}


def test_a_segment_is_hidden_by_newer_ones_together() -> None:
    old = Segment("t", 0, 30, "v1", 0)
    halves = [Segment("t", 0, 10, "v2", 0), Segment("t", 10, 30, "v3", 0)]
    assert hidden([old], halves) == {old}
    assert hidden([old], halves[:1]) == set()
    assert not_hidden([old], halves[:1]) == []
    assert not_hidden([old, *halves], [old]) == [old, *halves]


@pytest.mark.parametrize(
    ("added", "overlaps", "contains"),
    [
        ([(0, 10), (20, 30)], [(5, 25), (9, 10), (29, 40)], [(0, 10), (2, 3), (20, 30)]),
        ([(0, 10), (20, 30), (10, 20)], [(10, 20), (-5, 1)], [(0, 30)]),
        ([(0, 10), (-5, 40)], [(39, 50)], [(-5, 40)]),
    ],
)
def test_cover(added: list[tuple[int, int]], overlaps: list[tuple[int, int]], contains: list[tuple[int, int]]) -> None:
    grown = Cover()
    for start, end in added:
        grown.add(start, end)
    for cover in (grown, Cover(added)):
        assert all(cover.overlaps(*interval) for interval in [*overlaps, *contains])
        assert all(cover.contains(*interval) for interval in contains)
        assert not any(cover.contains(*interval) for interval in overlaps if interval[1] - interval[0] > 10)
        assert not cover.overlaps(100, 200)
        assert not cover.overlaps(-20, -5)
