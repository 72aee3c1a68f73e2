"""Pairs of a time and a value, which the aggregators stringFirst, longLast and the like store
(org.apache.druid.query.aggregation.AbstractSerializableLongObjectPairSerde and its subclasses)."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa

from hivedruid.java_numbers import double_text
from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.blobs import Container, byte_strings, joined_bytes
from hivedruid.segments.codecs import LZ4
from hivedruid.segments.cursor import Cursor, text
from hivedruid.segments.distinct import converted_distinct, spelled
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Bytes, Find, Indexed, read_indexed
from hivedruid.segments.offsets import Int64s
from hivedruid.segments.texts import NUMBER_PAIRS, TEXT_PAIR

_ORDER = "<" if sys.byteorder == "little" else ">"
"""Druid writes cells in the byte order of its machine."""
_VERSION = 3
"""That of cells; lists of values have lower ones."""
_SHORT_TIMES = 0x80
_BLOCK = 1 << 16
"""The size of the blocks of cells (org.apache.druid.segment.serde.cell.NativeClearedByteBufferProvider)."""


@dataclass(frozen=True)
class Cells:
    """Byte strings in blocks, as a CellWriter stores them (org.apache.druid.segment.serde.cell.CellWriter)."""

    total: int
    offsets: Container
    data: Container

    def __len__(self) -> int:
        return self.total

    def joined(self) -> tuple[Bytes, Int64s]:
        """The bytes of all values without gaps, and their offsets."""
        offsets = self.offsets.bytes(8 * (self.total + 1)).view(f"{_ORDER}i8").astype(np.int64)
        return joined_bytes(self.data, offsets)


@dataclass(frozen=True)
class Pairs:
    """Pairs, as the texts of the JSON objects that a scan returns."""

    cells: Indexed | Cells
    read: Callable[[bytes], tuple[int, Any]]

    def __len__(self) -> int:
        return len(self.cells)

    def array(self, rows: Rows | None) -> pa.Array:
        return converted_distinct(byte_strings(self.cells, rows), self._text, pa.string())

    def _text(self, cell: bytes) -> str:
        try:
            time, value = self.read(cell)
        except struct.error as error:
            raise DamagedSegmentError(f"a pair of {len(cell)} bytes") from error
        return json.dumps({"lhs": time, "rhs": value}, ensure_ascii=False, separators=(",", ":"))


def read_pairs(type_: str, cursor: Cursor, find: Find, rows: int) -> Pairs:
    """The column of this many rows at the cursor. Raises SegmentError."""
    if (version := cursor.peek()) != _VERSION:
        if type_ != TEXT_PAIR:
            raise UnsupportedSegmentError(f"unknown version {version} of pairs")
        return Pairs(read_indexed(cursor, find), _listed)
    _, flags, *_ = cursor.take(4)
    (least,) = struct.unpack(f"{_ORDER}q", cursor.take(8))
    cells = Cells(rows, _container(Cursor(cursor.take(_size(cursor)))), _container(Cursor(cursor.take(_size(cursor)))))
    time = struct.Struct(f"{_ORDER}{'i' if flags & _SHORT_TIMES else 'q'}")
    value = _text if type_ == TEXT_PAIR else partial(_number, NUMBER_PAIRS[type_])
    return Pairs(cells, lambda cell: (least + time.unpack_from(cell)[0], value(cell[time.size :])))


def _container(cursor: Cursor) -> Container:
    """Blocks with their positions before them (...cell.BlockCompressedPayloadSerializer)."""
    positions = np.frombuffer(cursor.take(4 * (_size(cursor) // 4)), dtype=f"{_ORDER}i4").astype(np.int64)
    return Container(LZ4, _BLOCK, positions[1:], cursor.take(_size(cursor)))


def _size(cursor: Cursor) -> int:
    return int(struct.unpack(f"{_ORDER}i", cursor.take(4))[0])


def _listed(cell: bytes) -> tuple[int, str | None]:
    """A pair in a list of values: without a text there is null, also for an empty one."""
    time, size = struct.unpack_from(">qi", cell)
    return time, text(cell[12 : 12 + size]) if size > 0 else None


def _text(value: bytes) -> str | None:
    """The text after its size: 0 for null, -1 for an empty one."""
    (size,) = struct.unpack_from(f"{_ORDER}i", value)
    return text(value[4 : 4 + size]) if size > 0 else "" if size < 0 else None


def _number(kind: str, value: bytes) -> int | float | str | None:
    """The number; null if there is none. Some versions of Druid (33) write a byte before it, which says whether it is
    null. NaN and infinities are texts, as in JSON."""
    if len(value) <= 1:
        return None
    (number,) = struct.unpack(f"{_ORDER}{kind}", value[len(value) % 2 :])
    if kind == "q":
        return int(number)
    if kind == "f":
        number = spelled(pa.array([number], pa.float32()))[0].as_py()
    return number if isfinite(number) else double_text(number)
