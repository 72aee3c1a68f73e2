"""GenericIndexed: a list of byte strings, some of which may be null (org.apache.druid.segment.data.GenericIndexed)."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.cursor import Cursor, text
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.offsets import Int64s, offsets_of

Bytes = npt.NDArray[np.uint8]
Find = Callable[[str], memoryview]
"""Another file of the segment by name; version 2 spreads its values over several files."""

PREFIX = 4
"""The bytes before each value, meaningful only if the value is empty."""
_NULL = 0xFF
"""Each of these bytes before a null."""


@dataclass(frozen=True)
class Indexed:
    """Values within `parts`. Value i is `parts[part][starts[i]:ends[i]]`, where `part` is i divided by `per_part`."""

    parts: tuple[memoryview, ...]
    starts: Int64s
    ends: Int64s
    per_part: int

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> memoryview:
        """The bytes of a value; empty for null."""
        return self.parts[index // self.per_part][int(self.starts[index]) : int(self.ends[index])]

    def nulls(self) -> npt.NDArray[np.bool_]:
        """Which values are null."""
        found = np.zeros(len(self), dtype=np.bool_)
        empty = np.flatnonzero(self.starts == self.ends)
        for number, part in enumerate(self.parts):
            of_part = empty[empty // self.per_part == number]
            prefixes = self.starts[of_part, np.newaxis] - PREFIX + np.arange(PREFIX)
            found[of_part] = np.all(np.frombuffer(part, dtype=np.uint8)[prefixes] == _NULL, axis=1)
        return found

    def joined(self) -> tuple[Bytes, Int64s]:
        """The bytes of all values without gaps, and len + 1 offsets: the buffers of an Arrow array."""
        offsets = offsets_of(self.ends - self.starts)
        pieces = []
        for number, part in enumerate(self.parts):
            begin, end = number * self.per_part, min((number + 1) * self.per_part, len(self))
            if begin < end:
                area = np.frombuffer(part, dtype=np.uint8)[int(self.starts[begin]) - PREFIX : int(self.ends[end - 1])]
                keep = np.ones(len(area), dtype=np.bool_)
                first = self.starts[begin:end] - int(self.starts[begin])
                for byte in range(PREFIX):
                    keep[first + byte] = False
                pieces.append(area[keep])
        return (np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.uint8)), offsets


def read_indexed(cursor: Cursor, find: Find | None = None) -> Indexed:
    """The list at the cursor, which is moved behind it. Raises SegmentError."""
    version = cursor.u8()
    if version == 1:
        return _version_1(cursor)
    if version == 2 and find is not None:
        return _version_2(cursor, find)
    raise UnsupportedSegmentError(f"unknown version {version} of a list")


def _version_1(cursor: Cursor) -> Indexed:
    cursor.u8()  # whether values are sorted
    inner = Cursor(cursor.take(cursor.count()))
    count = inner.count()
    ends = np.frombuffer(inner.take(4 * count), dtype=">i4").astype(np.int64)
    return _indexed((inner.rest(),), ends, max(1, count))


def _version_2(cursor: Cursor, find: Find) -> Indexed:
    cursor.u8()
    exponent, count = cursor.count(), cursor.count()
    name = text(cursor.take(cursor.count()))
    if exponent > 30:
        raise DamagedSegmentError(f"2^{exponent} values in each file of {name!r}")
    header = find(f"{name}_header")
    if len(header) < 4 * count:
        raise DamagedSegmentError(f"{name!r} has {len(header) // 4} offsets instead of {count}")
    order = "<" if sys.byteorder == "little" else ">"  # Druid writes them in the order of its machine
    ends = np.frombuffer(header[: 4 * count], dtype=f"{order}i4").astype(np.int64)
    per_part = 1 << exponent
    parts = tuple(find(f"{name}_value_{number}") for number in range(-(-count // per_part)))
    return _indexed(parts, ends, per_part)


def _indexed(parts: tuple[memoryview, ...], ends: Int64s, per_part: int) -> Indexed:
    """Checks that the values follow each other within their parts."""
    starts = np.empty_like(ends)
    starts[1:] = ends[:-1]
    starts[::per_part] = 0
    starts += PREFIX
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    within = sizes[np.arange(len(ends)) // per_part] if len(ends) else ends
    if not (np.all(starts <= ends) and np.all(ends <= within)):
        raise DamagedSegmentError("the offsets of a list are not within it")
    return Indexed(parts, starts, ends, per_part)
