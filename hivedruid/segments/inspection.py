"""What a segment contains, and whether its parts agree with each other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from hivedruid.instants import instant
from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.auto import AutoNumbers, Encoded
from hivedruid.segments.blocks import Blocks
from hivedruid.segments.codecs import LZ4, LZF, NONE, UNCOMPRESSED, ZSTD
from hivedruid.segments.columns import Column, Numeric
from hivedruid.segments.errors import SegmentError
from hivedruid.segments.integers import Lists
from hivedruid.segments.offsets import bitmap_entries
from hivedruid.segments.segment import TIME, Interval, Segment
from hivedruid.segments.strings import Strings

_CODECS = {LZF: "lzf", LZ4: "lz4", ZSTD: "zstd", UNCOMPRESSED: "uncompressed blocks", NONE: "not compressed"}


@dataclass(frozen=True)
class ColumnReport:
    """A column: its type and encoding, the number of distinct values (of strings) and of nulls, its size in bytes."""

    name: str
    type: str
    encoding: str
    cardinality: int | None
    nulls: int
    size: int


def columns(segment: Segment) -> Iterator[ColumnReport]:
    """All columns, __time first. Reads them; raises SegmentError."""
    for name in (TIME, *segment.column_names):
        column = segment.column(name)
        array = column.data.array(None)
        cardinality = len(column.data.dictionary) if isinstance(column.data, Strings) else None
        yield ColumnReport(name, _type(column), _encoding(column), cardinality, array.null_count, _size(segment, name))


def time_range(segment: Segment) -> Interval:
    """The first and the last time, in milliseconds."""
    times = segment.column(TIME).data.array(None).to_numpy(zero_copy_only=False)
    return int(times.min()), int(times.max())


def problems(segment: Segment) -> Iterator[str]:
    """Why the segment is damaged, a line for each problem: every value is read, and compared with the bitmaps."""
    try:
        first, last = time_range(segment)
    except SegmentError as error:
        yield f"{TIME}: {error}"
        return
    if not segment.interval[0] <= first <= last < segment.interval[1]:
        yield f"{TIME}: rows from {iso(first)} to {iso(last)} are not within the interval of the segment"
    for name in segment.column_names:
        try:
            data = segment.column(name).data
            data.array(None)
            if isinstance(data, Strings) and not _bitmaps_agree(data):
                yield f"{name}: its bitmaps contain other rows than its values"
        except SegmentError as error:
            yield f"{name}: {error}"


def _bitmaps_agree(data: Strings) -> bool:
    if data.bitmaps is None:
        return True
    if isinstance(data.ids, Lists):
        ids, offsets = data.ids.values(None)
        ids, rows = bitmap_entries(ids.astype(np.int64), offsets)
    else:
        ids = data.ids.values(None).astype(np.int64)
        rows = np.arange(len(ids))
    expected = np.sort(ids * max(1, len(data)) + rows)
    expected = expected[np.append(True, expected[1:] != expected[:-1])] if len(expected) else expected
    every = ((number, data.rows_with(np.array([number]))) for number in range(len(data.dictionary)))
    found = [number * len(data) + found for number, found in every if found is not None]
    return np.array_equal(np.concatenate(found) if found else np.zeros(0, dtype=np.int64), expected)


def _type(column: Column) -> str:
    return f"{column.type} (multi-value)" if column.has_multiple_values else column.type


def _encoding(column: Column) -> str:
    data = column.data
    if isinstance(data, Strings):
        ids = data.ids.ids if isinstance(data.ids, Lists) else data.ids
        bitmaps = f"{data.bitmap_kind} bitmaps" if data.bitmaps is not None else "no bitmaps"
        return f"{data.dictionary.encoding} dictionary, {_codec(ids)}, {bitmaps}"
    if isinstance(data, Numeric | AutoNumbers):
        return _codec(data.blocks)
    return _codec(data.ids) if isinstance(data, Encoded) else ""


def _codec(blocks: Blocks) -> str:
    return _CODECS.get(blocks.codec, str(blocks.codec))


def _size(segment: Segment, name: str) -> int:
    files = segment.files.entries
    return sum(len(data) for file, data in files.items() if file == name or file.startswith(f"{name}."))


def iso(milliseconds: int) -> str:
    """A time as ISO 8601, or as a number outside the years that Python knows."""
    try:
        time = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"
    return instant(time)
