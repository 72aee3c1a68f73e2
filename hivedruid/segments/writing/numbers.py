"""Writes numeric columns, and columns of complex values given as bytes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.blobs import chosen
from hivedruid.segments.generic import Bytes
from hivedruid.segments.offsets import Int64s
from hivedruid.segments.writing.bitmaps import roaring
from hivedruid.segments.writing.blocks import numbers
from hivedruid.segments.writing.lists import indexed

DTYPES = {"LONG": "i8", "DOUBLE": "f8", "FLOAT": "f4"}


@dataclass(frozen=True)
class Numbers:
    """A numeric column; the value of a null row is 0."""

    values: npt.NDArray[Any]
    is_null: npt.NDArray[np.bool_]

    def reordered(self, order: Int64s) -> Numbers:
        return Numbers(self.values[order], self.is_null[order])


@dataclass(frozen=True)
class Blobs:
    """A column of byte strings; no bytes are null."""

    data: Bytes
    offsets: Int64s

    def reordered(self, order: Int64s) -> Blobs:
        return Blobs(*chosen(self.data, self.offsets, order))


def encode_numbers(array: pa.Array | pa.ChunkedArray, type_: str) -> Numbers:
    """Encode an Arrow column as `type_`: LONG, DOUBLE or FLOAT. Raises pyarrow.ArrowInvalid if a value does not fit."""
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    target = {"LONG": pa.int64(), "DOUBLE": pa.float64(), "FLOAT": pa.float32()}[type_]
    numeric = whole if whole.type == target else whole.cast(target, safe=type_ != "FLOAT")
    values = pc.fill_null(numeric, 0).to_numpy(zero_copy_only=False)
    return Numbers(values.astype(DTYPES[type_], copy=False), numeric.is_null().to_numpy(zero_copy_only=False))


def encode_blobs(array: pa.Array | pa.ChunkedArray) -> Blobs:
    whole = (array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array).cast(pa.large_binary())
    filled = pc.fill_null(whole, b"")
    offsets = np.frombuffer(filled.buffers()[1], dtype=np.int64)[filled.offset : filled.offset + len(filled) + 1]
    data = np.frombuffer(filled.buffers()[2] or b"", dtype=np.uint8)
    return Blobs(data[int(offsets[0]) : int(offsets[-1])], offsets - offsets[0])


def numeric_part(column: Numbers) -> bytes:
    """The column, behind its descriptor (org.apache.druid.segment.serde.LongNumericColumnPartSerdeV2 and others)."""
    values = np.where(column.is_null, column.values.dtype.type(0), column.values)
    part = numbers(values)
    nulls = np.flatnonzero(column.is_null)
    bitmap = b""
    if len(nulls):
        stored = roaring(nulls)
        bitmap = struct.pack(">i", len(stored)) + stored
    return struct.pack(">i", len(part)) + part + bitmap


def blob_part(column: Blobs) -> bytes:
    return indexed(column.data, column.offsets)


def sort_key(column: Numbers) -> npt.NDArray[Any]:
    """Integers in the order of Druid: null first, -0.0 before 0.0, NaN last (java.lang.Double.compare)."""
    values = column.values
    if values.dtype.kind == "f":
        canonical = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        bits = canonical.view(np.int64 if values.dtype.itemsize == 8 else np.int32).astype(np.int64)
        most = np.int64(2**63 - 1 if values.dtype.itemsize == 8 else 2**31 - 1)
        return np.where(bits < 0, bits ^ most, bits)
    return values
