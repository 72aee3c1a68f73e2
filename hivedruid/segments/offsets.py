"""Lists of values one after the other: list i is from `offsets[i]` to `offsets[i + 1]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]


def offsets_of(sizes: npt.NDArray[Any] | Sequence[int]) -> Int64s:
    """The offsets of lists of these sizes, one more than there are lists."""
    found = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def gathered(offsets: Int64s, lists: Int64s) -> tuple[Int64s, Int64s]:
    """The positions of the values of some lists, in their order, and the offsets of these lists alone."""
    starts, sizes = offsets[lists], offsets[lists + 1] - offsets[lists]
    found = offsets_of(sizes)
    positions: Int64s = np.arange(int(found[-1]), dtype=np.int64) + np.repeat(starts - found[:-1], sizes)
    return positions, found


def bitmap_entries(ids: npt.NDArray[Any], offsets: Int64s) -> tuple[npt.NDArray[Any], Int64s]:
    """The ids and rows that the bitmaps of a multi-value column contain: a row without values counts as null, id 0."""
    sizes = np.diff(offsets)
    rows = np.repeat(np.arange(len(sizes), dtype=np.int64), np.maximum(sizes, 1))
    return np.insert(ids, offsets[:-1][sizes == 0], 0), rows
