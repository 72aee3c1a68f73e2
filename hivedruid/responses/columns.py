"""The rows of scans by column: the text of many rows becomes Arrow arrays without a Python object for each value.

The places of commas outside of strings divide the text into values, of which Arrow copies those of each column. Only
text that is certainly rows of plain values is read so: anything else (nested values, numbers in columns of strings,
lone surrogates, invalid text) is left to the reader of rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.arrow_buffers import Flags, condition, strings, validity
from hivedruid.lazy_dataclass import dataclass
from hivedruid.responses.values import REAL, TEXT, WHOLE, reader_of

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

_QUOTE, _COMMA, _MINUS, _BACKSLASH, _OPENING, _CLOSING = b'",-\\[]'
_NULL = np.frombuffer(b"null", np.uint8)
_MEANT = np.zeros(256, np.uint8)
"""The character that stands after a backslash for another one, or for itself, and 0 for no escape of JSON."""
_MEANT[list(b'"\\/bfnrtu')] = list(b'"\\/\b\f\n\r\tu')


@dataclass(frozen=True)
class Columns:
    """The values of `size` rows; `end` is where the text of the last one ends."""

    size: int
    end: int
    arrays: tuple[pa.Array, ...]


def arrow_type(type_: str) -> pa.DataType | None:
    """The Arrow type of Druid's values of a Hive type, given as text; None if they are not read by column."""
    reader = reader_of(type_)
    if reader is WHOLE:
        return pa.int64()
    if reader is REAL:
        return pa.float64()
    return pa.string() if reader is TEXT else None


def columns_of(text: bytes, places: Sequence[int], kinds: Sequence[pa.DataType]) -> Columns | None:
    """The complete rows at the beginning of a text of an array's items, up to the end of the array: the values at
    `places`, all of a row in any order, as the types `kinds`. None if they cannot be read by column."""
    characters = np.frombuffer(text, np.uint8)
    escapes = _escapes(np.flatnonzero(characters == _BACKSLASH), len(text))
    quotes = characters == _QUOTE
    quotes[escapes + 1] = False
    if (characters < 0x20).any() or (bounds := _bounds(characters, _inside(quotes), len(places))) is None:
        return None
    first, last = bounds
    end = int(last[-1, -1]) + 1
    is_null = _nulls(characters, first, last)
    is_text = characters[first] == _QUOTE
    wanted = np.empty(len(places), bool)
    wanted[list(places)] = [pa.types.is_string(kind) for kind in kinds]
    if (is_text != (wanted & ~is_null)).any() or np.count_nonzero(quotes[:end]) != 2 * np.count_nonzero(is_text):
        return None
    arrays = []
    try:
        plain = _unescaped(text, characters, escapes[: np.searchsorted(escapes, end)])
        for place, kind in zip(places, kinds, strict=True):
            values = _Values(text, characters, first[:, place], last[:, place], is_null[:, place])
            arrays.append(values.texts(plain) if pa.types.is_string(kind) else values.numbers(kind))
    except (pa.ArrowException, ValueError):
        return None
    return Columns(len(first), end, tuple(arrays))


def _bounds(characters: Bytes, is_inside: Flags, width: int) -> tuple[Places, Places] | None:
    """Where the values of each complete row begin and end; None if not all have `width` values. The rows of an array
    end before two closing brackets, so that nested arrays look like an end, and have too few values or brackets."""
    is_outside = ~is_inside
    closings = np.flatnonzero((characters[:-1] == _CLOSING) & is_outside[:-1])  # a row ends where another text begins
    ends = np.flatnonzero(np.diff(closings) == 1)
    size = int(ends[0]) + 1 if len(ends) else len(closings)
    if not size:
        return None
    end = int(closings[size - 1]) + 1
    commas = np.flatnonzero((characters[:end] == _COMMA) & is_outside[:end])
    if len(commas) != size * width - 1:
        return None
    first = np.concatenate([[0], commas + 1]).reshape(size, width)
    last = np.concatenate([commas, [end]]).reshape(size, width)
    if (characters[first[:, 0]] != _OPENING).any() or (characters[last[:, -1] - 1] != _CLOSING).any():
        return None
    first[:, 0] += 1
    last[:, -1] -= 1
    return None if (first >= last).any() else (first, last)


def _inside(quotes: Flags) -> Flags:
    """Which characters are in strings: after an odd number of quotation marks, or one that opens a string.

    The prefix sums of bits by doubling, 64 characters at a time, are several times as fast as `cumsum`.
    """
    padded = np.zeros(-(-len(quotes) // 64) * 64, bool)
    padded[: len(quotes)] = quotes
    words = np.packbits(padded, bitorder="little").view("<u8")
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    is_odd = np.bitwise_xor.accumulate(words >> np.uint64(63))
    words[1:] ^= np.uint64(0) - is_odd[:-1]
    return np.unpackbits(words.view(np.uint8), count=len(quotes), bitorder="little").view(bool)


def _escapes(backslashes: Places, size: int) -> Places:
    """The places of the backslashes that escape the character after them, which may be another backslash: every second
    one of each run."""
    if not len(backslashes):
        return backslashes
    is_first = np.concatenate([[True], np.diff(backslashes) != 1])
    starts = backslashes[is_first][np.cumsum(is_first) - 1]
    found: Places = backslashes[((backslashes - starts) % 2 == 0) & (backslashes < size - 1)]
    return found


@dataclass(frozen=True)
class _Unescaped:
    """A text without the backslashes of its escapes, and with the characters that they stand for. `coded` are the
    places of those in hexadecimal in the text before, which remain."""

    text: bytes
    escapes: Places
    coded: Places

    def places(self, before: Places) -> Places:
        """Where the characters at these places are now."""
        return before - np.searchsorted(self.escapes, before) if len(self.escapes) else before


def _unescaped(text: bytes, characters: Bytes, escapes: Places) -> _Unescaped:
    """Raises ValueError for escapes that are none of JSON."""
    if not len(escapes):
        return _Unescaped(text, escapes, escapes)
    escaped = characters[escapes + 1]
    meant = _MEANT[escaped]
    if not meant.all():
        raise ValueError("not an escape")
    changed = characters.copy()
    changed[escapes + 1] = meant
    is_kept = np.ones(len(changed), bool)
    is_kept[escapes] = False
    return _Unescaped(changed[is_kept].tobytes(), escapes, escapes[escaped == ord("u")])


def _nulls(characters: Bytes, first: Places, last: Places) -> Flags:
    """Which values are null. Other values that begin as it does are none of JSON, and not numbers either."""
    is_null: Flags = (characters[first] == _NULL[0]) & (last - first == len(_NULL))
    if is_null.any():
        starts = first[is_null]
        is_null[is_null] = (characters[starts[:, None] + np.arange(len(_NULL))] == _NULL).all(axis=1)
    return is_null


@dataclass(frozen=True)
class _Values:
    """The values of one column: each begins at `first` and ends before `last`."""

    text: bytes
    characters: Bytes
    first: Places
    last: Places
    is_null: Flags

    def numbers(self, kind: pa.DataType) -> pa.Array:
        """Raises ArrowInvalid for what is not such a number, ValueError for what is none of JSON."""
        beginnings = self.characters[self.first]
        if not (self.is_null | (beginnings == _MINUS) | ((beginnings >= ord("0")) & (beginnings <= ord("9")))).all():
            raise ValueError("not a number")
        return self._copied(self.text, self.first, np.where(self.is_null, self.first, self.last)).cast(kind)

    def texts(self, plain: _Unescaped) -> pa.Array:
        """Raises ArrowInvalid for what is not UTF-8, ValueError for lone surrogates and invalid escapes."""
        first = self.first + 1
        last = np.where(self.is_null, first, self.last - 1)
        found = self._copied(plain.text, plain.places(first), plain.places(last))
        found.validate(full=True)
        rows = np.searchsorted(first, plain.coded, side="right") - 1
        rows = rows[rows >= 0]
        coded = np.unique(rows[plain.coded[len(plain.coded) - len(rows) :] < last[rows]])
        if not len(coded):
            return found
        is_coded = np.zeros(len(first), bool)
        is_coded[coded] = True
        spelled = [json.loads(self.text[first[row] - 1 : last[row] + 1].decode()) for row in coded]
        return pc.replace_with_mask(found, condition(is_coded), strings(spelled))

    def _copied(self, text: bytes, first: Places, last: Places) -> pa.Array:
        """The strings between these places of a text; null where the value is."""
        size = len(first)
        offsets = np.empty(2 * size + 1, np.int32)
        offsets[0:-1:2] = first
        offsets[1:-1:2] = last
        offsets[-1] = last[-1]
        pieces = pa.Array.from_buffers(pa.string(), 2 * size, [None, pa.py_buffer(offsets), pa.py_buffer(text)])
        every_other = pa.Array.from_buffers(
            pa.int32(), size, [None, pa.py_buffer(np.arange(0, 2 * size, 2, dtype=np.int32))]
        )
        found = pieces.take(every_other)
        return pa.Array.from_buffers(pa.string(), size, [validity(~self.is_null), *found.buffers()[1:]])
