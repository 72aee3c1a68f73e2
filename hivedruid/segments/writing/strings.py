"""Writes string columns: a sorted dictionary, ids, and a bitmap for each value."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.filters import utf16
from hivedruid.segments.offsets import Int64s, bitmap_entries, gathered, offsets_of
from hivedruid.segments.strings import MULTI_VALUE_V3, NO_BITMAPS
from hivedruid.segments.writing.bitmaps import indexed_roaring
from hivedruid.segments.writing.blocks import compressed, ids
from hivedruid.segments.writing.lists import indexed

_COMPRESSED, _LISTS = 2, 3
_INTS_PER_BLOCK = 1 << 14


@dataclass(frozen=True)
class Encoded:
    """A string column as ids of its sorted values: one id a row, or those between `offsets`. With `has_null`, id 0 is
    null, and id i is value i - 1."""

    values: pa.Array
    has_null: bool
    ids: Int64s
    offsets: Int64s | None = None

    @property
    def size(self) -> int:
        """The number of ids."""
        return len(self.values) + self.has_null

    @property
    def is_all_null(self) -> bool:
        return len(self.values) == 0 and self.offsets is None

    def reordered(self, order: Int64s) -> Encoded:
        """The column with the rows in another order; fewer rows are allowed."""
        if self.offsets is None:
            return Encoded(self.values, self.has_null, self.ids[order])
        positions, offsets = gathered(self.offsets, order)
        return Encoded(self.values, self.has_null, self.ids[positions], offsets)


def encode(array: pa.Array | pa.ChunkedArray, handling: str) -> Encoded:
    """Encode strings or lists of strings. `handling` is Druid's multiValueHandling of lists: SORTED_ARRAY sorts the
    values of each row, SORTED_SET also removes duplicates, ARRAY keeps them. Lists of at most one value become a column
    with single values, as Druid does."""
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if not pa.types.is_list(whole.type) and not pa.types.is_large_list(whole.type):
        return _encoded(whole, has_null=whole.null_count > 0)
    sizes = pc.fill_null(pc.list_value_length(whole), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    is_null = whole.is_null().to_numpy(zero_copy_only=False)
    elements = _encoded(whole.flatten(), has_null=bool((sizes == 0).any()) or whole.flatten().null_count > 0)
    if is_null.any():  # a null is one id 0, and an empty list has none
        places = offsets_of(sizes)[:-1][is_null]
        elements = Encoded(elements.values, True, np.insert(elements.ids, places, 0))
        sizes = sizes + is_null
    if len(sizes) and int(sizes.max()) > 1:
        return _handled(Encoded(elements.values, elements.has_null, elements.ids, offsets_of(sizes)), handling)
    single = np.zeros(len(sizes), dtype=np.int64)
    single[sizes == 1] = elements.ids
    return Encoded(elements.values, elements.has_null, single)


def _handled(lists: Encoded, handling: str) -> Encoded:
    if handling == "ARRAY" or lists.offsets is None:
        return lists
    owners = np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.offsets))
    found = lists.ids[np.lexsort((lists.ids, owners))]
    if handling != "SORTED_SET":
        return Encoded(lists.values, lists.has_null, found, lists.offsets)
    is_new = np.ones(len(found), dtype=np.bool_)
    is_new[1:] = (found[1:] != found[:-1]) | (owners[1:] != owners[:-1])
    sizes = np.bincount(owners[is_new], minlength=len(lists.offsets) - 1)
    return Encoded(lists.values, lists.has_null, found[is_new], offsets_of(sizes))


def _encoded(array: pa.Array, *, has_null: bool) -> Encoded:
    coded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    used = coded.dictionary.cast(pa.string())
    order = _java_order(used)
    ranks = np.empty(len(order) + 1, dtype=np.int64)
    ranks[order] = np.arange(len(order)) + has_null
    ranks[-1] = 0  # null has the index -1
    indices = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    values, kept = _present(used.take(pa.array(order)), ranks[indices], has_null)
    return Encoded(values, has_null, kept)


def _present(values: pa.Array, found: Int64s, has_null: bool) -> tuple[pa.Array, Int64s]:
    """Without values that no row has: a dictionary of Arrow may have them, and one value twice."""
    is_used = np.bincount(found, minlength=len(values) + has_null)[int(has_null) :] > 0
    texts = values.filter(pa.array(is_used))
    ranks = np.cumsum(is_used) - 1
    if len(texts) > 1:
        is_same = pc.equal(texts[1:], texts[:-1]).to_numpy(zero_copy_only=False)
        if is_same.any():
            is_first = np.concatenate([[True], ~is_same])
            ranks = (np.cumsum(is_first) - 1)[ranks]
            texts = texts.filter(pa.array(is_first))
    shifted = np.concatenate([np.zeros(int(has_null), dtype=np.int64), ranks + has_null])
    return texts, shifted[found] if len(found) else found


def _java_order(values: pa.Array) -> Int64s:
    """The order of java.lang.String: by UTF-16 units, which differs from that of UTF-8 only if there are characters
    from U+E000 to U+FFFF and others above."""
    order: Int64s = pc.sort_indices(values).to_numpy().astype(np.int64)
    data = np.frombuffer(values.buffers()[2] or b"", dtype=np.uint8)
    if (data >= 0xF0).any() and ((data == 0xEE) | (data == 0xEF)).any():
        texts = values.to_pylist()
        return np.array(sorted(order.tolist(), key=lambda index: utf16(texts[index])), dtype=np.int64)
    return order


def string_part(column: Encoded, *, has_bitmaps: bool) -> bytes:
    """The column, behind its descriptor (org.apache.druid.segment.serde.DictionaryEncodedColumnPartSerde)."""
    flags = (0 if column.offsets is None else MULTI_VALUE_V3) | (0 if has_bitmaps else NO_BITMAPS)
    most = max(0, column.size - 1)
    if column.offsets is None:
        rows = ids(column.ids, most)
    else:
        ends = compressed(column.offsets.astype("<i4"), _INTS_PER_BLOCK)
        rows = bytes([_LISTS]) + ends + ids(column.ids, most)
    bitmaps = _bitmaps(column) if has_bitmaps else b""
    return b"".join([struct.pack(">Bi", _COMPRESSED, flags), _dictionary(column), rows, bitmaps])


def _dictionary(column: Encoded) -> bytes:
    values = column.values.cast(pa.large_binary())
    count = len(values)
    buffers = values.buffers()
    offsets = np.frombuffer(buffers[1], dtype=np.int64)[values.offset : values.offset + count + 1]
    data = np.frombuffer(buffers[2] or b"", dtype=np.uint8)
    if column.has_null:
        offsets = np.concatenate([offsets[:1], offsets])
    return indexed(data, offsets, has_null=column.has_null, is_sorted=True)


def _bitmaps(column: Encoded) -> bytes:
    found, owners = column.ids, np.arange(len(column.ids), dtype=np.int64)
    if column.offsets is not None:
        found, owners = bitmap_entries(column.ids, column.offsets)
    order = _stable_order(found)
    found, rows = found[order], owners[order]
    if column.offsets is not None:  # a row may have a value several times
        is_new = np.ones(len(rows), dtype=np.bool_)
        is_new[1:] = (found[1:] != found[:-1]) | (rows[1:] != rows[:-1])
        found, rows = found[is_new], rows[is_new]
    return indexed_roaring(rows, offsets_of(np.bincount(found, minlength=column.size)))


def _stable_order(ids: Int64s) -> Int64s:
    """The order of ids, by 16 bits at a time: numpy sorts these by counting."""
    order: Int64s = np.argsort((ids & 0xFFFF).astype(np.uint16), kind="stable")
    if len(ids) and int(ids.max()) > 0xFFFF:
        highs = (ids >> 16).astype(np.uint16)[order]
        order = order[np.argsort(highs, kind="stable")]
    return order
