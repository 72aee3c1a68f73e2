"""Columns of the schema type `auto` (org.apache.druid.segment.serde.NestedCommonFormatColumnPartSerde): strings, longs,
doubles, arrays of these, and JSON. Their data is in files beside the file of the column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.blobs import Blobs, byte_strings, read_blobs
from hivedruid.segments.blocks import Blocks, native
from hivedruid.segments.cursor import Cursor, text
from hivedruid.segments.descriptors import bitmap_kind
from hivedruid.segments.dictionaries import Dictionary, read_dictionary, read_front_coded
from hivedruid.segments.distinct import converted_distinct, double_texts
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Find, read_indexed
from hivedruid.segments.integers import read_ids
from hivedruid.segments.numbers import byte_order, read_floating, read_longs
from hivedruid.segments.offsets import offsets_of
from hivedruid.segments.strings import Strings
from hivedruid.segments.texts import JSON

_SCALARS = ("STRING", "LONG", "DOUBLE")
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
class Encoded:
    """Arrays by id, or values of several types as those of their common type: the distinct ones in `values`, whose
    first id is `first`; id 0 is null."""

    ids: Blocks
    values: pa.Array
    first: int
    is_variant: bool = False

    def __len__(self) -> int:
        return self.ids.total

    def array(self, rows: Rows | None) -> pa.Array:
        ids = self.ids.values(rows).astype(np.int64)
        is_null = ids == 0
        indices = np.where(is_null, 0, ids - self.first)
        if len(ids) and not (
            int(indices.min()) >= 0 and (bool(is_null.all()) or int(indices.max()) < len(self.values))
        ):
            raise DamagedSegmentError("an id is not within its dictionary")
        return self.values.take(pa.array(indices, mask=is_null))


@dataclass(frozen=True)
class Json:
    """JSON values, each as a SMILE document; as texts of a scan."""

    blobs: Blobs

    def __len__(self) -> int:
        return len(self.blobs)

    def array(self, rows: Rows | None) -> pa.Array:
        from hivedruid.segments.smile import text_of

        return converted_distinct(byte_strings(self.blobs, rows), text_of, pa.string())


SMILE = "smile"
"""The encoding of whole JSON values; Druid 37 can also leave them out."""
AutoColumn = Strings | AutoNumbers | Encoded | Json


def read_auto(part: Mapping[str, Any], cursor: Cursor, find: Find) -> AutoColumn:
    """The column whose part has the descriptor `part`, and begins at the cursor. Raises SegmentError."""
    logical = str(part.get("logicalType"))
    order = byte_order(part.get("byteOrder"))
    version = cursor.u8()
    name = text(cursor.take(cursor.vbyte()))
    bitmaps = bitmap_kind(part)

    def file(suffix: str) -> Cursor:
        return Cursor(find(f"{name}.{suffix}"))

    if version != 0:
        raise UnsupportedSegmentError(f"unknown version {version} of an auto column")
    if part.get("isVariantType"):
        return _variant(logical, file, order, find)
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
        dictionaries = _dictionaries(file, order, find)
        ids = read_ids(file("__encodedColumn"), order, find)
        return Encoded(ids, dictionaries.arrays(ARRAYS[logical]), dictionaries.first_array)
    raise UnsupportedSegmentError(f"unknown type {logical!r} of an auto column")


def _check_format(part: Mapping[str, Any]) -> None:
    """Druid 37 describes the encodings of a column; those but for whole JSON values are in the internal files, too."""
    spec = part.get("columnFormatSpec") or {}
    encoding = spec.get("objectStorageEncoding", SMILE) if isinstance(spec, dict) else spec
    if encoding != SMILE:
        raise UnsupportedSegmentError(f"a JSON column with the storage encoding {encoding!r}")


def _variant(logical: str, file: Any, order: str, find: Find) -> Encoded:
    """Values of several types, as those of their common type: numbers as texts, single values as arrays."""
    dictionaries = _dictionaries(file, order, find)
    ids = read_ids(file("__encodedColumn"), order, find)
    if logical not in ARRAYS and logical not in _SCALARS:
        raise UnsupportedSegmentError(f"values of several types as {logical!r}")
    values = dictionaries.scalars(ARRAYS.get(logical, logical))
    if logical in ARRAYS:
        singles = pa.ListArray.from_arrays(pa.array(np.arange(len(values) + 1, dtype=np.int32)), values)
        gap = pa.nulls(int(dictionaries.has_null_array), singles.type)
        values = pa.concat_arrays([singles, gap, dictionaries.arrays(ARRAYS[logical])])
    elif len(dictionaries.lists):
        raise UnsupportedSegmentError(f"arrays among values of type {logical!r}")
    return Encoded(ids, values, 0, is_variant=True)


@dataclass(frozen=True)
class _Dictionaries:
    """The distinct values of a column. An id counts strings, longs, doubles and arrays in this order; 0 is null.
    `lists` are the ids of the elements of each array, as bytes."""

    strings: Dictionary
    longs: npt.NDArray[np.int64]
    doubles: npt.NDArray[np.float64]
    lists: list[bytes]
    has_null_array: bool
    order: str

    @property
    def first_array(self) -> int:
        return len(self.strings) + len(self.longs) + len(self.doubles) + self.has_null_array

    def scalars(self, type_: str) -> pa.Array:
        """The value of each id before those of arrays. Raises UnsupportedSegmentError if one is not of this type."""
        if (type_ != "STRING" and len(self.strings.values)) or (type_ == "LONG" and len(self.doubles)):
            raise UnsupportedSegmentError(f"a value that is not a {type_}")
        wanted = _ARROW[type_]
        longs, doubles = pa.array(self.longs), pa.array(self.doubles)
        numbers = double_texts(doubles) if type_ == "STRING" else doubles.cast(wanted, safe=False)
        null = pa.nulls(int(self.strings.has_null), wanted)
        return pa.concat_arrays([null, self.strings.values.cast(wanted), longs.cast(wanted, safe=False), numbers])

    def arrays(self, element: str) -> pa.Array:
        """The arrays, with elements of this type."""
        offsets = offsets_of([len(ids) // 4 for ids in self.lists]).astype(np.int32)
        ids = np.frombuffer(b"".join(self.lists), dtype=f"{self.order}i4").astype(np.int64)
        values, is_null = self.scalars(element), ids == 0
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < len(values):
            raise DamagedSegmentError("an element is not within its dictionary")
        return pa.ListArray.from_arrays(pa.array(offsets), values.take(pa.array(ids, mask=is_null)))


def _dictionaries(file: Any, order: str, find: Find) -> _Dictionaries:
    strings = read_dictionary(file("__stringDictionary"), order, find)
    longs = _fixed(file("__longDictionary"), f"{order}i8")
    doubles = _fixed(file("__doubleDictionary"), f"{order}f8")
    has_null, lists = read_front_coded(file("__arrayDictionary"), order, ints=True)
    return _Dictionaries(strings, longs, doubles, lists, has_null, order)


def _fixed(cursor: Cursor, dtype: str) -> npt.NDArray[Any]:
    """Numbers of a fixed width (org.apache.druid.segment.data.FixedIndexed), without null."""
    if (version := cursor.u8()) != 0:
        raise UnsupportedSegmentError(f"unknown version {version} of a dictionary of numbers")
    cursor.u8()
    count = int(np.frombuffer(cursor.take(4), dtype=f"{dtype[0]}i4")[0])
    if count < 0:
        raise DamagedSegmentError(f"{count} numbers in a dictionary")
    return np.frombuffer(cursor.take(8 * count), dtype=dtype).astype(f"={dtype[1:]}")
