"""The rows of ORC files by Arrow, for files that Spark cannot read.

Spark's Python workers get this module by value; it depends on nothing but pyarrow.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

MARK = "hivedruid: cannot read an ORC file: "
_GREGORIAN = -141_427
"""The days of 1582-10-15 since 1970."""
_SWITCHES = (-719164, -682945, -646420, -609895, -536845, -500320, -463795, -390745, -354220, -317695, -244645, -208120,
             -171595)  # fmt: skip
"""Days of the Julian calendar, since 1970, from which it is one day more behind the Gregorian one."""
_FIRST = 2
"""How many days it is ahead of it at first."""
_FOOTER_LENGTH, _COMPRESSION, _CALENDAR, _PROLEPTIC = 1, 2, 11, 2
_ZLIB, _SNAPPY = 1, 2
_CODECS = {_SNAPPY: "snappy", 4: "lz4_raw", 5: "zstd"}
_LONGEST = 1 << 18
"""The maximum length of a block of compressed bytes, by default."""


class OrcFileError(Exception):
    pass


def schemas(batches: Iterator[Any]) -> Iterator[Any]:
    """The schema of each file of Spark's source `binaryFile`, serialized."""
    import pyarrow as pa
    from pyarrow import orc

    for batch in batches:
        for content in batch.column(0):
            schema = orc.ORCFile(pa.BufferReader(content.as_buffer())).schema
            made = pa.array([schema.serialize().to_pybytes()], pa.binary())
            yield pa.RecordBatch.from_arrays([made], names=["schema"])


def rows(schema: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that returns the rows of files with the columns of a schema; columns that a file does not have are
    null. The columns beside the content of a file are repeated for each of its rows. Each file is read completely into
    a worker's memory."""

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for number, content in enumerate(batch.column(0)):
                found = _rows(content.as_buffer(), schema)
                for place in range(1, batch.num_columns):
                    value = pa.scalar(batch.column(place)[number].as_py(), pa.string())
                    found = found.append_column(batch.schema.field(place).name, pa.repeat(value, len(found)))
                yield from found.to_batches()

    return read


def _rows(content: Any, schema: Any) -> Any:
    import pyarrow as pa
    from pyarrow import orc

    try:
        table = orc.ORCFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        raise OrcFileError(f"{MARK}{str(error).splitlines()[0]}") from None
    is_julian = _footer(content.to_pybytes()).get(_CALENDAR, 0) != _PROLEPTIC
    stored = {name.lower(): name for name in table.column_names}
    columns = []
    for field in schema:
        name = stored.get(field.name.lower())
        if name is None:
            columns.append(pa.nulls(len(table), field.type))
            continue
        chunks = table.column(name).combine_chunks()
        array = pa.concat_arrays(chunks.chunks) if isinstance(chunks, pa.ChunkedArray) else chunks
        columns.append((_gregorian(array) if is_julian else array).cast(field.type, safe=False))
    return pa.table(columns, schema=schema)


def _gregorian(array: Any) -> Any:
    """An array with days of the Julian calendar before 1582-10-15, here and in nested values, as those of the Gregorian
    one. Arrow cannot read times of these days."""
    import numpy as np
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date32(kind):
        days = array.fill_null(0).cast(pa.int32()).to_numpy(zero_copy_only=False)
        if not len(days) or days.min() >= _GREGORIAN:
            return array
        shift = _FIRST + 1 - np.searchsorted(np.array(_SWITCHES), days, side="right")
        moved = np.where(days < _GREGORIAN, days + shift, days).astype("int32")
        return pa.array(moved, mask=np.asarray(array.is_null())).cast(kind)
    if pa.types.is_struct(kind):
        fields = [_gregorian(array.field(number)) for number in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=array.is_null())
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, _gregorian(array.values), kind, mask=array.is_null())
    if pa.types.is_map(kind):
        keys, items = _gregorian(array.keys), _gregorian(array.items)
        return pa.MapArray.from_arrays(array.offsets, keys, items, kind, mask=array.is_null())
    return array


# --- the footer, in Protocol Buffers ---------------------------------------------------------------------------


def _footer(content: bytes) -> dict[int, int]:
    """The numbers in the footer of a file, by their fields."""
    size = content[-1]
    script = _numbers(content[-1 - size : -1])
    end = len(content) - 1 - size
    return _numbers(_decompressed(content[end - script[_FOOTER_LENGTH] : end], script.get(_COMPRESSION, 0)))


def _decompressed(data: bytes, compression: int) -> bytes:
    import pyarrow as pa

    if not compression:
        return data
    parts, at = [], 0
    while at < len(data):
        head = int.from_bytes(data[at : at + 3], "little")
        chunk = data[at + 3 : at + 3 + (head >> 1)]
        at += 3 + (head >> 1)
        if head & 1:
            parts.append(chunk)
        elif compression == _ZLIB:
            parts.append(zlib.decompress(chunk, -15))
        else:  # Arrow has no decompression of unknown length: what follows the footer is skipped by `_numbers`
            size = _varint(chunk, 0)[0] if compression == _SNAPPY else _LONGEST
            parts.append(pa.Codec(_CODECS[compression]).decompress(chunk, size, asbytes=True))
    return b"".join(parts)


def _numbers(data: bytes) -> dict[int, int]:
    """The numbers by their fields, which are in order."""
    found: dict[int, int] = {}
    at = last = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key >> 3 < max(last, 1):
            break
        last = key >> 3
        value, at = (0, at + (8 if key & 7 == 1 else 4)) if key & 7 in (1, 5) else _varint(data, at)
        at += value if key & 7 == 2 else 0
        if key & 7 == 0:
            found[key >> 3] = value
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1
