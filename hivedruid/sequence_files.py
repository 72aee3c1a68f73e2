"""The texts in SequenceFiles of Hadoop, as Hive writes them: a key that is ignored, and a Text or BytesWritable for
each row. The format is that of org.apache.hadoop.io.SequenceFile, versions 5 and 6.

Spark's Python workers get this module by value; it depends on nothing but pyarrow.
"""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

_BATCH = 4096
_SYNC = 16
"""The bytes of the mark between records."""


class SequenceFileError(Exception):
    """A file that cannot be read. The message has one line, which begins with MARK."""


MARK = "cannot read the SequenceFile"


def rows(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches of the texts (`value`) in files, which are rows with `path`, perhaps `content`, and other columns, which
    are repeated for each text."""
    import pyarrow as pa

    for batch in batches:
        kept = [name for name in batch.schema.names if name not in ("path", "content")]
        for file in batch.to_pylist():
            for found in _batches(_texts_of(file["path"], file.get("content"))):
                columns = [pa.array(found, pa.binary())]
                columns += [pa.array([file[name]] * len(found), pa.string()) for name in kept]
                yield pa.RecordBatch.from_arrays(columns, ["value", *kept])


def _batches(texts: Iterator[bytes]) -> Iterator[list[bytes]]:
    found: list[bytes] = []
    for text in texts:
        found.append(text)
        if len(found) == _BATCH:
            yield found
            found = []
    if found:
        yield found


def _texts_of(path: str, content: bytes | None) -> Iterator[bytes]:
    try:
        with BytesIO(content) if content is not None else Path(path.removeprefix("file:")).open("rb") as file:
            yield from texts(file)
    except (ValueError, EOFError, OSError, zlib.error) as error:
        raise SequenceFileError(f"{MARK} {path}: {error}".replace("\n", " ")) from error


def texts(file: IO[bytes]) -> Iterator[bytes]:
    """The values of a file. Raises ValueError, EOFError, OSError or zlib.error for one that is damaged, or that has
    other values."""
    start = file.read(3)
    if not start:
        return  # an empty file has no rows
    if start != b"SEQ":
        raise ValueError("it is not a SequenceFile")
    version = _exactly(file, 1)[0]
    if version not in (5, 6):
        raise ValueError(f"version {version} is not supported")
    _string(file)
    value_class = _string(file)
    is_compressed, is_block = _exactly(file, 1) != b"\0", _exactly(file, 1) != b"\0"
    decompress = _codec(_string(file)) if is_compressed else bytes
    if version > 5:
        for _ in range(2 * _integer(file)):
            _string(file)
    value = _VALUES.get(value_class)
    if value is None:
        raise ValueError(f"its values are of the class {value_class}, not Text or BytesWritable")
    sync = _exactly(file, _SYNC)
    read = _of_blocks if is_block else _of_records
    for each in read(file, sync, decompress):
        yield value(each)


def _of_records(file: IO[bytes], sync: bytes, decompress: Callable[[bytes], bytes]) -> Iterator[bytes]:
    while (length := _length(file)) is not None:
        if length == -1:
            _check_sync(file, sync)
            continue
        key = _integer(file)
        if not 0 <= key <= length:
            raise ValueError(f"a record of {length} bytes has a key of {key} bytes")
        _exactly(file, key)
        yield decompress(_exactly(file, length - key))


def _of_blocks(file: IO[bytes], sync: bytes, decompress: Callable[[bytes], bytes]) -> Iterator[bytes]:
    while (length := _length(file)) is not None:
        if length != -1:
            raise ValueError("a block does not begin with a mark")
        _check_sync(file, sync)
        count = _varint(file)
        _part(file), _part(file)  # the keys
        lengths, values = decompress(_part(file)), decompress(_part(file))
        place = at = 0
        for _ in range(count):
            size, place = varint(lengths, place)
            if size < 0 or at + size > len(values):
                raise ValueError("a value is longer than its block")
            yield values[at : at + size]
            at += size


def _length(file: IO[bytes]) -> int | None:
    """The next length, None at the end of the file."""
    data = file.read(4)
    if not data:
        return None
    if len(data) < 4:
        raise EOFError("it ends within a record")
    return int.from_bytes(data, "big", signed=True)


def _check_sync(file: IO[bytes], sync: bytes) -> None:
    if _exactly(file, _SYNC) != sync:
        raise ValueError("a mark between records is damaged")


def _part(file: IO[bytes]) -> bytes:
    return _exactly(file, _varint(file))


def _exactly(file: IO[bytes], length: int) -> bytes:
    if length < 0:
        raise ValueError(f"a length is {length}")
    data = file.read(length)
    if len(data) < length:
        raise EOFError("it ends within a record")
    return data


def _integer(file: IO[bytes]) -> int:
    return int.from_bytes(_exactly(file, 4), "big", signed=True)


def _string(file: IO[bytes]) -> str:
    return _exactly(file, _varint(file)).decode("utf-8", "replace")


def _varint(file: IO[bytes]) -> int:
    first = _exactly(file, 1)
    more = _further(first[0])
    return varint(first + _exactly(file, more), 0)[0]


def _further(first: int) -> int:
    """The bytes of an integer after its first one (WritableUtils.decodeVIntSize)."""
    signed = first - 256 if first > 127 else first
    return 0 if signed >= -112 else (-120 - signed if signed < -120 else -112 - signed)


def varint(data: bytes, place: int) -> tuple[int, int]:
    """An integer of WritableUtils, and the place after it."""
    if place >= len(data):
        raise EOFError("it ends within a number")
    first = data[place]
    signed = first - 256 if first > 127 else first
    more = _further(first)
    if not more:
        return signed, place + 1
    value = int.from_bytes(data[place + 1 : place + 1 + more], "big")
    return (~value if signed < -120 else value), place + 1 + more


def _text(data: bytes) -> bytes:
    length, place = varint(data, 0)
    if length != len(data) - place:
        raise ValueError(f"a Text of {length} bytes has {len(data) - place}")
    return data[place:]


def _bytes(data: bytes) -> bytes:
    length = int.from_bytes(data[:4], "big", signed=True)
    if length != len(data) - 4:
        raise ValueError(f"a BytesWritable of {length} bytes has {len(data) - 4}")
    return data[4:]


_VALUES = {"org.apache.hadoop.io.Text": _text, "org.apache.hadoop.io.BytesWritable": _bytes}


def _codec(name: str) -> Callable[[bytes], bytes]:
    found = _CODECS.get(name.rpartition(".")[2])
    if found is None:
        raise ValueError(f"the compression {name} is not supported")
    return found


def _blocks_of(kind: str, size_of: Callable[[bytes], int]) -> Callable[[bytes], bytes]:
    """Hadoop's BlockCompressorStream: the length of a block, and parts of it, each after its compressed length. Arrow
    needs to know the length of a part, which `size_of` reads in it."""

    def decompress(data: bytes) -> bytes:
        import pyarrow as pa

        codec, found, place = pa.Codec(kind), bytearray(), 0
        while place < len(data):
            wanted = len(found) + int.from_bytes(data[place : place + 4], "big")
            place += 4
            while len(found) < wanted:
                length = int.from_bytes(data[place : place + 4], "big")
                part = data[place + 4 : place + 4 + length]
                place += 4 + length
                size = size_of(part) if part else 0
                if not 0 < size <= wanted - len(found):
                    raise ValueError("a compressed block is damaged")
                found += codec.decompress(part, decompressed_size=size, asbytes=True)
        return bytes(found)

    return decompress


def _snappy_size(part: bytes) -> int:
    size = shift = 0
    for byte in part[:5]:
        size |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    return size


def _lz4_size(part: bytes) -> int:
    """The sum of the lengths of the literals and matches in a block of LZ4."""
    size = place = 0
    while place < len(part):
        token = part[place]
        literal, place = _lz4_length(token >> 4, part, place + 1)
        place += literal
        size += literal
        if place >= len(part):  # the last literals have no match
            break
        match, place = _lz4_length(token & 15, part, place + 2)
        size += match + 4
    return size


def _lz4_length(length: int, part: bytes, place: int) -> tuple[int, int]:
    """A length that continues in further bytes if it is 15, and the place after it."""
    more = length == 15
    while more and place < len(part):
        length += part[place]
        more = part[place] == 255
        place += 1
    return length, place


_CODECS: dict[str, Callable[[bytes], bytes]] = {
    "DefaultCodec": zlib.decompress,
    "DeflateCodec": zlib.decompress,
    "GzipCodec": gzip.decompress,
    "BZip2Codec": bz2.decompress,
    "SnappyCodec": _blocks_of("snappy", _snappy_size),
    "Lz4Codec": _blocks_of("lz4_raw", _lz4_size),
}
