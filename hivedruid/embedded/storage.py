"""The files of the store: segment folders below `home/segments`, their locks, and their deletion."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from hivedruid import locks
from hivedruid.embedded.manifest import Manifest
from hivedruid.private import is_read_only, private_folder
from hivedruid.scratch import working_folder

FLUSHES = 16
"""Files that are flushed to disk at the same time."""


def encoded(data_source: str) -> str:
    """A data source's name as a folder name: letters, digits, `_ -` and inner dots stay, other bytes become %XX."""
    name = "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or chr(byte) in "_-." else f"%{byte:02X}"
        for byte in data_source.encode()
    )
    return "%2E" + name[1:] if name.startswith(".") else name


class Storage:
    def __init__(self, home: Path, manifest: Manifest) -> None:
        self.home = home
        self._segments = home / "segments"
        self._manifest = manifest

    @property
    def temporary(self) -> Path:
        return working_folder(self.home) / "tmp"

    def reading(self) -> AbstractContextManager[None]:
        """The lock of a query, held from reading the manifest to the last row; none in a home that can only be read."""
        if is_read_only(self.home):
            return nullcontext()
        return locks.shared(self._segments / "readers.lock")

    @contextmanager
    def writing(self, data_source: str) -> Iterator[Path]:
        """A new folder for the files of one ingestion, deleted on an exception."""
        import secrets
        import shutil

        with locks.shared(self._segments / "writers.lock"):
            folder = self._segments / encoded(data_source) / secrets.token_hex(8)
            private_folder(folder.parent)
            private_folder(folder)
            try:
                yield folder
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise

    def make_durable(self, folder: Path) -> None:
        """Flush a folder's files and directory entries to disk, before the manifest refers to them."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(FLUSHES) as pool:  # a file system combines flushes that wait at the same time
            for _ in pool.map(_flush, folder.iterdir()):
                pass
        for path in (folder, folder.parent, self._segments):
            _flush(path)

    def clean(self) -> None:
        """Delete the files of unused segments and of crashed writers; files that may be in use are kept until the next
        time. Nothing is deleted in a home that can only be read."""
        if is_read_only(self.home) or not self._segments.is_dir() or self._manifest.in_transaction:
            return
        unused = self._manifest.unused_paths()
        if unused:
            with locks.exclusive(self._segments / "readers.lock") as alone:
                if alone:
                    self._delete_unused()
        if self._has_orphans():
            with locks.exclusive(self._segments / "writers.lock") as alone:
                if alone:
                    self._delete_orphans()

    def _delete_unused(self) -> None:
        paths = self._manifest.unused_paths()
        for path in paths:
            (self.home / path).unlink(missing_ok=True)
        self._manifest.forget(paths)

    def _folders(self) -> Iterator[tuple[str, Path]]:
        """The folders of ingestions, with their paths below home."""
        for source in _folders_in(self._segments):
            for folder in _folders_in(source):
                yield f"segments/{source.name}/{folder.name}", folder

    def _has_orphans(self) -> bool:
        known = {path.rpartition("/")[0] for path in self._manifest.known_paths()}
        return any(name not in known for name, _ in self._folders())

    def _delete_orphans(self) -> None:
        import shutil

        known = {path.rpartition("/")[0] for path in self._manifest.known_paths()}
        for name, folder in list(self._folders()):
            if name not in known:
                shutil.rmtree(folder, ignore_errors=True)
        for source in _folders_in(self._segments):
            if not any(source.iterdir()):
                source.rmdir()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _folders_in(path: Path) -> list[Path]:
    with os.scandir(path) as entries:
        return [Path(entry.path) for entry in entries if entry.is_dir()]
