"""Segments that were overwritten elsewhere."""

from __future__ import annotations

import pytest

from hivedruid.clients.published import overwritten
from hivedruid.clients.segments import not_hidden, written_by_others
from hivedruid.engine.segments import Segment


def segment(start: int, end: int, version: str, number: int = 0, *, is_tombstone: bool = False) -> Segment:
    return Segment("d", start, end, version, number, state="tombstone" if is_tombstone else "used")


ONE, TWO = segment(0, 10, "v1"), segment(10, 20, "v1", 3)


@pytest.mark.parametrize(
    ("theirs", "found"),
    [
        ([], []),
        ([segment(0, 20, "v0"), segment(10, 20, "v1", 0)], []),
        ([segment(20, 30, "v2")], []),
        ([segment(0, 20, "v2")], [ONE, TWO]),
        ([segment(15, 16, "v2")], [TWO]),
        ([segment(0, 10, "v2", is_tombstone=True)], [ONE]),
    ],
)
def test_newer_segments_hide_even_a_part(theirs: list[Segment], found: list[Segment]) -> None:
    assert overwritten([ONE, TWO, segment(0, 20, "v0", is_tombstone=True)], theirs) == found


def test_a_copy_in_what_replaced_the_old_is_what_counts() -> None:
    copy = segment(0, 10, "v2", 1)
    assert overwritten([ONE, copy], [segment(0, 10, "v2")]) == []
    assert overwritten([ONE, copy], [segment(0, 10, "v3")]) == [copy]


def test_what_others_hide_need_not_be_seen_again() -> None:
    """Segments that hide them as a part of the new segments are removed with these."""
    old, new = segment(0, 20, "v0"), segment(0, 20, "v1")
    appended, newer = segment(0, 20, "v1", 1), segment(10, 20, "v2")
    assert not_hidden([old], written_by_others([old, new, appended], [old], [new])) == [old]
    assert not_hidden([old], written_by_others([old, new, newer], [old], [new])) == []
