"""Writes GenericIndexed lists of version 1, as `generic.read_indexed` reads them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.generic import PREFIX, Bytes
from hivedruid.segments.offsets import Int64s

_MOST_BYTES = 2**31 - 1


def indexed(data: Bytes, offsets: Int64s, *, has_null: bool = False, is_sorted: bool = False) -> bytes:
    """The values between len + 1 offsets of `data`. With `has_null`, the first value, which is empty, is null."""
    count = len(offsets) - 1
    sizes = np.diff(offsets)
    ends = np.cumsum(sizes + PREFIX)
    values = np.zeros(int(ends[-1]) if count else 0, dtype=np.uint8)
    if count:
        is_data = np.ones(len(values), dtype=np.bool_)
        starts = ends - sizes - PREFIX
        for byte in range(PREFIX):
            is_data[starts + byte] = False
        values[is_data] = data[int(offsets[0]) : int(offsets[-1])]
        if has_null:
            values[:PREFIX] = 0xFF
    return framed(values.tobytes(), ends, is_sorted=is_sorted)


def framed(values: bytes, ends: Int64s, *, is_sorted: bool = False) -> bytes:
    """A list whose values, each behind its prefix, are complete."""
    size = 4 + 4 * len(ends) + len(values)
    if size > _MOST_BYTES:
        raise UnsupportedSegmentError("a column has more than 2 GB; write fewer rows to a segment")
    return b"".join([
        struct.pack(">BBii", 1, int(is_sorted), size, len(ends)), ends.astype(">i4").tobytes(), values,
    ])  # fmt: skip


def indexed_blocks(blocks: Sequence[bytes]) -> bytes:
    """Blocks as a list; large ones, of which there are few."""
    prefix = bytes(PREFIX)
    ends = np.cumsum(np.array([len(block) + PREFIX for block in blocks], dtype=np.int64))
    return framed(b"".join(part for block in blocks for part in (prefix, block)), ends)


def names(texts: Sequence[str | None]) -> bytes:
    """A list of names, some of which are null."""
    values = [None if text is None else text.encode() for text in texts]
    parts = [b"\xff" * PREFIX if value is None else bytes(PREFIX) + value for value in values]
    ends = np.cumsum(np.array([len(part) for part in parts], dtype=np.int64))
    return framed(b"".join(parts), ends)
