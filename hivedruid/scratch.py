"""Temporary folders for one statement's files. Leftovers of killed processes are removed by the next process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from hivedruid.private import private_folder
from hivedruid.processes import is_running


def fresh_folder(parent: Path) -> Path:
    """The path of a new, unique folder below `parent`, which is not created yet. Its name starts with the process id,
    so that folders of dead processes can be recognized and removed.
    """
    if parent.is_dir():
        for folder in parent.iterdir():
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and not is_running(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)
    return parent / f"{os.getpid()}-{uuid4().hex}"


@contextmanager
def private_scratch(home: Path) -> Iterator[Path]:
    """A new folder of a home, for the duration of the block, that only this user can access."""
    folder = fresh_folder(home / "scratch")
    private_folder(folder.parent)
    private_folder(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
