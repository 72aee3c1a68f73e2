"""The text of whole columns, by Arrow's kernels: what `render` writes cell by cell for csv, tsv and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.catalog.types import HiveType
from hivedruid.results import Batch, Column, values

Cell = Callable[[Any], str]

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_ARROW = {
    **dict.fromkeys(_INTEGERS, pa.int64()),
    "boolean": pa.bool_(),
    "double": pa.float64(),
    **dict.fromkeys(("string", "varchar", "char"), pa.string()),
}
"""The Arrow type of Python values, by the name of the Hive type; others are formatted one by one."""


@dataclass(frozen=True)
class ColumnFormat:
    """How a layout writes cells: `null` instead of NULL, a column of strings by `strings`, times in `quote`, and all
    other values one by one: `cell` returns the formatter for a type."""

    null: str
    strings: Callable[[pa.Array], pa.Array]
    cell: Callable[[HiveType], Cell]
    quote: str = ""


def lines(batch: Batch, types: Sequence[HiveType], layout: ColumnFormat, around: Sequence[str]) -> str | None:
    """The lines of all rows of a batch. `around` are the constant texts before the first column, between the columns
    and after the last. None if Arrow cannot format the batch: lone surrogates, or more than 2 GB of text."""
    try:
        parts: list[Any] = [around[0]]
        for column, hive, after in zip(batch.columns, types, around[1:], strict=True):
            parts += [_texts(column, hive, layout), after]
        rows = pc.binary_join_element_wise(*parts, "", null_handling="replace", null_replacement=layout.null)
    except (pa.ArrowException, UnicodeError):
        return None
    return _bytes(rows).decode()


def _texts(column: Column, hive: HiveType, layout: ColumnFormat) -> pa.Array:
    array = column if isinstance(column, pa.Array) else _array(column, hive)
    if array is not None and (formatted := _formatted(array, hive, layout)) is not None:
        return formatted
    text = layout.cell(hive)
    return pa.array([None if cell is None else text(cell) for cell in values(column)], pa.string())


def _array(cells: Sequence[Any], hive: HiveType) -> pa.Array | None:
    if hive.name not in _ARROW:
        return None
    try:
        return pa.array(cells, _ARROW[hive.name])
    except (pa.ArrowException, OverflowError):  # for example an integer in a string column
        return None


def _formatted(array: pa.Array, hive: HiveType, layout: ColumnFormat) -> pa.Array | None:
    """The column's text; None if no kernel formats it as Hive does."""
    kind = array.type
    if pa.types.is_string(kind) and _ARROW.get(hive.name) == kind:
        return layout.strings(array)
    if (pa.types.is_integer(kind) and hive.name in _INTEGERS) or (pa.types.is_boolean(kind) and hive.name == "boolean"):
        return array.cast(pa.string())
    if pa.types.is_float64(kind) and hive.name == "double":
        return _doubles(array, layout.cell(hive))
    if pa.types.is_timestamp(kind) and kind.tz is None and kind.unit in ("ms", "us") and hive.name == "timestamp":
        text = pc.utf8_rtrim(pc.utf8_rtrim(array.cast(pa.string()), "0"), ".")
        return _quoted(text, layout.quote)
    if pa.types.is_date32(kind) and hive.name == "date":
        return _quoted(array.cast(pa.string()), layout.quote)
    return None


def _doubles(array: pa.Array, cell: Cell) -> pa.Array:
    """Arrow's text is Java's where neither has an exponent, but for the `.0` of whole numbers; other numbers are
    formatted one by one."""
    size = pc.abs(array)
    plain = pc.or_(pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)), pc.equal(size, 0.0))
    others = pc.fill_null(pc.invert(plain), False)
    texts = array.cast(pa.string())
    whole = pc.equal(pc.floor(array), array)
    if pc.any(whole).as_py():
        texts = pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)
    if not pc.any(others).as_py():
        return texts
    return pc.replace_with_mask(
        texts, others, pa.array([cell(number) for number in array.filter(others).to_pylist()], pa.string())
    )


def _quoted(array: pa.Array, quote: str) -> pa.Array:
    return pc.binary_join_element_wise(quote, array, quote, "") if quote else array


def _bytes(array: pa.Array) -> bytes:
    """The characters of all strings of an array, one after the other."""
    _, offsets, data = array.buffers()
    if data is None:
        return b""
    places = memoryview(offsets).cast("i")
    return memoryview(data)[places[array.offset] : places[array.offset + len(array)]].tobytes()


def _all_but(characters: str) -> bytes:
    return bytes(set(range(256)) - set(characters.encode()))


# --- strings of each layout -------------------------------------------------------------------------------------------

_CSV_SAFE = _all_but(',"\n\r')
_TSV_SAFE = _all_but("\\\t\n\r\0")
_JSON_SAFE = bytes(set(range(0x20, 0x7F)) - set(b'"\\'))


def csv_strings(array: pa.Array) -> pa.Array:
    """Quoted where necessary: empty strings, and those with a comma, a quotation mark or a line end."""
    found = bytes(set(_bytes(array).translate(None, _CSV_SAFE))).decode()
    quoted = pc.equal(pc.binary_length(array), 0)
    for character in found:
        quoted = pc.or_(quoted, pc.match_substring(array, character))
    if not pc.any(quoted).as_py():
        return array
    text = pc.replace_substring(array, '"', '""') if '"' in found else array
    return pc.if_else(quoted, _quoted(text, '"'), array)


def tsv_strings(escape: Cell) -> Callable[[pa.Array], pa.Array]:
    """Escaped where necessary by `escape`."""
    return lambda array: _escaped(array, escape) if _bytes(array).translate(None, _TSV_SAFE) else array


def json_strings(escape: Cell) -> Callable[[pa.Array], pa.Array]:
    """As JSON: printable ASCII in quotation marks, the others by `escape`."""
    return lambda array: _escaped(array, escape) if _bytes(array).translate(None, _JSON_SAFE) else _quoted(array, '"')


def _escaped(array: pa.Array, escape: Cell) -> pa.Array:
    return pa.array([None if text is None else escape(text) for text in array.to_pylist()], pa.string())
