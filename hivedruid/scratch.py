"""Temporary folders for one statement's files. Leftovers of killed processes are removed by the next process."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from uuid import uuid4


def fresh_folder(parent: Path) -> Path:
    """The path of a new, unique folder below `parent`, which is not created yet. Its name starts with the process id,
    so that folders of dead processes can be recognized and removed.
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
