"""Manifests and manifest lists of tables without partitions, as Iceberg's specification defines them (format version
2). Optional fields that hivedruid does not set are not written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hivedruid.iceberg.avro_writing import avro_file


def _field(name: str, type_: Any, id_: int) -> dict[str, Any]:
    return {"name": name, "type": type_, "field-id": id_}


def _optional(name: str, type_: Any, id_: int) -> dict[str, Any]:
    return {"name": name, "type": ["null", type_], "default": None, "field-id": id_}


def _record(name: str, *fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def _by_column(name: str, value: str, id_: int, key_id: int, value_id: int) -> dict[str, Any]:
    """A map by the ids of columns."""
    pair = _record(f"k{key_id}_v{value_id}", _field("key", "int", key_id), _field("value", value, value_id))
    return _optional(name, {"type": "array", "items": pair, "logicalType": "map"}, id_)


_FILE = _record(
    "r2",
    _field("content", "int", 134),
    _field("file_path", "string", 100),
    _field("file_format", "string", 101),
    _field("partition", _record("r102"), 102),
    _field("record_count", "long", 103),
    _field("file_size_in_bytes", "long", 104),
    _by_column("value_counts", "long", 109, 119, 120),
    _by_column("null_value_counts", "long", 110, 121, 122),
    _by_column("nan_value_counts", "long", 137, 138, 139),
    _by_column("lower_bounds", "bytes", 125, 126, 127),
    _by_column("upper_bounds", "bytes", 128, 129, 130),
    _optional("split_offsets", {"type": "array", "items": "long", "element-id": 133}, 132),
    _optional("sort_order_id", "int", 140),
)
_ENTRY = _record(
    "manifest_entry",
    _field("status", "int", 0),
    _optional("snapshot_id", "long", 1),
    _optional("sequence_number", "long", 3),
    _optional("file_sequence_number", "long", 4),
    _field("data_file", _FILE, 2),
)
_PARTITIONS = _record(
    "r508",
    _field("contains_null", "boolean", 509),
    _optional("contains_nan", "boolean", 518),
    _optional("lower_bound", "bytes", 510),
    _optional("upper_bound", "bytes", 511),
)
_LIST = _record(
    "manifest_file",
    _field("manifest_path", "string", 500),
    _field("manifest_length", "long", 501),
    _field("partition_spec_id", "int", 502),
    _field("content", "int", 517),
    _field("sequence_number", "long", 515),
    _field("min_sequence_number", "long", 516),
    _field("added_snapshot_id", "long", 503),
    _field("added_files_count", "int", 504),
    _field("existing_files_count", "int", 505),
    _field("deleted_files_count", "int", 506),
    _field("added_rows_count", "long", 512),
    _field("existing_rows_count", "long", 513),
    _field("deleted_rows_count", "long", 514),
    _optional("partitions", {"type": "array", "items": _PARTITIONS, "element-id": 508}, 507),
    _optional("key_metadata", "bytes", 519),
)
LIST_FIELDS = frozenset(field["name"] for field in _LIST["fields"])
"""The fields that an entry of a manifest list must have to be written again."""
_ADDED = 1


def manifest_file(file: Mapping[str, Any], snapshot: int, schema: Mapping[str, Any]) -> bytes:
    """The manifest of one new data file; its sequence number is that of the commit."""
    entry = {
        "status": _ADDED, "snapshot_id": snapshot, "sequence_number": None, "file_sequence_number": None,
        "data_file": file,
    }  # fmt: skip
    header = {
        "schema": json.dumps(schema, separators=(",", ":")), "schema-id": str(schema["schema-id"]),
        "partition-spec": "[]", "partition-spec-id": "0", "format-version": "2", "content": "data",
    }  # fmt: skip
    return avro_file(_ENTRY, [entry], header)


def manifest_list(manifests: Sequence[Mapping[str, Any]], snapshot: int, parent: int | None, number: int) -> bytes:
    """The list of a snapshot; `number` is its sequence number."""
    header = {
        "snapshot-id": str(snapshot), "parent-snapshot-id": "null" if parent is None else str(parent),
        "sequence-number": str(number), "format-version": "2",
    }  # fmt: skip
    return avro_file(_LIST, manifests, header)
