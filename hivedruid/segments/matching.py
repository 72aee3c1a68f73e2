"""Evaluates filters: on the dictionary of a string column, with its bitmaps where few rows match, and on the values of
a numeric column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.columns import Nulls
from hivedruid.segments.filters import And, Filter, In, IsNull, Leaf, NotNull, Or, Prefix, Range, utf16
from hivedruid.segments.integers import Lists
from hivedruid.segments.offsets import bitmap_entries
from hivedruid.segments.strings import Strings

if TYPE_CHECKING:
    from hivedruid.segments.segment import Segment

Bools = npt.NDArray[np.bool_]

_FEW = 0.02
"""The bitmaps of ids are used if at most this share of the ids match; otherwise the ids of all rows are compared."""


def matching(where: Filter, segment: Segment) -> Rows:
    """The rows that match, sorted. Raises SegmentError."""
    if isinstance(where, And):
        found: Rows | None = None
        for part in where.parts:
            rows = matching(part, segment)
            found = rows if found is None else np.intersect1d(found, rows, assume_unique=True)
            if len(found) == 0:
                break
        return np.arange(segment.rows) if found is None else found
    if isinstance(where, Or):
        if not where.parts:
            return np.zeros(0, dtype=np.int64)
        return np.unique(np.concatenate([matching(part, segment) for part in where.parts]))
    data = segment.column(where.column).data
    if isinstance(data, Nulls):  # whose type in other segments is not known here
        return np.arange(segment.rows if isinstance(where, IsNull) else 0)
    if isinstance(data, Strings):
        return _strings(where, data)
    return _values(where, data.array(None))


def _strings(where: Leaf, data: Strings) -> Rows:
    has_null = data.dictionary.has_null
    if isinstance(where, IsNull):
        ids = np.zeros(1 if has_null else 0, dtype=np.int64)
    elif isinstance(where, NotNull):
        ids = np.arange(has_null, len(data.dictionary))
    else:
        ids = np.flatnonzero(_of_values(where, data.dictionary.values)) + has_null
    if data.is_multi_value or len(ids) <= max(1, int(_FEW * len(data.dictionary))):
        rows = data.rows_with(ids)
        if rows is not None:
            return rows
    is_wanted = np.zeros(len(data.dictionary), dtype=np.bool_)
    is_wanted[ids] = True
    if isinstance(data.ids, Lists):
        values, offsets = data.ids.values(None)
        if has_null:
            values, owners = bitmap_entries(values, offsets)
        else:
            owners = np.repeat(np.arange(len(data), dtype=np.int64), np.diff(offsets))
        return np.unique(owners[is_wanted[values]])
    return np.flatnonzero(is_wanted[data.ids.values(None)])


def _values(where: Leaf, array: pa.Array) -> Rows:
    if isinstance(where, IsNull):
        return np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))
    if isinstance(where, NotNull):
        return np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
    found = _of_values(where, array)
    return np.flatnonzero(found)


def _of_values(where: In | Range | Prefix, values: pa.Array) -> Bools:
    """Which values match; null does not."""
    if isinstance(where, In):
        found = pc.is_in(values, value_set=pa.array(list(where.values), type=values.type))
        found = pc.and_(found, values.is_valid())
    elif isinstance(where, Prefix):
        found = pc.starts_with(values, where.text)
    else:
        found = _in_range(where, values)
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _in_range(where: Range, values: pa.Array) -> pa.Array:
    if pa.types.is_string(values.type):
        return pa.array(_texts_in_range(where, values.to_pylist()))
    found = values.is_valid()
    if where.lower is not None:
        found = pc.and_(found, (pc.greater if where.is_lower_open else pc.greater_equal)(values, where.lower))
    if where.upper is not None:
        found = pc.and_(found, (pc.less if where.is_upper_open else pc.less_equal)(values, where.upper))
    return found


def _texts_in_range(where: Range, values: list[str | None]) -> list[bool]:
    lower, upper = (None if bound is None else utf16(str(bound)) for bound in (where.lower, where.upper))

    def is_within(text: str | None) -> bool:
        if text is None:
            return False
        units = utf16(text)
        above = lower is None or (units > lower if where.is_lower_open else units >= lower)
        return above and (upper is None or (units < upper if where.is_upper_open else units <= upper))

    return [is_within(value) for value in values]
