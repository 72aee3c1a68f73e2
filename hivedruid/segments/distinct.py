"""Values that Python converts one by one: each distinct one once, since a column often repeats its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from hivedruid.java_numbers import double_text
from hivedruid.segments.errors import UnsupportedSegmentError

LARGEST_DOUBLE, LARGEST_FLOAT, SMALLEST_FLOAT = 2.0**53, 2.0**24, 2.0**-126
"""Java before 19 writes more digits of larger numbers, and of smaller ones, than identify them (JDK-4511638): the
values of a scan depend on the Java of Druid."""


def converted_distinct(array: pa.Array, convert: Callable[[Any], Any], to: pa.DataType) -> pa.Array:
    """The values as another type; null stays null."""
    encoded = array.dictionary_encode()
    return pa.array(map(convert, encoded.dictionary.to_pylist()), to).take(encoded.indices)


def double_texts(array: pa.Array) -> pa.Array:
    """The texts of doubles as Java writes them. Raises UnsupportedSegmentError for one that depends on its version."""
    bits = array.view(pa.int64()).dictionary_encode()  # 0.0 and -0.0 are different texts
    values = bits.dictionary.view(pa.float64())
    _check(np.abs(values.to_numpy(zero_copy_only=False)), 0.0, LARGEST_DOUBLE)
    return pa.array(map(double_text, values.to_pylist()), pa.string()).take(bits.indices)


def spelled(floats: pa.Array) -> pa.Array:
    """Floats as the doubles that their decimal texts spell. Raises UnsupportedSegmentError as above."""
    _check(np.abs(floats.drop_null().to_numpy(zero_copy_only=False)), SMALLEST_FLOAT, LARGEST_FLOAT)
    return floats.cast(pa.string()).cast(pa.float64())


def _check(sizes: np.ndarray[tuple[int], np.dtype[Any]], least: float, end: float) -> None:
    if not np.all((sizes == 0) | ((least <= sizes) & (sizes < end)) | ~np.isfinite(sizes)):
        raise UnsupportedSegmentError("the text of a number depends on the version of Druid's Java")
