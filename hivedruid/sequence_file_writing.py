"""Writes SequenceFiles of Hadoop, version 6, as Hive does: an empty BytesWritable as the key, and a Text for each row.

Spark's Python workers get this module by value; it depends on nothing but pyarrow.
"""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

_SYNC_INTERVAL = 100_000
"""The bytes between two marks."""
_BLOCK = 1_000_000
"""The bytes of values in a compressed block (io.seqfile.compress.blocksize)."""
_KEY, _VALUE = b"org.apache.hadoop.io.BytesWritable", b"org.apache.hadoop.io.Text"
_EMPTY_KEY = bytes(4)


class SequenceFile:
    """A file that is written. `codec` is the class of the compression, or empty; with `is_block` many values are
    compressed together, otherwise each one."""

    def __init__(self, file: IO[bytes], codec: str, *, is_block: bool) -> None:
        self._file, self._sync = file, os.urandom(16)
        self._texts: list[bytes] = []
        self._size = 0
        self._is_block = is_block and bool(codec)
        self._compress = COMPRESSORS[codec.rpartition(".")[2]] if codec else None
        file.write(b"SEQ\x06" + b"".join(varint(len(name)) + name for name in (_KEY, _VALUE)))
        file.write(bytes((bool(codec), self._is_block)))
        if codec:
            file.write(varint(len(codec)) + codec.encode())
        file.write(bytes(4) + self._sync)  # no metadata

    def add(self, text: bytes) -> None:
        value = varint(len(text)) + text
        self._size += len(value)
        if self._is_block:
            self._texts.append(value)
            if self._size >= _BLOCK:
                self._write_block()
            return
        if self._size >= _SYNC_INTERVAL:
            self._size = 0
            self._file.write(b"\xff\xff\xff\xff" + self._sync)
        value = self._compress(value) if self._compress else value
        self._file.write(_integer(len(_EMPTY_KEY) + len(value)) + _integer(len(_EMPTY_KEY)) + _EMPTY_KEY + value)

    def end(self) -> None:
        if self._texts:
            self._write_block()

    def close(self) -> None:
        self._file.close()

    def _write_block(self) -> None:
        assert self._compress is not None
        keys = varint(len(_EMPTY_KEY)) * len(self._texts)
        parts = (
            keys,
            _EMPTY_KEY * len(self._texts),
            b"".join(varint(len(t)) for t in self._texts),
            b"".join(self._texts),
        )
        self._file.write(b"\xff\xff\xff\xff" + self._sync + varint(len(self._texts)))
        for part in map(self._compress, parts):
            self._file.write(varint(len(part)) + part)
        self._texts, self._size = [], 0


def writer(
    folder: str, place_of: Callable[[Sequence[str | None]], str], codec: str, *, is_block: bool
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function over batches of texts, the first column, and of the values of partitions, the columns after it, whose
    folder below `folder` is `place_of` them. It writes a file in each folder, named by the number of the task so that
    a repeated one replaces it, and returns the number of texts."""
    job = os.urandom(8).hex()

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        name = f"part-{context.partitionId() if context is not None else 0:05}-{job}"
        attempt = f".{name}.{os.urandom(8).hex()}"
        files: dict[tuple[str | None, ...], SequenceFile] = {}
        rows = 0
        try:
            for batch in batches:
                rows += batch.num_rows
                for text, *values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    key = tuple(values)
                    if key not in files:
                        path = Path(folder, place_of(values))
                        path.mkdir(parents=True, exist_ok=True)
                        files[key] = SequenceFile((path / attempt).open("wb"), codec, is_block=is_block)
                    files[key].add(text)
            for file in files.values():
                file.end()
        finally:
            for file in files.values():
                file.close()
        for key in files:
            path = Path(folder, place_of(key))
            (path / attempt).replace(path / name)
        yield pa.RecordBatch.from_arrays([pa.array([rows], pa.int64())], ["rows"])

    return write


def varint(number: int) -> bytes:
    """An integer that is not negative, as WritableUtils writes it."""
    if number <= 127:
        return bytes((number,))
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes((256 - 112 - len(data),)) + data


def _integer(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _in_blocks(kind: str) -> Callable[[bytes], bytes]:
    """Hadoop's BlockCompressorStream: the length of a block, and parts of it after their compressed lengths."""

    def compress(data: bytes) -> bytes:
        import pyarrow as pa

        codec, found = pa.Codec(kind), bytearray()
        for place in range(0, len(data), _PART):
            part = data[place : place + _PART]
            packed = codec.compress(part, asbytes=True)
            found += _integer(len(part)) + _integer(len(packed)) + packed
        return bytes(found)

    return compress


_PART = 200_000
"""Less than the buffer of Hadoop's decompressors, 256 KiB."""
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "DefaultCodec": zlib.compress,
    "DeflateCodec": zlib.compress,
    "GzipCodec": gzip.compress,
    "BZip2Codec": bz2.compress,
    "SnappyCodec": _in_blocks("snappy"),
    "Lz4Codec": _in_blocks("lz4_raw"),
}
