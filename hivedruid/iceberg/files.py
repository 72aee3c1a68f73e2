"""The files of an Iceberg table at its current snapshot, read from its manifests without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

from hivedruid.catalog.layout import PartitionField
from hivedruid.iceberg.avro import records
from hivedruid.iceberg.layout import column_names, partition_field
from hivedruid.iceberg.metadata import document, local_path
from hivedruid.lazy_dataclass import dataclass

_ADDED, _DELETED = 1, 2
"""The status of a manifest entry whose file its snapshot has added, and of one that is not in the table any more."""
DATA = 0
"""The content of files and manifests with rows, not deletes."""
_KEPT = 8
"""The number of tables whose files are kept in memory."""


@dataclass(frozen=True)
class TableFile:
    """A file of rows, or of deletes. `partition` are its values by name of partition field, `spec` is the id of the
    partition spec that it was written with. `lower` and `upper` are the bounds of columns by field id, in Iceberg's
    binary form, `size` is in bytes; `values` and `nulls` count values.
    """

    path: str
    rows: int
    size: int
    spec: int = 0
    partition: tuple[tuple[str, Any], ...] = ()
    lower: Mapping[int, bytes] = field(default_factory=dict, hash=False)
    upper: Mapping[int, bytes] = field(default_factory=dict, hash=False)
    values: Mapping[int, int] = field(default_factory=dict, hash=False)
    nulls: Mapping[int, int] = field(default_factory=dict, hash=False)

    @property
    def group(self) -> tuple[int, tuple[tuple[str, Any], ...]]:
        """Files of one group can be rewritten into one file."""
        return self.spec, self.partition


@dataclass(frozen=True)
class TableFiles:
    """The files of a table: those with rows, and those with deletes that readers apply to them. `columns` are the ids
    of the columns by name, `specs` the partition fields of each spec by their names in Iceberg.
    """

    data: tuple[TableFile, ...] = ()
    deletes: tuple[TableFile, ...] = ()
    columns: Mapping[str, int] = field(default_factory=dict, hash=False)
    specs: Mapping[int, Mapping[str, PartitionField]] = field(default_factory=dict, hash=False)

    @property
    def size(self) -> int:
        """Of the rows, in bytes."""
        return sum(file.size for file in self.data)


def read_files(metadata: Path) -> TableFiles:
    """The files of the current snapshot of a metadata file. Raises OSError and ValueError if they cannot be read.

    Iceberg never changes a metadata file, so that the files of the last ones that were read are kept.
    """
    stat = metadata.stat()
    return _read_files(metadata, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=_KEPT)
def _read_files(metadata: Path, _time: int, _size: int) -> TableFiles:
    table = document(metadata)
    data: list[TableFile] = []
    deletes: list[TableFile] = []
    try:
        names, specs = column_names(table), _specs(table)
        for manifest in current_manifests(table):
            for content, file in _files(manifest):
                (data if content == DATA else deletes).append(file)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{metadata.name} refers to manifests that cannot be read: {error!r}") from error
    return TableFiles(tuple(data), tuple(deletes), {name: id_ for id_, name in names.items()}, specs)


def _specs(table: Mapping[str, Any]) -> dict[int, dict[str, PartitionField]]:
    names = column_names(table)
    return {
        spec["spec-id"]: {
            each["name"]: known for each in spec["fields"] if (known := partition_field(each, names)) is not None
        }
        for spec in table.get("partition-specs") or ()
    }


def has_current_spec(metadata: Path) -> bool:
    """Whether all files of a table were written by its current partition spec. Raises OSError and ValueError."""
    current, files = document(metadata).get("default-spec-id", 0), read_files(metadata)
    return all(file.spec == current for file in (*files.data, *files.deletes))


def current_manifests(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The manifests of the current snapshot of a metadata file, as its manifest list describes them."""
    current = table.get("current-snapshot-id")
    lists = [s["manifest-list"] for s in table.get("snapshots") or () if s["snapshot-id"] == current]
    if lists:
        yield from records(local_path(lists[0]).read_bytes())


def added_files(table: Mapping[str, Any], snapshot: int) -> Iterator[str]:
    """The locations of the files that a snapshot has added: manifests, and the files in them with rows and deletes. A
    manifest that is not on this machine is one of them; those in it are not known then."""
    for each in table.get("snapshots") or ():
        if each["snapshot-id"] != snapshot:
            continue
        for manifest in records(local_path(each["manifest-list"]).read_bytes()):
            if manifest["added_snapshot_id"] == snapshot:
                yield manifest["manifest_path"]
                with suppress(FileNotFoundError):
                    entries = records(local_path(manifest["manifest_path"]).read_bytes())
                    yield from (entry["data_file"]["file_path"] for entry in entries if entry["status"] == _ADDED)


def files_of_manifest(manifest: Path) -> Iterator[dict[str, Any]]:
    """The files in a manifest that are still in the table."""
    for entry in records(manifest.read_bytes()):
        if entry["status"] != _DELETED:
            yield entry["data_file"]


def _files(manifest: Mapping[str, Any]) -> Iterator[tuple[int, TableFile]]:
    """The content (rows or deletes) and the file of each entry."""
    for file in files_of_manifest(local_path(manifest["manifest_path"])):
        yield (
            file.get("content") or DATA,
            TableFile(
                file["file_path"], file["record_count"], file["file_size_in_bytes"],
                manifest["partition_spec_id"], tuple((file.get("partition") or {}).items()),
                *(by_field(file.get(name)) for name in _METRICS),
            ),
        )  # fmt: skip


_METRICS = ("lower_bounds", "upper_bounds", "value_counts", "null_value_counts")


def by_field(entries: list[Mapping[str, Any]] | None) -> dict[int, Any]:
    """A map by the ids of columns."""
    return {entry["key"]: entry["value"] for entry in entries or ()}
