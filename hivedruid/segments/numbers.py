"""Numeric columns: LONG, DOUBLE and FLOAT (org.apache.druid.segment.data.CompressedColumnarLongsSupplier)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hivedruid.segments.blocks import Blocks, Unpack, Values, fixed, read_blocks
from hivedruid.segments.codecs import NONE
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Find

_VERSIONS = (2,)
_ENCODED = 126
"""A codec below NONE is this much too low, and is followed by the encoding of the values."""
_LONGS, _DELTA, _TABLE = -1, 0, 1
_BITS = (1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64)
_MOST_TABLE = 256


def byte_order(name: str | None) -> str:
    """The character of numpy for the `byteOrder` of a column descriptor."""
    if name not in (None, "LITTLE_ENDIAN", "BIG_ENDIAN"):
        raise UnsupportedSegmentError(f"unknown byte order {name!r}")
    return "<" if name == "LITTLE_ENDIAN" else ">"


def read_floating(cursor: Cursor, order: str, width: int, find: Find) -> Blocks:
    """DOUBLE (8 bytes) or FLOAT (4 bytes)."""
    total, per_block = _sizes(cursor)
    codec = cursor.i8()
    size, unpack = fixed(f"{order}f{width}")
    return read_blocks(cursor, total, per_block, codec, size, unpack, find)


def read_longs(cursor: Cursor, order: str, find: Find) -> Blocks:
    total, per_block = _sizes(cursor)
    codec, encoding = cursor.i8(), _LONGS
    if codec < NONE:
        codec += _ENCODED
        encoding = cursor.i8()
    if encoding == _LONGS:
        size, unpack = fixed(f"{order}i8")
    elif encoding == _DELTA:
        size, unpack = _delta(cursor)
    elif encoding == _TABLE:
        size, unpack = _table(cursor)
    else:
        raise UnsupportedSegmentError(f"unknown encoding {encoding} of LONG")
    return read_blocks(cursor, total, per_block, codec, size, unpack, find)


def _sizes(cursor: Cursor) -> tuple[int, int]:
    version = cursor.u8()
    if version not in _VERSIONS:
        raise UnsupportedSegmentError(f"unknown version {version} of a numeric column")
    return cursor.count(), cursor.count()


def _delta(cursor: Cursor) -> tuple[Callable[[int], int], Unpack]:
    """Differences to a base, which may wrap."""
    _check_version(cursor)
    base, bits = cursor.i64(), cursor.i32()
    size, unpack = _packed(bits)
    return size, lambda data, count: (unpack(data, count) + np.uint64(base & (2**64 - 1))).view(np.int64)


def _table(cursor: Cursor) -> tuple[Callable[[int], int], Unpack]:
    """Numbers of entries of a table."""
    _check_version(cursor)
    count = cursor.count()
    if count > _MOST_TABLE:
        raise DamagedSegmentError(f"a table of {count} values")
    table = np.frombuffer(cursor.take(8 * count), dtype=">i8").astype(np.int64)
    size, unpack = _packed(next(bits for bits in _BITS if count <= 2**bits))

    def values(data: memoryview, rows: int) -> Values:
        ids = unpack(data, rows)
        if rows and int(ids.max()) >= count:
            raise DamagedSegmentError(f"entry {int(ids.max())} of a table of {count} values")
        return table[ids.view(np.int64)]

    return size, values


def _check_version(cursor: Cursor) -> None:
    if (version := cursor.u8()) != 1:
        raise UnsupportedSegmentError(f"unknown version {version} of an encoding of LONG")


def _packed(bits: int) -> tuple[Callable[[int], int], Unpack]:
    """Unsigned numbers of so many bits, the high ones first, with four bytes behind the last one
    (org.apache.druid.segment.data.VSizeLongSerde)."""
    if bits not in _BITS:
        raise UnsupportedSegmentError(f"LONG with {bits} bits")

    def size(count: int) -> int:
        return -(-count * bits // 8) + 4 if count else 0

    def unpack(data: memoryview, count: int) -> Values:
        packed = np.frombuffer(data, dtype=np.uint8)[: -(-count * bits // 8)]
        if bits < 8:
            return _small(packed, bits, count)
        if bits in (12, 20):
            return _half_bytes(packed, bits, count)
        wide = np.zeros((count, 8), dtype=np.uint8)
        wide[:, 8 - bits // 8 :] = packed.reshape(count, bits // 8)
        return wide.view(">u8").reshape(count).astype(np.uint64)

    return size, unpack


def _small(packed: Values, bits: int, count: int) -> Values:
    return _weighted(np.unpackbits(packed)[: count * bits].reshape(count, bits), 1)


def _half_bytes(packed: Values, bits: int, count: int) -> Values:
    """Two values of 12 or 20 bits share a byte."""
    digits = np.empty(2 * len(packed), dtype=np.uint64)
    digits[0::2], digits[1::2] = packed >> 4, packed & 15
    return _weighted(digits[: count * (bits // 4)].reshape(count, bits // 4), 4)


def _weighted(digits: Values, bits: int) -> Values:
    """Numbers from rows of digits of so many bits, the high ones first."""
    found = np.zeros(len(digits), dtype=np.uint64)
    for place in range(digits.shape[1]):
        found = (found << np.uint64(bits)) | digits[:, place]
    return found
