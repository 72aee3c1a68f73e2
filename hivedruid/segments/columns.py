"""The columns of a segment by their descriptors: from the bytes of a column to its Arrow arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from hivedruid.arrow_buffers import numbers
from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.auto import read_auto
from hivedruid.segments.bitmaps import Rows, rows_of
from hivedruid.segments.blocks import Blocks, native
from hivedruid.segments.complexes import read_complex
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.descriptors import bitmap_kind, json_object
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Find
from hivedruid.segments.numbers import byte_order, read_floating, read_longs
from hivedruid.segments.pairs import read_pairs
from hivedruid.segments.strings import read_strings
from hivedruid.segments.texts import PAIRS

_NUMBERS = {"long": ("LONG", 8), "double": ("DOUBLE", 8), "float": ("FLOAT", 4)}


class ColumnData(Protocol):
    """The values of a column."""

    def __len__(self) -> int: ...

    def array(self, rows: Rows | None) -> pa.Array:
        """All rows, or `rows` in their order. Raises SegmentError."""


@dataclass(frozen=True)
class Column:
    """A column: its Druid type, as of a segmentMetadata query, and its values."""

    name: str
    type: str
    has_multiple_values: bool
    data: ColumnData


@dataclass(frozen=True)
class Numeric:
    """Numbers with the rows that are null."""

    blocks: Blocks
    nulls: Rows

    def __len__(self) -> int:
        return self.blocks.total

    def array(self, rows: Rows | None) -> pa.Array:
        values = native(self.blocks.values(rows))
        if len(self.nulls) == 0:
            return numbers(values)
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[self.nulls] = True
        return numbers(values, mask if rows is None else mask[rows])


@dataclass(frozen=True)
class Nulls:
    """A column that is null in every row."""

    total: int

    def __len__(self) -> int:
        return self.total

    def array(self, rows: Rows | None) -> pa.Array:
        return pa.nulls(self.total if rows is None else len(rows), pa.string())


def read_descriptor(name: str, cursor: Cursor) -> Mapping[str, Any]:
    """The descriptor at the beginning of the internal file of a column, in version 9. Raises DamagedSegmentError."""
    return json_object(cursor.string(), f"the descriptor of column {name!r}")


def read_column(name: str, descriptor: Mapping[str, Any], cursor: Cursor, find: Find, stored: str, rows: int) -> Column:
    """The column `name` with this descriptor, at the beginning of its values; `stored` is the name of its internal
    file, `rows` the number of rows of the segment (0 if it is not known yet). Raises SegmentError."""
    parts = descriptor.get("parts")
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
        raise UnsupportedSegmentError(f"column {name!r} has not exactly one part")
    part = parts[0]
    kind = str(part.get("type"))
    bitmaps = bitmap_kind(part)
    number = kind.removesuffix("V2")
    if number in _NUMBERS:
        type_, width = _NUMBERS[number]
        order = byte_order(part.get("byteOrder"))
        return Column(name, type_, False, _numeric(cursor, order, number, width, kind != number, bitmaps, find))
    if kind == "stringDictionary":
        strings = read_strings(cursor, byte_order(part.get("byteOrder")), bitmaps, find)
        return Column(name, "STRING", strings.is_multi_value, strings)
    if kind == "nestedCommonFormat":
        return Column(name, str(part.get("logicalType")), False, read_auto(part, cursor, find))
    if kind == "complex":
        type_ = f"COMPLEX<{part.get('typeName')}>"
        if type_ in PAIRS:
            return Column(name, type_, False, read_pairs(type_, cursor, find, rows))
        return Column(name, type_, False, read_complex(stored, cursor, find))
    if kind == "null":
        total = part.get("numRows", 0)
        if not isinstance(total, int):
            raise DamagedSegmentError(f"column {name!r} has {total!r} rows")
        return Column(name, "STRING", False, Nulls(total))
    raise UnsupportedSegmentError(f"column {name!r} has a part of the unknown type {kind!r}")


def _numeric(cursor: Cursor, order: str, number: str, width: int, is_v2: bool, bitmaps: str, find: Find) -> Numeric:
    inner = Cursor(cursor.take(cursor.count())) if is_v2 else cursor
    blocks = read_longs(inner, order, find) if number == "long" else read_floating(inner, order, width, find)
    nulls = np.zeros(0, dtype=np.int64)
    if is_v2 and cursor.remaining:
        nulls = rows_of(bitmaps, cursor.take(cursor.count()), blocks.total)
    return Numeric(blocks, nulls)
