"""Dictionaries of strings: plain UTF-8 or front-coded. The sorted values of a column, null first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Find, read_indexed
from hivedruid.segments.offsets import offsets_of

_ENCODED = 127
"""The first byte of a dictionary whose second byte is its encoding; otherwise it is a plain list."""
_UTF8, _FRONT_CODED = 0, 1
_MOST_BYTES = 2**31 - 1


@dataclass(frozen=True)
class Dictionary:
    """The values without null, as an Arrow array. With `has_null`, id 0 is null and id i is value i - 1."""

    values: pa.Array
    has_null: bool
    encoding: str = "plain"

    def __len__(self) -> int:
        """The number of ids."""
        return len(self.values) + self.has_null


def read_dictionary(cursor: Cursor, order: str, find: Find) -> Dictionary:
    """The dictionary at the cursor. Raises SegmentError."""
    if cursor.peek() != _ENCODED:
        return _plain(cursor, find)
    cursor.u8()
    encoding = cursor.u8()
    if encoding == _UTF8:
        return _plain(cursor, find)
    if encoding == _FRONT_CODED:
        has_null, values = read_front_coded(cursor, order)
        return Dictionary(_texts(values), has_null, "front-coded")
    raise UnsupportedSegmentError(f"unknown encoding {encoding} of a dictionary")


def _plain(cursor: Cursor, find: Find) -> Dictionary:
    indexed = read_indexed(cursor, find)
    data, offsets = indexed.joined()
    nulls = np.flatnonzero(indexed.nulls())
    if len(nulls) and nulls.tolist() != [0]:
        raise DamagedSegmentError("a dictionary contains null among its values")
    return Dictionary(string_array(data, offsets[len(nulls) :]), bool(len(nulls)))


def _texts(values: list[bytes]) -> pa.Array:
    offsets = offsets_of([len(value) for value in values])
    return string_array(np.frombuffer(b"".join(values), dtype=np.uint8), offsets)


def string_array(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> pa.Array:
    """An Arrow array of type string over UTF-8 bytes. Raises DamagedSegmentError for bytes that are not UTF-8."""
    if int(offsets[-1]) > _MOST_BYTES:
        raise UnsupportedSegmentError("a dictionary of more than 2 GB")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DamagedSegmentError(f"a dictionary contains invalid UTF-8: {error}") from error
    return array


def read_front_coded(cursor: Cursor, order: str, *, ints: bool = False) -> tuple[bool, list[bytes]]:
    """Whether there is null, and the values (org.apache.druid.segment.data.FrontCodedIndexed).

    With `ints`, the values are lists of int32 (FrontCodedIntArrayIndexed), whose lengths are counted in integers.
    """
    version, bucket_size = cursor.u8(), cursor.u8()
    if version not in (0, 1):
        raise UnsupportedSegmentError(f"unknown version {version} of a front-coded dictionary")
    if bucket_size == 0 or bucket_size & (bucket_size - 1):
        raise DamagedSegmentError(f"buckets of {bucket_size} values")
    has_null = cursor.u8() == 1
    count = cursor.vbyte()
    inner = Cursor(cursor.take(cursor.vbyte()))
    bucket_count = -(-count // bucket_size)
    ends = np.frombuffer(inner.take(4 * max(0, bucket_count - 1)), dtype=f"{order}i4").tolist()
    buckets = inner.rest()
    values: list[bytes] = []
    step, is_incremental = (4 if ints else 1), (version == 1 or ints)
    for start, end in zip([0, *ends], [*ends, len(buckets)], strict=True):
        if not 0 <= start <= end <= len(buckets):
            raise DamagedSegmentError("the buckets of a dictionary are not within it")
        if count > len(values):
            in_bucket = min(bucket_size, count - len(values))
            values.extend(_bucket(Cursor(buckets[start:end]), in_bucket, step, is_incremental))
    return has_null, values


def _bucket(cursor: Cursor, count: int, step: int, is_incremental: bool) -> list[bytes]:
    """The values of a bucket. Prefixes refer to the first value, or with `is_incremental` to the one before."""
    base = bytes(cursor.take(step * cursor.vbyte()))
    values = [base]
    for _ in range(count - 1):
        shared = step * cursor.vbyte()
        if shared > len(base):
            raise DamagedSegmentError(f"a prefix of {shared} bytes of a value with {len(base)}")
        value = base[:shared] + bytes(cursor.take(step * cursor.vbyte()))
        values.append(value)
        if is_incremental:
            base = value
    return values
