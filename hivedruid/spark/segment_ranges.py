"""Divides the rows of a segment interval by ranges of the values of columns, as Druid's `range` partitionsSpec does.

Spark's Python workers import this module, see `segment_source.PACKAGE`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hivedruid.segments.offsets import Int64s
from hivedruid.segments.writing.strings import Encoded, encode

Bound = tuple[str, ...] | None


def ranges(rows: pa.Table, names: Sequence[str], most: int) -> Iterator[tuple[pa.Table, Bound, Bound]]:
    """The rows in parts of at most `most` rows, unless more have the same values: each with the bound that its values
    reach, and the one that they do not. The first and last are unbounded. A bound has no null: those come first."""
    whole = rows.combine_chunks()
    columns = [encode(whole.column(name), "ARRAY") for name in names]
    order = np.lexsort([column.ids for column in reversed(columns)])
    ids = [column.ids[order] for column in columns]
    cuts = _cuts(columns, ids)
    start = 0
    first: Bound = None
    while start < len(order):
        end = _end(cuts, start, most, len(order))
        until: Bound = None
        if end < len(order):
            until = tuple(
                column.values[int(found[end]) - column.has_null].as_py()
                for column, found in zip(columns, ids, strict=True)
            )
        yield whole.take(pa.array(order[start:end])), first, until
        start, first = end, until


def _cuts(columns: Sequence[Encoded], ids: Sequence[Int64s]) -> Int64s:
    """Where other values begin, without nulls."""
    is_new = np.zeros(len(ids[0]), dtype=np.bool_)
    for found in ids:
        is_new[1:] |= found[1:] != found[:-1]
    for column, found in zip(columns, ids, strict=True):
        if column.has_null:
            is_new &= found > 0
    return np.flatnonzero(is_new)


def _end(cuts: Int64s, start: int, most: int, rows: int) -> int:
    """The end of the part that begins at `start`."""
    if rows - start <= most:
        return rows
    after = int(np.searchsorted(cuts, start + most, side="right"))
    if after and cuts[after - 1] > start:
        return int(cuts[after - 1])
    return int(cuts[after]) if after < len(cuts) else rows
