"""Compressed sets of row numbers: Roaring (its portable serialization) and CONCISE, as sorted numpy arrays."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from hivedruid.segments.cursor import Cursor
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError

Rows = npt.NDArray[np.int64]
"""Sorted row numbers."""

NO_RUNS, WITH_RUNS = 12346, 12347
FEW_CONTAINERS = 4
"""With fewer containers, a set with runs has no offsets."""
_ARRAY_LIMIT = 4096
"""A container with more values is a bitmap of 65,536 bits."""


def rows_of(kind: str, data: memoryview, limit: int) -> Rows:
    """The row numbers of a bitmap, all below `limit`. An empty one may have no bytes. Raises SegmentError."""
    if len(data) == 0:
        return np.zeros(0, dtype=np.int64)
    if kind == "roaring":
        found = _roaring(data, limit)
    elif kind == "concise":
        found = _concise(data, limit)
    else:
        raise UnsupportedSegmentError(f"unknown bitmaps {kind!r}")
    if len(found) and int(found[-1]) >= limit:
        raise DamagedSegmentError(f"a bitmap contains row {int(found[-1])} of {limit}")
    return found


# --- Roaring (github.com/RoaringBitmap/RoaringFormatSpec) ---------------------------------------------------------


def _roaring(data: memoryview, limit: int) -> Rows:
    cursor = Cursor(data)
    cookie = _u32(cursor)
    if cookie & 0xFFFF == WITH_RUNS:
        count = (cookie >> 16) + 1
        flags = np.unpackbits(np.frombuffer(cursor.take((count + 7) // 8), dtype=np.uint8), bitorder="little")
        has_offsets = count >= FEW_CONTAINERS
    elif cookie == NO_RUNS:
        count = _u32(cursor)
        flags = np.zeros(0, dtype=np.uint8)
        has_offsets = True
    else:
        raise DamagedSegmentError(f"a Roaring bitmap begins with {cookie}")
    if count > limit // 65_536 + 1:
        raise DamagedSegmentError(f"a Roaring bitmap of {limit} rows has {count} containers")
    keys = np.frombuffer(cursor.take(4 * count), dtype="<u2").reshape(count, 2).astype(np.int64)
    if has_offsets:
        cursor.take(4 * count)
    if not np.all(np.diff(keys[:, 0]) > 0):
        raise DamagedSegmentError("the containers of a Roaring bitmap are not sorted")
    found = []
    for index, (key, cardinality) in enumerate(keys.tolist()):
        is_run = index < len(flags) and bool(flags[index])
        found.append(_container(cursor, cardinality + 1, is_run) + (key << 16))
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _container(cursor: Cursor, cardinality: int, is_run: bool) -> Rows:
    if is_run:
        runs = np.frombuffer(cursor.take(4 * _u16(cursor)), dtype="<u2").reshape(-1, 2).astype(np.int64)
        return _expanded(runs[:, 0], runs[:, 1] + 1)
    if cardinality > _ARRAY_LIMIT:
        bits = np.unpackbits(np.frombuffer(cursor.take(8192), dtype=np.uint8), bitorder="little")
        values: Rows = np.flatnonzero(bits)
        if len(values) != cardinality:
            raise DamagedSegmentError("a container of a Roaring bitmap has another cardinality")
        return values
    values = np.frombuffer(cursor.take(2 * cardinality), dtype="<u2").astype(np.int64)
    if not np.all(np.diff(values) > 0):
        raise DamagedSegmentError("a container of a Roaring bitmap is not sorted")
    return values


def _expanded(starts: Rows, lengths: Rows) -> Rows:
    """All numbers of runs, which must be sorted and within a container."""
    ends = starts + lengths
    if not np.all(starts[1:] >= ends[:-1]) or (len(ends) and int(ends[-1]) > 65_536):
        raise DamagedSegmentError("the runs of a Roaring bitmap overlap")
    total = int(lengths.sum())
    before = np.cumsum(lengths) - lengths
    found: Rows = np.arange(total, dtype=np.int64) + np.repeat(starts - before, lengths)
    return found


def _u32(cursor: Cursor) -> int:
    return int(struct.unpack("<I", cursor.take(4))[0])


def _u16(cursor: Cursor) -> int:
    return int(struct.unpack("<H", cursor.take(2))[0])


# --- CONCISE (it.uniroma3.mat.extendedset.intset.ImmutableConciseSet): 31 bits a word -----------------------------


def _concise(data: memoryview, limit: int) -> Rows:
    if len(data) % 4:
        raise DamagedSegmentError("a CONCISE bitmap ends within a word")
    blocks = limit // 31 + 2
    words: list[tuple[int, int]] = []  # the 31 bits of a block, and how many blocks repeat them
    used = 0
    for word in np.frombuffer(data, dtype=">u4").tolist():
        if word & 0x80000000:
            words.append((word & 0x7FFFFFFF, 1))
            used += 1
            continue
        fill = 0x7FFFFFFF if word & 0x40000000 else 0
        flipped = (word >> 25) & 31
        count = (word & 0x01FFFFFF) + 1
        if flipped:
            words.append((fill ^ (1 << (flipped - 1)), 1))
            count -= 1
            used += 1
        used += count
        if used > blocks:
            raise DamagedSegmentError("a CONCISE bitmap has more blocks than rows")
        if count:
            words.append((fill, count))
    bits = np.array([bits for bits, _ in words], dtype=">u4").view(np.uint8).reshape(-1, 4)
    lowest_first = np.unpackbits(bits, axis=1)[:, :0:-1]  # without the highest bit
    every = np.repeat(lowest_first, [count for _, count in words], axis=0)
    return np.flatnonzero(every.reshape(-1))
