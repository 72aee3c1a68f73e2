"""Folders for one statement's files. What a killed process left goes when the next one comes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from uuid import uuid4


def fresh_folder(parent: Path) -> Path:
    """The path of a folder below `parent` that is nobody else's; it is not made yet.

    Its name begins with this process's id, so that folders of processes that are gone can be told and removed.
    """
    if parent.is_dir():
        for folder in parent.iterdir():
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and not _runs(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)
    return parent / f"{os.getpid()}-{uuid4().hex}"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
