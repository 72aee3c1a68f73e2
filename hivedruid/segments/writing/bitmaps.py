"""Writes Roaring bitmaps: one, or those of all values of a column at once.

A container holds its rows as a sorted array, as a bitmap of 65,536 bits, or as runs, whichever is smallest, as Druid's
`runOptimize` does.
"""

from __future__ import annotations

import numpy as np

from hivedruid.segments.bitmaps import FEW_CONTAINERS, NO_RUNS, WITH_RUNS, Rows
from hivedruid.segments.generic import PREFIX, Bytes
from hivedruid.segments.offsets import Int64s
from hivedruid.segments.writing.lists import framed

_BITMAP_BYTES = 8192


def roaring(rows: Rows) -> bytes:
    """Sorted, unique row numbers as one bitmap."""
    data, ends = _bitmaps(rows, np.array([0, len(rows)], dtype=np.int64))
    return data.tobytes()[PREFIX : int(ends[0])]


def indexed_roaring(rows: Rows, offsets: Int64s) -> bytes:
    """A list of bitmaps: bitmap i contains the sorted, unique rows from `offsets[i]` to `offsets[i + 1]`."""
    data, ends = _bitmaps(rows, offsets)
    return framed(data.tobytes(), ends)


def _bitmaps(rows: Rows, offsets: Int64s) -> tuple[Bytes, Int64s]:
    """The bitmaps, each behind a prefix of 4 bytes, and their ends."""
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    containers = _Containers(rows, owners)
    counts = np.bincount(containers.owners, minlength=len(offsets) - 1).astype(np.int64)
    has_runs = np.zeros(len(counts), dtype=np.bool_)
    has_runs[containers.owners[containers.is_run]] = True
    flags = np.where(has_runs, (counts + 7) // 8, 0)
    has_offsets = ~has_runs | (counts >= FEW_CONTAINERS)
    heads = np.where(has_runs, 4, 8) + flags + 4 * counts + np.where(has_offsets, 4 * counts, 0)
    bodies = np.zeros(len(counts), dtype=np.int64)
    np.add.at(bodies, containers.owners, containers.sizes)
    ends = np.cumsum(PREFIX + heads + bodies)
    starts = ends - heads - bodies
    out = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)

    _put32(out, starts, np.where(has_runs, WITH_RUNS + ((counts - 1) << 16), NO_RUNS))
    plain = ~has_runs
    _put32(out, starts[plain] + 4, counts[plain])

    first = np.cumsum(counts) - counts
    number = np.arange(len(containers.owners), dtype=np.int64) - first[containers.owners]  # within its bitmap
    owner = containers.owners
    run = containers.is_run
    flag_at = starts[owner[run]] + 4 + number[run] // 8
    np.bitwise_or.at(out, flag_at, (1 << (number[run] % 8)).astype(np.uint8))
    keys_at = starts[owner] + np.where(has_runs[owner], 4, 8) + flags[owner] + 4 * number
    _put16(out, keys_at, containers.keys)
    _put16(out, keys_at + 2, containers.counts - 1)
    before = np.cumsum(containers.sizes) - containers.sizes
    within = heads[owner] + before - before[first[owner]] if len(owner) else before
    offset_at = keys_at + 4 * counts[owner]
    listed = has_offsets[owner]
    _put32(out, offset_at[listed], within[listed])
    containers.write(out, starts[owner] + within)
    return out, ends


class _Containers:
    """The rows by bitmap and by their higher 16 bits."""

    def __init__(self, rows: Rows, owners: Int64s) -> None:
        keys = rows >> 16
        self.lows = rows & 0xFFFF
        is_first = np.ones(len(rows), dtype=np.bool_)
        is_first[1:] = (owners[1:] != owners[:-1]) | (keys[1:] != keys[:-1])
        self.starts = np.flatnonzero(is_first)
        self.owners, self.keys = owners[self.starts], keys[self.starts]
        self.counts = np.diff(np.append(self.starts, len(rows)))
        begins_run = is_first.copy()
        begins_run[1:] |= self.lows[1:] != self.lows[:-1] + 1
        self.run_starts = np.flatnonzero(begins_run)
        self.run_container = np.cumsum(is_first)[self.run_starts] - 1
        self.runs = np.bincount(self.run_container, minlength=len(self.starts)).astype(np.int64)
        array = np.minimum(2 * self.counts, _BITMAP_BYTES)
        self.is_run = 2 + 4 * self.runs < array
        self.sizes = np.where(self.is_run, 2 + 4 * self.runs, array)

    def write(self, out: Bytes, places: Int64s) -> None:
        """Write each container at its place."""
        sizes = self.counts
        is_array = ~self.is_run & (2 * sizes <= _BITMAP_BYTES)
        container = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        position = np.arange(len(self.lows), dtype=np.int64) - self.starts[container] if len(container) else container
        chosen = is_array[container]
        _put16(out, places[container[chosen]] + 2 * position[chosen], self.lows[chosen])

        _put16(out, places[self.is_run], self.runs[self.is_run])
        chosen = self.is_run[self.run_container]
        owner = self.run_container[chosen]
        first = np.cumsum(self.runs) - self.runs
        number = np.arange(len(self.run_starts), dtype=np.int64)[chosen] - first[owner]
        lengths = np.diff(np.append(self.run_starts, len(self.lows)))[chosen]
        _put16(out, places[owner] + 2 + 4 * number, self.lows[self.run_starts[chosen]])
        _put16(out, places[owner] + 4 + 4 * number, lengths - 1)

        for index in np.flatnonzero(~self.is_run & ~is_array).tolist():
            bits = np.zeros(65_536, dtype=np.uint8)
            bits[self.lows[self.starts[index] : self.starts[index] + sizes[index]]] = 1
            out[places[index] : places[index] + _BITMAP_BYTES] = np.packbits(bits, bitorder="little")


def _put16(out: Bytes, places: Int64s, values: Int64s) -> None:
    out[places] = values & 0xFF
    out[places + 1] = values >> 8


def _put32(out: Bytes, places: Int64s, values: Int64s) -> None:
    for byte in range(4):
        out[places + byte] = values >> (8 * byte) & 0xFF
