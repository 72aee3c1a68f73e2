"""Writes Avro container files, which Iceberg's manifests are, without a library."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_MAGIC = b"Obj\x01"
_SYNC = 16

Encode = Callable[[Any], bytes]


def avro_file(schema: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], header: Mapping[str, str]) -> bytes:
    """A file with records of a schema, in one block, and with these entries in its header. Values have the form that
    `avro.records` returns. Raises LookupError for a record without one of the fields."""
    encode, sync = _encoder(schema), os.urandom(_SYNC)
    encoded = [encode(row) for row in rows]
    block = _deflated(b"".join(encoded))
    entries = {"avro.schema": json.dumps(schema, separators=(",", ":")), "avro.codec": "deflate", **header}
    pairs = b"".join(_text(key) + _text(value) for key, value in entries.items())
    body = zigzag(len(encoded)) + zigzag(len(block)) + block + sync if encoded else b""
    return _MAGIC + zigzag(len(entries)) + pairs + b"\0" + sync + body


def _deflated(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def zigzag(value: int) -> bytes:
    """A signed integer of at most 64 bits as a varint."""
    rest = (value << 1) ^ (value >> 63)
    parts = bytearray()
    while rest > 0x7F:
        parts.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*parts, rest])


def _encoder(schema: Any) -> Encode:
    """The function that encodes a value of a schema. A union is that of null and one other type."""
    if isinstance(schema, list):
        _, other = schema
        encode = _encoder(other)
        return lambda value: b"\0" if value is None else b"\x02" + encode(value)
    if not isinstance(schema, Mapping):
        return _PRIMITIVES[schema]
    if schema["type"] == "record":
        fields = [(field["name"], _encoder(field["type"])) for field in schema["fields"]]
        return lambda value: b"".join(encode(value[name]) for name, encode in fields)
    item = _encoder(schema["items"])
    return lambda values: (zigzag(len(values)) + b"".join(map(item, values)) if values else b"") + b"\0"


def _bytes(value: bytes) -> bytes:
    return zigzag(len(value)) + value


def _text(value: str) -> bytes:
    return _bytes(value.encode())


_PRIMITIVES: Mapping[str, Encode] = {
    "boolean": lambda value: b"\x01" if value else b"\0",
    "int": zigzag,
    "long": zigzag,
    "bytes": _bytes,
    "string": _text,
}
