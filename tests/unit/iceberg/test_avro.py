"""Avro files: every type that Iceberg's manifests use, and damaged files, which are a ValueError at every byte."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pytest

from hivedruid.iceberg.avro import records
from hivedruid.iceberg.avro_writing import avro_file

SCHEMA = {
    "type": "record",
    "name": "entry",
    "fields": [
        {"name": "n", "type": "long"},
        {"name": "flag", "type": "boolean"},
        {"name": "share", "type": ["null", "double"]},
        {"name": "id", "type": {"type": "fixed", "name": "four", "size": 4}},
        {"name": "map", "type": {"type": "map", "values": "string"}},
        {"name": "list", "type": {"type": "array", "items": {"type": "int", "logicalType": "date"}}},
        {"name": "data", "type": "bytes"},
    ],
}
RECORDS: list[dict[str, Any]] = [
    {"n": -(2**40), "flag": True, "share": None, "id": b"abcd", "map": {"é": "x"}, "list": [1, -2], "data": b""},
    {"n": 2**62, "flag": False, "share": 0.25, "id": b"\0\1\2\3", "map": {}, "list": [], "data": b"\xff" * 200},
]
SYNC = bytes(range(16))


def long(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def text(value: bytes) -> bytes:
    return long(len(value)) + value


def record(row: dict[str, Any]) -> bytes:
    share = long(0) if row["share"] is None else long(1) + struct.pack("<d", row["share"])
    pairs = b"".join(text(k.encode()) + text(v.encode()) for k, v in row["map"].items())
    items = b"".join(map(long, row["list"]))
    return b"".join((
        long(row["n"]), bytes([row["flag"]]), share, row["id"],
        long(len(row["map"])) + pairs + long(0) if row["map"] else long(0),
        long(-len(row["list"])) + long(len(items)) + items + long(0) if row["list"] else long(0),
        text(row["data"]),
    ))  # fmt: skip


def container(codec: str = "null") -> bytes:
    """A file with each of the records in a block of its own."""
    header = text(b"avro.schema") + text(json.dumps(SCHEMA).encode()) + text(b"avro.codec") + text(codec.encode())
    out = b"Obj\x01" + long(2) + header + long(0) + SYNC
    for row in RECORDS:
        block = record(row)
        if codec == "deflate":
            deflate = zlib.compressobj(wbits=-15)
            block = deflate.compress(block) + deflate.flush()
        out += long(1) + text(block) + SYNC
    return out


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_records(codec: str) -> None:
    assert list(records(container(codec))) == RECORDS


def test_a_truncated_file_is_refused_at_every_byte() -> None:
    data = container("deflate")
    ends = [at + len(SYNC) for at in range(len(data)) if data.startswith(SYNC, at)]
    assert len(ends) == 1 + len(RECORDS)
    for size in range(len(data)):
        if size not in ends:
            with pytest.raises(ValueError, match=r"truncated|not an Avro|damaged|Expecting|delimiter"):
                list(records(data[:size]))


def test_what_is_not_supported() -> None:
    with pytest.raises(ValueError, match="the compression snappy is not supported"):
        list(records(container("snappy")))
    with pytest.raises(ValueError, match="not an Avro file"):
        list(records(b"PAR1 something else"))
    wrong = container().replace(SYNC, bytes(16), 1)
    with pytest.raises(ValueError, match="the file is damaged"):
        list(records(wrong))


def test_written_files_are_read_back() -> None:
    pair = {
        "type": "record",
        "name": "pair",
        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}],
    }
    schema = {
        "type": "record", "name": "all",
        "fields": [
            {"name": "number", "type": "long"},
            {"name": "text", "type": ["null", "string"]},
            {"name": "pairs", "type": ["null", {"type": "array", "items": pair, "logicalType": "map"}]},
            {"name": "flag", "type": "boolean"},
            {"name": "empty", "type": {"type": "record", "name": "empty", "fields": []}},
        ],
    }  # fmt: skip
    numbers = (0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
    rows: list[dict[str, Any]] = [
        {"number": number, "text": text, "pairs": pairs, "flag": number > 0, "empty": {}}
        for number, text, pairs in zip(
            numbers,
            (None, "", "äöü 漢字 😀", "x" * 200, *[None] * 7),
            (None, [], [{"key": -3, "value": b"\0\xff"}], [{"key": n, "value": b"v"} for n in range(200)], *[None] * 7),
            strict=True,
        )
    ]
    assert list(records(avro_file(schema, rows, {"format-version": "2"}))) == rows
    assert list(records(avro_file(schema, [], {}))) == []
    with pytest.raises(LookupError):
        avro_file(schema, [{"number": 1}], {})
