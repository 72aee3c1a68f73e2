"""Of which locked intervals the segments can be removed, and by which tombstones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.clients.archiving import NOT_SEEN, TOO_OLD, sorted_out, tombstones
from hivedruid.clients.fitting import fitted
from hivedruid.clients.task_spec import task_of
from hivedruid.clients.wire import DataSegment
from hivedruid.engine.archiving import HeldInterval, Holding
from hivedruid.engine.segments import Segment

LOCKS = {(0, 10): "v5", (10, 20): "v6"}


def used(start: int, end: int, version: str = "v1", number: int = 0, *, is_tombstone: bool = False) -> Segment:
    return Segment("d", start, end, version, number, state="tombstone" if is_tombstone else "used")


def seen(*segments: Segment) -> list[Segment]:
    return [replace(segment, state="available", replicas=1) for segment in segments]


ONE, TWO = used(0, 10), used(0, 10, number=1)
BELOW, TOMBSTONE = used(0, 10, "v0"), used(0, 10, "v1", is_tombstone=True)


def test_all_readable_segments_are_held() -> None:
    """Hidden ones are not, nor empty intervals; the broker may list a tombstone beside later rows."""
    there = [TWO, BELOW, ONE, used(10, 15, is_tombstone=True)]
    assert sorted_out(LOCKS, there, seen(ONE, TWO)) == ({(0, 10): [ONE, TWO]}, {})
    assert sorted_out(LOCKS, [BELOW, TOMBSTONE, TWO], seen(TOMBSTONE, TWO)) == ({(0, 10): [TWO]}, {})
    parts = [used(10, 15), used(15, 20)]
    assert sorted_out(LOCKS, [*parts, used(10, 20, "v0")], seen(*parts)) == ({(10, 20): parts}, {})


@pytest.mark.parametrize(
    ("there", "read", "reason"),
    [
        ([ONE, TWO], seen(ONE), NOT_SEEN),
        ([ONE], [], NOT_SEEN),
        ([ONE], seen(ONE, BELOW), TOO_OLD),
        ([ONE], [*seen(ONE), replace(TWO, state="realtime")], "a task still serves rows"),
        ([used(0, 11)], seen(used(0, 11)), "a segment reaches beyond the interval"),
        ([used(0, 10, "v5")], seen(used(0, 10, "v5")), "a segment is newer than the lock"),
        (
            [ONE, used(0, 5, "v2")],
            seen(used(5, 10), used(0, 5, "v2")),
            "a segment is hidden in part by a newer one: compact the table",
        ),
    ],
)
def test_the_others_are_left_out(there: list[Segment], read: list[Segment], reason: str) -> None:
    assert sorted_out({(0, 10): "v5"}, there, read) == ({}, {(0, 10): reason})


def test_a_tombstone_for_each_interval_of_segments() -> None:
    """With the version of the lock, and the mark of the task."""
    held = (HeldInterval(0, 10, "v5"), HeldInterval(10, 20, "v6"))
    holding = Holding("d", "hivedruid_t", held, (ONE, TWO, used(10, 15), used(15, 20)))
    found = [fitted(item, DataSegment) for item in tombstones(holding)]
    assert [(item.interval.span, item.version, item.number) for item in found] == [
        ((0, 10), "v5", 0), ((10, 15), "v6", 0), ((15, 20), "v6", 0),
    ]  # fmt: skip
    assert all(item.is_tombstone and task_of(item) == "hivedruid_t" for item in found)
