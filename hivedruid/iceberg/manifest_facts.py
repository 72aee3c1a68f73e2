"""Bounds and nulls of the columns of an Iceberg table, by manifest. Iceberg never changes a manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from hivedruid.catalog.bounds import bounded, date_text, decimal_text, integer, integer_text, real_text, timestamp_text
from hivedruid.catalog.footers import ColumnFacts, FileFacts, StoredFile, merged
from hivedruid.iceberg.files import DATA, by_field, current_manifests, files_of_manifest
from hivedruid.iceberg.layout import schema_fields
from hivedruid.iceberg.metadata import document, local_path
from hivedruid.lazy_dataclass import dataclass

_FIXED_COST = 10
"""Columns that take as much time to decode as the rest of an entry."""
_MOST_VALUES = 20_000
"""A manifest with more entries times columns is not read: it would take more than some 0.3 s."""


@dataclass(frozen=True)
class Manifests:
    """The manifests of the rows of a table at its current snapshot, and the ids and types of its columns by name.
    `entries` are the numbers of files in the manifests, by path."""

    files: tuple[StoredFile, ...] = ()
    columns: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    entries: Mapping[str, int] = field(default_factory=dict)

    def read(self, path: Path) -> FileFacts:
        """The facts of the files in a manifest; columns have their ids as names. Raises OSError, and ValueError if it
        is damaged or too large."""
        if self.entries.get(str(path), 0) * (len(self.columns) + _FIXED_COST) > _MOST_VALUES:
            raise ValueError(f"{path.name} is too large")
        types = dict(self.columns.values())
        try:
            return merged(_facts(file, types) for file in files_of_manifest(path))
        except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
            raise ValueError(f"{path.name} is not a manifest that can be read: {error!r}") from error

    def of(self, name: str, facts: FileFacts) -> ColumnFacts | None:
        """The facts of a column by its name."""
        id_, _ = self.columns.get(name.lower(), (None, ""))
        return facts.columns.get(str(id_))


def read_manifests(metadata: Path) -> Manifests:
    """The manifests of a metadata file. Raises OSError and ValueError if they cannot be read."""
    table = document(metadata)
    try:
        of_rows = [each for each in current_manifests(table) if (each.get("content") or DATA) == DATA]
        entries = {str(local_path(each["manifest_path"])): _entries(each) for each in of_rows}
        files = [StoredFile(str(local_path(each["manifest_path"])), each["manifest_length"], 0) for each in of_rows]
        columns = {f["name"].lower(): (f["id"], f["type"]) for f in schema_fields(table) if isinstance(f["type"], str)}
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{metadata.name} refers to manifests that cannot be read: {error!r}") from error
    return Manifests(tuple(files), columns, entries)


def _entries(manifest: Mapping[str, Any]) -> int:
    names = ("added_files_count", "existing_files_count", "added_data_files_count", "existing_data_files_count")
    return sum(manifest.get(name) or 0 for name in names)


def _facts(file: Mapping[str, Any], types: Mapping[int, str]) -> FileFacts:
    lower, upper, nulls = (by_field(file.get(name)) for name in ("lower_bounds", "upper_bounds", "null_value_counts"))
    columns = {str(i): _column(type_, nulls.get(i), lower.get(i), upper.get(i)) for i, type_ in types.items()}
    return FileFacts(file["record_count"], columns)


def _column(type_: str, nulls: int | None, lower: bytes | None, upper: bytes | None) -> ColumnFacts:
    known = _KINDS.get(type_.partition("(")[0])
    if known is None:
        return ColumnFacts(nulls)
    kind, text = known
    return bounded(nulls, kind, text or partial(_decimal, type_), lower, upper)


def _decimal(type_: str, bound: bytes) -> str:
    scale = int(type_.rstrip(")").partition(",")[2])
    return decimal_text(int.from_bytes(bound, "big", signed=True), scale)


def _timestamp(bound: bytes) -> str:
    return timestamp_text(integer(bound))


_KINDS: Mapping[str, tuple[str, Callable[[bytes], str] | None]] = {
    "int": ("integer", integer_text),
    "long": ("integer", integer_text),
    "float": ("double", real_text),
    "double": ("double", real_text),
    "decimal": ("decimal", None),
    "date": ("date", date_text),
    "timestamp": ("timestamp", _timestamp),
    "timestamptz": ("timestamp", _timestamp),
}
"""The kind of values of a type, and the text of a bound in Iceberg's binary form; None if it depends on the scale."""
