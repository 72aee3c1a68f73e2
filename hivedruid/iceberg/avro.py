"""Reads Avro container files, which Iceberg's manifests are, without a library."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hivedruid.byte_reader import ByteReader

_MAGIC = b"Obj\x01"
_SYNC = 16
_FIXED_SIZE = {"float": "<f", "double": "<d"}

Decode = Callable[["_Reader"], Any]


class _Reader(ByteReader):
    def bytes(self) -> bytes:
        return self.take(self.zigzag())

    def blocks(self) -> Iterator[None]:
        """Once for each item of an array or a map."""
        while count := self.zigzag():
            if count < 0:
                count = -count
                self.zigzag()  # the size of the block in bytes
            for _ in range(count):
                yield


def records(data: bytes) -> Iterator[dict[str, Any]]:
    """The records of a file by name of field; a map is a dict, a logical map a list of records. Raises ValueError if
    the file is damaged, or uses what Iceberg does not write.
    """
    reader = _Reader(data)
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise ValueError("not an Avro file")
    header = {reader.bytes().decode(): reader.bytes() for _ in reader.blocks()}
    sync = reader.take(_SYNC)
    codec = header.get("avro.codec", b"null").decode()
    decode = _decoder(json.loads(header["avro.schema"]))
    while reader.at < len(data):
        count = reader.zigzag()
        block = _Reader(_decompressed(reader.bytes(), codec))
        if reader.take(_SYNC) != sync:
            raise ValueError("the file is damaged")
        for _ in range(count):
            yield decode(block)


def _decompressed(block: bytes, codec: str) -> bytes:
    if codec == "null":
        return block
    if codec != "deflate":
        raise ValueError(f"the compression {codec} is not supported")
    try:
        return zlib.decompress(block, wbits=-15)
    except zlib.error as error:
        raise ValueError(f"the file is damaged: {error}") from error


def _decoder(schema: Any) -> Decode:
    """The function that reads a value of a schema."""
    if isinstance(schema, list):
        return _union([_decoder(branch) for branch in schema])
    if not isinstance(schema, Mapping):
        return _primitive(schema)
    match schema["type"]:
        case "record":
            return _record([(field["name"], _decoder(field["type"])) for field in schema["fields"]])
        case "array":
            item = _decoder(schema["items"])
            return lambda reader: [item(reader) for _ in reader.blocks()]
        case "map":
            value = _decoder(schema["values"])
            return lambda reader: {reader.bytes().decode(): value(reader) for _ in reader.blocks()}
        case "fixed":
            size = int(schema["size"])
            return lambda reader: reader.take(size)
        case other:
            return _primitive(other)


def _union(branches: list[Decode]) -> Decode:
    def read(reader: _Reader) -> Any:
        number = reader.zigzag()
        if not 0 <= number < len(branches):
            raise ValueError("the file is damaged")
        return branches[number](reader)

    return read


def _record(fields: list[tuple[str, Decode]]) -> Decode:
    return lambda reader: {name: read(reader) for name, read in fields}


def _primitive(name: str) -> Decode:
    if name in _FIXED_SIZE:
        form = struct.Struct(_FIXED_SIZE[name])
        return lambda reader: form.unpack(reader.take(form.size))[0]
    match name:
        case "null":
            return lambda _: None
        case "boolean":
            return lambda reader: reader.take(1) != b"\0"
        case "int" | "long":
            return _Reader.zigzag
        case "bytes":
            return _Reader.bytes
        case "string":
            return lambda reader: reader.bytes().decode()
        case _:
            raise ValueError(f"the Avro type {name} is not supported")
