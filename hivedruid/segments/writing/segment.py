"""Writes a segment: `write_segment`."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.files import INDEX, METADATA, VERSION
from hivedruid.segments.filters import utf16
from hivedruid.segments.offsets import Int64s
from hivedruid.segments.segment import TIME, Interval
from hivedruid.segments.writing.lists import names
from hivedruid.segments.writing.numbers import (
    DTYPES,
    Blobs,
    Numbers,
    blob_part,
    encode_blobs,
    encode_numbers,
    numeric_part,
)
from hivedruid.segments.writing.rows import Column, Values, combined, druid_order, folded, group_starts
from hivedruid.segments.writing.strings import Encoded, encode, string_part

if TYPE_CHECKING:
    import pyarrow as pa

_ROARING = {"type": "roaring"}
_LITTLE = "LITTLE_ENDIAN"
_MOST_FILE = 2**31 - 1
"""The size of a smoosh file: Druid maps it as a whole."""


@dataclass(frozen=True)
class Dimension:
    """A dimension: STRING, LONG, DOUBLE or FLOAT. `handling` is the multiValueHandling of lists of strings."""

    name: str
    type: str
    handling: str = "SORTED_ARRAY"
    has_bitmaps: bool = True


@dataclass(frozen=True)
class Metric:
    """A metric of a type as above, or COMPLEX<name>, whose values are given as bytes. `aggregator` is its JSON.

    With `fold`, the values are of any type, and it makes the stored bytes of those of a group of rows; with no bytes
    the value is null."""

    name: str
    type: str
    aggregator: Mapping[str, Any]
    fold: Callable[[Sequence[Any]], bytes | None] | None = None


@dataclass(frozen=True)
class SegmentSpec:
    """What a segment contains. `__time` of the rows is already truncated to the query granularity."""

    interval: Interval
    dimensions: tuple[Dimension, ...]
    metrics: tuple[Metric, ...] = ()
    rollup: bool = False
    query_granularity: Mapping[str, Any] | str = field(default_factory=lambda: {"type": "none"})


@dataclass(frozen=True)
class Written:
    """A written segment: its rows, its size in bytes, and the columns that it has."""

    rows: int
    size: int
    dimensions: tuple[str, ...]
    metrics: tuple[str, ...]


def write_segment(table: pa.Table, spec: SegmentSpec, folder: Path) -> Written:
    """Write the rows of `table`, in any order, as a segment into `folder`, which is created in a folder that exists.

    `__time` is int64 in milliseconds. Raises UnsupportedSegmentError for more rows or types than a segment can have.
    """
    if table.num_rows == 0:
        raise UnsupportedSegmentError("a segment without rows")
    time = encode_numbers(table.column(TIME), "LONG")
    dimensions = {each.name: _dimension(table, each) for each in spec.dimensions}
    metrics = {each.name: _metric(table, each) for each in spec.metrics}
    order = druid_order(time.values, list(dimensions.values()))
    if not np.array_equal(order, np.arange(len(order))):
        time = time.reordered(order)
        dimensions = {name: column.reordered(order) for name, column in dimensions.items()}
        metrics = {name: column.reordered(order) for name, column in metrics.items()}
    starts = group_starts(time.values, list(dimensions.values())) if spec.rollup else np.arange(len(time.values))
    if merges := len(starts) < len(time.values):
        time = time.reordered(starts)
        dimensions = {name: column.reordered(starts) for name, column in dimensions.items()}
    stored = {each.name: _stored(metrics[each.name], each, starts, merges=merges) for each in spec.metrics}
    return _write(spec, time, dimensions, stored, folder)


def _dimension(table: pa.Table, dimension: Dimension) -> Column:
    if dimension.type == "STRING":
        return encode(table.column(dimension.name), dimension.handling)
    if dimension.type not in DTYPES:
        raise UnsupportedSegmentError(f"dimension {dimension.name!r} has the type {dimension.type}")
    return encode_numbers(table.column(dimension.name), dimension.type)


def _metric(table: pa.Table, metric: Metric) -> Column | Values:
    if metric.fold is not None:
        return Values(table.column(metric.name).combine_chunks())
    if metric.type in DTYPES:
        return encode_numbers(table.column(metric.name), metric.type)
    return encode_blobs(table.column(metric.name))


def _stored(column: Column | Values, metric: Metric, starts: Int64s, *, merges: bool) -> Column:
    """A metric with one value for each group of rows; `merges`: a group may have several."""
    if isinstance(column, Values):
        assert metric.fold is not None
        return encode_blobs(folded(column, metric.fold, starts))
    return combined(column, str(metric.aggregator.get("type")), starts) if merges else column


def _write(
    spec: SegmentSpec, time: Numbers, dimensions: Mapping[str, Column], metrics: Mapping[str, Column], folder: Path
) -> Written:
    has_bitmaps = {each.name: each.has_bitmaps for each in spec.dimensions}
    complex_types = {each.name: each.type for each in spec.metrics}
    entries = {TIME: _column(time, True, "LONG", len(time.values))}
    is_null: dict[str, bool] = {}
    for name, column in {**dimensions, **metrics}.items():
        is_null[name] = isinstance(column, Encoded) and column.is_all_null
        type_ = complex_types.get(name, "")
        entries[name] = _column(column, has_bitmaps.get(name, True), type_, len(time.values))
    entries[INDEX] = _index(spec, list(metrics), list(dimensions), is_null)
    entries[METADATA] = _metadata(spec)
    size = _smoosh(entries, folder)
    return Written(len(time.values), size, tuple(dimensions), tuple(metrics))


def _column(column: Column, has_bitmaps: bool, type_: str, rows: int) -> bytes:
    """A column with its descriptor."""
    if isinstance(column, Encoded):
        if column.is_all_null:
            return _described("STRING", {"type": "null", "numRows": rows, "bitmapSerdeFactory": _ROARING}, b"")
        part = {"type": "stringDictionary", "bitmapSerdeFactory": _ROARING, "byteOrder": _LITTLE}
        data = string_part(column, has_bitmaps=has_bitmaps)
        return _described("STRING", part, data, has_multiple_values=column.offsets is not None)
    if isinstance(column, Blobs):
        type_name = type_.removeprefix("COMPLEX<").removesuffix(">")
        return _described("COMPLEX", {"type": "complex", "typeName": type_name}, blob_part(column))
    druid = next(name for name, dtype in DTYPES.items() if np.dtype(dtype) == column.values.dtype)
    part = {"type": f"{druid.lower()}V2", "byteOrder": _LITTLE, "bitmapSerdeFactory": _ROARING}
    return _described(druid, part, numeric_part(column))


def _described(value_type: str, part: Mapping[str, Any], data: bytes, *, has_multiple_values: bool = False) -> bytes:
    descriptor = {"valueType": value_type, "hasMultipleValues": has_multiple_values, "parts": [part]}
    return _string(json.dumps(descriptor, separators=(",", ":"))) + data


def _index(spec: SegmentSpec, metrics: Sequence[str], dimensions: Sequence[str], is_null: Mapping[str, bool]) -> bytes:
    """The names of the columns and the interval; those of columns without values in lists of their own."""
    columns = [*metrics, *dimensions]

    def listed(of: Sequence[str]) -> bytes:
        return names([name for name in of if not is_null[name]])

    def missing(of: Sequence[str]) -> bytes:
        return names([name if is_null[name] else None for name in of])

    return b"".join([
        listed(columns), listed(dimensions), struct.pack(">qq", *spec.interval), _string(json.dumps(_ROARING)),
        missing(columns), missing(dimensions),
    ])  # fmt: skip


def _metadata(spec: SegmentSpec) -> bytes:
    ordering = [TIME, *(each.name for each in spec.dimensions)]
    found = {
        "container": {},
        "aggregators": [{**each.aggregator, "fieldName": each.name} for each in spec.metrics],
        "timestampSpec": {"column": TIME, "format": "millis", "missingValue": None},
        "queryGranularity": spec.query_granularity,
        "rollup": spec.rollup,
        "ordering": [{"columnName": name, "order": "ascending"} for name in ordering],
    }
    return json.dumps(found, separators=(",", ":")).encode()


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data


def _smoosh(entries: Mapping[str, bytes], folder: Path) -> int:
    """Write the internal files; returns the size of all files."""
    folder.mkdir(exist_ok=True)
    places: dict[str, tuple[int, int, int]] = {}
    number, used = 0, 0
    parts: list[list[bytes]] = [[]]
    for name, data in entries.items():
        if len(data) > _MOST_FILE:
            raise UnsupportedSegmentError("a column has more than 2 GB; write fewer rows to a segment")
        if used + len(data) > _MOST_FILE:
            number, used = number + 1, 0
            parts.append([])
        places[name] = number, used, used + len(data)
        parts[number].append(data)
        used += len(data)
    lines = [f"v1,{_MOST_FILE},{len(parts)}"]
    lines += [f"{name},{','.join(map(str, places[name]))}" for name in sorted(places, key=utf16)]
    files = {
        "version.bin": struct.pack(">i", VERSION),
        "factory.json": b'{"type":"mMapSegmentFactory"}',
        "meta.smoosh": ("\n".join(lines) + "\n").encode(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    for index, pieces in enumerate(parts):
        with (folder / f"{index:05d}.smoosh").open("wb") as file:
            file.writelines(pieces)
    return sum(map(len, files.values())) + sum(len(piece) for pieces in parts for piece in pieces)
