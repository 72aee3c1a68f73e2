"""The rows of a segment: their order, and rollup."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.offsets import Int64s
from hivedruid.segments.writing.numbers import Blobs, Numbers, sort_key
from hivedruid.segments.writing.strings import Encoded


@dataclass(frozen=True)
class Values:
    """The values of rows from which a metric is computed."""

    array: pa.Array

    def reordered(self, order: Int64s) -> Values:
        return Values(self.array.take(pa.array(order)))


Column = Encoded | Numbers | Blobs


def druid_order(time: Int64s, dimensions: Sequence[Column]) -> Int64s:
    """The order of rows: by time, then by each dimension, null first."""
    is_sorted = bool(np.all(time[1:] >= time[:-1]))
    order = np.arange(len(time)) if is_sorted else np.argsort(time, kind="stable")
    ordered = time[order]
    is_tied = np.zeros(len(time), dtype=np.bool_)
    is_tied[1:] = ordered[1:] == ordered[:-1]
    is_tied[:-1] |= is_tied[1:]
    if is_tied.any():  # only rows of the same time are compared by dimension
        places = np.flatnonzero(is_tied)
        rows = order[places]
        keys: list[npt.NDArray[Any]] = []
        for column in reversed(dimensions):
            keys.extend(_keys(column.reordered(rows)))
        order[places] = rows[np.lexsort([*keys, time[rows]])]
    return order


def _keys(column: Column) -> list[npt.NDArray[Any]]:
    """The sort keys of a dimension, the most significant one last."""
    if isinstance(column, Numbers):
        return [sort_key(column), ~column.is_null] if column.is_null.any() else [sort_key(column)]
    if isinstance(column, Encoded):
        return [column.ids] if column.offsets is None else [_list_ranks(column.ids, column.offsets)]
    raise UnsupportedSegmentError("a dimension of a complex type")


def _list_ranks(ids: Int64s, offsets: Int64s) -> Int64s:
    """The ranks of lists, which are compared element by element."""
    sizes = np.diff(offsets)
    ranks = np.zeros(len(sizes), dtype=np.int64)
    base = int(ids.max()) + 2 if len(ids) else 2
    for place in range(int(sizes.max()) if len(sizes) else 0):
        element = np.zeros(len(sizes), dtype=np.int64)
        has_more = sizes > place
        element[has_more] = ids[offsets[:-1][has_more] + place] + 1
        ranks = np.unique(ranks * base + element, return_inverse=True)[1]
    return ranks


def group_starts(time: Int64s, dimensions: Sequence[Column]) -> Int64s:
    """Where a new combination of time and dimensions begins; the rows are in Druid's order."""
    keys = [time, *(key for column in dimensions for key in _keys(column))]
    is_new = np.zeros(len(time), dtype=np.bool_)
    is_new[:1] = True
    for key in keys:
        is_new[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(is_new)


COMBINE: Mapping[str, Callable[[npt.NDArray[Any], Int64s], npt.NDArray[Any]]] = {
    "longSum": np.add.reduceat, "doubleSum": np.add.reduceat, "floatSum": np.add.reduceat,
    "count": np.add.reduceat,
    "longMin": np.minimum.reduceat, "doubleMin": np.minimum.reduceat, "floatMin": np.minimum.reduceat,
    "longMax": np.maximum.reduceat, "doubleMax": np.maximum.reduceat, "floatMax": np.maximum.reduceat,
}  # fmt: skip
"""Aggregators whose stored values of the same key can be combined."""


def combined(column: Column, aggregator: str, starts: Int64s) -> Column:
    """A metric with one value for each group; null if all its values are null. Raises UnsupportedSegmentError."""
    if not isinstance(column, Numbers) or aggregator not in COMBINE:
        raise UnsupportedSegmentError(f"rollup of the aggregator {aggregator!r}")
    if len(starts) == 0:
        return column
    neutral = _neutral(aggregator, column.values.dtype)
    values = COMBINE[aggregator](np.where(column.is_null, neutral, column.values), starts)
    return Numbers(values.astype(column.values.dtype), np.logical_and.reduceat(column.is_null, starts))


def _neutral(aggregator: str, dtype: np.dtype[Any]) -> Any:
    """The value that changes no result: 0, or the largest one for a minimum."""
    if not aggregator.endswith(("Min", "Max")):
        return dtype.type(0)
    if dtype.kind == "f":
        return dtype.type(np.inf if aggregator.endswith("Min") else -np.inf)
    limits = np.iinfo(np.int64)
    return dtype.type(limits.max if aggregator.endswith("Min") else limits.min)


def folded(column: Values, fold: Callable[[Sequence[Any]], bytes | None], starts: Int64s) -> pa.Array:
    """The bytes of the values of each group."""
    values = column.array.to_pylist()
    ends = [*starts[1:].tolist(), len(values)]
    groups = (values[start:end] for start, end in zip(starts.tolist(), ends, strict=True))
    return pa.array([fold(group) for group in groups], pa.large_binary())
