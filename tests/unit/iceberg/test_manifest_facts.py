"""Bounds and nulls from manifests, and damaged ones. Those that Iceberg writes are in unit/spark/test_table_files."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hivedruid.catalog.footers import ColumnFacts, FileFacts, StoredFile
from hivedruid.iceberg.manifest_facts import Manifests, read_manifests
from tests.unit.iceberg.test_avro import SYNC, long, text

Values = Mapping[int, bytes]


def pairs(name: str, value: str) -> dict[str, object]:
    fields = [{"name": "key", "type": "int"}, {"name": "value", "type": value}]
    items = {"type": "record", "name": f"k_{name}", "fields": fields}
    return {"name": name, "type": ["null", {"type": "array", "items": items, "logicalType": "map"}]}


FILE = {
    "type": "record", "name": "r2",
    "fields": [{"name": "record_count", "type": "long"}, pairs("null_value_counts", "long"), pairs("lower_bounds", "bytes"),
               pairs("upper_bounds", "bytes")],
}  # fmt: skip
ENTRY = {
    "type": "record",
    "name": "entry",
    "fields": [{"name": "status", "type": "int"}, {"name": "data_file", "type": FILE}],
}
LIST = {
    "type": "record", "name": "manifest_file",
    "fields": [{"name": "manifest_path", "type": "string"}, {"name": "manifest_length", "type": "long"},
               {"name": "content", "type": "int"}, {"name": "added_files_count", "type": "int"}],
}  # fmt: skip


def avro(schema: object, *rows: bytes) -> bytes:
    header = b"Obj\x01" + long(1) + text(b"avro.schema") + text(json.dumps(schema).encode()) + long(0) + SYNC
    return header + long(len(rows)) + text(b"".join(rows)) + SYNC


def items(values: Mapping[int, bytes]) -> bytes:
    return long(1) + (long(len(values)) + b"".join(long(k) + v for k, v in values.items()) if values else b"") + long(0)


def entry(rows: int, nulls: Mapping[int, int], lower: Values, upper: Values, status: int = 1) -> bytes:
    bounds = b"".join(items({k: text(v) for k, v in each.items()}) for each in (lower, upper))
    return long(status) + long(rows) + items({k: long(v) for k, v in nulls.items()}) + bounds


def integer(value: int) -> bytes:
    return value.to_bytes(4, "little", signed=True)


COLUMNS = {"n": (1, "long"), "s": (2, "string"), "c": (3, "decimal(9,2)"), "at": (4, "timestamp"), "f": (5, "double")}
FIRST = entry(
    10, {1: 0, 2: 3, 3: 0, 4: 10},
    {1: integer(-5), 2: b"a", 3: (-150).to_bytes(2, "big", signed=True), 5: struct.pack("<f", 0.5)},
    {1: integer(7), 2: b"z", 3: (99).to_bytes(1, "big"), 5: struct.pack("<d", 2.0)},
)  # fmt: skip
SECOND = entry(
    2, {1: 1, 2: 0, 3: 0, 4: 0},
    {1: integer(100), 3: b"\0", 4: (0).to_bytes(8, "little"), 5: struct.pack("<d", float("nan"))},
    {1: integer(200), 3: b"\0", 4: (86_400_000_001).to_bytes(8, "little"), 5: struct.pack("<d", 2.0)},
)  # fmt: skip
DELETED = entry(50, {1: 0}, {1: integer(-1000)}, {1: integer(1000)}, status=2)
EXPECTED = FileFacts(
    12,
    {
        "1": ColumnFacts(1, "integer", "-5", "200"),
        "2": ColumnFacts(3),
        "3": ColumnFacts(0, "decimal", "-1.50", "0.99"),
        "4": ColumnFacts(10, "timestamp", "1970-01-01 00:00:00.000000", "1970-01-02 00:00:00.000001"),
        "5": ColumnFacts(),
    },
)


def test_a_manifest(tmp_path: Path) -> None:
    path = tmp_path / "m.avro"
    path.write_bytes(avro(ENTRY, FIRST, DELETED, SECOND))
    manifests = Manifests((StoredFile(str(path), 1, 0),), COLUMNS, {str(path): 3})
    assert manifests.read(path) == EXPECTED
    assert manifests.of("N", EXPECTED) == EXPECTED.columns["1"]
    assert manifests.of("other", EXPECTED) is None
    too_many = replace(manifests, entries={str(path): 100_000})
    with pytest.raises(ValueError, match="too large"):
        too_many.read(path)


def test_a_damaged_manifest_raises_one_kind_of_error(tmp_path: Path) -> None:
    path = tmp_path / "m.avro"
    whole = avro(ENTRY, FIRST, SECOND)
    refused = 0
    for position in range(len(whole)):
        for damaged in (whole[:position], whole[:position] + b"\xff" + whole[position + 1 :]):
            path.write_bytes(damaged)
            try:
                Manifests(columns=COLUMNS).read(path)
            except ValueError:
                refused += 1
    assert refused > len(whole)


def metadata(folder: Path, manifest_list: bytes, columns: Mapping[str, tuple[int, object]]) -> Path:
    (folder / "list.avro").write_bytes(manifest_list)
    fields = [{"id": id_, "name": name, "type": type_, "required": False} for name, (id_, type_) in columns.items()]
    document = {
        "current-snapshot-id": 7,
        "snapshots": [{"snapshot-id": 7, "manifest-list": f"file://{folder}/list.avro"}],
        "schemas": [{"schema-id": 0, "fields": fields}], "current-schema-id": 0,
    }  # fmt: skip
    (folder / "v1.metadata.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "v1.metadata.json"


def test_the_manifests_of_a_snapshot(tmp_path: Path) -> None:
    rows = [
        text(b"file:/x/a.avro") + long(10) + long(0) + long(3),
        text(b"/x/deletes.avro") + long(20) + long(1) + long(1),
        text(b"/x/b.avro") + long(30) + long(0) + long(4),
    ]
    nested = {"type": "struct", "fields": []}
    found = read_manifests(metadata(tmp_path, avro(LIST, *rows), {"N": (1, "long"), "st": (2, nested)}))
    assert found == Manifests(
        (StoredFile("/x/a.avro", 10, 0), StoredFile("/x/b.avro", 30, 0)), {"n": (1, "long")},
        {"/x/a.avro": 3, "/x/b.avro": 4},
    )  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"Obj\x01", avro(FILE, long(3) + long(0) * 3)])
def test_a_damaged_list_of_manifests(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_manifests(metadata(tmp_path, content, {}))
