"""The files that the path of LOAD DATA names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from hivedruid.errors import ExecutionError
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.lazy_dataclass import dataclass
from hivedruid.tables.hive_tables import normalized_location

FileFormat = Literal["orc", "parquet", "empty", "binary", "other"]
_MAGIC: Mapping[bytes, FileFormat] = {
    b"ORC": "orc",
    b"PAR1": "parquet",
    b"Obj\x01": "binary",  # Avro
    b"RCF\x01": "binary",
    **dict.fromkeys((b"SEQ\x04", b"SEQ\x05", b"SEQ\x06"), "binary"),
}
_BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class InputFile:
    """A file and its format, as far as its first bytes show it."""

    path: str
    format: FileFormat


@dataclass(frozen=True)
class InputFiles:
    """The files and folders that a path matches, and the `files` in them. `is_nested`: some are in folders of their
    own. Nothing is known of files that are not on this machine (`is_elsewhere`)."""

    matches: tuple[str, ...] = ()
    files: tuple[InputFile, ...] = ()
    is_nested: bool = False
    is_elsewhere: bool = False


def input_files(location: str, settings: Mapping[str, str], *, local: bool) -> InputFiles:
    """Hidden files (`_…`, `.…`) do not count, as in Hadoop. With `local` nothing is read that is elsewhere. Raises
    ExecutionError if the path cannot be read."""
    location = normalized_location(location)
    path = local_path(location)
    try:
        if path is None:
            if local:
                return InputFiles()
            found = _is_pattern(location) or open_location(location, Access.of(settings)).exists()
            return InputFiles((location,) if found else (), is_elsewhere=True)
        return _local(str(path))
    except OSError as error:
        raise ExecutionError(
            f"cannot read {location}: {error.strerror or error}", hint="check the path and its permissions"
        ) from error


def _local(path: str) -> InputFiles:
    matches = [path] if os.path.lexists(path) else sorted(set(_matches(path)))
    matches = [match for match in matches if not _is_hidden(match)]
    names = [name for match in matches for name in _files(match)]
    has_folders = any(Path(match).is_dir() for match in matches)
    is_flat = not has_folders or (len(matches) == 1 and all(Path(name).parent == Path(matches[0]) for name in names))
    files = tuple(InputFile(name, _format(name)) for name in names)
    return InputFiles(tuple(matches), files, is_nested=not is_flat)


def _is_pattern(path: str) -> bool:
    return re.search(r"[*?\[{]", path) is not None


def _matches(path: str) -> Iterator[str]:
    """The paths that one of Hadoop's patterns matches."""
    found = _BRACES.search(path)
    if found is None:
        yield from glob.glob(path)  # noqa: PTH207
        return
    for choice in found[1].split(","):
        yield from _matches(path[: found.start()] + choice + path[found.end() :])


def _is_hidden(path: str) -> bool:
    return Path(path).name.startswith(("_", "."))


def _files(path: str) -> Iterator[str]:
    """A file itself, or the files at any depth in a folder."""
    if not Path(path).is_dir():
        yield path
        return
    for entry in sorted(Path(path).iterdir()):
        if not _is_hidden(entry.name):
            yield from _files(str(entry))


def _format(path: str) -> FileFormat:
    with Path(path).open("rb") as file:
        head = file.read(4)
    if not head:
        return "empty"
    return next((found for magic, found in _MAGIC.items() if head.startswith(magic)), "other")
