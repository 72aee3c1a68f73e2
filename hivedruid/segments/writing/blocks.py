"""Writes numbers and dictionary ids in LZ4 blocks of 64 KiB."""

from __future__ import annotations

import struct

import numpy as np

from hivedruid.segments.blocks import Values
from hivedruid.segments.codecs import LZ4
from hivedruid.segments.writing.lists import indexed_blocks

_BLOCK = 1 << 16
_VERSION = 2
_LEVEL = 4
"""LZ4's high compression. Druid's level, 9, makes segments 1.5 % smaller and takes 1.5 times as long."""


def compressed(values: Values, per_block: int) -> bytes:
    """Values of a fixed width in blocks, behind a header (org.apache.druid.segment.data.BlockLayoutColumnarLongs…)."""
    head = struct.pack(">Biib", _VERSION, len(values), per_block, LZ4)
    return head + _blocks(values.tobytes(), per_block * values.dtype.itemsize)


def numbers(values: Values) -> bytes:
    """LONG, DOUBLE or FLOAT."""
    return compressed(values.astype(values.dtype.newbyteorder("<"), copy=False), _BLOCK // values.dtype.itemsize)


def ids(values: Values, most: int) -> bytes:
    """Ids up to `most`, with as few bytes as possible (org.apache.druid.segment.data.CompressedVSizeColumnarInts…)."""
    width = next(width for width in (1, 2, 3, 4) if most < 1 << (8 * width))
    padding = 1 if width == 3 else 0
    per_block = 1 << ((_BLOCK - padding) // width).bit_length() - 1
    data = values.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width].tobytes()
    head = struct.pack(">BBiib", _VERSION, width, len(values), per_block, LZ4)
    return head + _blocks(data, per_block * width)


def _blocks(data: bytes, size: int) -> bytes:
    import pyarrow as pa

    codec = pa.Codec("lz4_raw", compression_level=_LEVEL)
    view = memoryview(data)
    return indexed_blocks([codec.compress(view[at : at + size], asbytes=True) for at in range(0, len(data), size)])
