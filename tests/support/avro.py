"""Avro's binary encoding, written from its specification: independent of the libraries that read it."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence


def number(value: int) -> bytes:
    """An int or a long; also the position in an enum or a union."""
    rest, result = (value << 1) ^ (value >> 63), b""
    while rest > 0x7F:
        result += bytes([rest & 0x7F | 0x80])
        rest >>= 7
    return result + bytes([rest])


def text(value: str | bytes) -> bytes:
    """A string or bytes."""
    stored = value.encode() if isinstance(value, str) else value
    return number(len(stored)) + stored


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def array(items: Sequence[bytes]) -> bytes:
    return (number(len(items)) + b"".join(items) if items else b"") + number(0)


def mapping(items: Mapping[str, bytes]) -> bytes:
    return array([text(key) + value for key, value in items.items()])


def some(value: bytes) -> bytes:
    """The second member of a union."""
    return number(1) + value


NONE = number(0)
"""The first member of a union, if that is null."""


def container(schema: object, *records: bytes) -> bytes:
    """A file with these records, uncompressed."""
    block, sync = b"".join(records), b"0123456789abcdef"
    header = b"Obj\x01" + mapping({"avro.schema": text(json.dumps(schema))}) + sync
    return header + (number(len(records)) + text(block) + sync if records else b"")


def confluent(schema: int, record: bytes) -> bytes:
    """The record in Confluent's wire format."""
    return b"\x00" + struct.pack(">I", schema) + record
