"""Values of a fixed width in compressed blocks, of which only those with wanted rows are decompressed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.codecs import NONE, decompressor
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.errors import DamagedSegmentError
from hivedruid.segments.generic import Find, Indexed, read_indexed

Values = npt.NDArray[Any]
Unpack = Callable[[memoryview, int], Values]
"""From the bytes of a block and a number of values to the values."""


@dataclass(frozen=True)
class Blocks:
    """`total` values, `per_block` in each block but the last one.

    `size` is the number of bytes of a block with so many values, and `unpack` returns them.
    """

    total: int
    per_block: int
    stored: Indexed | None
    plain: memoryview
    """The values if they are not in blocks."""
    codec: int
    size: Callable[[int], int]
    unpack: Unpack

    def values(self, rows: Rows | None = None) -> Values:
        """All values, or those of `rows`, in their order."""
        if rows is None:
            return self._joined(range(self._count()))
        if len(rows) == 0:
            return self.unpack(memoryview(b""), 0)
        if self.stored is None:
            whole: Values = self._block(0)
            return whole[rows]
        numbers = rows // self.per_block
        wanted, places = np.unique(numbers, return_inverse=True)
        if len(wanted) == self._count():
            return self._joined(range(self._count()))[rows]
        positions: Rows = places * self.per_block + rows % self.per_block
        return self._joined(wanted.tolist())[positions]

    def _count(self) -> int:
        return 1 if self.stored is None else len(self.stored)

    def _joined(self, numbers: Any) -> Values:
        blocks = [self._block(number) for number in numbers]
        if len(blocks) == 1:
            return blocks[0]
        return np.concatenate(blocks) if blocks else self.unpack(memoryview(b""), 0)

    def _block(self, number: int) -> Values:
        if self.stored is None:
            size = self.size(self.total)
            if len(self.plain) < size:
                raise DamagedSegmentError(f"{self.total} values need {size} bytes, there are {len(self.plain)}")
            return self.unpack(self.plain[:size], self.total)
        count = min(self.per_block, self.total - number * self.per_block)
        return self.unpack(decompressor(self.codec)(self.stored[number], self.size(count)), count)


def read_blocks(
    cursor: Cursor, total: int, per_block: int, codec: int, size: Callable[[int], int], unpack: Unpack, find: Find
) -> Blocks:
    """The blocks at the cursor. Raises SegmentError if their number contradicts the number of values."""
    if codec == NONE:
        return Blocks(total, max(1, total), None, cursor.rest(), codec, size, unpack)
    stored = read_indexed(cursor, find)
    if per_block <= 0 or -(-total // per_block) != len(stored):
        raise DamagedSegmentError(f"{total} values, {per_block} in each block, in {len(stored)} blocks")
    return Blocks(total, per_block, stored, memoryview(b""), codec, size, unpack)


def fixed(dtype: str) -> tuple[Callable[[int], int], Unpack]:
    """`size` and `unpack` of values of a numpy type."""
    width = np.dtype(dtype).itemsize
    return (lambda count: count * width), (lambda data, count: np.frombuffer(data, dtype=dtype, count=count))


def native(values: Values) -> Values:
    """The values in the byte order of this machine, which Arrow requires."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)
