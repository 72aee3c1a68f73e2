"""The schemas of Parquet and ORC files, whose footers Spark reads and merges again for each statement, and of Iceberg
tables."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.file_writers import UNKNOWN, Writer, avro_writer, parquet_footer, parquet_writer
from hivedruid.filesystems import Access, StoredFile, local_path, open_location
from hivedruid.spark import paths
from hivedruid.spark.parquet_schemas import ParquetSchema, parquet_schema, splits_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql.types import StructType

MOST_FILES = 1_000
"""The schema of more files is not kept: comparing them would take as long as reading it."""
MOST_WRITERS = 100_000
"""The maximum number of files whose writer is kept."""
READERS = 16
"""The number of files of other file systems that are read at the same time."""
_S3A = "spark.hadoop.fs.s3a"

FileState = tuple[str, int, int, int]
"""The path, inode, size and modification time (ns) of a file."""
Settings = tuple[tuple[str, str], ...]


class FileSchemas:
    """The schemas that Spark derived from the files of folders on this machine, or from the metadata of a table in the
    home's own Iceberg catalog, until one of the files or a setting of Spark changes.
    """

    def __init__(self, settings: Mapping[str, str], note: Callable[[str], None] = lambda _: None) -> None:
        self._settings = settings
        self._note = note
        self._unreadable: set[str] = set()
        self.needs_row_reader = False
        """Whether Spark's vectorized reader cannot read files that a statement reads."""
        self._writers: dict[FileState, Writer] = {}
        self._known: dict[str, tuple[tuple[tuple[FileState, ...], Settings], StructType]] = {}

    def of(self, location: str, derive: Callable[[], StructType], reader: str = "") -> StructType:
        """The schema of the files at a location, which `derive` reads from the files; `reader` names others than that
        of Spark."""
        path = local_path(location) if paths.is_visible_here(self._settings) else None
        return self._kept(f"{reader}{location}", None if path is None else _state(path), derive)

    def of_table(self, table_id: str, metadata: Path | None, derive: Callable[[], StructType]) -> StructType:
        """The schema of an Iceberg table with this current metadata file, None if that is not known. No metadata file
        is ever changed."""
        return self._kept(table_id, None if metadata is None else _state(metadata), derive)

    def writers(self, locations: Sequence[str], form: str, *, has_times: bool) -> Mapping[Writer, tuple[str, ...]]:
        """The Parquet or Avro files by how their writers stored times; each file is read once. Empty for files of other
        formats, and if not all files can be read here. In other file systems they are only read for columns that have
        times."""
        found: dict[Writer, list[str]] = {}
        if form not in ("parquet", "avro"):
            return {}
        if elsewhere := [location for location in locations if local_path(location) is None]:
            return self._writers_elsewhere(locations, elsewhere, form) if has_times else {}
        for state in self._files(locations):
            writer = self._writers.get(state)
            if writer is None:
                writer = self._keep(state, _read_writer(state[0], form))
            found.setdefault(writer, []).append(state[0])
        self.needs_row_reader |= any(writer.splits_bytes for writer in found)
        return {writer: tuple(files) for writer, files in found.items()}

    def _keep(self, state: FileState, writer: Writer) -> Writer:
        if len(self._writers) >= MOST_WRITERS:
            self._writers.clear()
        self._writers[state] = writer
        return writer

    def _writers_elsewhere(
        self, locations: Sequence[str], elsewhere: Sequence[str], form: str
    ) -> Mapping[Writer, tuple[str, ...]]:
        """The same in S3 and other file systems. Without access to one of them, a note says what follows."""
        found: dict[Writer, list[str]] = {}
        access = _access(self._settings)
        try:
            for location in locations:
                for name, writer in self._read_elsewhere(location, form, access):
                    found.setdefault(writer, []).append(paths.escape(name))
        except OSError as error:
            self._note_unreadable(elsewhere[0], error)
            return {}
        return {writer: tuple(names) for writer, names in found.items()}

    def _read_elsewhere(self, location: str, form: str, access: Access) -> Iterator[tuple[str, Writer]]:
        """The files at a location, and their writers. Raises OSError."""
        if paths.PATTERN.search(location) and local_path(location) is None:
            raise OSError("the path is a pattern")
        files = [file for file in open_location(location, access).files() if not _is_below_hidden(file.name)]
        states: list[FileState] = [(file.location.uri, 0, file.size, file.modified) for file in files]
        writers = [self._writers.get(state) for state in states]
        new = [file for file, writer in zip(files, writers, strict=True) if writer is None]
        with ThreadPoolExecutor(READERS) as pool:
            read = pool.map(partial(_read_writer_elsewhere, form=form), new)
            for state, writer in zip(states, writers, strict=True):
                yield state[0], writer or self._keep(state, next(read))

    def _note_unreadable(self, location: str, error: OSError) -> None:
        """Note once that times may be shifted."""
        if location not in self._unreadable:
            self._unreadable.add(location)
            self._note(
                f"cannot read which program wrote the files of {location}: {error}; times in files that Hive wrote in a"
                " time zone other than UTC are returned in UTC, and days before 1582-10-15 may differ"
            )

    def parquet_schemas(self, locations: Sequence[str]) -> list[ParquetSchema] | None:
        """The schemas of Parquet files; None for those that are on other machines."""
        files = list(self._files(locations))
        if not files:
            return None
        found = []
        for path, *_ in files:
            with open(path, "rb") as file, suppress(ValueError):  # noqa: PTH123 Spark reports a damaged file
                found.append(parquet_schema(parquet_footer(file)))
        return found

    def _files(self, locations: Sequence[str]) -> Iterator[FileState]:
        """The files that Spark reads at locations on this machine."""
        if paths.is_visible_here(self._settings):
            for path in map(local_path, locations):
                yield from () if path is None else _visible(str(path))

    def _kept(self, key: str, files: tuple[FileState, ...] | None, derive: Callable[[], StructType]) -> StructType:
        if files is None:
            return derive()
        state = files, tuple(item for item in sorted(self._settings.items()) if item[0].startswith("spark."))
        kept = self._known.get(key)
        if kept is None or kept[0] != state:
            kept = self._known[key] = state, derive()
        return kept[1]


def _state(path: Path) -> tuple[FileState, ...] | None:
    """The files at or below a path; None for too many, or if one cannot be examined."""
    found: list[FileState] = []
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


def _visible(path: str) -> Iterator[FileState]:
    """The files at or below a path as Spark lists them: without hidden ones, in any number."""
    try:
        if not os.path.isdir(path):  # noqa: PTH112
            yield _file_state(path)
            return
        with os.scandir(path) as entries:
            visible = [entry for entry in entries if not _is_hidden(entry.name)]
        for entry in visible:
            if entry.is_dir():
                yield from _visible(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_ino, status.st_size, status.st_mtime_ns
    except OSError:  # it was deleted in the meantime, or Spark reports it
        return


def _access(settings: Mapping[str, str]) -> Access:
    """As Spark accesses the files: the endpoint and region of S3 are those of Hadoop's settings if hivedruid has
    none."""
    access = Access.of(settings)
    return replace(
        access,
        s3_endpoint=access.s3_endpoint or settings.get(f"{_S3A}.endpoint", ""),
        s3_region=access.s3_region or settings.get(f"{_S3A}.endpoint.region", ""),
    )


def _read_writer_elsewhere(file: StoredFile, form: str) -> Writer:
    """Raises OSError if the file cannot be read."""
    with file.location.open() as opened, suppress(ValueError):  # Spark reports a damaged file
        return avro_writer(opened) if form == "avro" else parquet_writer(parquet_footer(opened))
    return UNKNOWN[form]


def _is_below_hidden(name: str) -> bool:
    return any(map(_is_hidden, name.split("/")))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _read_writer(path: str, form: str) -> Writer:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            if form != "parquet":
                return avro_writer(file)
            footer = parquet_footer(file)
            return replace(parquet_writer(footer), splits_bytes=splits_bytes(footer))
    except (OSError, ValueError):  # Spark reports it, if a statement reads the file
        return UNKNOWN[form]


def _file_state(file: str) -> FileState:
    status = os.stat(file)  # noqa: PTH116
    return file, status.st_ino, status.st_size, status.st_mtime_ns
