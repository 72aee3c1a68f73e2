"""Temporary folders for one statement's files. Leftovers of killed processes are removed by the next process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hivedruid.defaults import cache_folder
from hivedruid.errors import ExecutionError
from hivedruid.private import is_read_only, private_folder
from hivedruid.processes import is_running


def working_folder(home: Path) -> Path:
    """The folder of what ends with a process or with Spark's server: the home; for one that can only be read, a folder
    in this user's cache."""
    if not is_read_only(home):
        return home
    import hashlib

    name = hashlib.sha256(os.fsencode(home.absolute())).hexdigest()
    return cache_folder().absolute() / "homes" / name[:32]


def scratch_folder(home: Path) -> Path:
    """The folder of the temporary folders of a home."""
    return working_folder(home) / "scratch"


def make_scratch(*folders: Path) -> None:
    """Create folders that only this user can access, an outer one first. Raises ExecutionError."""
    for folder in folders:
        try:
            private_folder(folder)
        except OSError as error:
            raise ExecutionError(
                f"cannot create the folder {folder}: {error.strerror or error}",
                hint="free space on the disk or check its permissions; for a home folder that is read-only, set"
                " XDG_CACHE_HOME to a folder that you may write to",
            ) from error


def fresh_folder(home: Path) -> Path:
    """The path of a new, unique scratch folder of a home, which is not created yet. Leftovers are removed."""
    parent = scratch_folder(home)
    remove_leftovers(parent)
    return parent / new_name()


def new_name() -> str:
    """A unique name that starts with the process id, so that folders of dead processes can be recognized."""
    return f"{os.getpid()}-{os.urandom(16).hex()}"


def remove_leftovers(parent: Path) -> None:
    """Remove the folders below `parent` whose processes have ended."""
    if parent.is_dir():
        import shutil

        for folder in parent.iterdir():
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and not is_running(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)


def folder_of_rows(home: Path) -> Path:
    """The path of a new folder for the rows of a temporary table, in a scratch folder of its own."""
    return scratch_folder(home) / new_name() / "rows"


def make_room(rows: Path) -> None:
    """Create the scratch folder that will contain the folder of `folder_of_rows`; only this user can access it."""
    make_scratch(rows.parent.parent, rows.parent)


def remove_rows(location: str | None) -> None:
    """Remove the folder of `folder_of_rows`, and its scratch folder."""
    if location is not None and (folder := Path(location).parent).is_dir():
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def private_scratch(home: Path) -> Iterator[Path]:
    """A new folder of a home, for the duration of the block, that only this user can access."""
    folder = fresh_folder(home)
    make_scratch(folder.parent, folder)
    try:
        yield folder
    finally:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
