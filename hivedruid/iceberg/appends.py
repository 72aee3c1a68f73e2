"""Appends of one small ORC file to a table of the home's own catalog, without Spark: the same files and metadata, and
the same commit, as those of Iceberg's JdbcCatalog.

Only tables as hivedruid creates them are written: without partitions, a sort order, nested columns, and properties of
other programs. For every other table the functions return None, before anything is written.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.errors import HiveDruidError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.files import current_manifests
from hivedruid.iceberg.layout import current_schema
from hivedruid.iceberg.metadata import document, local_path
from hivedruid.iceberg.new_manifests import LIST_FIELDS, manifest_file, manifest_list
from hivedruid.iceberg.schemas import Field, arrow_field, bounds, schema_document
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

FORMER_METADATA = 100
"""The number of metadata files before the current one that are kept in hivedruid's own catalogs. Each contains all
snapshots, so that keeping every file would take the square of the number of commits.
"""
PROPERTIES = {
    "write.metadata.delete-after-commit.enabled": "true",
    "write.format.default": "orc",
    "write.metadata.previous-versions-max": str(FORMER_METADATA),
    "write.parquet.compression-codec": "zstd",
}
"""The properties of a new table, of which the last one is Iceberg's own."""
_MOST_MANIFESTS = 100
"""Iceberg merges this number of manifests (commit.manifest.min-count-to-merge), which is left to Spark."""
_ATTEMPTS = 20
"""Commits are repeated after those of other processes."""
_ORC_HEADER = 3
"""The bytes of an ORC file before its first stripe."""


class GoneError(Exception):
    """The table was dropped while it was written."""


@dataclass(frozen=True)
class Target:
    """A table that can be written: its current metadata file, None for a table without one, and its schema. `fields`
    are the columns of the schema."""

    home: Path
    table_id: str
    fields: tuple[Field, ...]
    schema: Mapping[str, Any] = dataclass_field(hash=False)
    location: str | None = None

    @property
    def folder(self) -> Path:
        return home_catalog.folder(self.home, self.table_id)


def target(home: Path, table_id: str, columns: Sequence[Field]) -> Target | None:
    """A table with these columns, in any order; None if it is not suitable. Raises OSError and ValueError if its
    metadata cannot be read."""
    location = home_catalog.registered(home, table_id)
    if location is None:
        is_new = home_catalog.to_register(home, table_id) is None
        return Target(home, table_id, tuple(columns), schema_document(columns)) if is_new else None
    path = local_path(location)
    table = document(path)
    try:
        if not _is_suitable(table):
            return None
        schema = current_schema(table)
        fields = tuple(Field(each["id"], each["name"], str(each["type"])) for each in schema["fields"])
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{path.name} is not the metadata of an Iceberg table: {error!r}") from error
    is_same = sorted((each.name, each.type) for each in fields) == sorted((each.name, each.type) for each in columns)
    return Target(home, table_id, fields, schema, location) if is_same else None


def _is_suitable(table: Mapping[str, Any]) -> bool:
    """Whether the files of a table are written as those of a new one."""
    specs = {each["spec-id"]: each["fields"] for each in table["partition-specs"]}
    manifests = list(current_manifests(table))
    return (
        table["format-version"] == 2
        and table["default-spec-id"] == 0
        and not specs[0]
        and table["default-sort-order-id"] == 0
        and {key: value for key, value in table["properties"].items() if key != "owner"} == PROPERTIES
        and not any(each.keys() - _OF_FIELDS or each["required"] for each in current_schema(table)["fields"])
        and len(manifests) < _MOST_MANIFESTS
        and all(each.keys() >= LIST_FIELDS and each["key_metadata"] is None for each in manifests)
    )


_OF_FIELDS = frozenset({"id", "name", "type", "required"})


def append(written: Target, columns: Sequence[pa.Array]) -> None:
    """Append rows, given by their columns in the order of the schema, in one commit, which also creates a new table.

    Raises OSError, ExecutionError if the catalog cannot be changed, and GoneError. Nothing is changed then, and no file
    is left.
    """
    for name in ("data", "metadata"):
        (written.folder / name).mkdir(parents=True, exist_ok=True)
    new: list[Path] = []
    snapshot = secrets.randbits(62) + 1
    try:
        manifest = _write_data(written, columns, snapshot, new)
        for _ in range(_ATTEMPTS):
            if _commit(written, manifest, snapshot, new):
                return
            written = _again(written)
        raise OSError("too many concurrent commits to the table")
    except BaseException:
        _discard(written, snapshot, new)
        raise


def _discard(written: Target, snapshot: int, new: Sequence[Path]) -> None:
    """Delete the files of a commit that has failed; none if an interrupt came after it, or if that is not known."""
    try:
        location = home_catalog.registered(written.home, written.table_id)
        table = document(local_path(location)) if location is not None else {}
    except (HiveDruidError, OSError, ValueError):
        return
    if not any(each["snapshot-id"] == snapshot for each in table.get("snapshots") or ()):
        for path in new:
            path.unlink(missing_ok=True)


def _again(written: Target) -> Target:
    """The table after the commit of another process."""
    found = target(written.home, written.table_id, written.fields)
    if found is None or found.location is None or found.fields != written.fields:
        raise GoneError
    return found


def _commit(written: Target, manifest: Mapping[str, Any], snapshot: int, new: list[Path]) -> bool:
    """Commit a manifest as a snapshot; False if another process was faster."""
    table = document(local_path(written.location)) if written.location is not None else _new_table(written)
    number = table["last-sequence-number"] + 1
    earlier = list(current_manifests(table))
    added = {**manifest, "sequence_number": number, "min_sequence_number": number}
    content = manifest_list([added, *earlier], snapshot, _current(table), number)
    listed = write_file(written.folder / "metadata" / f"snap-{snapshot}-1-{uuid4()}.avro", new, content)
    after, doomed = _with_snapshot(table, written, snapshot, number, manifest, len(earlier), listed)
    version = _version(written.location) + 1
    path = written.folder / "metadata" / f"{version:05}-{uuid4()}.metadata.json"
    write_file(path, new, json.dumps(after, separators=(",", ":"), ensure_ascii=False).encode())
    if not home_catalog.replace_metadata(written.home, written.table_id, written.location, _uri(path)):
        for each in (listed, path):
            each.unlink(missing_ok=True)
            new.remove(each)
        return False
    for each in doomed:
        with suppress(OSError):
            each.unlink()
    return True


def write_file(path: Path, new: list[Path], content: bytes) -> Path:
    new.append(path)
    path.write_bytes(content)
    return path


def _uri(path: Path) -> str:
    """A location as Hadoop writes it, without escapes."""
    return f"file:{path}"


def _version(location: str | None) -> int:
    """The number of a metadata file; -1 if there is none."""
    if location is None:
        return -1
    number = local_path(location).name.partition("-")[0]
    return int(number) if number.isdigit() else -1


# --- metadata ------------------------------------------------------------------------------------------------------


def _new_table(written: Target) -> dict[str, Any]:
    """The metadata of a table without snapshots."""
    return {
        "format-version": 2, "table-uuid": str(uuid4()), "location": f"file://{written.folder}",
        "last-sequence-number": 0, "last-updated-ms": 0, "last-column-id": len(written.fields),
        "current-schema-id": 0, "schemas": [schema_document(written.fields)],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": PROPERTIES, "current-snapshot-id": -1, "refs": {}, "snapshots": [], "statistics": [],
        "partition-statistics": [], "snapshot-log": [], "metadata-log": [],
    }  # fmt: skip


def _with_snapshot(
    table: Mapping[str, Any], written: Target, snapshot: int, number: int, manifest: Mapping[str, Any], kept: int,
    listed: Path,
) -> tuple[dict[str, Any], list[Path]]:  # fmt: skip
    """The metadata after the commit, and the metadata files that it removes."""
    at = max(int(time.time() * 1000), table["last-updated-ms"])
    made: dict[str, Any] = {
        "sequence-number": number, "snapshot-id": snapshot, "timestamp-ms": at,
        "summary": _summary(table, manifest, kept), "manifest-list": _uri(listed),
        "schema-id": table["current-schema-id"],
    }  # fmt: skip
    if (parent := _current(table)) is not None:
        made["parent-snapshot-id"] = parent
    log = list(table.get("metadata-log") or ())
    if written.location is not None:
        log.append({"timestamp-ms": table["last-updated-ms"], "metadata-file": written.location})
    refs = table.get("refs") or {}
    refs = {**refs, "main": {"type": "branch", **refs.get("main", {}), "snapshot-id": snapshot}}
    after = {
        **table, "last-sequence-number": number, "last-updated-ms": at, "current-snapshot-id": snapshot, "refs": refs,
        "snapshots": [*(table.get("snapshots") or ()), made],
        "snapshot-log": [*(table.get("snapshot-log") or ()), {"timestamp-ms": at, "snapshot-id": snapshot}],
        "metadata-log": log[-FORMER_METADATA:],
    }  # fmt: skip
    return after, [local_path(each["metadata-file"]) for each in log[:-FORMER_METADATA]]


def _current(table: Mapping[str, Any]) -> int | None:
    snapshot = table.get("current-snapshot-id")
    return None if snapshot in (None, -1) else snapshot


def _summary(table: Mapping[str, Any], manifest: Mapping[str, Any], kept: int) -> dict[str, str]:
    """The summary of an append. A total that is not known stays unknown."""
    current = _current(table)
    before = next((s["summary"] for s in table.get("snapshots") or () if s["snapshot-id"] == current), None)
    added = {"data-files": 1, "records": manifest["added_rows_count"], "files-size": manifest["size"]}
    counts = {f"added-{name}": count for name, count in added.items()}
    unchanged = dict.fromkeys(("delete-files", "position-deletes", "equality-deletes"), 0)
    for name, count in (added | unchanged).items():
        if before is None or f"total-{name}" in before:
            counts[f"total-{name}"] = count + int(before[f"total-{name}"] if before is not None else 0)
    counts |= {"changed-partition-count": 1, "manifests-created": 1, "manifests-kept": kept, "manifests-replaced": 0}
    return {"operation": "append", "engine-name": "hivedruid", **{name: str(count) for name, count in counts.items()}}


# --- the file of rows ----------------------------------------------------------------------------------------------


def _write_data(written: Target, columns: Sequence[pa.Array], snapshot: int, new: list[Path]) -> dict[str, Any]:
    """Write the rows as a file, and its manifest; returns the entry of the manifest list, without sequence numbers."""
    name, rows = uuid4(), len(columns[0])
    path = written.folder / "data" / f"00000-0-{name}-0-00001.orc"
    new.append(path)
    write_orc(path, written.fields, columns)
    file = {
        "content": 0, "file_path": _uri(path), "file_format": "ORC", "partition": {}, "record_count": rows,
        "file_size_in_bytes": path.stat().st_size, "split_offsets": [_ORC_HEADER], "sort_order_id": 0,
        **_metrics(written.fields, columns),
    }  # fmt: skip
    content = manifest_file(file, snapshot, written.schema)
    listed = write_file(written.folder / "metadata" / f"{name}-m0.avro", new, content)
    return {
        "manifest_path": _uri(listed), "manifest_length": len(content), "partition_spec_id": 0, "content": 0,
        "added_snapshot_id": snapshot, "added_files_count": 1, "existing_files_count": 0, "deleted_files_count": 0,
        "added_rows_count": rows, "existing_rows_count": 0, "deleted_rows_count": 0, "partitions": [],
        "key_metadata": None, "size": file["file_size_in_bytes"],
    }  # fmt: skip


def write_orc(path: Path, fields: Sequence[Field], columns: Sequence[pa.Array]) -> None:
    import pyarrow as pa
    from pyarrow import orc

    schema = pa.schema([arrow_field(field) for field in fields])
    orc.write_table(pa.Table.from_arrays(list(columns), schema=schema), str(path), compression="zlib")


def _metrics(fields: Sequence[Field], columns: Sequence[pa.Array]) -> dict[str, list[dict[str, Any]]]:
    """What Iceberg knows of the values of each column without reading the file."""
    counts: dict[str, dict[int, Any]] = {name: {} for name in _METRICS}
    for field, column in zip(fields, columns, strict=True):
        values = [value for value in column.to_pylist() if value is not None]
        lower, upper = bounds(field, values)
        is_real = field.type in ("float", "double")
        nans = sum(map(math.isnan, values)) if is_real else None
        found = (len(column), column.null_count, nans, lower, upper)
        for name, value in zip(_METRICS, found, strict=True):
            if value is not None:
                counts[name][field.id] = value
    return {name: [{"key": id_, "value": value} for id_, value in each.items()] for name, each in counts.items()}


_METRICS = ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
