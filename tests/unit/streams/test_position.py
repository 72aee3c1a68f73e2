"""The position of a stream in the snapshots of its table. Each guard has a test that fails without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.catalog.streams import Position, Stream, StreamRecord
from hivedruid.errors import ExecutionError
from hivedruid.iceberg.history import Snapshot, TableHistory
from hivedruid.streams.position import batches, committed, property_of, start_of

STREAM = Stream("abc", "default", "s", "default.r", "default.t", "SELECT id FROM r", "default")
OTHER = replace(STREAM, id="def")


def position(batch: int, snapshot: int | None = None) -> Position:
    return Position(batch, {0: batch * 10}, "topic", snapshot)


def record(batch: int, attempt: int = 0, skipped: dict[int, int] | None = None) -> StreamRecord:
    return StreamRecord(STREAM, "running", position(batch, batch), skipped or {}, attempt)


def history(
    *ids: int, batch_of: dict[int, int], first_parent: int | None = None, current: int | None = None
) -> TableHistory:
    """A chain of snapshots; `batch_of` are the numbers of batches by snapshot."""
    found: dict[int, Snapshot] = {}
    parent = first_parent
    for number in ids:
        summary = property_of(STREAM.id, position(batch_of[number])) if number in batch_of else {}
        found[number] = Snapshot(number, parent, 0, summary)
        parent = number
    return TableHistory(current if current is not None else parent, found, {})


def test_the_newest_batch_counts_whatever_follows() -> None:
    found = history(1, 2, 3, 4, batch_of={1: 0, 2: 1, 3: 2})
    assert committed(found, record(1)) == position(2, 3)
    assert [each.batch for _, each in batches(found, STREAM.id)] == [2, 1, 0]


def test_the_batches_of_other_streams_do_not_count() -> None:
    with pytest.raises(ExecutionError, match="none of the table's snapshots is one of its batches"):
        committed(history(1, 2, batch_of={1: 0, 2: 1}), replace(record(1), stream=OTHER))


def test_a_stream_without_offsets_does_not_begin_anew() -> None:
    with pytest.raises(ExecutionError, match="not known"):
        committed(history(1, batch_of={}), record(3))


def test_a_table_that_was_rolled_back() -> None:
    with pytest.raises(ExecutionError, match="rolled back to batch 1, after batch 2"):
        committed(history(1, 2, 3, batch_of={1: 0, 2: 1, 3: 2}, current=2), record(2))


def test_expired_ancestors() -> None:
    """The copy counts, unless a commit is in doubt: then only a snapshot of that very batch does."""
    cut = history(7, batch_of={}, first_parent=6)
    assert committed(cut, record(3)) == record(3).position
    with pytest.raises(ExecutionError, match="whether batch 4 was committed"):
        committed(cut, record(3, attempt=4))
    tagged = replace(cut, snapshots={**cut.snapshots, 5: Snapshot(5, 4, 0, property_of(STREAM.id, position(4)))})
    assert committed(tagged, record(3, attempt=4)) == position(4, 5)
    older = replace(cut, snapshots={**cut.snapshots, 5: Snapshot(5, 4, 0, property_of(STREAM.id, position(3)))})
    with pytest.raises(ExecutionError, match="whether batch 4 was committed"):
        committed(older, record(3, attempt=4))


def test_skipped_offsets_follow_one_position() -> None:
    assert start_of(record(2, skipped={0: 25}), position(2, 2)) == {0: 25}
    assert start_of(record(2, skipped={0: 25}), position(3, 3)) == {0: 30}
