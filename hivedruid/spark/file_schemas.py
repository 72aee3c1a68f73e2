"""The schemas of Parquet and ORC files, whose footers Spark reads and merges again for each statement, and of Iceberg
tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.filesystems import local_path
from hivedruid.spark import paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql.types import StructType

MOST_FILES = 1_000
"""The schema of more files is not kept: comparing them would take as long as reading it."""

FileState = tuple[tuple[str, int, int, int], ...]
"""The path, inode, size and modification time (ns) of each file."""
Settings = tuple[tuple[str, str], ...]


class FileSchemas:
    """The schemas that Spark derived from the files of folders on this machine, or from the metadata of a table in the
    home's own Iceberg catalog, until one of the files or a setting of Spark changes.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._known: dict[str, tuple[tuple[FileState, Settings], StructType]] = {}

    def of(self, location: str, derive: Callable[[], StructType]) -> StructType:
        """The schema of the files at a location, which `derive` reads from the files."""
        path = local_path(location) if paths.is_visible_here(self._settings) else None
        return self._kept(location, None if path is None else _state(path), derive)

    def of_table(self, table_id: str, metadata: Path | None, derive: Callable[[], StructType]) -> StructType:
        """The schema of an Iceberg table with this current metadata file, None if that is not known. No metadata file
        is ever changed."""
        return self._kept(table_id, None if metadata is None else _state(metadata), derive)

    def _kept(self, key: str, files: FileState | None, derive: Callable[[], StructType]) -> StructType:
        if files is None:
            return derive()
        state = files, tuple(item for item in sorted(self._settings.items()) if item[0].startswith("spark."))
        kept = self._known.get(key)
        if kept is None or kept[0] != state:
            kept = self._known[key] = state, derive()
        return kept[1]


def _state(path: Path) -> FileState | None:
    """The files at or below a path; None for too many, or if one cannot be examined."""
    found: list[tuple[str, int, int, int]] = []
    try:
        for folder, _, names in os.walk(path):
            for name in names:
                file = os.path.join(folder, name)  # noqa: PTH118 pathlib takes several times as long
                found.append(_file_state(file))
            if len(found) > MOST_FILES:
                return None
        return tuple(sorted(found)) if found else (_file_state(str(path)),)
    except OSError:
        return None


def _file_state(file: str) -> tuple[str, int, int, int]:
    status = os.stat(file)  # noqa: PTH116
    return file, status.st_ino, status.st_size, status.st_mtime_ns
