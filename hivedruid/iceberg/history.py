"""The snapshots of an Iceberg table, from its metadata file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hivedruid.iceberg.layout import column_names, column_types
from hivedruid.iceberg.metadata import document
from hivedruid.lazy_dataclass import dataclass

MAIN = "main"


@dataclass(frozen=True)
class Snapshot:
    """One commit. `at` is in milliseconds since 1970; `summary` contains Iceberg's counts, the properties of the
    writer, and the `operation`: append, replace, overwrite or delete."""

    id: int
    parent: int | None
    at: int
    summary: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def operation(self) -> str:
        return self.summary.get("operation", "")


@dataclass(frozen=True)
class TableHistory:
    """The snapshots of a table by id, and the tags and branches that refer to them. `current` is None if nothing was
    ever committed. `columns` are the names of the current columns by Iceberg's id, and `former` the ids of all names
    that columns have had, as far as the metadata has them. `types` are Iceberg's types of the current columns by
    name. `log` are the times at which a snapshot became current, in milliseconds, with its id, the oldest first."""

    current: int | None = None
    snapshots: Mapping[int, Snapshot] = field(default_factory=dict)
    refs: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[int, str] = field(default_factory=dict, repr=False)
    former: Mapping[str, int] = field(default_factory=dict, repr=False)
    types: Mapping[str, str] = field(default_factory=dict, repr=False)
    log: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    def ancestors(self) -> Iterator[Snapshot]:
        """The current snapshot, its parent, and so on, as far as they have not expired."""
        yield from self.chain(self.current)

    def chain(self, at: int | None) -> Iterator[Snapshot]:
        """A snapshot, its parent, and so on, as far as they have not expired."""
        while at is not None and (snapshot := self.snapshots.get(at)) is not None:
            yield snapshot
            at = snapshot.parent

    def before(self, time: int) -> Snapshot | None:
        """The last current snapshot before a time in milliseconds."""
        return next((each for each in self.ancestors() if each.at < time), None)

    def at(self, time: int) -> int | None:
        """The id of the snapshot that was current at a time in milliseconds, which may have expired."""
        return next((id_ for at, id_ in reversed(self.log) if at <= time), None)

    @property
    def is_cut(self) -> bool:
        """Whether the first ancestors have expired."""
        known = list(self.ancestors())
        return bool(known) and known[-1].parent is not None


def read_history(path: Path) -> TableHistory:
    """The history in a metadata file: one file is one consistent state. Raises OSError and ValueError."""
    return history_of(document(path))


def history_of(metadata: Mapping[str, Any]) -> TableHistory:
    """The history in the metadata of a table, as Iceberg's specification defines it."""
    current = metadata.get("current-snapshot-id")
    snapshots = {
        each["snapshot-id"]: Snapshot(
            each["snapshot-id"], each.get("parent-snapshot-id"), each["timestamp-ms"], each.get("summary") or {}
        )
        for each in metadata.get("snapshots") or ()
    }
    refs = {name: each["snapshot-id"] for name, each in (metadata.get("refs") or {}).items()}
    schemas = sorted(metadata.get("schemas") or (), key=lambda each: each["schema-id"])
    former = {field["name"].lower(): field["id"] for each in schemas for field in each["fields"]}
    columns, types = (column_names(metadata), column_types(metadata)) if schemas else ({}, {})
    log = tuple((each["timestamp-ms"], each["snapshot-id"]) for each in metadata.get("snapshot-log") or ())
    return TableHistory(None if current in (None, -1) else current, snapshots, refs, columns, former, types, log)
