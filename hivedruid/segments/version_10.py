"""Segments of version 10: one file with all internal files (org.apache.druid.segment.file.SegmentFileBuilderV10).

After the version follow the compression of the metadata, its length and, if it is compressed, its compressed length;
then the metadata as JSON, and the containers, which have the internal files. Their names begin with the name of a
projection: that of the rows themselves is `__base`. The files of columns are those of version 9, but for their
descriptors, which are in the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.codecs import NONE, decompressor
from hivedruid.segments.cursor import Cursor, text
from hivedruid.segments.descriptors import json_object
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError

VERSION = 10
NAME = "druid.segment"
BASE = "__base"
"""The projection with all rows."""
MOST_INFLATED = 200
"""How many times its compressed size the metadata may have."""


@dataclass(frozen=True)
class Header:
    """The metadata of a segment."""

    document: Mapping[str, Any]

    def objects(self, key: str) -> list[Mapping[str, Any]]:
        """A list of objects. Raises DamagedSegmentError."""
        return _objects(self.document, key)

    def descriptor(self, name: str) -> Mapping[str, Any]:
        """The descriptor of a column, by the name of its internal file. Raises DamagedSegmentError."""
        return _object(_object(self.document, "columnDescriptors"), name)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The columns, aggregators and order of the rows. Raises DamagedSegmentError."""
        for projection in self.objects("projections"):
            schema = _object(projection, "schema")
            if schema.get("name") == BASE:
                return schema
        raise DamagedSegmentError(f"the metadata does not describe {BASE}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows except those of aggregators; a segment with rollup (BaseTableRollup) lists its keys.
        Raises DamagedSegmentError."""
        names = self.schema.get("columns", self.schema.get("groupingColumns"))
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise DamagedSegmentError("the columns are not a list of names")
        return tuple(names)

    @property
    def aggregators(self) -> list[Mapping[str, Any]]:
        """Raises DamagedSegmentError."""
        return _objects(self.schema, "aggregators") if self.schema.get("aggregators") is not None else []

    @property
    def bitmap_kind(self) -> str:
        """Raises DamagedSegmentError."""
        return str(_object(self.document, "bitmapEncoding").get("type"))


def read_header(data: memoryview) -> tuple[Header, memoryview]:
    """The metadata of a segment, and the containers. Raises SegmentError."""
    cursor = Cursor(data)
    if (version := cursor.u8()) != VERSION:
        raise UnsupportedSegmentError(f"segment version {version}; version {VERSION} is supported in {NAME}")
    codec, size = cursor.i8(), _length(cursor)
    if codec == NONE:
        raw = cursor.take(size)
    else:
        compressed = cursor.take(_length(cursor))
        if size > MOST_INFLATED * len(compressed):
            raise DamagedSegmentError(f"the metadata is more than {MOST_INFLATED} times as large, decompressed")
        raw = decompressor(codec)(compressed, size)
    return Header(json_object(text(raw), "the metadata")), cursor.rest()


def entries(header: Header, containers: memoryview) -> dict[str, memoryview]:
    """The internal files by name. Raises DamagedSegmentError."""
    places = header.objects("containers")
    parts = [_part(containers, place, f"container {number}") for number, place in enumerate(places)]
    found = {}
    for name in (files := _object(header.document, "files")):
        place = _object(files, name)
        number = _count(place, "container", name)
        if number >= len(parts):
            raise DamagedSegmentError(f"{name!r} is in container {number} of {len(parts)}")
        found[name] = _part(parts[number], place, repr(name))
    return found


def _length(cursor: Cursor) -> int:
    return int.from_bytes(cursor.take(4), "little")


def _part(data: memoryview, place: Mapping[str, Any], what: str) -> memoryview:
    start, size = _count(place, "startOffset", what), _count(place, "size", what)
    if start + size > len(data):
        raise DamagedSegmentError(f"{what} is not within its {len(data)} bytes")
    return data[start : start + size]


def _count(place: Mapping[str, Any], key: str, what: str) -> int:
    value = place.get(key)
    if not isinstance(value, int) or value < 0:
        raise DamagedSegmentError(f"{key} of {what} is {value!r}")
    return value


def _object(parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = parent.get(key)
    if not isinstance(found, dict):
        raise DamagedSegmentError(f"{key!r} of the metadata is not an object")
    return found


def _objects(parent: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = parent.get(key)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise DamagedSegmentError(f"{key!r} of the metadata is not a list of objects")
    return found
