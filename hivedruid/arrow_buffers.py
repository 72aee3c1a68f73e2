"""Arrow arrays from buffers.

`pa.array`, `pa.scalar`, and Python values as arguments of kernels, import pandas where it is installed
(pandas-shim.pxi), which takes as long as formatting a million rows. These functions do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
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
    return _pieces([None if text is None else text.encode() for text in texts], pa.string())


def _pieces(encoded: Sequence[bytes | None], kind: pa.DataType) -> pa.Array:
    ends = np.cumsum([0, *(len(piece or b"") for piece in encoded)])
    if ends[-1] > MOST_BYTES:
        raise pa.ArrowInvalid("more than 2 GB of text")
    is_present = np.array([piece is not None for piece in encoded], bool)
    content = b"".join(piece or b"" for piece in encoded)
    buffers = [validity(is_present), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(kind, len(encoded), buffers)


def array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """An array of Python values of a type that is not nested, as `pa.array` makes it: times in microseconds, without a
    zone or in any. Raises ValueError, TypeError, AttributeError or OverflowError for a value that the type does not
    have."""
    if kind == pa.string():
        return strings(values)
    if kind == pa.binary():
        return _pieces(values, kind)
    if pa.types.is_boolean(kind):
        content = _bits(np.array([bool(value) for value in values], bool))
    elif pa.types.is_decimal128(kind):
        content = pa.py_buffer(b"".join(_decimal(value, kind) for value in values))
    else:
        convert, dtype = _numbers(kind)
        content = pa.py_buffer(np.array([0 if value is None else convert(value) for value in values], dtype))
    is_present = np.array([value is not None for value in values], bool)
    return pa.Array.from_buffers(kind, len(values), [validity(is_present), content])


def _numbers(kind: pa.DataType) -> tuple[Callable[[Any], Any], Any]:
    """How values are numbers, and the type of these in numpy."""
    if pa.types.is_date32(kind):
        return lambda day: (day - _EPOCH.date()).days, np.int32
    if pa.types.is_timestamp(kind):
        return (
            lambda at: (at - _EPOCH.replace(tzinfo=UTC if at.tzinfo else None)) // timedelta(microseconds=1),
            np.int64,
        )
    return (lambda number: number), kind.to_pandas_dtype()


def _decimal(value: Decimal | None, kind: pa.Decimal128Type) -> bytes:
    if value is None:
        return bytes(16)
    sign, digits, exponent = value.as_tuple()
    shift, whole = int(exponent) + kind.scale, int("".join(map(str, digits)))
    factor = int(10 ** abs(shift))
    whole, rest = (whole * factor, 0) if shift >= 0 else divmod(whole, factor)
    if rest or whole >= int(10**kind.precision):
        raise ValueError(f"{value} is not a {kind}")
    return (-whole if sign else whole).to_bytes(16, "little", signed=True)


_EPOCH = datetime(1970, 1, 1)


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
