"""Columns of the schema type `auto` (org.apache.druid.segment.serde.NestedCommonFormatColumnPartSerde): strings, longs,
doubles, arrays of these, and JSON. Their data is in files beside the file of the column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.blobs import Blobs, read_blobs
from hivedruid.segments.blocks import Blocks, native
from hivedruid.segments.cursor import Cursor, text
from hivedruid.segments.descriptors import bitmap_kind
from hivedruid.segments.dictionaries import Dictionary, read_dictionary, read_front_coded
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Find, read_indexed
from hivedruid.segments.integers import read_ids
from hivedruid.segments.numbers import byte_order, read_floating, read_longs
from hivedruid.segments.offsets import offsets_of
from hivedruid.segments.strings import Strings

_SCALARS = ("STRING", "LONG", "DOUBLE")
JSON = "COMPLEX<json>"
ARRAYS = {"ARRAY<STRING>": "STRING", "ARRAY<LONG>": "LONG", "ARRAY<DOUBLE>": "DOUBLE"}
_ARROW = {"STRING": pa.string(), "LONG": pa.int64(), "DOUBLE": pa.float64()}


@dataclass(frozen=True)
class AutoNumbers:
    """Numbers, which are null where their id is 0. Raises DamagedSegmentError if their numbers differ."""

    blocks: Blocks
    ids: Blocks | None

    def __post_init__(self) -> None:
        if self.ids is not None and self.ids.total != self.blocks.total:
            raise DamagedSegmentError(f"{self.ids.total} ids of {self.blocks.total} numbers")

    def __len__(self) -> int:
        return self.blocks.total

    def array(self, rows: Rows | None) -> pa.Array:
        mask = None if self.ids is None else self.ids.values(rows) == 0
        return pa.array(native(self.blocks.values(rows)), mask=mask)


@dataclass(frozen=True)
class Arrays:
    """Arrays by id: the distinct arrays in `values`, whose first id is `first`; id 0 is null."""

    ids: Blocks
    values: pa.Array
    first: int

    def __len__(self) -> int:
        return self.ids.total

    def array(self, rows: Rows | None) -> pa.Array:
        ids = self.ids.values(rows).astype(np.int64)
        is_null = ids == 0
        indices = np.where(is_null, 0, ids - self.first)
        if len(ids) and not (
            int(indices.min()) >= 0 and (bool(is_null.all()) or int(indices.max()) < len(self.values))
        ):
            raise DamagedSegmentError("an id is not within the dictionary of arrays")
        return self.values.take(pa.array(indices, mask=is_null))


@dataclass(frozen=True)
class Json:
    """JSON values, each as a SMILE document."""

    blobs: Blobs

    def __len__(self) -> int:
        return len(self.blobs)

    def array(self, rows: Rows | None) -> pa.Array:
        from hivedruid.segments.smile import json_of

        data, offsets = self.blobs.joined()
        wanted = range(len(self)) if rows is None else rows.tolist()
        raw = data.tobytes()
        return pa.array([json_of(raw[offsets[row] : offsets[row + 1]]) for row in wanted], type=pa.string())


SMILE = "smile"
"""The encoding of whole JSON values; Druid 37 can also leave them out."""
AutoColumn = Strings | AutoNumbers | Arrays | Json


def read_auto(part: Mapping[str, Any], cursor: Cursor, find: Find) -> AutoColumn:
    """The column whose part has the descriptor `part`, and begins at the cursor. Raises SegmentError."""
    logical = str(part.get("logicalType"))
    if part.get("isVariantType"):
        raise UnsupportedSegmentError("a column with values of several types")
    order = byte_order(part.get("byteOrder"))
    version = cursor.u8()
    name = text(cursor.take(cursor.vbyte()))
    bitmaps = bitmap_kind(part)

    def file(suffix: str) -> Cursor:
        return Cursor(find(f"{name}.{suffix}"))

    if version != 0:
        raise UnsupportedSegmentError(f"unknown version {version} of an auto column")
    if logical == JSON:
        _check_format(part)
        return Json(read_blobs(f"{name}.__raw", order, find))
    if logical == "STRING":
        dictionary = read_dictionary(file("__stringDictionary"), order, find)
        indexes = read_indexed(file("__valueIndexes"), find)
        return Strings(dictionary, read_ids(file("__encodedColumn"), order, find), indexes, bitmaps)
    if logical in ("LONG", "DOUBLE"):
        has_nulls = bool(part.get("hasNulls"))
        ids = read_ids(file("__encodedColumn"), order, find) if has_nulls else None
        if logical == "LONG":
            return AutoNumbers(read_longs(file("__longColumn"), order, find), ids)
        return AutoNumbers(read_floating(file("__doubleColumn"), order, 8, find), ids)
    if logical in ARRAYS:
        return _arrays(ARRAYS[logical], file, order, find)
    raise UnsupportedSegmentError(f"unknown type {logical!r} of an auto column")


def _check_format(part: Mapping[str, Any]) -> None:
    """Druid 37 describes the encodings of a column; those but for whole JSON values are in the internal files, too."""
    spec = part.get("columnFormatSpec") or {}
    encoding = spec.get("objectStorageEncoding", SMILE) if isinstance(spec, dict) else spec
    if encoding != SMILE:
        raise UnsupportedSegmentError(f"a JSON column with the storage encoding {encoding!r}")


def _arrays(element: str, file: Any, order: str, find: Find) -> Arrays:
    strings = read_dictionary(file("__stringDictionary"), order, find)
    longs = _fixed(file("__longDictionary"), f"{order}i8")
    doubles = _fixed(file("__doubleDictionary"), f"{order}f8")
    has_null, arrays = read_front_coded(file("__arrayDictionary"), order, ints=True)
    ids = read_ids(file("__encodedColumn"), order, find)
    offsets = offsets_of([len(array) // 4 for array in arrays]).astype(np.int32)
    elements = np.frombuffer(b"".join(arrays), dtype=f"{order}i4").astype(np.int64)
    values = _elements(element, elements, strings, longs, doubles)
    first = len(strings) + len(longs) + len(doubles) + has_null
    return Arrays(ids, pa.ListArray.from_arrays(pa.array(offsets), values), first)


def _elements(
    element: str,
    ids: npt.NDArray[np.int64],
    strings: Dictionary,
    longs: npt.NDArray[np.int64],
    doubles: npt.NDArray[np.float64],
) -> pa.Array:
    """Elements of one type by their ids, which count strings, longs and doubles in this order; 0 is null."""
    first = {"STRING": 0, "LONG": len(strings), "DOUBLE": len(strings) + len(longs)}[element]
    is_null = ids == 0
    if element == "STRING":
        source, indices = strings.values, ids - int(strings.has_null)
    else:
        source, indices = pa.array(longs if element == "LONG" else doubles), ids - first
    wanted = indices[~is_null]
    if len(wanted) and not 0 <= int(wanted.min()) <= int(wanted.max()) < len(source):
        raise DamagedSegmentError(f"an element is not a {element}")
    return source.take(pa.array(np.where(is_null, 0, indices), mask=is_null)).cast(_ARROW[element])


def _fixed(cursor: Cursor, dtype: str) -> npt.NDArray[Any]:
    """Numbers of a fixed width (org.apache.druid.segment.data.FixedIndexed), without null."""
    if (version := cursor.u8()) != 0:
        raise UnsupportedSegmentError(f"unknown version {version} of a dictionary of numbers")
    cursor.u8()
    count = int(np.frombuffer(cursor.take(4), dtype=f"{dtype[0]}i4")[0])
    if count < 0:
        raise DamagedSegmentError(f"{count} numbers in a dictionary")
    return np.frombuffer(cursor.take(8 * count), dtype=dtype).astype(f"={dtype[1:]}")
