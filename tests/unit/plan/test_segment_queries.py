"""The division of a scan into queries of single segments."""

from __future__ import annotations

from math import inf

from hivedruid.druid.interval_sets import ALL, IntervalSet, from_json, merged
from hivedruid.plan.segment_files import READ, WORTH
from hivedruid.plan.segment_queries import (
    SLICE,
    THRESHOLD,
    QueryScan,
    ServedSegment,
    ServedSegments,
    divided,
    least_rows,
)

HOUR = 3_600_000


def segment(start: int, end: int, rows: int | None, number: int = 0) -> ServedSegment:
    """A segment of these hours."""
    return ServedSegment("t", start * HOUR, end * HOUR, "v1", number, rows, 10 * (rows or 0), ("http://a:1",))


def scan(*segments: ServedSegment, threshold: int = 100, spans: IntervalSet = ALL) -> QueryScan:
    known = ServedSegments(segments, "http://broker:2", 300.0)
    return divided(spans, ("LONG",), known, threshold)


def numbers(found: QueryScan) -> list[list[int]]:
    return [[query.number for query in piece] for piece in found.pieces]


def covered(found: QueryScan) -> dict[int, IntervalSet]:
    """The time that is queried of each segment; every instant once."""
    times: dict[int, list[tuple[int, int]]] = {}
    for piece in found.pieces:
        for query in piece:
            times.setdefault(query.number, []).extend(from_json([query.interval]))
    for spans in times.values():
        assert sum(end - start for start, end in spans) == sum(end - start for start, end in merged(spans))
    return {number: merged(spans) for number, spans in times.items()}


def test_small_segments_are_read_together() -> None:
    found = scan(*(segment(n, n + 1, 40, n) for n in range(7)))
    assert numbers(found) == [[0, 1, 2], [3, 4, 5], [6]]
    assert (found.segments, found.rows, found.bytes) == (7, 280, 2800)


def test_no_partition_has_more_than_one_segment_of_the_threshold() -> None:
    assert numbers(scan(segment(0, 1, 100, 0), segment(1, 2, 5000, 1), segment(2, 3, 99, 2), segment(3, 4, 1, 3))) == [
        [0],
        [1],
        [2, 3],
    ]


def test_segments_with_an_unknown_number_of_rows_are_read_alone() -> None:
    assert numbers(scan(segment(0, 1, None, 0), segment(1, 2, None, 1))) == [[0], [1]]


def test_a_large_segment_is_divided_by_time() -> None:
    found = scan(segment(0, 24, 4 * SLICE, 0), segment(0, 24, 10, 1))
    assert numbers(found) == [[0], [0], [0], [0], [1]]
    assert covered(found) == {0: ((0, 24 * HOUR),), 1: ((0, 24 * HOUR),)}
    assert numbers(scan(segment(0, 24, 4 * SLICE), threshold=2 * SLICE)) == [[0], [0]]
    instant = ServedSegment("t", 5, 6, "v1", 0, 9 * SLICE, 1, ())
    assert numbers(scan(instant)) == [[0]]
    assert covered(scan(instant)) == {0: ((5, 6),)}


def test_only_the_times_of_the_query_are_read() -> None:
    """Each query has one interval: a data server reports about the segment once for each response."""
    spans = ((HOUR, 2 * HOUR), (3 * HOUR, 4 * HOUR), (90 * HOUR, 91 * HOUR))
    found = scan(segment(0, 24, 50, 0), segment(24, 48, 50, 1), segment(80, 100, 50, 2), spans=spans)
    assert numbers(found) == [[0, 0, 2]]
    assert covered(found) == {0: spans[:2], 2: spans[2:]}
    assert found.segments == 2
    assert scan(segment(0, 24, 50), spans=()).pieces == ()


def test_slices_without_times_of_the_query_are_omitted() -> None:
    found = scan(segment(0, 24, 4 * SLICE, 0), spans=((HOUR, 13 * HOUR),))
    assert covered(found) == {0: ((HOUR, 13 * HOUR),)}
    assert len(found.pieces) == 3


def test_servers() -> None:
    alone = ServedSegment("t", 0, 1, "v1", 0, 500, 1, ())
    assert scan(segment(0, 1, 500), alone).servers == {"http://a:1", "http://broker:2"}


def test_the_threshold() -> None:
    assert least_rows({THRESHOLD: "0", READ: "query"}) == inf
    assert least_rows({THRESHOLD: "10000", READ: "query"}) == 10_000
    assert least_rows({THRESHOLD: "10000", READ: "auto"}) == WORTH
    assert least_rows({THRESHOLD: "500000", READ: "auto"}) == 500_000
