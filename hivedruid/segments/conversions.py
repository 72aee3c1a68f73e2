"""The values of a column of a segment as those of a data source, whose segments may have other types for it: what a
scan query returns for the segment, as the Druid type of the data source."""

from __future__ import annotations

from base64 import b64decode, b64encode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.segments.auto import Encoded
from hivedruid.segments.columns import Column, Nulls
from hivedruid.segments.complexes import Complex
from hivedruid.segments.distinct import converted_distinct, double_texts, spelled
from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.offsets import offsets_of
from hivedruid.segments.texts import JSON, PAIRS
from hivedruid.sketches.kinds import SketchKind, kind_of

BYTES = "COMPLEX"
"""The type as which the bytes of sketches are read, in place of their base64."""
ARROW = {
    BYTES: pa.binary(),
    "LONG": pa.int64(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float64(),
    "STRING": pa.string(),
    "ARRAY<STRING>": pa.list_(pa.string()),
    "ARRAY<LONG>": pa.list_(pa.int64()),
    "ARRAY<DOUBLE>": pa.list_(pa.float64()),
}
"""The Arrow type of each Druid type; a FLOAT is the double that its decimal text spells."""
_TEXTS = PAIRS | {"STRING", JSON}
"""The types whose values a segment has as texts."""
_NUMBERS = {"LONG": ("LONG",), "DOUBLE": ("DOUBLE", "LONG", "FLOAT"), "FLOAT": ("DOUBLE", "LONG", "FLOAT")}
"""The types of segments whose values are read as numbers of a type."""


def converted(array: pa.Array, column: Column, type_: str) -> pa.Array:
    """Values of a column as the Druid type `type_`. Raises UnsupportedSegmentError if they cannot be read as it."""
    data = column.data
    if isinstance(data, Nulls):
        return pa.nulls(len(array), ARROW[type_])
    if isinstance(data, Encoded) and data.is_variant and _element(column.type) != _element(type_):
        raise _refusal(column, type_)  # the type of each value would count
    if type_.startswith("ARRAY<"):
        return _lists(array, column, type_)
    if column.has_multiple_values:
        raise _refusal(column, type_)
    return _scalars(array, column, column.type, type_)


def converts_all(column: Column, type_: str) -> bool:
    """Whether `converted` certainly takes every value of a column: its type alone decides."""
    if isinstance(column.data, Nulls):
        return True
    is_variant = isinstance(column.data, Encoded) and column.data.is_variant
    is_list = column.has_multiple_values or column.type.startswith("ARRAY<")
    is_same = _element(column.type) == _element(type_) and _element(type_) in ("LONG", "DOUBLE", "STRING")
    return is_same and not is_variant and (type_.startswith("ARRAY<") or not is_list)


def _element(type_: str) -> str:
    return type_[6:-1] if type_.startswith("ARRAY<") else type_


def _refusal(column: Column, type_: str) -> UnsupportedSegmentError:
    return UnsupportedSegmentError(f"column {column.name!r} has type {column.type} and not {type_}")


def _scalars(array: pa.Array, column: Column, stored: str, type_: str) -> pa.Array:
    """Single values, or elements of arrays, of the type `stored` as another type."""
    if type_ == "STRING":
        if stored in _TEXTS or stored == "LONG":
            return array.cast(pa.string())
        if stored in ("DOUBLE", "FLOAT"):
            return double_texts(_decimal(array))
        if (kind := kind_of(stored)) is not None:
            return _base64(array, column, kind)
    if type_ == BYTES and (kind := kind_of(stored)) is not None:
        return _bytes(array, column, kind)
    if stored not in _NUMBERS.get(type_, ()):
        raise _refusal(column, type_)
    return _decimal(array).cast(ARROW[type_], safe=False)


def _decimal(array: pa.Array) -> pa.Array:
    """Numbers, a FLOAT as the double that its decimal text spells."""
    return spelled(array) if pa.types.is_float32(array.type) else array


def _base64(array: pa.Array, column: Column, kind: SketchKind) -> pa.Array:
    """The text of each sketch."""
    return converted_distinct(_bytes(array, column, kind), lambda value: b64encode(value).decode(), pa.string())


def _bytes(array: pa.Array, column: Column, kind: SketchKind) -> pa.Array:
    """The bytes of each sketch. Where there are none, Druid returns the empty sketch, but null for a null."""
    sketches = array.cast(ARROW[BYTES])
    if not array.null_count:
        return sketches
    has_nulls = column.data.has_nulls if isinstance(column.data, Complex) else None
    if has_nulls is None or has_nulls == bool(kind.empty):
        raise UnsupportedSegmentError(f"column {column.name!r} has values without a sketch")
    return sketches.fill_null(b64decode(kind.empty)) if kind.empty else sketches


def _lists(array: pa.Array, column: Column, type_: str) -> pa.Array:
    """Several values in a row. A single value is an array with that value, and null is null; in a multi-value column,
    so are no value and a single null."""
    element, stored = _element(type_), _element(column.type)
    if column.type.startswith("ARRAY<") or column.has_multiple_values:
        is_null = array.is_null().to_numpy(zero_copy_only=False)
        if column.has_multiple_values:
            is_null = is_null | _is_without_value(array)
        offsets = array.offsets.to_numpy()
        values = array.values.slice(offsets[0], offsets[-1] - offsets[0])  # of a slice only its own
        offsets, values = offsets - offsets[0], _scalars(values, column, stored, element)
    else:
        is_null = array.is_null().to_numpy(zero_copy_only=False)
        offsets = offsets_of(~is_null).astype(np.int32)
        values = _scalars(array.drop_null(), column, stored, element)
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=ARROW[type_], mask=pa.array(is_null))


def _is_without_value(lists: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows of a multi-value column have no value, or a single null."""
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    starts = lists.offsets.to_numpy()[:-1]
    is_null = lists.values.is_null().to_numpy(zero_copy_only=False)
    first = is_null[np.minimum(starts, max(0, len(is_null) - 1))] if len(is_null) else np.ones(len(lists), dtype=bool)
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (lengths == 0) | ((lengths == 1) & first)
    return found
