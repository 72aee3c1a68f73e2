"""A segment: its columns, rows and time range, and reads of its rows as Arrow record batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.columns import Column, Nulls, read_column, read_descriptor
from hivedruid.segments.cursor import Cursor, text
from hivedruid.segments.errors import DamagedSegmentError
from hivedruid.segments.files import INDEX, METADATA, SegmentFiles, open_files
from hivedruid.segments.filters import Filter
from hivedruid.segments.generic import read_indexed
from hivedruid.segments.matching import matching
from hivedruid.segments.version_10 import BASE, Header

TIME = "__time"
Interval = tuple[int, int]
"""Milliseconds since 1970: the first one, and the one after the last."""
BATCH_ROWS = 1 << 16


@dataclass
class Segment:
    """The segment in `files`. Columns are read when they are used."""

    files: SegmentFiles
    column_names: tuple[str, ...]
    """Without __time, in the order of the segment."""
    dimensions: tuple[str, ...]
    interval: Interval
    bitmap_kind: str
    _columns: dict[str, Column] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.column(TIME).data)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What Druid stores about the ingestion: aggregators, and in version 9 queryGranularity and rollup; empty if it
        is missing."""
        if self.files.header is not None:
            return {"aggregators": self.files.header.aggregators}
        data = self.files.entries.get(METADATA)
        try:
            found = json.loads(bytes(data)) if data is not None else {}
        except (ValueError, RecursionError) as error:
            raise DamagedSegmentError(f"{METADATA} is not valid JSON") from error
        return found if isinstance(found, dict) else {}

    def column(self, name: str) -> Column:
        """A column; one that the segment does not have is null in every row. Raises SegmentError."""
        if name not in self._columns:
            header = self.files.header
            stored = name if header is None else f"{BASE}/{name}"
            data = self.files.entries.get(stored) if name == TIME or name in self.column_names else None
            if data is None:
                if name == TIME:
                    raise DamagedSegmentError(f"column {TIME} does not exist")
                return Column(name, "STRING", False, Nulls(self.rows))
            cursor = Cursor(data)
            descriptor = header.descriptor(stored) if header is not None else read_descriptor(name, cursor)
            column = read_column(name, descriptor, cursor, self.files.get, stored, 0 if name == TIME else self.rows)
            if name != TIME and len(column.data) != self.rows:
                raise DamagedSegmentError(f"column {name!r} has {len(column.data)} of {self.rows} rows")
            self._columns[name] = column
        return self._columns[name]

    def read(
        self,
        columns: Sequence[str],
        intervals: Sequence[Interval] | None = None,
        where: Filter | None = None,
        among: range | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> Iterator[pa.RecordBatch]:
        """The rows within the intervals that match the filter, in the order of the segment. Raises SegmentError.

        `among`: only rows with these numbers. Columns keep their dictionaries. A column that the segment does not have
        is null.
        """
        wanted = self.wanted(intervals, where)
        if among is not None and among != range(self.rows):
            wanted = _among(wanted, among)
        arrays = [self.column(name).data.array(wanted) for name in columns]
        total = self.rows if wanted is None else len(wanted)
        schema = pa.schema([pa.field(name, array.type) for name, array in zip(columns, arrays, strict=True)])
        if not columns:
            yield pa.RecordBatch.from_struct_array(pa.nulls(total, pa.struct([])).fill_null({}))
            return
        whole = pa.RecordBatch.from_arrays(arrays, schema=schema)
        for start in range(0, total, batch_rows):
            yield whole.slice(start, batch_rows)

    def wanted(self, intervals: Sequence[Interval] | None, where: Filter | None) -> Rows | None:
        """The rows within the intervals that match the filter; None for all rows."""
        rows = None if where is None else matching(where, self)
        if intervals is None or any(start <= self.interval[0] and self.interval[1] <= end for start, end in intervals):
            return rows
        times = self.column(TIME).data.array(rows).to_numpy(zero_copy_only=False)
        is_within = _within(times, intervals)
        return np.flatnonzero(is_within) if rows is None else rows[is_within]


def _among(rows: Rows | None, among: range) -> Rows:
    if rows is None:
        return np.arange(among.start, among.stop)
    first, until = np.searchsorted(rows, (among.start, among.stop))
    return rows[first:until]


def _within(times: npt.NDArray[np.int64], intervals: Sequence[Interval]) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(times), dtype=np.bool_)
    for start, end in intervals:
        found |= (times >= start) & (times < end)
    return found


@contextmanager
def open_segment(path: Path) -> Iterator[Segment]:
    """The segment at `path`: a folder, or a zip. Raises SegmentError, OSError.

    Nothing that was read may be used after the context has ended.
    """
    with open_files(path) as files:
        yield segment_of(files)


def segment_of(files: SegmentFiles) -> Segment:
    """The segment in these files. Raises SegmentError."""
    if files.header is not None:
        return _of_version_10(files, files.header)
    cursor = Cursor(files.get(INDEX))
    columns = _names(cursor, files)
    dimensions = _names(cursor, files)
    interval = cursor.i64(), cursor.i64()
    kind = "concise"
    if cursor.remaining:
        kind = _bitmap_kind(cursor.string())
    if cursor.remaining:  # the names of columns that are null in every row, in their places
        columns = _merged(columns, _names(cursor, files))
        dimensions = _merged(dimensions, _names(cursor, files))
    return Segment(files, tuple(filter(None, columns)), tuple(filter(None, dimensions)), interval, kind)


def _of_version_10(files: SegmentFiles, header: Header) -> Segment:
    start, _, end = str(header.document.get("interval")).partition("/")
    dimensions = tuple(name for name in header.columns if name != TIME)
    metrics = tuple(str(aggregator.get("name")) for aggregator in header.aggregators)
    return Segment(files, (*dimensions, *metrics), dimensions, (_millis(start), _millis(end)), header.bitmap_kind)


def _millis(time: str) -> int:
    try:
        return int(datetime.fromisoformat(time).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise DamagedSegmentError(f"invalid time {time[:40]!r} in the interval of the metadata") from error


def _names(cursor: Cursor, files: SegmentFiles) -> list[str | None]:
    indexed = read_indexed(cursor, files.get)
    nulls = indexed.nulls()
    return [None if nulls[index] else text(indexed[index]) for index in range(len(indexed))]


def _merged(names: list[str | None], missing: list[str | None]) -> list[str | None]:
    """`missing` has a name where `names` has none."""
    present = iter(names)
    return [name if name is not None else next(present, None) for name in missing]


def _bitmap_kind(description: str) -> str:
    try:
        return str(json.loads(description)["type"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedSegmentError(f"{INDEX} contains an invalid description of bitmaps") from error
