"""The rows of a segment as a native scan query returns them: with the Druid types of a data source, which may differ
from those of the segment."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.segments.columns import Column, Nulls
from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.filters import And, Filter, Or
from hivedruid.segments.native_filters import segment_filter
from hivedruid.segments.offsets import offsets_of
from hivedruid.segments.segment import Interval, Segment, open_segment
from hivedruid.sketches.kinds import is_stored_as_read

ARROW = {
    "LONG": pa.int64(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float64(),
    "STRING": pa.string(),
    "ARRAY<STRING>": pa.list_(pa.string()),
    "ARRAY<LONG>": pa.list_(pa.int64()),
    "ARRAY<DOUBLE>": pa.list_(pa.float64()),
}
"""The Arrow type of each Druid type; a FLOAT is the double that its decimal text spells."""


@dataclass(frozen=True)
class Scan:
    """Which rows and fields of segments are read. `fields` are names and Druid types, `where` is a native filter over
    columns of the Druid types `types`."""

    fields: tuple[tuple[str, str], ...]
    where: Mapping[str, Any] | None
    types: Mapping[str, str]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(f"_{n}", ARROW[type_]) for n, (_, type_) in enumerate(self.fields)])


def scan_file(
    scan: Scan, path: Path, intervals: Sequence[Interval], piece: int = 0, pieces: int = 1
) -> Iterator[pa.RecordBatch]:
    """The rows of one of `pieces` parts of equal size of the segment at `path`. Raises SegmentError, OSError."""
    with open_segment(path) as segment:
        where = _filter(scan, segment)
        total = segment.rows
        among = range(piece * total // pieces, (piece + 1) * total // pieces)
        columns = [segment.column(name) for name, _ in scan.fields]
        names = list(dict.fromkeys(name for name, _ in scan.fields))
        for batch in segment.read(names, intervals, where, among):
            arrays = [
                converted(batch.column(names.index(column.name)), column, type_)
                for column, (_, type_) in zip(columns, scan.fields, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=scan.schema)


def _filter(scan: Scan, segment: Segment) -> Filter | None:
    """The filter. Raises UnsupportedSegmentError if a column of it has another type in the segment."""
    if scan.where is None:
        return None
    found = segment_filter(scan.where, scan.types)
    if found is None:
        raise UnsupportedSegmentError(f"a filter of type {scan.where['type']} is not supported")
    for name in _columns(found):
        column = segment.column(name)
        is_same = column.type == scan.types[name] and not column.has_multiple_values
        if not is_same and not isinstance(column.data, Nulls):
            raise UnsupportedSegmentError(f"column {name!r} has type {column.type} and not {scan.types[name]}")
    return found


def _columns(where: Filter) -> set[str]:
    if isinstance(where, And | Or):
        return {name for part in where.parts for name in _columns(part)}
    return {where.column}


def converted(array: pa.Array, column: Column, type_: str) -> pa.Array:
    """The values of a column as the Druid type `type_`. Raises UnsupportedSegmentError if they have another type."""
    if isinstance(column.data, Nulls):
        return pa.nulls(len(array), ARROW[type_])
    if type_ == "ARRAY<STRING>":
        return _lists(array, column)
    if column.type == "FLOAT" and type_ in ("FLOAT", "DOUBLE"):
        return array.cast(pa.string()).cast(pa.float64())
    if type_ == "STRING" and is_stored_as_read(column.type):
        return _base64(array, column)
    if type_.startswith("ARRAY<"):
        if column.type != type_:
            raise UnsupportedSegmentError(f"column {column.name!r} has type {column.type} and not {type_}")
        return array.cast(ARROW[type_])
    kinds = {"LONG": ("LONG",), "DOUBLE": ("DOUBLE", "LONG"), "FLOAT": ("DOUBLE", "LONG"), "STRING": ("STRING",)}
    if column.type not in kinds[type_] or column.has_multiple_values:
        raise UnsupportedSegmentError(f"column {column.name!r} has type {column.type} and not {type_}")
    return array.cast(ARROW[type_], safe=False)


def _base64(array: pa.Array, column: Column) -> pa.Array:
    """The text of each sketch. What Druid returns for a value without bytes depends on its type."""
    if array.null_count:
        raise UnsupportedSegmentError(f"column {column.name!r} has values without a sketch")
    return pa.array([b64encode(value).decode() for value in array.to_pylist()], pa.string())


def _lists(array: pa.Array, column: Column) -> pa.Array:
    """Several values in a row; in a multi-value column, none and a single null are a null row."""
    wanted = ARROW["ARRAY<STRING>"]
    if column.type == "ARRAY<STRING>":
        return array.cast(wanted)
    if column.type != "STRING":
        raise UnsupportedSegmentError(f"column {column.name!r} has type {column.type} and not STRING")
    if not column.has_multiple_values:
        values = array.cast(pa.string())
        present = values.is_valid().to_numpy(zero_copy_only=False)
        offsets = pa.array(offsets_of(present).astype(np.int32))
        return pa.ListArray.from_arrays(offsets, values.drop_null(), mask=pa.array(~present))
    lists = array.cast(wanted)
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    first = pc.list_element(pc.if_else(pa.array(lengths > 0), lists, pa.scalar([None], wanted)), 0)
    is_null = (lengths == 0) | ((lengths == 1) & first.is_null().to_numpy(zero_copy_only=False))
    return pc.if_else(pa.array(is_null), pa.scalar(None, wanted), lists)
