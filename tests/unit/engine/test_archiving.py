"""Which intervals can be held, and what another process knows of them."""

from __future__ import annotations

import json

from hivedruid.engine.archiving import HeldInterval, Holding, LeftOut, within
from hivedruid.engine.segments import Segment


def segment(start: int, end: int, version: str = "v1", number: int = 0, *, is_tombstone: bool = False) -> Segment:
    return Segment("d", start, end, version, number, state="tombstone" if is_tombstone else "used")


def test_intervals_are_never_cut() -> None:
    """Those of overlapping segments belong together; only tombstones are nothing to hold."""
    there = [
        segment(0, 10), segment(0, 10, number=1), segment(10, 20), segment(12, 13, "v2"), segment(13, 25, "v3"),
        segment(30, 40, is_tombstone=True), segment(40, 50), segment(60, 70),
    ]  # fmt: skip
    inside, beyond = within(there, [(0, 20), (20, 45)])
    assert inside == [(0, 10), (10, 25)]
    assert [(left.start, left.end) for left in beyond] == [(40, 50)]
    assert within(there, [(0, 24)])[0] == [(0, 10)]
    assert within(there, []) == ([], [])


def test_a_holding_is_kept_as_json() -> None:
    """What identifies it: not the reasons of what was left out."""
    held = (HeldInterval(0, 10, "v8"), HeldInterval(10, 20, "v9"), HeldInterval(40, 50, "v9"))
    first = Segment("d", 0, 10, "v1", 2, rows=7, path="p")
    holding = Holding(
        "d", "t", held, (first, segment(10, 15), segment(15, 20), segment(40, 50)), (LeftOut(50, 60, "x"),)
    )
    again = Holding.of_notes(json.loads(json.dumps(holding.notes())))
    assert again == Holding("d", "t", holding.intervals, holding.segments)
    assert (again.segments[0].rows, again.segments[0].path) == (7, "p")
    assert again.spans == ((0, 20), (40, 50))
    assert again.buckets == ((0, 10), (10, 15), (15, 20), (40, 50))
    assert again.version_of((15, 20)) == "v9"
