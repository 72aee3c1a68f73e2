"""The partitions of a scan of segment files."""

from __future__ import annotations

import pytest

from hivedruid.plan.segment_files import PIECE, SegmentFile, pieces


@pytest.mark.parametrize(("location", "of"), [("/deep/index", 3), ("s3://bucket/deep/index.zip", 1)])
def test_large_segments_are_divided_where_they_are_not_copied(location: str, of: int) -> None:
    file = SegmentFile("id", 0, 10, "v1", 0, location, 2 * PIECE + 1)
    found = pieces(((5, 20),), [file])
    assert [(piece.location, piece.intervals, piece.number, piece.of) for piece in found] == [
        (location, ((5, 10),), number, of) for number in range(of)
    ]
    assert pieces(((10, 20),), [file]) == ()
