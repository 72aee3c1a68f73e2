"""Byte strings of any length in blocks (org.apache.druid.segment.data.CompressedVariableSizedBlobColumnSupplier)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.codecs import decompressor
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Bytes, Find
from hivedruid.segments.offsets import Int64s, gathered

_VERSION = 1
_MOST_BLOCK = 1 << 24


class Joined(Protocol):
    """Byte strings."""

    def joined(self) -> tuple[Bytes, Int64s]:
        """The bytes of all values without gaps, and their offsets, one more than there are values."""


@dataclass(frozen=True)
class Container:
    """Compressed blocks of `size` bytes each, of which the last one may have fewer
    (org.apache.druid.segment.data.CompressedBlockReader)."""

    codec: int
    size: int
    ends: Int64s
    data: memoryview

    def bytes(self, length: int) -> Bytes:
        """The first `length` bytes. Raises DamagedSegmentError if there are fewer."""
        if length > len(self.ends) * self.size:
            raise DamagedSegmentError(f"{length} bytes expected in {len(self.ends)} blocks of {self.size}")
        decompress = decompressor(self.codec)
        parts, start = [], 0
        for number, end in enumerate(self.ends.tolist()):
            size = min(self.size, length - number * self.size)
            if size <= 0:
                break
            if not start <= end <= len(self.data):
                raise DamagedSegmentError("the blocks of a container are not within it")
            parts.append(np.frombuffer(decompress(self.data[start:end], size), dtype=np.uint8))
            start = end
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint8)


def read_container(cursor: Cursor, order: str) -> Container:
    if (version := cursor.u8()) != _VERSION:
        raise UnsupportedSegmentError(f"unknown version {version} of compressed blocks")
    codec, size = cursor.i8(), cursor.count()
    if not 0 < size <= _MOST_BLOCK:
        raise DamagedSegmentError(f"blocks of {size} bytes")
    count = cursor.count()
    ends = np.frombuffer(cursor.take(4 * count), dtype=f"{order}i4").astype(np.int64)
    return Container(codec, size, ends, cursor.rest())


def joined_bytes(data: Container, offsets: Int64s) -> tuple[Bytes, Int64s]:
    """The bytes of all values, and their offsets. Raises DamagedSegmentError if these are not sorted from 0 on."""
    if offsets[0] != 0 or np.any(np.diff(offsets) < 0):
        raise DamagedSegmentError("the offsets of a column are not sorted")
    return data.bytes(int(offsets[-1])), offsets


@dataclass(frozen=True)
class Blobs:
    """`total` byte strings."""

    total: int
    offsets: Container
    data: Container
    order: str

    def __len__(self) -> int:
        return self.total

    def joined(self) -> tuple[Bytes, Int64s]:
        """The bytes of all values without gaps, and total + 1 offsets."""
        stored = self.offsets.bytes(8 * self.total).view(f"{self.order}i8")
        offsets = np.zeros(self.total + 1, dtype=np.int64)
        offsets[1:] = stored
        return joined_bytes(self.data, offsets)


def read_blobs(name: str, order: str, find: Find) -> Blobs:
    """The column in the files `name`, `name`_offsets and `name`_compressed. Raises SegmentError."""
    cursor = Cursor(find(name))
    if (version := cursor.u8()) != _VERSION:
        raise UnsupportedSegmentError(f"unknown version {version} of {name!r}")
    total = cursor.count()
    offsets = read_container(Cursor(find(f"{name}_offsets")), order)
    return Blobs(total, offsets, read_container(Cursor(find(f"{name}_compressed")), order), order)


def chosen(data: Bytes, offsets: Int64s, rows: Rows) -> tuple[Bytes, Int64s]:
    """The values of some rows, joined."""
    positions, found = gathered(offsets, rows)
    return data[positions], found


def byte_strings(values: Joined, rows: Rows | None) -> pa.Array:
    """All values, or those of `rows` in their order, as large_binary; null where a value has no bytes. Raises
    SegmentError."""
    data, offsets = values.joined()
    if rows is not None:
        data, offsets = chosen(data, offsets, rows)
    is_null = offsets[1:] == offsets[:-1]
    validity = pa.py_buffer(np.packbits(~is_null, bitorder="little")) if is_null.any() else None
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
