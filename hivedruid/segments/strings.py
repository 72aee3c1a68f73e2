"""String columns: dictionary ids, one or several a row, with a bitmap for each value
(org.apache.druid.segment.serde.DictionaryEncodedColumnPartSerde)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hivedruid.arrow_buffers import numbers
from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.bitmaps import Rows, rows_of
from hivedruid.segments.blocks import Blocks, Values
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.dictionaries import Dictionary, read_dictionary
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.generic import Find, Indexed, read_indexed
from hivedruid.segments.integers import Lists, read_ids, read_lists

_MULTI_VALUE, MULTI_VALUE_V3, NO_BITMAPS = 1, 2, 4
_KNOWN_FLAGS = _MULTI_VALUE | MULTI_VALUE_V3 | NO_BITMAPS
_MULTI_VERSION, _FIRST_WITH_FLAGS, _LAST = 1, 2, 3


@dataclass(frozen=True)
class Strings:
    """A string column: ids of `dictionary` in `ids`, and the bitmap of each id if there are bitmaps. Raises
    DamagedSegmentError if their numbers differ."""

    dictionary: Dictionary
    ids: Blocks | Lists
    bitmaps: Indexed | None
    bitmap_kind: str

    def __post_init__(self) -> None:
        if self.bitmaps is not None and len(self.bitmaps) != len(self.dictionary):
            raise DamagedSegmentError(f"{len(self.bitmaps)} bitmaps of {len(self.dictionary)} values")

    @property
    def is_multi_value(self) -> bool:
        return isinstance(self.ids, Lists)

    def __len__(self) -> int:
        return self.ids.rows if isinstance(self.ids, Lists) else self.ids.total

    def array(self, rows: Rows | None) -> pa.Array:
        """All rows, or `rows`: dictionary<string>, or list<dictionary<string>>."""
        if isinstance(self.ids, Lists):
            ids, offsets = self.ids.values(rows)
            elements = encoded(self.dictionary, ids)
            return pa.ListArray.from_arrays(numbers(offsets.astype(np.int32)), elements)
        return encoded(self.dictionary, self.ids.values(rows))

    def rows_with(self, ids: npt.NDArray[np.int64]) -> Rows | None:
        """The rows with one of the ids, from the bitmaps; None if the column has no bitmaps."""
        if self.bitmaps is None:
            return None
        found = [rows_of(self.bitmap_kind, self.bitmaps[number], len(self)) for number in ids.tolist()]
        if len(found) == 1:
            return found[0]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def read_strings(cursor: Cursor, order: str, bitmap_kind: str, find: Find) -> Strings:
    """The column at the cursor. Raises SegmentError."""
    version = cursor.u8()
    if version > _LAST:
        raise UnsupportedSegmentError(f"unknown version {version} of a string column")
    flags = cursor.i32() if version >= _FIRST_WITH_FLAGS else version & _MULTI_VERSION
    if flags & ~_KNOWN_FLAGS:
        raise UnsupportedSegmentError(f"unknown flags {flags} of a string column")
    dictionary = read_dictionary(cursor, order, find)
    is_multi = bool(flags & (_MULTI_VALUE | MULTI_VALUE_V3))
    ids = (read_lists if is_multi else read_ids)(cursor, order, find)
    bitmaps = None if flags & NO_BITMAPS else read_indexed(cursor, find)
    return Strings(dictionary, ids, bitmaps, bitmap_kind)


def encoded(dictionary: Dictionary, ids: Values) -> pa.Array:
    """Ids as a dictionary array of Arrow. Raises DamagedSegmentError for an id that does not exist."""
    signed = ids.astype(np.int32)
    if len(signed) and not 0 <= int(signed.min()) <= int(signed.max()) < len(dictionary):
        raise DamagedSegmentError(f"an id is not within its dictionary of {len(dictionary)} values")
    if not dictionary.has_null:
        return pa.DictionaryArray.from_arrays(numbers(signed), dictionary.values)
    return pa.DictionaryArray.from_arrays(numbers(signed - 1, signed == 0), dictionary.values)
