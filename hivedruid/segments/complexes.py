"""Columns of complex types, such as sketches: the bytes of each value
(org.apache.druid.segment.serde.ComplexColumnPartSerde)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.blobs import Blobs, byte_strings, read_blobs
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.descriptors import json_object
from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.generic import Find, Indexed, read_indexed
from hivedruid.segments.numbers import byte_order

if TYPE_CHECKING:
    import pyarrow as pa

_COMPRESSED = 127


@dataclass(frozen=True)
class Complex:
    """Byte strings; null where a value has no bytes."""

    values: Indexed | Blobs

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def has_nulls(self) -> bool | None:
        """Whether values are null, apart from those that have no bytes; None if that is not stored."""
        return bool(self.values.nulls().any()) if isinstance(self.values, Indexed) else None

    def array(self, rows: Rows | None) -> pa.Array:
        return byte_strings(self.values, rows)


def read_complex(name: str, cursor: Cursor, find: Find) -> Complex:
    """The column `name` at the cursor. Raises SegmentError."""
    if cursor.peek() != _COMPRESSED:
        return Complex(read_indexed(cursor, find))
    cursor.u8()
    if (version := cursor.u8()) != 0:
        raise UnsupportedSegmentError(f"unknown version {version} of a complex column")
    metadata = json_object(cursor.string(), f"the metadata of column {name!r}")
    order = byte_order(metadata.get("byteOrder"))
    file = str(metadata.get("fileNameBase") or name)
    return Complex(read_blobs(f"{file}.__complexColumn", order, find))
