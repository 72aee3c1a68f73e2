"""Arrow arrays from buffers.

`pa.array`, `pa.scalar`, and Python values as arguments of kernels, import pandas where it is installed
(pandas-shim.pxi), which takes as long as formatting a million rows. These functions do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Flags = npt.NDArray[np.bool_]
MOST_BYTES = 2**31 - 1
"""The most characters of an array of strings, in bytes."""


def strings(texts: Sequence[str | None]) -> pa.Array:
    """An array of these texts. Raises UnicodeError for lone surrogates, AttributeError for other values, ArrowInvalid
    for more than 2 GB."""
    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] > MOST_BYTES:
        raise pa.ArrowInvalid("more than 2 GB of text")
    is_present = np.array([text is not None for text in texts], bool)
    buffers = [validity(is_present), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def condition(is_true: Flags) -> pa.Array:
    return pa.Array.from_buffers(pa.bool_(), len(is_true), [None, _bits(is_true)])


def validity(is_present: Flags) -> pa.Buffer | None:
    """The first buffer of an array whose other cells are null."""
    return None if is_present.all() else _bits(is_present)


def _bits(flags: Flags) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def without_dictionary(array: pa.Array) -> pa.Array:
    """The values of an array that has them in a dictionary; else the array itself."""
    return array.dictionary.take(array.indices) if pa.types.is_dictionary(array.type) else array


def numbers(values: npt.NDArray[Any], is_null: Flags | None = None) -> pa.Array:
    """An array of numbers, which are null where `is_null`."""
    kind = _NUMBERS.get(values.dtype.str[1:]) if values.dtype.isnative else None
    if kind is None:
        return pa.array(values, mask=is_null)
    buffers = [None if is_null is None else validity(~is_null), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(kind, len(values), buffers)


_NUMBERS = {"i4": pa.int32(), "i8": pa.int64(), "f4": pa.float32(), "f8": pa.float64()}
