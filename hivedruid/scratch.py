"""Temporary folders for one statement's files. Leftovers of killed processes are removed by the next process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hivedruid.private import private_folder
from hivedruid.processes import is_running


def fresh_folder(parent: Path) -> Path:
    """The path of a new, unique folder below `parent`, which is not created yet. Leftovers are removed."""
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
    return home / "scratch" / new_name() / "rows"


def make_room(rows: Path) -> None:
    """Create the scratch folder that will contain the folder of `folder_of_rows`; only this user can access it."""
    private_folder(rows.parent.parent)
    private_folder(rows.parent)


def remove_rows(location: str | None) -> None:
    """Remove the folder of `folder_of_rows`, and its scratch folder."""
    if location is not None and (folder := Path(location).parent).is_dir():
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def private_scratch(home: Path) -> Iterator[Path]:
    """A new folder of a home, for the duration of the block, that only this user can access."""
    folder = fresh_folder(home / "scratch")
    private_folder(folder.parent)
    private_folder(folder)
    try:
        yield folder
    finally:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
