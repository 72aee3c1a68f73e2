"""Dictionary ids: integers of one to four bytes, in blocks or not, one or several a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.blocks import Blocks, Unpack, Values, fixed, read_blocks
from hivedruid.segments.codecs import NONE
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Find
from hivedruid.segments.offsets import gathered

_PLAIN, _PLAIN_LISTS, _COMPRESSED, _COMPRESSED_LISTS = 0, 1, 2, 3


@dataclass(frozen=True)
class Lists:
    """Several ids in each row: row i has those from `offsets[i]` to `offsets[i + 1]`."""

    offsets: Callable[[], Values]
    ids: Blocks
    rows: int

    def values(self, rows: Rows | None) -> tuple[Values, Values]:
        """The ids of all rows, or of `rows`, and their offsets."""
        offsets = self.offsets()
        if np.any(np.diff(offsets) < 0) or int(offsets[0]) != 0 or int(offsets[-1]) > self.ids.total:
            raise DamagedSegmentError("the offsets of a multi-value column are not sorted")
        if rows is None:
            return self.ids.values()[: int(offsets[-1])], offsets
        positions, chosen = gathered(offsets, rows)
        return self.ids.values(positions), chosen


def read_ids(cursor: Cursor, order: str, find: Find) -> Blocks:
    """One id a row, compressed or not."""
    version = cursor.u8()
    if version == _COMPRESSED:
        return _compressed(cursor, order, find)
    if version == _PLAIN:
        return _plain(cursor)
    raise UnsupportedSegmentError(f"unknown version {version} of dictionary ids")


def read_lists(cursor: Cursor, order: str, find: Find) -> Lists:
    """Several ids a row, in blocks (versions 2 and 3, which differ in the width of the offsets) or not (version 1)."""
    version = cursor.u8()
    if version in (_COMPRESSED, _COMPRESSED_LISTS):
        offsets = (_version_2_ids if version == _COMPRESSED else _compressed_ints)(cursor, order, find)
        ids = _version_2_ids(cursor, order, find)
        return Lists(lambda: offsets.values().astype(np.int64), ids, max(0, offsets.total - 1))
    if version == _PLAIN_LISTS:
        return _plain_lists(cursor)
    raise UnsupportedSegmentError(f"unknown version {version} of a multi-value column")


def _version_2_ids(cursor: Cursor, order: str, find: Find) -> Blocks:
    if (version := cursor.u8()) != _COMPRESSED:
        raise UnsupportedSegmentError(f"unknown version {version} of compressed integers")
    return _compressed(cursor, order, find)


def _compressed(cursor: Cursor, order: str, find: Find) -> Blocks:
    """org.apache.druid.segment.data.CompressedVSizeColumnarIntsSupplier, behind its version."""
    width = _width(cursor)
    total, per_block, codec = cursor.count(), cursor.count(), cursor.i8()
    size, unpack = _whole(width, order)
    return read_blocks(cursor, total, per_block, codec, size, unpack, find)


def _compressed_ints(cursor: Cursor, order: str, find: Find) -> Blocks:
    """org.apache.druid.segment.data.CompressedColumnarIntsSupplier: four bytes each."""
    if (version := cursor.u8()) != _COMPRESSED:
        raise UnsupportedSegmentError(f"unknown version {version} of compressed integers")
    total, per_block, codec = cursor.count(), cursor.count(), cursor.i8()
    size, unpack = fixed(f"{order}i4")
    return read_blocks(cursor, total, per_block, codec, size, unpack, find)


def _width(cursor: Cursor) -> int:
    if (width := cursor.u8()) not in (1, 2, 3, 4):
        raise UnsupportedSegmentError(f"integers of {width} bytes")
    return width


def _whole(width: int, order: str) -> tuple[Callable[[int], int], Unpack]:
    if width != 3:
        return fixed(f"{order}u{width}" if width < 4 else f"{order}i4")

    def unpack(data: memoryview, count: int) -> Values:
        wide = np.zeros((count, 4), dtype=np.uint8)
        three = np.frombuffer(data, dtype=np.uint8, count=3 * count).reshape(count, 3)
        if order == ">":
            wide[:, 1:] = three
        else:
            wide[:, :3] = three
        return wide.view(f"{order}i4").reshape(count)

    return (lambda count: 3 * count), unpack


def _plain(cursor: Cursor) -> Blocks:
    """org.apache.druid.segment.data.VSizeColumnarInts, behind its version: big-endian, with 4 - width bytes behind the
    last one."""
    width = _width(cursor)
    data = cursor.take(cursor.count())
    total = (len(data) - (4 - width)) // width
    if total < 0:
        raise DamagedSegmentError("plain integers are truncated")
    size, unpack = _whole(width, ">")
    return Blocks(total, max(1, total), None, data, NONE, size, unpack)


def _plain_lists(cursor: Cursor) -> Lists:
    """org.apache.druid.segment.data.VSizeColumnarMultiInts, behind its version."""
    width = _width(cursor)
    inner = Cursor(cursor.take(cursor.count()))
    rows = inner.count()
    ends = np.frombuffer(inner.take(4 * rows), dtype=">i4").astype(np.int64)
    data = inner.rest()
    total = int(ends[-1]) // width if rows else 0
    size, unpack = _whole(width, ">")
    if total < 0 or np.any(ends % width):
        raise DamagedSegmentError("the offsets of a multi-value column are within an integer")
    ids = Blocks(total, max(1, total), None, data, NONE, size, unpack)
    return Lists(lambda: np.concatenate([np.zeros(1, dtype=np.int64), ends // width]), ids, rows)
