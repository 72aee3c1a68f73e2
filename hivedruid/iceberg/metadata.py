"""The state of an Iceberg table, read from its metadata file."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hivedruid.lazy_dataclass import dataclass

_FILE_URI = re.compile(r"^file:(//(localhost)?(?=/))?", re.IGNORECASE)


@dataclass(frozen=True)
class TableState:
    """A table at one of its commits. `metadata` is the name of its metadata file, `snapshot` the id of the current
    snapshot; rows, files and bytes are those of that snapshot, None if it does not contain them.
    """

    metadata: str
    snapshot: int | None
    rows: int | None = None
    files: int | None = None
    bytes: int | None = None

    @property
    def token(self) -> str:
        """A string that changes with every commit."""
        return f"{self.metadata} {self.snapshot}"


def local_path(location: str) -> Path:
    """The path of a metadata file on this machine."""
    return Path(_FILE_URI.sub("", location, count=1))


def read(path: Path) -> TableState:
    """The state that a metadata file describes. Raises OSError and ValueError if it cannot be read."""
    table = document(path)
    try:
        current = table.get("current-snapshot-id")
        summaries = [s["summary"] for s in table.get("snapshots") or () if s["snapshot-id"] == current]
        return of_snapshot(path.name, current, summaries[0] if summaries else {})
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _damaged(path, error) from error


def document(path: Path) -> dict[str, Any]:
    """A metadata file. Raises OSError and ValueError if it cannot be read."""
    data = path.read_bytes()
    try:
        found = json.loads(gzip.decompress(data) if ".gz" in path.name else data)
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from error
    if not isinstance(found, dict):
        raise _damaged(path, "not an object")
    return found


def _damaged(path: Path, why: object) -> ValueError:
    return ValueError(f"{path.name} is not the metadata of an Iceberg table: {why}")


def of_snapshot(metadata: str, snapshot: int | None, summary: Mapping[str, Any]) -> TableState:
    """The state from a snapshot's summary, which every commit writes (Iceberg's SnapshotSummary)."""
    if snapshot in (None, -1):
        return TableState(metadata, snapshot, 0, 0, 0)
    totals = (summary.get(f"total-{name}") for name in ("records", "data-files", "files-size"))
    return TableState(metadata, snapshot, *(None if total is None else int(total) for total in totals))
