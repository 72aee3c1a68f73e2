"""Block compression: the ids of org.apache.druid.segment.data.CompressionStrategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError

if TYPE_CHECKING:
    from collections.abc import Callable

LZF, LZ4, ZSTD = 0, 1, 2
UNCOMPRESSED = -1
"""Blocks that are not compressed."""
NONE = -2
"""No blocks: the values follow each other."""


def decompressor(codec: int) -> Callable[[memoryview, int], memoryview]:
    """A function from a block and its decompressed size in bytes to its bytes. Raises UnsupportedSegmentError."""
    if codec == UNCOMPRESSED:
        return _uncompressed
    if codec == LZF:
        return _lzf
    if codec in (LZ4, ZSTD):
        return _arrow("lz4_raw" if codec == LZ4 else "zstd")
    raise UnsupportedSegmentError(f"unknown compression {codec}")


def _uncompressed(block: memoryview, size: int) -> memoryview:
    if len(block) < size:
        raise DamagedSegmentError(f"a block has {len(block)} bytes instead of {size}")
    return block[:size]


def _arrow(name: str) -> Callable[[memoryview, int], memoryview]:
    import pyarrow as pa

    codec = pa.Codec(name)

    def decompress(block: memoryview, size: int) -> memoryview:
        try:
            found = memoryview(codec.decompress(block, size, asbytes=True))
        except (OSError, ValueError) as error:
            raise DamagedSegmentError(f"a block cannot be decompressed: {error}") from error
        if len(found) != size:
            raise DamagedSegmentError(f"a block has {len(found)} bytes instead of {size}")
        return found

    return decompress


# --- LZF (com.ning.compress.lzf): chunks of "ZV", a type, sizes as uint16, and the bytes --------------------------


def _lzf(block: memoryview, size: int) -> memoryview:
    out = bytearray()
    data, at = bytes(block), 0
    try:
        while len(out) < size:
            if data[at : at + 2] != b"ZV" or data[at + 2] > 1:
                raise DamagedSegmentError("a block is not LZF")
            length = int.from_bytes(data[at + 3 : at + 5])
            if data[at + 2] == 0:
                begin = at + 5
                out += data[begin : begin + length]
            else:
                begin = at + 7
                expected = int.from_bytes(data[at + 5 : at + 7])
                out += _lzf_chunk(data[begin : begin + length], expected)
            at = begin + length
    except IndexError as error:
        raise DamagedSegmentError("an LZF block is truncated") from error
    if len(out) != size:
        raise DamagedSegmentError(f"a block has {len(out)} bytes instead of {size}")
    return memoryview(bytes(out))


def _lzf_chunk(data: bytes, size: int) -> bytearray:
    """Literals (control byte < 32: its value + 1 bytes) and references to earlier bytes (length and distance)."""
    out = bytearray()
    at = 0
    while at < len(data) and len(out) <= size:
        control = data[at]
        at += 1
        if control < 32:
            out += data[at : at + control + 1]
            at += control + 1
            continue
        length = control >> 5
        if length == 7:
            length += data[at]
            at += 1
        begin = len(out) - ((control & 31) << 8) - data[at] - 1
        at += 1
        if begin < 0:
            raise DamagedSegmentError("an LZF reference points before its block")
        for index in range(begin, begin + length + 2):
            out.append(out[index])
    if len(out) != size:
        raise DamagedSegmentError(f"an LZF chunk has {len(out)} bytes instead of {size}")
    return out
