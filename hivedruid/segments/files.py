"""The files of a segment: a folder, or a zip of one.

A segment of version 10 is one file (`version_10`). One of version 9 has smoosh files
(org.apache.druid.java.util.common.io.smoosh): `meta.smoosh` lists the internal files: a header line, then
`name,fileNumber,start,end` for each. Their bytes follow each other in `00000.smoosh`, `00001.smoosh`, ….
"""

from __future__ import annotations

import mmap
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hivedruid.lazy_dataclass import dataclass
from hivedruid.segments.cursor import text
from hivedruid.segments.errors import DamagedSegmentError, UnsupportedSegmentError
from hivedruid.segments.version_10 import NAME as V10_NAME
from hivedruid.segments.version_10 import Header, read_header
from hivedruid.segments.version_10 import entries as entries_of

VERSION = 9
INDEX, METADATA = "index.drd", "metadata.drd"
ZIP_NAME = "index.zip"

_PARTS = re.compile(r"druid\.segment|version\.bin|meta\.smoosh|\d{5}\.smoosh")
MOST_INFLATED = 200
"""How many times its own size a zip may have when it is unpacked. Druid's files are compressed already."""


@dataclass(frozen=True)
class SegmentFiles:
    """The internal files of a segment by name. The bytes are mapped, and are read from the disk when they are used."""

    entries: Mapping[str, memoryview]
    size: int
    """The size of the segment in bytes, as it is stored."""
    header: Header | None = None
    """The metadata of a segment of version 10."""

    def get(self, name: str) -> memoryview:
        found = self.entries.get(name)
        if found is None:
            raise DamagedSegmentError(f"the file {name!r} does not exist")
        return found


@contextmanager
def open_files(path: Path) -> Iterator[SegmentFiles]:
    """The files of the segment at `path`: its folder, a folder with index.zip, or a zip. Raises SegmentError, OSError.

    A zip is unpacked into a temporary folder. Nothing that was read may be used after the context has ended.
    """
    if (
        path.is_dir()
        and not any((path / name).exists() for name in (V10_NAME, "meta.smoosh"))
        and (path / ZIP_NAME).exists()
    ):
        path /= ZIP_NAME
    if path.is_dir():
        yield from_parts(_parts(path))
        return
    with TemporaryDirectory(prefix="hivedruid-segment-") as folder:
        _unzip(path, Path(folder))
        yield from_parts(_parts(Path(folder)))


def from_parts(parts: Mapping[str, memoryview]) -> SegmentFiles:
    """The internal files, from the files of a folder by name. Raises SegmentError."""
    size = sum(map(len, parts.values()))
    if V10_NAME in parts:
        header, containers = read_header(parts[V10_NAME])
        return SegmentFiles(entries_of(header, containers), size, header)
    if "version.bin" not in parts:
        raise DamagedSegmentError("version.bin does not exist")
    version = int.from_bytes(parts["version.bin"][:4])
    if version != VERSION:
        raise UnsupportedSegmentError(f"segment version {version}; version {VERSION} is supported in version.bin")
    if "meta.smoosh" not in parts:
        raise DamagedSegmentError("meta.smoosh does not exist")
    first, *lines = text(parts["meta.smoosh"]).split("\n")
    if not first.startswith("v1,"):
        raise UnsupportedSegmentError(f"unknown header of meta.smoosh: {first[:40]!r}")
    entries = dict(_entry(line, parts) for line in lines if line)
    return SegmentFiles(entries, size)


def _entry(line: str, parts: Mapping[str, memoryview]) -> tuple[str, memoryview]:
    fields = line.rsplit(",", 3)  # names may contain commas
    if len(fields) != 4 or not all(field.isdecimal() for field in fields[1:]):
        raise DamagedSegmentError(f"meta.smoosh contains {line[:80]!r}")
    name, (number, start, end) = fields[0], map(int, fields[1:])
    part = parts.get(f"{number:05d}.smoosh")
    if part is None or not start <= end <= len(part):
        raise DamagedSegmentError(f"{name!r} is not within {number:05d}.smoosh")
    return name, part[start:end]


def _parts(folder: Path) -> dict[str, memoryview]:
    return {entry.name: _mapped(entry) for entry in folder.iterdir() if _PARTS.fullmatch(entry.name)}


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _unzip(path: Path, folder: Path) -> None:
    """Raises DamagedSegmentError."""
    left = MOST_INFLATED * path.stat().st_size
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if _PARTS.fullmatch(entry.filename):
                    left -= entry.file_size
                    if left < 0:
                        raise DamagedSegmentError(f"{path.name} is more than {MOST_INFLATED} times as large, unpacked")
                    with archive.open(entry) as source, (folder / entry.filename).open("wb") as target:
                        shutil.copyfileobj(source, target)  # at most file_size bytes; the CRC is checked
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise DamagedSegmentError(f"{path.name} is not a valid zip: {error}") from error


def zip_files(folder: Path, path: Path) -> None:
    """Zip the files of a segment, as Druid does for deep storage other than local folders. Raises OSError."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:  # most bytes are compressed
        for file in sorted(folder.iterdir()):
            archive.write(file, file.name)
