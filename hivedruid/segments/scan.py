"""The rows of a segment as a native scan query returns them: with the Druid types of a data source, which may differ
from those of the segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.auto import Encoded
from hivedruid.segments.columns import Nulls
from hivedruid.segments.conversions import ARROW, converted, converts_all
from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.filters import And, Filter, Or
from hivedruid.segments.native_filters import segment_filter
from hivedruid.segments.segment import BATCH_ROWS, Interval, Segment, open_segment


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
    scan: Scan,
    path: Path,
    intervals: Sequence[Interval],
    piece: int = 0,
    pieces: int = 1,
    *,
    rows: int = BATCH_ROWS,
    checks_all: bool = False,
) -> Iterator[pa.RecordBatch]:
    """The rows of one of `pieces` parts of equal size of the segment at `path`, `rows` in a batch. Raises SegmentError,
    OSError. `checks_all`: values of any part that cannot be read as the types of the scan are found before the first
    row."""
    with open_segment(path) as segment:
        where = _filter(scan, segment)
        total = segment.rows
        among = range(piece * total // pieces, (piece + 1) * total // pieces)
        columns = [segment.column(name) for name, _ in scan.fields]
        names = list(dict.fromkeys(name for name, _ in scan.fields))
        if checks_all:
            _check_values(scan, segment, intervals, where)
        for batch in segment.read(names, intervals, where, among, rows):
            arrays = [
                converted(batch.column(names.index(column.name)), column, type_)
                for column, (_, type_) in zip(columns, scan.fields, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=scan.schema)


def _check_values(scan: Scan, segment: Segment, intervals: Sequence[Interval], where: Filter | None) -> None:
    """Raises UnsupportedSegmentError if a value that the scan returns cannot be read as its type."""
    for name, type_ in scan.fields:
        column = segment.column(name)
        if not converts_all(column, type_):
            for batch in segment.read([name], intervals, where):
                converted(batch.column(0), column, type_)


def _filter(scan: Scan, segment: Segment) -> Filter | None:
    """The filter. Raises UnsupportedSegmentError if a column of it has another type in the segment."""
    if scan.where is None:
        return None
    found = segment_filter(scan.where, scan.types)
    if found is None:
        raise UnsupportedSegmentError(f"a filter of type {scan.where['type']} is not supported")
    for name in _columns(found):
        column = segment.column(name)
        is_variant = isinstance(column.data, Encoded) and column.data.is_variant
        is_same = column.type == scan.types[name] and not column.has_multiple_values and not is_variant
        if not is_same and not isinstance(column.data, Nulls):
            raise UnsupportedSegmentError(f"column {name!r} has type {column.type} and not {scan.types[name]}")
    return found


def _columns(where: Filter) -> set[str]:
    if isinstance(where, And | Or):
        return {name for part in where.parts for name in _columns(part)}
    return {where.column}
