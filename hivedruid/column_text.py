"""The text of whole columns, by kernels of Arrow and NumPy: what `render` writes cell by cell for csv, tsv and JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.arrow_buffers import condition, strings, without_dictionary
from hivedruid.catalog.types import HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.results import Batch, Column, values
from hivedruid.terminal import UNPRINTABLE

Cell = Callable[[Any], str]
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_TEXTS = ("string", "varchar", "char")
_ARROW = {**dict.fromkeys(_INTEGERS, pa.int64()), "boolean": pa.bool_(), "double": pa.float64()}
"""The Arrow type of Python values, by the name of the Hive type; others are formatted one by one."""


@dataclass(frozen=True)
class ColumnFormat:
    """How a layout writes cells: `null` instead of NULL, a column of strings by `strings`, times and strings in
    `quote`, and all other values one by one: `cell` returns the formatter for a type."""

    null: str
    strings: Callable[[pa.Array], pa.Array]
    cell: Callable[[HiveType], Cell]
    quote: str = ""


def lines(batch: Batch, types: Sequence[HiveType], layout: ColumnFormat, around: Sequence[str]) -> memoryview | None:
    """The lines of all rows of a batch, in UTF-8. `around` are the constant texts before the first column, between the
    columns and after the last. None if Arrow cannot format the batch: lone surrogates, or more than 2 GB of text."""
    constants = list(around)
    columns = []
    try:
        for place, (column, hive) in enumerate(zip(batch.columns, types, strict=True)):
            texts, quote = _texts(column, hive, layout)
            if quote and texts.null_count:
                texts = _quoted(texts, quote)
            elif quote:
                constants[place] += quote
                constants[place + 1] = quote + constants[place + 1]
            columns.append(texts)
        parts = [_constant(constants[0])]
        for texts, after in zip(columns, constants[1:], strict=True):
            parts += [texts, _constant(after)]
        rows = pc.binary_join_element_wise(*parts, _constant(""), null_handling="replace", null_replacement=layout.null)
    except (pa.ArrowException, UnicodeError):
        return None
    return _characters(rows).data


@cache
def _constant(text: str) -> pa.Scalar:
    return strings([text])[0]


def _texts(column: Column, hive: HiveType, layout: ColumnFormat) -> tuple[pa.Array, str]:
    """The text of each cell, null for NULL, and what stands around those that are not null."""
    array = without_dictionary(column) if isinstance(column, pa.Array) else _array(column, hive)
    if array is not None and (formatted := _formatted(array, hive, layout)) is not None:
        return formatted
    text = layout.cell(hive)
    return strings([None if cell is None else text(cell) for cell in values(column)]), ""


def _array(cells: Sequence[Any], hive: HiveType) -> pa.Array | None:
    try:
        if hive.name in _TEXTS:
            return strings(cells)
        return pa.array(cells, _ARROW[hive.name]) if hive.name in _ARROW else None
    except (pa.ArrowException, OverflowError, AttributeError):  # for example an integer in a string column
        return None


def _formatted(array: pa.Array, hive: HiveType, layout: ColumnFormat) -> tuple[pa.Array, str] | None:
    """The column's text, and what stands around it; None if no kernel formats it as Hive does."""
    kind = array.type
    if pa.types.is_string(kind) and hive.name in _TEXTS:
        return layout.strings(array), layout.quote
    if (pa.types.is_integer(kind) and hive.name in _INTEGERS) or (pa.types.is_boolean(kind) and hive.name == "boolean"):
        return array.cast(pa.string()), ""
    if pa.types.is_float64(kind) and hive.name == "double":
        return _doubles(array, layout.cell(hive)), ""
    if pa.types.is_timestamp(kind) and kind.tz is None and kind.unit in ("ms", "us") and hive.name == "timestamp":
        return _without_zeros(array.cast(pa.string())), layout.quote
    if pa.types.is_date32(kind) and hive.name == "date":
        return array.cast(pa.string()), layout.quote
    return None


def _without_zeros(times: pa.Array) -> pa.Array:
    """Times without the zeros at the end of their fraction."""
    return pc.ascii_rtrim(pc.ascii_rtrim(times, "0"), ".")


def _doubles(array: pa.Array, cell: Cell) -> pa.Array:
    """Arrow's text is Java's where neither has an exponent, but for the `.0` of whole numbers; other numbers are
    formatted one by one."""
    numbers = np.frombuffer(array.buffers()[1], np.float64)[array.offset : array.offset + len(array)]
    with np.errstate(invalid="ignore"):
        size = np.abs(numbers)
        is_plain = ((size >= 1e-3) & (size < 1e7)) | (size == 0.0)
        is_whole = np.floor(numbers) == numbers
    texts = array.cast(pa.string())
    if is_whole.any():
        whole = pc.binary_join_element_wise(texts, _constant(".0"), _constant(""))
        texts = pc.if_else(condition(is_whole), whole, texts)
    others = condition(~is_plain)
    if array.null_count:
        others = pc.and_(others, array.is_valid())
    if is_plain.all() or not others.true_count:
        return texts
    return pc.replace_with_mask(texts, others, strings([cell(number) for number in array.filter(others).to_pylist()]))


def _quoted(array: pa.Array, quote: str) -> pa.Array:
    return pc.binary_join_element_wise(_constant(quote), array, _constant(quote), _constant(""))


def _characters(array: pa.Array) -> Bytes:
    """The characters of all strings of an array, one after the other, in UTF-8."""
    return _stored(array)[1]


def _stored(array: pa.Array) -> tuple[Places, Bytes]:
    """Where each string of an array begins, and where the last one ends, in the characters of all."""
    _, offsets, data = array.buffers()
    if data is None or not len(array):
        return np.zeros(len(array) + 1, np.int64), np.empty(0, np.uint8)
    places = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    return places.astype(np.int64) - places[0], np.frombuffer(data, np.uint8)[places[0] : places[-1]]


# --- strings of each layout -------------------------------------------------------------------------------------------


def _all_but(characters: str, *more: int) -> bytes:
    return bytes(set(range(256)) - {*characters.encode(), *more})


_CSV = ',"\n\r'
_TSV_SAFE = _all_but("\\\t\n\r\0")
_JSON_SAFE = bytes(set(range(0x20, 0xF8)) - set(b'"\\\x7f\xc2\xe2'))
_UNPRINTABLE_LEADS = (0xC2, 0xE2)
"""The first bytes of the characters of `terminal.UNPRINTABLE` that are not ASCII, of which Arrow has no surrogates."""


def csv_strings(array: pa.Array) -> pa.Array:
    """Quoted where necessary: empty strings, and those with a comma, a quotation mark or a line end."""
    starts, characters = _stored(array)
    is_special = np.logical_or.reduce([characters == ord(character) for character in _CSV])
    before = np.searchsorted(np.flatnonzero(is_special), starts)
    is_quoted = (before[1:] > before[:-1]) | (starts[1:] == starts[:-1])
    if not is_quoted.any():
        return array
    these = condition(is_quoted)
    return pc.replace_with_mask(array, these, _quoted(pc.replace_substring(array.filter(these), '"', '""'), '"'))


def tsv_strings(escape: Cell) -> Callable[[pa.Array], pa.Array]:
    """With special characters as `escape` spells them."""
    return lambda array: _escaped(array, _remaining(array, _TSV_SAFE), escape)


def json_strings(escape: Cell) -> Callable[[pa.Array], pa.Array]:
    """As in JSON, without the quotation marks: with special characters as `escape` spells them."""
    return lambda array: _escaped(array, _json_characters(array), escape)


def _remaining(array: pa.Array, safe: bytes) -> set[str]:
    return set(map(chr, set(_characters(array).tobytes().translate(None, safe))))


def _json_characters(array: pa.Array) -> Iterable[str]:
    """The characters of an array that JSON or `terminal.json_printable` escapes."""
    present = _remaining(array, _JSON_SAFE)
    characters = _characters(array)
    for lead in _UNPRINTABLE_LEADS:
        if chr(lead) in present:
            present.remove(chr(lead))
            present |= set(_beginning(characters, lead, 2 if lead < 0xE0 else 3))
    return present


def _beginning(characters: Bytes, lead: int, length: int) -> list[str]:
    """The unprintable characters of `length` bytes that begin with a byte."""
    places = np.flatnonzero(characters == lead)
    code = sum(characters[places + place].astype(np.int64) << 8 * place for place in range(length))
    found = [int(each).to_bytes(length, "little").decode() for each in np.unique(code)]
    return [character for character in found if re.match(UNPRINTABLE, character)]


def _escaped(array: pa.Array, characters: Iterable[str], escape: Cell) -> pa.Array:
    for character in sorted(characters, key=lambda each: each != "\\"):  # others are spelled with backslashes
        array = pc.replace_substring(array, character, escape(character))
    return array
