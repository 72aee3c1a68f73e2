"""What VERIFY TABLE finds, from what was recorded and what was counted."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.actions.tiering.verification import Counted, findings
from hivedruid.catalog.archives import Batch, BatchState, Interval
from hivedruid.engine.segments import Segment


def batch(name: str, state: BatchState = "done", rows: int = 2) -> Batch:
    return Batch(name, "id", state, (Interval(100, 200, "v2"), Interval(300, 400, "v2")), rows)


def states(
    batches: list[Batch],
    counted: list[Counted],
    *,
    after: list[Batch] | None = None,
    segments: tuple[Segment, ...] = (),
) -> list[tuple[str, str | None, str]]:
    found = findings(batches, counted, batches if after is None else after, segments)
    return [(each.part, each.batch, each.state) for each in found]


def test_batches() -> None:
    batches = [batch("a"), batch("b"), batch("c"), batch("gone", rows=1), batch("empty", rows=0)]
    counted = [Counted("a", 2, 100, 399), Counted("b", 2, 100, 400), Counted("c", 3, 100, 101)]
    assert states(batches, counted) == [
        ("cold", "a", "ok"), ("cold", "b", "times differ"), ("cold", "c", "rows differ"),
        ("cold", "gone", "rows differ"), ("cold", "empty", "ok"),
    ]  # fmt: skip


def test_sums_of_the_columns_that_the_table_still_has() -> None:
    recorded = replace(batch("a"), sums=(("n", 5), ("empty", None), ("dropped", 1)))
    for sums, state in (
        ({"n": 5, "empty": None, "added": 9}, "ok"),
        ({"n": 6, "empty": None}, "values differ"),
        ({"n": 5, "empty": 0}, "values differ"),
        ({}, "ok"),
    ):
        assert states([recorded], [Counted("a", 2, 100, 399, sums)]) == [("cold", "a", state)]
    assert states([recorded], [Counted("a", 3, 100, 399, {"n": 6})]) == [("cold", "a", "rows differ")]


def test_rows_without_a_batch_of_the_table() -> None:
    counted = [Counted("x", 1, 5, 5), Counted(None, 7, None, None)]
    assert states([], counted) == [("cold", None, "rows of no batch"), ("cold", "x", "unknown batch")]


def test_cancelled_batches_have_no_rows() -> None:
    batches = [batch("a", "cancelled"), batch("b", "cancelled")]
    assert states(batches, [Counted("b", 2, 100, 101)]) == [
        ("cold", "a", "ok"),
        ("cold", "b", "rows of a cancelled batch"),
    ]


def test_batches_that_change_are_not_judged() -> None:
    assert states([batch("a", "staged")], []) == [("cold", "a", "not completed")]
    assert states([batch("a", "staged")], [], after=[batch("a")]) == [("cold", "a", "not completed")]
    assert states([], [], after=[batch("a")]) == [("cold", "a", "not completed")]


def test_archived_segments_that_are_read() -> None:
    old, tombstone, later = (Segment("s", 100, 200, v, n) for v, n in (("v1", 0), ("v2", 0), ("v2", 1)))
    counted = [Counted("a", 2, 100, 399)]
    assert states([batch("a")], counted, segments=(tombstone, later)) == [("cold", "a", "ok")]
    assert states([batch("a")], counted, segments=(old,)) == [
        ("cold", "a", "ok"),
        ("hot", "a", "archived segments are read"),
    ]
