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
_DAY = 86_400_000_000
_EPOCH, _BILLION, _LEAST = 1_420_070_400, 1_000_000_000, 999_999
"""The seconds of 2015, from which ORC counts; one less before 1970 if there are more nanoseconds than these."""

# orc_proto.proto has the ids of fields
_FOOTER_LENGTH, _COMPRESSION, _BLOCK, _METADATA_LENGTH = 1, 2, 3, 5  # PostScript
_STRIPES, _TYPES, _STATISTICS, _STRIDE, _CALENDAR = 3, 4, 7, 8, 11  # Footer
_PROLEPTIC = 2
_OFFSET, _INDEX, _DATA, _STRIPE_FOOTER = 1, 2, 3, 4  # StripeInformation
_STREAMS, _ENCODINGS, _ZONE, _VALUES = 1, 2, 3, 1  # StripeFooter; Stream.Kind
_OF_INDEX = (6, 7, 8)
_LONG, _TIMESTAMP, _TIMES = 4, 9, (9, 18)  # Type.Kind
_SECOND = 2  # ColumnEncoding.Kind
_ZEROS, _OLD_ZEROS = (b"\xc1\xff\0\0", 512), (b"\x7f\0\0", 130)
"""A run of zeros in the second and the first version of the encoding, and how many they are."""
_ZLIB, _SNAPPY, _ZSTD = 1, 2, 5
_CODECS = {_SNAPPY: "snappy", 4: "lz4_raw"}
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
            try:
                schema = orc.ORCFile(pa.BufferReader(content.as_buffer())).schema
            except (pa.ArrowException, OSError) as error:
                raise OrcFileError(f"{MARK}{str(error).splitlines()[0]}") from None
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
                table = _rows(content.as_buffer(), schema)
                for place in range(1, batch.num_columns):
                    value = pa.scalar(batch.column(place)[number].as_py(), pa.string())
                    table = table.append_column(batch.schema.field(place).name, pa.repeat(value, len(table)))
                yield from table.to_batches()

    return read


def _rows(content: Any, schema: Any) -> Any:
    import pyarrow as pa
    from pyarrow import orc

    try:
        try:
            table = orc.ORCFile(pa.BufferReader(content)).read()
        except pa.ArrowInvalid as error:
            if "out of range" not in str(error):
                raise
            table = _with_any_time(_File(content.to_pybytes()))
    except (pa.ArrowException, OSError) as error:
        raise OrcFileError(f"{MARK}{str(error).splitlines()[0]}") from None
    is_julian = dict(_File(content.to_pybytes()).footer).get(_CALENDAR, 0) != _PROLEPTIC
    stored = {name.lower(): name for name in table.column_names}
    columns = []
    for field in schema:
        name = stored.get(field.name.lower())
        if name is None:
            columns.append(pa.nulls(len(table), field.type))
            continue
        array = _whole(table.column(name))
        columns.append((_gregorian(array) if is_julian else array).cast(field.type, safe=False))
    return pa.table(columns, schema=schema)


def _gregorian(array: Any) -> Any:
    """An array with days and times of the Julian calendar before 1582-10-15, here and in nested values, as those of the
    Gregorian one."""
    import numpy as np
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date32(kind) or (pa.types.is_timestamp(kind) and kind.unit == "us"):
        whole, day = (pa.int32(), 1) if pa.types.is_date32(kind) else (pa.int64(), _DAY)
        values = array.cast(whole).fill_null(0).to_numpy(zero_copy_only=False)
        days = values // day
        if not len(days) or days.min() >= _GREGORIAN:
            return array
        shift = _FIRST + 1 - np.searchsorted(np.array(_SWITCHES), days, side="right")
        moved = np.where(days < _GREGORIAN, values + shift * day, values)
        return pa.array(moved, whole, mask=np.asarray(array.is_null())).cast(kind)
    if pa.types.is_struct(kind):
        fields = [_gregorian(array.field(number)) for number in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=array.is_null())
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, _gregorian(array.values), kind, mask=array.is_null())
    if pa.types.is_map(kind):
        keys, items = _gregorian(array.keys), _gregorian(array.items)
        return pa.MapArray.from_arrays(array.offsets, keys, items, kind, mask=array.is_null())
    return array


# --- times that Arrow does not read, since it counts nanoseconds -----------------------------------------------


def _with_any_time(file: _File) -> Any:
    """The rows with times in microseconds. Arrow reads the file twice: with the seconds of times as BIGINT, and with
    the nanoseconds alone, since the seconds are replaced by zeros."""
    import pyarrow as pa
    from pyarrow import orc

    seconds = orc.ORCFile(pa.py_buffer(file.with_seconds())).read()
    nanoseconds = orc.ORCFile(pa.py_buffer(file.with_nanoseconds())).read()
    pairs = zip(seconds.columns, nanoseconds.columns, strict=True)
    joined = [_joined(_whole(first), _whole(second)) for first, second in pairs]
    return pa.table(joined, names=seconds.column_names)


def _whole(column: Any) -> Any:
    import pyarrow as pa

    array = column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _joined(first: Any, second: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    kind = second.type
    if pa.types.is_timestamp(kind) and not pa.types.is_timestamp(first.type):
        seconds = first.fill_null(0).to_numpy(zero_copy_only=False) + _EPOCH
        parts = second.cast(pa.int64()).fill_null(_EPOCH * _BILLION).to_numpy(zero_copy_only=False) - _EPOCH * _BILLION
        seconds = np.where((seconds < 0) & (parts > _LEAST), seconds - 1, seconds)
        made = pa.array(seconds * 1_000_000 + parts // 1_000, mask=np.asarray(first.is_null()))
        return made.cast(pa.timestamp("us", kind.tz))
    if pa.types.is_struct(kind):
        fields = [_joined(first.field(number), second.field(number)) for number in range(kind.num_fields)]
        named = [pa.field(field.name, array.type) for field, array in zip(kind, fields, strict=True)]
        return pa.StructArray.from_arrays(fields, fields=named, mask=first.is_null())
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(first.offsets, _joined(first.values, second.values), mask=first.is_null())
    if pa.types.is_map(kind):
        keys, items = _joined(first.keys, second.keys), _joined(first.items, second.items)
        return pa.MapArray.from_arrays(first.offsets, keys, items, mask=first.is_null())
    return first


# --- the format: messages of Protocol Buffers, in blocks that may be compressed --------------------------------


class _File:
    """A file in parts. A message is a list of its fields and their values, numbers or bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        size = content[-1]
        self.script = _message(content[-1 - size : -1])
        self.compression = dict(self.script).get(_COMPRESSION, 0)
        end = len(content) - 1 - size
        self.footer = self._message(end - dict(self.script)[_FOOTER_LENGTH], end)
        self.times = [
            column for column, (_, type_) in enumerate(self._all(_TYPES)) if dict(_message(type_)).get(1, 0) in _TIMES
        ]

    def _all(self, field: int) -> list[tuple[int, Any]]:
        return [each for each in self.footer if each[0] == field]

    def _check_zone(self, zone: bytes) -> None:
        """Instants count in UTC, TIMESTAMPs in the zone of their writer."""
        is_local = any(dict(_message(type_)).get(1, 0) == _TIMESTAMP for _, type_ in self._all(_TYPES))
        if is_local and zone not in (b"", b"UTC", b"GMT", b"Etc/UTC"):
            raise OrcFileError(f"{MARK}it has times before 1677 or after 2262 in the time zone {zone.decode()}")

    def with_seconds(self) -> bytes:
        """The file with BIGINT in place of times: the streams of their seconds are those of integers."""
        column, footer = -1, []
        for field, value in self.footer:
            column += field == _TYPES
            is_time = field == _TYPES and column in self.times
            footer.append((field, _bytes([(1, _LONG)]) if is_time else value))
        end = len(self.content) - 1 - self.content[-1] - dict(self.script)[_FOOTER_LENGTH]
        return self._closed(self.content[:end], footer)

    def with_nanoseconds(self) -> bytes:
        """The file with zeros as the seconds of times."""
        parts, stripes, at = [self.content[:3]], [], 3
        values = [dict(_message(value)).get(1, 0) for _, value in self._all(_STATISTICS)]
        for _, value in self._all(_STRIPES):
            stripe = dict(_message(value))
            body, data, streams = stripe[_OFFSET], b"", []
            end = body + stripe.get(_INDEX, 0) + stripe[_DATA]
            footer = self._message(end, end + stripe[_STRIPE_FOOTER])
            self._check_zone(dict(footer).get(_ZONE, b""))
            encodings = [dict(_message(value)).get(1, 0) for field, value in footer if field == _ENCODINGS]
            for field, stream in footer:
                if field != _STREAMS:
                    continue
                kind, column, length = (dict(_message(stream)).get(number, 0) for number in (1, 2, 3))
                piece = self.content[body : body + length]
                body += length
                if kind in _OF_INDEX:
                    continue
                if column in self.times and kind == _VALUES:
                    zeros, count = _ZEROS if encodings[column] == _SECOND else _OLD_ZEROS
                    piece = self._blocks(zeros * (values[column] // count + 1))
                streams.append((_STREAMS, _bytes([(1, kind), (2, column), (3, len(piece))])))
                data += piece
            last = self._blocks(_bytes([*streams, *(each for each in footer if each[0] != _STREAMS)]))
            changed = {_OFFSET: at, _INDEX: 0, _DATA: len(data), _STRIPE_FOOTER: len(last)}
            stripes.append((_STRIPES, _bytes(sorted({**stripe, **changed}.items()))))
            parts += [data, last]
            at += len(data) + len(last)
        footer = sorted([*stripes, *((f, v) for f, v in self.footer if f != _STRIPES)], key=lambda each: each[0])
        return self._closed(b"".join(parts), [(f, 0 if f == _STRIDE else v) for f, v in footer])

    def _closed(self, body: bytes, footer: list[tuple[int, Any]]) -> bytes:
        """A file with this footer, without statistics of stripes."""
        last = self._blocks(_bytes([each for each in footer if each[0] != _STATISTICS]))
        changed = {**dict(self.script), _FOOTER_LENGTH: len(last), _METADATA_LENGTH: 0}
        script = _bytes(sorted(changed.items()))
        return body + last + script + bytes([len(script)])

    def _message(self, start: int, end: int) -> list[tuple[int, Any]]:
        return _message(_decompressed(self.content[start:end], self.compression))

    def _blocks(self, data: bytes) -> bytes:
        """The data in blocks that are not compressed."""
        if not self.compression:
            return data
        size = dict(self.script).get(_BLOCK, _LONGEST)
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        return b"".join((len(piece) << 1 | 1).to_bytes(3, "little") + piece for piece in pieces)


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
        elif compression == _ZSTD:
            parts.append(pa.CompressedInputStream(pa.BufferReader(chunk), "zstd").read())
        else:  # Arrow has no decompression of LZ4 of unknown length: what follows a message is skipped by `_message`
            size = _varint(chunk, 0)[0] if compression == _SNAPPY else _LONGEST
            parts.append(pa.Codec(_CODECS[compression]).decompress(chunk, size, asbytes=True))
    return b"".join(parts)


def _message(data: bytes) -> list[tuple[int, Any]]:
    """The fields, which are in order; bytes after them are skipped."""
    fields: list[tuple[int, Any]] = []
    at = last = 0
    while at < len(data):
        key, at = _varint(data, at)
        field, wire = key >> 3, key & 7
        if field < max(last, 1):
            break
        last = field
        if wire == 0:
            value: Any
            value, at = _varint(data, at)
        else:
            size, at = _varint(data, at) if wire == 2 else (8 if wire == 1 else 4, at)
            value, at = data[at : at + size], at + size
        fields.append((field, value))
    return fields


def _bytes(message: list[tuple[int, Any]]) -> bytes:
    parts = []
    for field, value in message:
        if isinstance(value, bytes):
            parts.append(_as_varint(field << 3 | 2) + _as_varint(len(value)) + value)
        else:
            parts.append(_as_varint(field << 3) + _as_varint(value))
    return b"".join(parts)


def _as_varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1
